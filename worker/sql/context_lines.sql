-- The lines within $context of each hit; hit i is line $lines[i] of file $paths[i].
WITH hits AS (SELECT unnest($paths) AS path, unnest($lines) AS line),
near AS (
    SELECT b.path, unnest(range(b.first_line, b.first_line + len(string_split(b.text, chr(10))))) AS line,
        unnest(string_split(b.text, chr(10))) AS text
    FROM (SELECT path, first_line, text FROM blocks WHERE path IN (SELECT path FROM hits)) b
)
SELECT DISTINCT near.path, near.line, near.text
FROM near JOIN hits ON near.path = hits.path AND near.line BETWEEN hits.line - $context AND hits.line + $context
ORDER BY near.path, near.line
