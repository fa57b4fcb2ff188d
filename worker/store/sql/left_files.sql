-- The files that a profile leaves, each once, in the order of paths.
SELECT DISTINCT ON (path) * FROM left_files WHERE path IN (FROM kept) ORDER BY path
