-- The text, once, in the catalog `image`: about 4 KB a row, cut at line ends, numbered in the order of paths and lines.
CREATE TABLE image.blocks (block INTEGER, path VARCHAR, first_line INTEGER, text VARCHAR);
