-- Which of the files $paths import which of them.
SELECT DISTINCT path, resolved_path
FROM imports
WHERE path IN (SELECT unnest($paths::VARCHAR[])) AND resolved_path IN (SELECT unnest($paths::VARCHAR[]))
    AND path != resolved_path
ORDER BY path, resolved_path
