-- fledgling-analyst: everything in fledgling-core, and SQL over the index.

SET access_mode = 'read_only';   -- nothing can be written; there is no other mode
SET memory_limit = '4GB';
SET query_timeout = 60;          -- seconds

-- The allowlist: a tool that is not named here does not exist for the agent.
SET tools = 'explore, read, search, symbols, dependencies, query';

-- An analyst counts and joins: longer tables, larger answers.
SET max_rows = 10000;
SET max_result_bytes = '4MB';
