-- What stands for the table symbols in the catalog `image` of an overlay, with those of parts.
CREATE TABLE image.own_symbols AS SELECT *, 0::BIGINT AS place FROM code.symbols LIMIT 0;
CREATE VIEW image.symbols AS
SELECT * EXCLUDE (place) FROM (
    SELECT *, (symbols.rowid + 1) * 16777216 AS place FROM code.symbols ANTI JOIN image.hidden USING (path)
    UNION ALL FROM image.own_symbols
)
ORDER BY place;
