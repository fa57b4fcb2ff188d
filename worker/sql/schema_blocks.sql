-- The text, once, in the catalog `image`: about 8 KB a row, cut at line ends, numbered in the order of paths and lines.
-- `last_block` is the number of the file's last block, and stands for the file where a number is asked for sooner.
CREATE TABLE image.blocks (
    block INTEGER, last_block INTEGER, path VARCHAR, language VARCHAR, first_line INTEGER, text VARCHAR
);
