-- What stands for the table names in the catalog `image` of an overlay, with the names of parts. Rows have the numbers that
-- overlay/symbols.py gives them.
CREATE TABLE image.own_names (row BIGINT, name VARCHAR, code UTINYINT, file INTEGER, lines INTEGER);
CREATE VIEW image.names AS
SELECT (names.rowid + 1) * 16777216 AS rowid, name, code, file, lines FROM code.names ANTI JOIN image.hidden USING (file)
UNION ALL FROM image.own_names;
