-- The imports that a profile leaves, as they are loaded: the names as JSON.
SELECT * REPLACE (to_json(imported_names)::VARCHAR AS imported_names) FROM left_imports
