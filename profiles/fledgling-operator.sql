-- fledgling-operator: everything in fledgling-core, tasks and tags that agents share, and the indexes of the server itself.

SET access_mode = 'read_only';   -- nothing of a project can be written; there is no other mode
SET memory_limit = '2GB';
SET query_timeout = 60;          -- seconds; an index of a large project takes some of them

-- The allowlist: a tool that is not named here does not exist for the agent.
SET tools = 'explore, read, search, symbols, dependencies, status, manage, tasks, tags';
