-- The $most names of definitions that resemble $name = 'metod' most, of those with its first letter and nearly its length:
-- no name where one is $name itself. What else there is costs a comparison, and who misspells a name rarely begins it so.
SELECT name
FROM names
WHERE
    code < $definitions AND lower(name[1]) = lower($name[1])
    AND abs(length(name) - length($name)) * $lengths <= length($name)
    AND NOT EXISTS (FROM names WHERE code < $definitions AND name = $name)
GROUP BY name
HAVING jaro_winkler_similarity(lower(name), lower($name)) >= $similarity
ORDER BY jaro_winkler_similarity(lower(name), lower($name)) DESC, name
LIMIT $most
