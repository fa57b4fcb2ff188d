-- What the files $paths import.
SELECT path, line_number, module, imported_names, resolved_path, is_stdlib, is_relative
FROM imports WHERE path IN (SELECT unnest($paths))
