-- no-tests: source without tests, examples and fixtures.

SET extends = 'fledgling-core';
CREATE VIEW visible_files AS
SELECT * FROM files WHERE NOT regexp_matches(path, '(^|/)(tests?|spec|examples?|fixtures?)/');
