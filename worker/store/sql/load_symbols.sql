-- Rows of SymbolRow with the path and language of their file.
INSERT INTO symbols BY NAME FROM loaded
