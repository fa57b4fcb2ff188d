-- fledgling-core: read-only code navigation. This is the default.

SET access_mode = 'read_only';   -- nothing can be written; there is no other mode
SET memory_limit = '2GB';
SET query_timeout = 30;          -- seconds

-- The allowlist: a tool that is not named here does not exist for the agent.
SET tools = 'explore, read, search, symbols, dependencies';
