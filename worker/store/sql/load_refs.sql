-- Uses of names, each with what is meant.
INSERT INTO refs BY NAME SELECT * FROM loaded
