-- Text by directory and language; what is not among the $shown = 2000 largest, or below a path of more than $chars = 200
-- characters, as one area of each language without a directory.
WITH areas AS (
    SELECT directory, language, count(*) AS files, sum(line_count)::BIGINT AS lines
    FROM files
    WHERE line_count > 0
    GROUP BY directory, language
), ranked AS (
    SELECT *, row_number() OVER (ORDER BY lines DESC, directory, language) AS rank FROM areas
)
SELECT
    CASE WHEN rank <= $shown AND length(directory) <= $chars THEN directory END AS place, language,
    sum(files)::BIGINT AS files, sum(lines)::BIGINT AS lines
FROM ranked
GROUP BY place, language
ORDER BY lines DESC, place, language
