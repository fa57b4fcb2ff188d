-- The files in the order of their paths, and what is said of each with its text.
SELECT path, language, size_bytes, line_count, skip_reason FROM text.files ORDER BY path
