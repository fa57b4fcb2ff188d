-- The files in the order of their paths, and what is said of them with their text. A view may leave out columns, and say
-- anything in others.
SELECT
    path, language, greatest(coalesce(size_bytes, 0), 0) AS size_bytes,
    CASE WHEN line_count >= 0 THEN line_count END AS line_count, skip_reason, encoding
FROM text.files
ORDER BY path
