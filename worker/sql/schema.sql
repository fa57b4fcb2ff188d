-- The tables of an image, in the catalog `image`. Column order is a promise to users; new columns go to the end.
CREATE TABLE image.files (
    path VARCHAR, absolute_path VARCHAR, directory VARCHAR, filename VARCHAR, extension VARCHAR, language VARCHAR,
    size_bytes BIGINT, line_count INTEGER, modified_at TIMESTAMP, is_binary BOOLEAN, is_generated BOOLEAN,
    content_hash VARCHAR, skip_reason VARCHAR
);
CREATE TABLE image.symbols (
    path VARCHAR, name VARCHAR, kind VARCHAR, line_start INTEGER, line_end INTEGER, parent_name VARCHAR,
    signature VARCHAR, docstring VARCHAR, language VARCHAR, visibility VARCHAR, qualified_name VARCHAR
);
CREATE TABLE image.imports (
    path VARCHAR, line_number INTEGER, module VARCHAR, alias VARCHAR, is_relative BOOLEAN, is_stdlib BOOLEAN,
    resolved_path VARCHAR, imported_names VARCHAR[]
);
-- The text, once: about 8 KB a row, cut at line ends. `comments` are the numbers of the lines that hold only comment.
CREATE TABLE image.blocks (path VARCHAR, first_line INTEGER, text VARCHAR, comments INTEGER[]);
-- indent_level counts columns of leading white space, a tab as four.
CREATE VIEW image.content AS
SELECT
    path, line_number, line_text,
    length(replace(left(line_text, length(line_text) - length(ltrim(line_text, E' \t'))), E'\t', '    '))::INTEGER
        AS indent_level,
    regexp_full_match(line_text, '\s*') AS is_blank,
    list_contains(comments, line_number) AS is_comment
FROM (
    SELECT
        path, unnest(range(first_line, first_line + len(lines)))::INTEGER AS line_number,
        unnest(lines) AS line_text, comments
    FROM (SELECT path, first_line, string_split(text, chr(10)) AS lines, comments FROM blocks)
);
