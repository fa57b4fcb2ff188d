-- How many rows the index holds, table by table; of symbols the definitions.
SELECT
    (SELECT count(*) FROM code.files),
    (SELECT count(*) FROM code.symbols WHERE kind NOT IN ('import', 'export')),
    (SELECT count(*) FROM code.imports)
