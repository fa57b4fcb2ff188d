-- no-comments: code without its comments: an agent reads no sentence that somebody left in one.

SET extends = 'fledgling-core';
CREATE VIEW content AS
SELECT * FROM content WHERE NOT is_comment;
