-- The scopes, from what is left of symbols and blocks.
INSERT INTO code.scopes
SELECT last_block, line_start, line_end, qualified_name
FROM code.symbols JOIN (SELECT DISTINCT path, last_block FROM text.blocks) USING (path)
WHERE kind NOT IN ('import', 'export', 'variable', 'constant')
ORDER BY last_block, line_start
