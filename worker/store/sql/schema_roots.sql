-- The roots of modules that lead to files of the project, in the catalog `image`: roots.py says what that is.
CREATE TABLE image.roots (root VARCHAR);
