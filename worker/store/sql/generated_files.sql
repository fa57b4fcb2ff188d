-- The files that a program wrote.
SELECT path FROM files WHERE is_generated ORDER BY path
