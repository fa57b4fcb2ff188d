-- How many files below $prefix = 'src/' have each language, and each reason for having no content.
SELECT language, skip_reason, count(*) AS files
FROM files
WHERE starts_with(path, $prefix) AND ($pattern = '' OR regexp_matches(substr(path, length($prefix) + 1), $pattern))
GROUP BY language, skip_reason
ORDER BY files DESC, language, skip_reason
