-- Functions, each with whether it has effects.
INSERT INTO effects BY NAME SELECT * FROM loaded
