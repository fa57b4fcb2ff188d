-- Lines that match $line in the blocks $blocks = [3, 17] that match $block; a line's place in its block counts from 0.
-- The blocks are fetched first: a match that the engine can push down would have it read them all.
WITH fetched AS MATERIALIZED (SELECT block, path, first_line, text FROM blocks WHERE block IN (SELECT unnest($blocks)))
SELECT
    block, path, first_line, len(lines) AS size,
    list_filter(
        list_transform(lines, lambda line, place: CASE WHEN regexp_matches(line, $line) THEN place - 1 END),
        lambda place: place IS NOT NULL
    ) AS places
FROM (
    SELECT block, path, first_line, string_split(text, chr(10)) AS lines FROM fetched WHERE regexp_matches(text, $block)
)
ORDER BY block
