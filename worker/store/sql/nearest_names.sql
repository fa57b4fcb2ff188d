-- The $most names of definitions that resemble $name = 'metod' most, of those with its first letter and nearly its length.
-- What else there is costs a comparison, and who misspells a name rarely begins it so.
SELECT name
FROM names
WHERE
    code < $definitions
    AND (starts_with(name, lower(left($name, 1))) OR starts_with(name, upper(left($name, 1))))
    AND abs(length(name) - length($name)) * $lengths <= length($name)
GROUP BY name
HAVING jaro_winkler_similarity(lower(name), lower($name)) >= $similarity
ORDER BY jaro_winkler_similarity(lower(name), lower($name)) DESC, name
LIMIT $most
