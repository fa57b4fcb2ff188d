"""The SQL gate: an allow-list over the syntax tree of DuckDB itself; what was checked is what runs."""
