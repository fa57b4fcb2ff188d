-- The symbols in the files from $first = 'a.py' to $last = 'z.py', in the order of paths and lines: each the path and the
-- fields of SymbolRow. A view may leave out columns, and say anything in others.
SELECT
    path, coalesce(name, '') AS name, kind, greatest(coalesce(line_start, 0), 0) AS line_start,
    greatest(coalesce(line_end, 0), 0) AS line_end,
    parent_name, signature, NULL AS docstring, '' AS visibility, coalesce(qualified_name, '') AS qualified_name
FROM code.symbols
WHERE path BETWEEN $first AND $last
ORDER BY path, line_start, line_end DESC, name
