-- Note of files why their content is not in the index: $paths = ['a.py'], $reason = 'changed while it was indexed'.
UPDATE files SET line_count = NULL, content_hash = NULL, encoding = NULL, skip_reason = $reason
WHERE path IN (SELECT unnest($paths::VARCHAR[]))
