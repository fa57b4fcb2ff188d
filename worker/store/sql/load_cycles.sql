-- Members of circles of imports and of calls.
INSERT INTO cycles BY NAME SELECT * FROM loaded
