-- no-infrastructure: no settings, pipelines, containers or deployment: what tells how and where the project runs.

SET extends = 'fledgling-core';
CREATE VIEW visible_files AS
SELECT * FROM files
WHERE coalesce(language, '') NOT IN ('yaml', 'toml', 'ini', 'hcl', 'dockerfile', 'make', 'bash')
  AND path NOT LIKE '.%' AND path NOT LIKE '%/.%';
