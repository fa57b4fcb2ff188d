-- How many rows the image holds, table by table.
SELECT (SELECT count(*) FROM image.files), (SELECT count(*) FROM image.symbols), (SELECT count(*) FROM image.imports)
