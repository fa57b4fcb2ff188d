-- One file below a directory: $prefix = 'src/'.
SELECT path FROM files WHERE starts_with(path, $prefix) ORDER BY path LIMIT 1
