-- Directories down to $depth levels below $prefix = 'src/', one row for each language in each.
WITH below AS (
    SELECT string_split(substr(path, length($prefix) + 1), '/') AS parts, language, line_count
    FROM files
    WHERE starts_with(path, $prefix) AND ($pattern = '' OR regexp_matches(substr(path, length($prefix) + 1), $pattern))
),
levels AS (
    SELECT parts, language, line_count, unnest(range(1, least($depth, len(parts) - 1) + 1)) AS level
    FROM below
    WHERE len(parts) > 1
)
SELECT
    $prefix || array_to_string(parts[1:level], '/') || '/' AS path, language, count(*) AS files,
    coalesce(sum(line_count), 0)::BIGINT AS lines
FROM levels
GROUP BY ALL
ORDER BY path, files DESC, language
