-- The numbers of comment lines, as lists by block.
INSERT INTO comments SELECT block, list(line_number ORDER BY line_number) FROM loaded GROUP BY block ORDER BY block
