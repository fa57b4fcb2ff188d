-- Definitions in path order, filtered; imports and exports only when $kind asks for them. A page, with the total.
WITH found AS MATERIALIZED (
    SELECT path, language, name, kind, line_start, line_end, signature, parent_name
    FROM symbols
    WHERE
        ($inside IS NULL OR path = $inside OR starts_with(path, $inside || '/'))
        AND ($path = '' OR regexp_matches(path, $path))
        AND ($exact_name IS NULL OR name = $exact_name) AND ($name = '' OR regexp_matches(name, $name))
        AND ($language IS NULL OR language = $language)
        AND CASE WHEN $kind IS NULL THEN kind NOT IN ('import', 'export') ELSE kind = $kind END
)
SELECT total, path, language, name, kind, line_start, line_end, signature, parent_name
FROM (SELECT count(*) AS total FROM found)
LEFT JOIN (
    SELECT * FROM found ORDER BY path, line_start, line_end DESC, name LIMIT $max_results OFFSET $offset
) ON true
ORDER BY path, line_start, line_end DESC, name
