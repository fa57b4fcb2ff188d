-- Where the files $paths are imported by their own names.
SELECT DISTINCT resolved_path, path, line_number FROM imports WHERE resolved_path IN (SELECT unnest($paths))
ORDER BY resolved_path, path, line_number
