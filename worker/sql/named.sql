-- Definitions of $path that $symbol = 'Class.method' names: in full, or by the last parts of their qualified name.
SELECT qualified_name, kind, line_start, line_end
FROM symbols
WHERE
    path = $path AND kind NOT IN ('import', 'export')
    AND (qualified_name = $symbol OR name = $symbol OR ends_with(qualified_name, '.' || $symbol))
ORDER BY line_start, line_end DESC, qualified_name
