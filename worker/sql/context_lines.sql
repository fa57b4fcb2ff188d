-- Lines $first[i] to $last[i] of the block $blocks[i], with where $line matches first in those longer than $shown.
SELECT
    b.path, f.language, greatest(b.first_line, a.first) AS first, lines,
    list_transform(
        lines, lambda line: CASE WHEN length(line) > $shown THEN strpos(line, regexp_extract(line, $line)) ELSE 0 END
    ) AS found_at
FROM (SELECT unnest($blocks) AS block, unnest($first) AS first, unnest($last) AS last) a
JOIN (SELECT block, path, first_line, text FROM blocks WHERE block IN $blocks) b ON b.block = a.block
LEFT JOIN files f ON f.path = b.path
CROSS JOIN LATERAL (
    SELECT list_slice(
        string_split(b.text, chr(10)), greatest(a.first - b.first_line + 1, 1), a.last - b.first_line + 1
    ) AS lines
)
ORDER BY b.block
