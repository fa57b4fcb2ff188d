-- Classes, each with one of its bases.
INSERT INTO inherits BY NAME SELECT * FROM loaded
