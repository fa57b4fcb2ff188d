-- What the files $paths import. A view may leave out columns.
SELECT
    path, coalesce(line_number, 0) AS line_number, coalesce(module, '') AS module,
    coalesce(imported_names, []) AS imported_names, resolved_path, is_stdlib, is_relative, alias
FROM imports
WHERE path IN (SELECT unnest($paths))
