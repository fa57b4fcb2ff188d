-- What the files $paths import, one row for each statement and file it leads to, and why a module leads nowhere.
-- A module that leads nowhere is missing where others of its `root` lead to the project: `pkg` of Python's `pkg.a.b`,
-- `a.com/b/c` of Go's `a.com/b/c/d`, `@a/b` of a script's `@a/b/c`; where packages are declared, the whole module.
WITH said AS (
    SELECT
        imports.*,
        CASE
            WHEN language IN ('python', 'lua') THEN split_part(module, '.', 1)
            WHEN language = 'rust' THEN split_part(module, '::', 1)
            WHEN language = 'go' AND split_part(module, '/', 1) LIKE '%.%' THEN array_to_string(split(module, '/')[:3], '/')
            WHEN language IN ('javascript', 'typescript') AND module LIKE '@%' THEN array_to_string(split(module, '/')[:2], '/')
            WHEN language IN ('javascript', 'typescript', 'ruby', 'go') THEN split_part(module, '/', 1)
            ELSE module
        END AS root
    FROM imports JOIN files USING (path)
)
SELECT
    path, line_number, module, flatten(list(imported_names ORDER BY imported_names)) AS imported_names, resolved_path,
    CASE
        WHEN resolved_path IS NOT NULL THEN NULL
        WHEN bool_or(is_stdlib) THEN 'stdlib'
        WHEN bool_or(is_relative) OR any_value(root) IN (
            SELECT root FROM said WHERE resolved_path IS NOT NULL AND NOT is_relative
        ) OR any_value(root) = 'crate' THEN 'not found'
        ELSE 'external'
    END AS unresolved
FROM said
WHERE path IN (SELECT unnest($paths))
GROUP BY path, line_number, module, resolved_path
ORDER BY path, line_number, module, resolved_path
