-- The $shown = 20 files that most other files import.
SELECT resolved_path AS path, count(DISTINCT path) AS importers
FROM imports
WHERE resolved_path IS NOT NULL AND resolved_path != imports.path
GROUP BY resolved_path
ORDER BY importers DESC, resolved_path
LIMIT $shown
