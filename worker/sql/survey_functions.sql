-- The $shown = 20 longest functions and methods that somebody wrote.
SELECT path, coalesce(qualified_name, name) AS called, line_start, line_end
FROM symbols JOIN files USING (path)
WHERE
    kind IN ('function', 'method') AND NOT coalesce(is_generated, false)
    AND called IS NOT NULL AND line_start IS NOT NULL AND line_end IS NOT NULL  -- a view of a profile may leave them out
ORDER BY line_end - line_start DESC, path, line_start
LIMIT $shown
