-- Definitions that nothing is seen to use.
INSERT INTO unused BY NAME SELECT * FROM loaded
