-- `content` over `blocks`, in the catalog `image`. `comments` numbers the lines of a block that hold only comment.
-- indent_level counts columns of leading white space, a tab as four.
CREATE TABLE image.comments (block INTEGER, lines INTEGER[]);
CREATE VIEW image.content AS
SELECT
    path, line_number, line_text,
    length(replace(left(line_text, length(line_text) - length(ltrim(line_text, E' \t'))), E'\t', '    '))::INTEGER
        AS indent_level,
    regexp_full_match(line_text, '\s*') AS is_blank,
    coalesce(list_contains(comments, line_number), false) AS is_comment
FROM (
    SELECT
        path, unnest(range(first_line, first_line + len(lines)))::INTEGER AS line_number,
        unnest(lines) AS line_text, comments
    FROM (
        SELECT b.path, b.first_line, string_split(b.text, chr(10)) AS lines, c.lines AS comments
        FROM blocks b LEFT JOIN comments c ON c.block = b.block
    )
);
