-- Where in the outlines symbols of the kind $code are whose name matches $line, best first: the name itself, in any case, its
-- beginning, whole parts of it (`batch` of process_batch or processBatch), beginnings of parts, anything. A page, with the total.
WITH found AS MATERIALIZED (
    SELECT
        row, length(name) AS chars,
        CASE
            WHEN name = $query THEN 0
            WHEN lower(name) = lower($query) THEN 1
            WHEN starts_with(lower(name), lower($query)) THEN 2
            WHEN contains(parts[1] || '_', parts[2] || '_') THEN 3
            WHEN contains(parts[1], parts[2]) THEN 4
            ELSE 5
        END AS rank
    FROM (
        SELECT rowid AS row, name, list_transform([name, $query], lambda word: '_' || lower(regexp_replace(
            regexp_replace(word, '([A-Z]+)([A-Z][a-z])', '\1_\2', 'g'), '([a-z0-9])([A-Z])', '\1_\2', 'g'
        ))) AS parts
        FROM names
        WHERE
            code = $code AND regexp_matches(name, $line)
            AND (
                ($path = '' AND $language IS NULL) OR file IN (
                    SELECT rowid FROM text.files
                    WHERE ($path = '' OR regexp_matches(path, $path)) AND ($language IS NULL OR language = $language)
                )
            )
    )
)
SELECT total, row
FROM (SELECT count(*) AS total FROM found)
LEFT JOIN (SELECT * FROM found ORDER BY rank, chars, row LIMIT $max_results OFFSET $offset) ON true
ORDER BY rank, chars, row
