-- Lines $first[i] to $last[i] of the file, as far as they are in its block $blocks[i], with the number of the first.
SELECT
    path, greatest(first_line, $first[place]) AS first,
    list_slice(
        string_split(text, chr(10)), greatest($first[place] - first_line + 1, 1), greatest($last[place] - first_line + 1, 0)
    ) AS lines
FROM (
    SELECT path, first_line, text, list_position($blocks, block) AS place
    FROM blocks
    WHERE block IN (SELECT unnest($blocks))
)
