-- The names of the next rows of the outlines.
INSERT INTO names BY NAME FROM loaded
