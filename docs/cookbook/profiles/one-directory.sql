-- one-directory: one directory of a monorepo.

SET extends = 'fledgling-core';
CREATE VIEW visible_files AS
SELECT * FROM files WHERE path LIKE 'src/%';
