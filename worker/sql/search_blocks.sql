-- The blocks of each file that $path and $language leave: first and last.
SELECT min(block) AS first, max(block) AS last
FROM blocks
WHERE path IN (
    SELECT path FROM files WHERE ($language IS NULL OR language = $language) AND regexp_matches(path, $path)
)
GROUP BY path
ORDER BY first
