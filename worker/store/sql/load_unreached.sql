-- Definitions that nothing is seen to use.
INSERT INTO unreached BY NAME SELECT * FROM loaded
