-- Note of files which engine extracted them, and whether it understood them whole.
UPDATE files SET engine = found.engine, is_parsed = found.is_parsed
FROM (SELECT unnest($path::VARCHAR[]) AS path, unnest($engine::VARCHAR[]) AS engine, unnest($is_parsed::BOOLEAN[]) AS is_parsed)
    AS found
WHERE files.path = found.path
