-- `content` over `blocks` and `comments`, in the catalog `image`.
-- indent_level counts columns of leading spaces and tabs, with a tab stop every four; blank is what str.isspace says.
CREATE VIEW image.content AS
SELECT
    path, line_number, line_text,
    length(regexp_replace(regexp_extract(line_text, '^[ \t]*'), ' {4}| {0,3}\t', '    ', 'g'))::INTEGER AS indent_level,
    regexp_full_match(line_text, '[\s\v\x1c-\x1f\x{85}\p{Z}]*') AS is_blank,
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
