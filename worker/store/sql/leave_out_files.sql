-- Leave files out of the index that are past max_files: $paths = ['a.py'].
DELETE FROM kept WHERE path IN (SELECT unnest($paths::VARCHAR[]))
