-- Files on the $depth levels below $prefix = 'src/', with the number of their definitions.
SELECT f.path, f.language, coalesce(f.line_count, 0) AS lines, coalesce(s.symbols, 0) AS symbols, f.skip_reason
FROM files f
LEFT JOIN (
    SELECT path, count(*) AS symbols FROM symbols WHERE kind NOT IN ('import', 'export') GROUP BY path
) s ON s.path = f.path
WHERE
    starts_with(f.path, $prefix) AND ($pattern = '' OR regexp_matches(substr(f.path, length($prefix) + 1), $pattern))
    AND len(string_split(substr(f.path, length($prefix) + 1), '/')) <= $depth
ORDER BY f.path
