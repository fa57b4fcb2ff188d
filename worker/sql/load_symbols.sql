-- Rows of SymbolRow with the path and language of their file, one list a column.
INSERT INTO symbols SELECT
    unnest($path::VARCHAR[]), unnest($name::VARCHAR[]), unnest($kind::VARCHAR[]), unnest($line_start::INTEGER[]),
    unnest($line_end::INTEGER[]), unnest($parent_name::VARCHAR[]), unnest($signature::VARCHAR[]),
    unnest($docstring::VARCHAR[]), unnest($language::VARCHAR[]), unnest($visibility::VARCHAR[]),
    unnest($qualified_name::VARCHAR[])
