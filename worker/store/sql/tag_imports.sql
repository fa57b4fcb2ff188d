-- The files with an import that matches $pattern = '(?m)^flask(\.|$)', by its module or by `module.name` of what it takes from it,
-- each with the first of them.
SELECT path, min(coalesce(line_number, 0)) AS line, arg_min(module, coalesce(line_number, 0)) AS module
FROM imports
WHERE regexp_matches(
    module || chr(10) || array_to_string(
        list_transform(coalesce(imported_names, []), lambda name: module || '.' || name), chr(10)
    ),
    $pattern
)
GROUP BY path
