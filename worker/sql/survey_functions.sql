-- The $shown = 20 longest functions and methods that somebody wrote.
SELECT path, qualified_name AS name, line_start, line_end
FROM symbols JOIN files USING (path)
WHERE kind IN ('function', 'method') AND NOT coalesce(is_generated, false)
ORDER BY line_end - line_start DESC, path, line_start
LIMIT $shown
