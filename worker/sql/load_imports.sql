-- Rows of ImportRow with the path of their file, one list a column.
INSERT INTO imports SELECT
    unnest($path::VARCHAR[]), unnest($line_number::INTEGER[]), unnest($module::VARCHAR[]), unnest($alias::VARCHAR[]),
    unnest($is_relative::BOOLEAN[]), unnest($is_stdlib::BOOLEAN[]), unnest($resolved_path::VARCHAR[]),
    unnest($imported_names::VARCHAR[][])
