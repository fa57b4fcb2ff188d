"""The memory files of an index: text, symbols, n-grams and DuckDB's images; who writes them and who reads them."""
