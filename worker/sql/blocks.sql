-- Those of the blocks $blocks = [3, 17] that match $pattern; a file ends with its block `last_block`.
-- They are fetched first: a match that the engine can push down would have it read all text.
WITH fetched AS MATERIALIZED (
    SELECT block, last_block, path, language, first_line, text FROM blocks WHERE block IN (SELECT unnest($blocks))
)
SELECT block, last_block, path, language, first_line, text FROM fetched WHERE regexp_matches(text, $pattern)
