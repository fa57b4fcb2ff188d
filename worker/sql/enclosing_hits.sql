-- The language of each hit's file, and the innermost definition around it; hit i is line $lines[i] of file $paths[i].
SELECT h.path, h.line, any_value(f.language), arg_max(s.qualified_name, (s.line_start, -s.line_end)) AS qualified_name
FROM (SELECT unnest($paths) AS path, unnest($lines) AS line) h
JOIN files f ON f.path = h.path
LEFT JOIN symbols s
    ON s.path = h.path AND h.line BETWEEN s.line_start AND s.line_end
    AND s.kind NOT IN ('import', 'export', 'variable', 'constant')
GROUP BY h.path, h.line
