-- Those of $roots = ['flask', 'os'] that are roots of modules that lead to files of the project.
SELECT root FROM roots WHERE root IN (SELECT unnest($roots))
