-- The roots of modules that lead to files of the project, in the catalog `image`: package_root.py says what that is.
CREATE TABLE image.roots (root VARCHAR);
