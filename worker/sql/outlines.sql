-- The definitions in the files from $first = 'a.py' to $last = 'z.py', in the order of paths and lines.
SELECT path, name, kind, line_start, line_end, signature, parent_name, qualified_name
FROM code.symbols
WHERE path BETWEEN $first AND $last AND kind NOT IN ('import', 'export')
ORDER BY path, line_start, line_end DESC, name
