-- The blocks of each file that $path and $language leave: first and last.
SELECT min(block) AS first, last_block AS last
FROM blocks
WHERE ($language IS NULL OR language = $language) AND ($path = '' OR regexp_matches(path, $path))
GROUP BY last_block
ORDER BY last_block
