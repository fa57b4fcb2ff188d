-- The definitions that a line can be in, by the last block of their file, in the catalog `image`. Every page of a search
-- asks for some of all of them: compressed, that takes three times as long.
CREATE TABLE image.scopes (
    last_block INTEGER USING COMPRESSION uncompressed, line_start INTEGER USING COMPRESSION uncompressed,
    line_end INTEGER USING COMPRESSION uncompressed, qualified_name VARCHAR USING COMPRESSION uncompressed
);
