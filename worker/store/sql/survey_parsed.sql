-- How far the files with text of each language are understood: whole, in part, not at all because the parser gave up, or
-- because no parser knows the language.
SELECT
    language, count(*) FILTER (is_parsed AND engine != 'none') AS whole,
    count(*) FILTER (NOT is_parsed AND engine != 'none') AS in_part,
    count(*) FILTER (NOT is_parsed AND engine IS NULL) AS given_up,
    count(*) FILTER (engine = 'none' OR (engine IS NULL AND is_parsed IS NULL)) AS without_parser
FROM files
WHERE skip_reason IS NULL AND line_count > 0
GROUP BY language
ORDER BY count(*) DESC, language
