-- What stands for the table files in the catalog `image` of an overlay, with the files of parts in the order of paths. In
-- `numbered` they have the numbers that names know them by: those of parts are -1, -2, ...
CREATE TABLE image.own_files AS SELECT *, 0::BIGINT AS place FROM code.files LIMIT 0;
CREATE VIEW image.files AS
SELECT * EXCLUDE (place) FROM (
    SELECT *, (files.rowid + 1) * 16777216 AS place FROM code.files ANTI JOIN image.hidden USING (path)
    UNION ALL FROM image.own_files
)
ORDER BY place;
CREATE VIEW image.numbered AS
SELECT files.rowid AS rowid, path, language, is_generated FROM text.files ANTI JOIN image.hidden USING (path)
UNION ALL SELECT -1 - own_files.rowid, path, language, is_generated FROM image.own_files;
