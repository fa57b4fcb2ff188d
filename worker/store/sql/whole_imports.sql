-- Which files import all that a module holds, and the file that this leads to, each once.
SELECT DISTINCT path, resolved_path, module
FROM imports
WHERE resolved_path IS NOT NULL AND resolved_path != path AND (len(imported_names) = 0 OR imported_names = ['*'])
ORDER BY path, resolved_path, module
