-- What the files $paths import, one row for each statement and file it leads to, and why a module leads nowhere.
SELECT
    path, line_number, module, flatten(list(imported_names ORDER BY imported_names)) AS imported_names, resolved_path,
    CASE
        WHEN resolved_path IS NOT NULL THEN NULL
        WHEN bool_or(is_stdlib) THEN 'stdlib'
        -- A module of a package that other files reach belongs to the project, and is missing.
        WHEN bool_or(is_relative) OR split_part(module, '.', 1) IN (
            SELECT split_part(module, '.', 1) FROM imports WHERE resolved_path IS NOT NULL AND NOT is_relative
        ) THEN 'not found'
        ELSE 'external'
    END AS unresolved
FROM imports
WHERE path IN (SELECT unnest($paths))
GROUP BY path, line_number, module, resolved_path
ORDER BY path, line_number, module, resolved_path
