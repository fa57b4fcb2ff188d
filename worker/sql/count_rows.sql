-- How many rows the image holds, table by table; of symbols the definitions.
SELECT
    (SELECT count(*) FROM image.files),
    (SELECT count(*) FROM image.symbols WHERE kind NOT IN ('import', 'export')),
    (SELECT count(*) FROM image.imports)
