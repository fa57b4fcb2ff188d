-- documentation: what the project says of itself: prose, and no source.

SET extends = 'fledgling-core';
CREATE VIEW visible_files AS
SELECT * FROM files WHERE language IN ('markdown', 'restructuredtext', 'text', 'asciidoc');
