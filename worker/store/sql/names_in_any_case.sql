-- Where in the outlines definitions are whose name is $name = 'Metod' in any case, or ends in it behind a dot.
SELECT rowid AS row
FROM names
WHERE
    code < $definitions
    AND ((length(name) = length($name) AND lower(name) = lower($name)) OR suffix(name, '.' || $name))
ORDER BY row
