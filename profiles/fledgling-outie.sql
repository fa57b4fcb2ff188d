-- fledgling-outie: the strictest. Navigation over the project's own text, and little of it at a time.

SET access_mode = 'read_only';   -- nothing can be written; there is no other mode
SET memory_limit = '1GB';
SET query_timeout = 10;          -- seconds

-- The allowlist: a tool that is not named here does not exist for the agent.
SET tools = 'explore, read, search, symbols, dependencies';

SET max_rows = 200;
SET max_result_bytes = '64KB';
SET absolute_paths = 'off';      -- the layout of this machine is not part of the project

-- What this agent may see. A file left out here is in no table: its name is as absent as its text.
CREATE VIEW visible_files AS
SELECT *
FROM files
WHERE NOT is_generated
  AND NOT is_binary
  AND skip_reason IS NULL        -- no secrets, no links, nothing too large to read
  AND path NOT LIKE '.%'         -- no dot-file and no dot-directory, at the root
  AND path NOT LIKE '%/.%';      -- or below it
