-- Rows of FileRow; what extracts from them is not known yet.
INSERT INTO files BY NAME FROM loaded
