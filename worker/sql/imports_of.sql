-- What the files $paths import, and whether an unresolved module lies in a package of the project.
SELECT
    i.path, i.line_number, i.module, i.imported_names, i.resolved_path,
    CASE
        WHEN i.resolved_path IS NOT NULL THEN NULL
        WHEN i.is_stdlib THEN 'stdlib'
        WHEN i.is_relative OR split_part(i.module, '.', 1) IN (
            SELECT split_part(module, '.', 1) FROM imports WHERE resolved_path IS NOT NULL AND NOT is_relative
        ) THEN 'not found'
        ELSE 'external'
    END AS unresolved
FROM imports i
WHERE i.path IN (SELECT unnest($paths))
ORDER BY i.path, i.line_number, i.module, i.imported_names
