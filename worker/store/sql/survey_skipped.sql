-- How many files have no content for each reason, and the first $shown = 5 of them.
SELECT skip_reason, count(*) AS files, list(path ORDER BY path)[:$shown::INTEGER] AS examples
FROM files
WHERE skip_reason IS NOT NULL
GROUP BY skip_reason
ORDER BY files DESC, skip_reason
