-- The definitions in the files from $first = 'a.py' to $last = 'z.py', in the order of paths and lines.
-- A view may leave out columns.
SELECT
    path, coalesce(name, '') AS name, kind, coalesce(line_start, 0) AS line_start, coalesce(line_end, 0) AS line_end,
    signature, parent_name, coalesce(qualified_name, '') AS qualified_name
FROM code.symbols
WHERE path BETWEEN $first AND $last AND kind NOT IN ('import', 'export')
ORDER BY path, line_start, line_end DESC, name
