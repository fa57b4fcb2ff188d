-- Totals of the files below $prefix = 'src/' whose path matches $pattern.
SELECT
    count(*) AS total_files, coalesce(sum(line_count), 0)::BIGINT AS total_lines,
    coalesce(sum(size_bytes), 0)::BIGINT AS total_bytes,
    arg_max(path, (line_count, path)) FILTER (line_count IS NOT NULL) AS largest_path, max(line_count) AS largest_lines
FROM files
WHERE starts_with(path, $prefix) AND ($pattern = '' OR regexp_matches(substr(path, length($prefix) + 1), $pattern))
