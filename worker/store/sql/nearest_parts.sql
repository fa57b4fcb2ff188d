-- Of the names of definitions the $most words that resemble $name = 'Formattr' most, each as it is written: `Formatter` of
-- `HelpFormatter`. Only names that hold its first $prefix letters are taken apart.
SELECT part
FROM (
    SELECT unnest(regexp_extract_all(name, '[A-Z]*[a-z]+|[A-Z]+')) AS part
    FROM names
    WHERE code < $definitions AND contains(lower(name), lower(left($name, $prefix)))
)
WHERE part <> $name AND abs(length(part) - length($name)) * $lengths <= length($name)
GROUP BY part
HAVING jaro_winkler_similarity(lower(part), lower($name)) >= $similarity
ORDER BY jaro_winkler_similarity(lower(part), lower($name)) DESC, count(*) DESC, part
LIMIT $most
