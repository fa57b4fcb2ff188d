-- How many files $path and $language leave to look into, by language and by why a file has no content.
SELECT language, skip_reason, count(*) AS files FROM files
WHERE ($language IS NULL OR language = $language) AND ($path = '' OR regexp_matches(path, $path))
GROUP BY language, skip_reason
ORDER BY files DESC, language, skip_reason
