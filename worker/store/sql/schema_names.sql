-- What a definition, import or export can be found by, in the catalog `image`: a row for each row of the outlines, in their
-- order. `code` is the place of its kind in outlines.KINDS, `file` the row of its file, `lines` how many it has behind the
-- first.
CREATE TABLE image.names (name VARCHAR, code UTINYINT, file INTEGER, lines INTEGER);
