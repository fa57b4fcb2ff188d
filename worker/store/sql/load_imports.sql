-- Rows of ImportRow with the path of their file; the names as JSON.
INSERT INTO imports BY NAME SELECT * REPLACE (imported_names::JSON::VARCHAR[] AS imported_names) FROM loaded
