-- Where in the outlines the $shown = 20 longest symbols of the kinds $codes are that somebody wrote.
SELECT names.rowid AS row
FROM names JOIN text.files ON text.files.rowid = names.file
WHERE code IN (SELECT unnest($codes)) AND NOT coalesce(is_generated, false) AND name != ''
ORDER BY lines DESC, row
LIMIT $shown
