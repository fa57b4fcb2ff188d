-- The blocks $blocks = [3, 17]; a file ends with its block `last_block`. Joined: a condition would read all text first.
SELECT block, last_block, path, language, first_line, text FROM blocks WHERE block IN (SELECT unnest($blocks))
