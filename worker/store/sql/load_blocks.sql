-- Blocks of text.
INSERT INTO blocks BY NAME FROM loaded
