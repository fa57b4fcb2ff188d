-- The blocks of the files that there are: a view of content may say that its lines are of others.
SELECT path, first_line, text FROM text.blocks SEMI JOIN text.files USING (path) ORDER BY block
