-- Totals of the files below $prefix = 'src/' whose path matches $pattern, by language and by why a file has no content;
-- and how many of them were the end of the parser.
SELECT
    language, skip_reason, count(*) AS files, coalesce(sum(line_count), 0)::BIGINT AS lines,
    coalesce(sum(size_bytes), 0)::BIGINT AS bytes, coalesce(max(line_count), 0) AS largest_lines,
    coalesce(arg_max(path, (line_count, path)) FILTER (line_count IS NOT NULL), '') AS largest_path,
    count(*) FILTER (engine IS NULL AND NOT is_parsed) AS given_up
FROM files
WHERE starts_with(path, $prefix) AND ($pattern = '' OR regexp_matches(substr(path, length($prefix) + 1), $pattern))
GROUP BY language, skip_reason
ORDER BY files DESC, language, skip_reason
