-- Blocks again from the lines that a profile's view of content left: runs of consecutive lines, 200 lines each at most.
INSERT INTO image.blocks
SELECT
    path, min(line_number), string_agg(line_text, chr(10) ORDER BY line_number),
    coalesce(list(line_number ORDER BY line_number) FILTER (is_comment), [])
FROM (
    SELECT path, line_number, line_text, is_comment, line_number - place AS run, place // 200 AS part
    FROM (
        SELECT path, line_number, line_text, is_comment,
            row_number() OVER (PARTITION BY path ORDER BY line_number) AS place
        FROM narrowed_content
    )
)
GROUP BY path, run, part
ORDER BY path, min(line_number)
