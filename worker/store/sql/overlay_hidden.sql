-- What is not seen of the base, in the catalog `image` of an overlay: files, and of files the imports.
CREATE TABLE image.hidden (file INTEGER, path VARCHAR);
CREATE TABLE image.hidden_imports (path VARCHAR);
