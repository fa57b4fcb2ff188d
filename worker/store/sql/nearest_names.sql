-- The three names of definitions that resemble $name = 'metod' most. Another first letter, or another length by more than
-- a quarter, is another name: few of a million are compared.
SELECT name
FROM names
WHERE
    code < $definitions AND name != $name AND lower(name[1]) = lower($name[1])
    AND abs(length(name) - length($name)) * 4 <= length($name)
GROUP BY name
HAVING jaro_winkler_similarity(lower(name), lower($name)) >= 0.9
ORDER BY jaro_winkler_similarity(lower(name), lower($name)) DESC, name
LIMIT 3
