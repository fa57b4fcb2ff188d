-- The comment lines of blocks, one list a column.
INSERT INTO comments SELECT unnest($block::INTEGER[]), unnest($lines::INTEGER[][])
