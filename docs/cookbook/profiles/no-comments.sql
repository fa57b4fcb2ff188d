-- no-comments: code without the lines that hold only comment; what stands behind code on its line stays.

SET extends = 'fledgling-core';
CREATE VIEW content AS
SELECT * FROM content WHERE NOT is_comment;
