"""What the names of all files are bound to, their classes and their namespaces, before any value is known."""
