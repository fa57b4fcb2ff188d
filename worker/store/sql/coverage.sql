-- How many files $path and $language leave to look into, by language and by why a file has no content; and how many of
-- them no parser understood whole.
SELECT language, skip_reason, count(*) AS files, count(*) FILTER (NOT is_parsed) AS unparsed FROM files
WHERE ($language IS NULL OR language = $language) AND ($path = '' OR regexp_matches(path, $path))
GROUP BY language, skip_reason
ORDER BY files DESC, language, skip_reason
