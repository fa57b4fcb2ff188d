-- What stands for the table imports in the catalog `image` of an overlay, with those that lead elsewhere.
CREATE TABLE image.own_imports AS FROM code.imports LIMIT 0;
CREATE VIEW image.imports AS
FROM code.imports ANTI JOIN image.hidden_imports USING (path) UNION ALL FROM image.own_imports;
