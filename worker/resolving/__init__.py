"""Resolution of imports to files, by the rules of each family of languages; functions of values, no I/O."""
