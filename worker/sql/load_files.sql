-- Rows of FileRow, one list a column; what extracts from them is not known yet.
INSERT INTO files SELECT
    unnest($path::VARCHAR[]), unnest($absolute_path::VARCHAR[]), unnest($directory::VARCHAR[]),
    unnest($filename::VARCHAR[]), unnest($extension::VARCHAR[]), unnest($language::VARCHAR[]),
    unnest($size_bytes::BIGINT[]), unnest($line_count::INTEGER[]), unnest($modified_at::TIMESTAMP[]),
    unnest($is_binary::BOOLEAN[]), unnest($is_generated::BOOLEAN[]), unnest($content_hash::VARCHAR[]),
    unnest($skip_reason::VARCHAR[]), NULL, NULL
