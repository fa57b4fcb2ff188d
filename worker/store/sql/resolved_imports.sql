-- Which files import which, each pair once.
SELECT DISTINCT path, resolved_path
FROM imports
WHERE resolved_path IS NOT NULL AND resolved_path != path
ORDER BY path, resolved_path
