-- How many files there are, and lines of text.
SELECT count(*) AS files, coalesce(sum(line_count), 0)::BIGINT AS lines FROM files
