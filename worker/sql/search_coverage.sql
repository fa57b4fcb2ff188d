-- How many files $path and $language leave to search, and for those without text, how many for each reason.
SELECT skip_reason, count(*) AS files FROM files
WHERE ($language IS NULL OR language = $language) AND regexp_matches(path, $path)
GROUP BY skip_reason
ORDER BY files DESC, skip_reason
