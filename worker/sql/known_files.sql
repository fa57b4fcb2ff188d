-- The files in the order of their paths, and what is said of them with their text. A view may leave out columns.
SELECT path, language, coalesce(size_bytes, 0) AS size_bytes, line_count, skip_reason FROM text.files ORDER BY path
