-- Lines that match $line, in blocks that match $block, of files whose path matches $path: a page of them, with the totals.
WITH hits AS MATERIALIZED (
    SELECT path, language, line, text
    FROM (
        SELECT
            b.path, f.language, unnest(range(b.first_line, b.first_line + len(string_split(b.text, chr(10))))) AS line,
            unnest(string_split(b.text, chr(10))) AS text
        FROM blocks b JOIN files f ON f.path = b.path
        WHERE
            ($language IS NULL OR f.language = $language) AND regexp_matches(f.path, $path)
            AND regexp_matches(b.text, $block)
    )
    WHERE regexp_matches(text, $line)
)
SELECT total, total_files, path, language, line, found_at
FROM (SELECT count(*) AS total, count(DISTINCT path) AS total_files FROM hits)
LEFT JOIN (
    SELECT
        path, language, line,
        CASE WHEN length(text) > $shown THEN strpos(text, regexp_extract(text, $line)) END AS found_at
    FROM hits ORDER BY path, line LIMIT $max_results OFFSET $offset
) ON true
ORDER BY path, line
