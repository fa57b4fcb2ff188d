-- Where in the outlines symbols of the kind $code are, in files of $languages = ['java', 'kotlin'].
SELECT rowid AS row FROM names
WHERE code = $code AND file IN (SELECT rowid FROM text.files WHERE language IN (SELECT unnest($languages)))
ORDER BY row
