-- one-language: files of one language.

SET extends = 'fledgling-core';
CREATE VIEW visible_files AS
SELECT * FROM files WHERE language = 'python';
