-- The first $shown = 5 files below $prefix = 'src/' that were the end of the parser, each with how many there are.
SELECT path, count(*) OVER () AS files
FROM files
WHERE
    engine IS NULL AND NOT is_parsed AND starts_with(path, $prefix)
    AND regexp_matches(substr(path, length($prefix) + 1), $pattern)
ORDER BY path
LIMIT $shown
