-- The lines that a profile leaves, joined where one follows the other, 200 at most: of each such piece the path, the
-- numbers of its first and last line, its text, and the numbers of the lines in it that hold only comment.
SELECT
    path, min(line_number)::UINTEGER AS first_line, max(line_number) AS last_line,
    string_agg(line, chr(10) ORDER BY line_number) AS text,
    list(line_number ORDER BY line_number) FILTER (is_comment) AS comments
FROM (
    SELECT path, line_number, line, is_comment, line_number - place AS run, place // 200 AS part
    FROM (
        SELECT
            path, line_number, replace(coalesce(line_text, ''), chr(10), ' ') AS line, is_comment,
            row_number() OVER (PARTITION BY path ORDER BY line_number) AS place
        FROM left_content
        WHERE line_number IS NOT NULL
    )
)
GROUP BY path, run, part
ORDER BY path, first_line
