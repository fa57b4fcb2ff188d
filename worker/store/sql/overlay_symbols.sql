-- What stands for the table symbols in the catalog `image` of an overlay, with those of parts.
CREATE TABLE image.own_symbols AS FROM code.symbols LIMIT 0;
CREATE VIEW image.symbols AS
FROM code.symbols ANTI JOIN image.hidden USING (path) UNION ALL FROM image.own_symbols;
