-- The symbols that a profile leaves, in the order of paths and lines; what says the same of these as it was found.
SELECT * EXCLUDE (place)
FROM (SELECT *, row_number() OVER () AS place FROM left_symbols)
ORDER BY path, greatest(line_start, 0), greatest(line_end, 0) DESC, coalesce(name, ''), place
