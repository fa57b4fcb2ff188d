-- What stands for the text in the catalog `image` of an overlay, with that of parts. Blocks have the numbers that
-- overlay/text.py gives them.
CREATE TABLE image.own_blocks (block INTEGER, path VARCHAR, first_line INTEGER, text VARCHAR, lines INTEGER[]);
CREATE VIEW image.blocks AS
SELECT block, path, first_line, text FROM text.blocks ANTI JOIN image.hidden USING (path)
UNION ALL SELECT block, path, first_line, text FROM image.own_blocks;
CREATE VIEW image.comments AS
FROM code.comments UNION ALL SELECT block, lines FROM image.own_blocks WHERE lines IS NOT NULL;
