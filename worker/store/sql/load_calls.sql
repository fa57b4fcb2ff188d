-- Calls, each with where it leads.
INSERT INTO calls BY NAME SELECT * FROM loaded
