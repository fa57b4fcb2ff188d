-- The blocks of $path = 'src/app.py' that hold the lines $start to $end.
SELECT first_line, text FROM blocks
WHERE
    path = $path AND first_line <= $end
    AND first_line >= (SELECT coalesce(max(first_line), 1) FROM blocks WHERE path = $path AND first_line <= $start)
ORDER BY first_line
