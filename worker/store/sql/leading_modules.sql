-- The modules by whose names files of the project are imported, and the language they are imported in.
SELECT DISTINCT module, language FROM code.imports JOIN code.files USING (path)
WHERE resolved_path IS NOT NULL AND NOT is_relative AND module IS NOT NULL
