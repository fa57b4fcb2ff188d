-- The file at a path: $path = 'src/app.py'.
SELECT path, language, size_bytes, line_count, skip_reason FROM files WHERE path = $path
