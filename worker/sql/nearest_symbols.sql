-- The five definitions of $path whose names resemble $symbol = 'Class.metod'.
SELECT qualified_name AS path FROM symbols
WHERE path = $path AND kind NOT IN ('import', 'export')
GROUP BY qualified_name
ORDER BY
    greatest(
        jaro_winkler_similarity(qualified_name, $symbol),
        max(jaro_winkler_similarity(name, string_split($symbol, '.')[-1]))
    ) DESC, qualified_name
LIMIT 5
