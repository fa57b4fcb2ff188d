-- The five of $qualified_names, of which $names are the last parts, that resemble $symbol = 'Class.metod'.
SELECT qualified_name AS path
FROM (SELECT unnest($qualified_names) AS qualified_name, unnest($names) AS name)
GROUP BY qualified_name
ORDER BY
    greatest(
        jaro_winkler_similarity(qualified_name, $symbol),
        max(jaro_winkler_similarity(name, string_split($symbol, '.')[-1]))
    ) DESC, qualified_name
LIMIT 5
