-- Definitions of $kind whose name matches $line, the exact name first, then prefixes, then parts. A page, with the total.
WITH found AS MATERIALIZED (
    SELECT
        path, language, name, kind, line_start, line_end, signature, parent_name,
        CASE
            WHEN name = $query THEN 0
            WHEN lower(name) = lower($query) THEN 1
            WHEN starts_with(lower(name), lower($query)) THEN 2
            ELSE 3
        END AS rank
    FROM symbols
    WHERE
        kind = $kind AND regexp_matches(path, $path) AND regexp_matches(name, $line)
        AND ($language IS NULL OR language = $language)
)
SELECT total, path, language, name, kind, line_start, line_end, signature, parent_name
FROM (SELECT count(*) AS total FROM found)
LEFT JOIN (
    SELECT * FROM found ORDER BY rank, length(name), path, line_start, name LIMIT $max_results OFFSET $offset
) ON true
ORDER BY rank, length(name), path, line_start, name
