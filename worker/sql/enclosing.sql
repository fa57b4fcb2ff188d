-- Definitions of $path that enclose all lines from $start to $end and more, the outermost first.
SELECT kind, name FROM symbols
WHERE
    path = $path AND kind NOT IN ('import', 'export')
    AND line_start <= $start AND line_end >= $end AND (line_start < $start OR line_end > $end)
ORDER BY line_start, line_end DESC, name
