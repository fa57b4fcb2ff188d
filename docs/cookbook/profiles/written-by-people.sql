-- written-by-people: what people wrote: nothing generated, binary, vendored or copied in.

SET extends = 'fledgling-core';
CREATE VIEW visible_files AS
SELECT * FROM files
WHERE NOT is_generated AND NOT is_binary AND skip_reason IS NULL
  AND NOT regexp_matches(path, '(^|/)(vendor|third_party|node_modules)/');
