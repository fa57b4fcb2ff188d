-- The lines of a block that hold only comment, by their numbers, in the catalog `image`.
CREATE TABLE image.comments (block INTEGER, lines INTEGER[]);
