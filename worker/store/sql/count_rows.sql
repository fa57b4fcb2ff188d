-- How many rows the index holds, table by table; of symbols the definitions, whose codes are below $definitions.
SELECT
    (SELECT count(*) FROM code.files),
    (SELECT count(*) FROM code.names WHERE code < $definitions),
    (SELECT count(*) FROM code.imports)
