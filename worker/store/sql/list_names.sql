-- Where in the outlines symbols of the kind $code are, or definitions, in their order: from row $first
-- to $last, filtered. A page, with the total.
WITH found AS MATERIALIZED (
    SELECT rowid AS row
    FROM names
    WHERE
        CASE WHEN $code IS NULL THEN code < $definitions ELSE code = $code END
        AND ($first IS NULL OR rowid BETWEEN $first AND $last)
        AND ($name = '' OR regexp_matches(name, $name))
        AND (
            ($path = '' AND $language IS NULL) OR file IN (
                SELECT rowid FROM text.files
                WHERE ($path = '' OR regexp_matches(path, $path)) AND ($language IS NULL OR language = $language)
            )
        )
)
SELECT total, row
FROM (SELECT count(*) AS total FROM found)
LEFT JOIN (SELECT row FROM found ORDER BY row LIMIT $max_results OFFSET $offset) ON true
ORDER BY row
