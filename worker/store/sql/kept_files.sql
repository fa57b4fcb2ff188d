-- Rows of FileRow: the files that the profile's views leave visible, as they are on disk, whatever a view says of them.
SELECT * EXCLUDE (engine, is_parsed) FROM files WHERE path IN (FROM kept) ORDER BY path
