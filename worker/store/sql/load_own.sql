-- Rows of parts, $rows as JSON: each an object of the columns of `own`, whose types $shape says.
INSERT INTO image.own BY NAME SELECT unnest(from_json_strict($rows, $shape), max_depth := 2)
