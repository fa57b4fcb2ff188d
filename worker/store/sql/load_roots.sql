-- The roots of modules that lead to files of the project.
INSERT INTO roots SELECT DISTINCT root FROM loaded ORDER BY root
