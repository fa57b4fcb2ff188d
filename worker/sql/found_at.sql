-- Where $line matches first in each of $lines, which are files' long lines; columns count from 1.
SELECT strpos(text, regexp_extract(text, $line)) AS column
FROM (SELECT unnest($lines) AS text, unnest(range(len($lines))) AS place)
ORDER BY place
