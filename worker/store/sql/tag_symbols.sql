-- The files that define something of the kinds $codes with a name that matches $pattern: the first row of it, and how many.
SELECT min(rowid) AS row, count(*) AS found
FROM names
WHERE code IN (SELECT unnest($codes)) AND regexp_matches(name, $pattern)
GROUP BY file
