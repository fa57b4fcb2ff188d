-- Where the files $paths are imported.
SELECT resolved_path, path, line_number FROM imports
WHERE resolved_path IN (SELECT unnest($paths))
GROUP BY ALL
ORDER BY resolved_path, path, line_number
