"""The SQL gate: an allow-list over the syntax tree of the engine itself; what was checked is what runs."""
