-- The innermost definition around each hit that is in one; hit i is line $lines[i] of the file with last block $files[i].
SELECT hit.file, hit.line, arg_max(qualified_name, (line_start, -line_end)) AS qualified_name
FROM (SELECT unnest($files) AS file, unnest($lines) AS line) hit
JOIN scopes ON last_block = hit.file AND hit.line BETWEEN line_start AND line_end
GROUP BY hit.file, hit.line
