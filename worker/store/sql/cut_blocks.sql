-- Blocks again from the lines that a profile's view of content left: runs of consecutive lines, 200 lines each at most.
CREATE TABLE memory.narrowed_blocks AS
SELECT
    (row_number() OVER (ORDER BY path, min(line_number)) - 1)::INTEGER AS block,
    path, min(line_number) AS first_line, string_agg(line_text, chr(10) ORDER BY line_number) AS text,
    list(line_number ORDER BY line_number) FILTER (is_comment) AS comments
FROM (
    SELECT path, line_number, line_text, is_comment, line_number - place AS run, place // 200 AS part
    FROM (
        SELECT path, line_number, line_text, is_comment,
            row_number() OVER (PARTITION BY path ORDER BY line_number) AS place
        FROM narrowed_content
    )
)
GROUP BY path, run, part;
INSERT INTO text.blocks
SELECT block, path, first_line, text FROM narrowed_blocks ORDER BY block;
INSERT INTO code.comments SELECT block, comments FROM narrowed_blocks WHERE comments IS NOT NULL ORDER BY block;
