-- fledgling-expert: everything in fledgling-core, with questions about uses as tools of their own.

SET access_mode = 'read_only';   -- nothing can be written; there is no other mode
SET memory_limit = '2GB';
SET query_timeout = 30;          -- seconds

-- The allowlist. The last six are names for what symbols and read are asked, and ask no more.
SET tools = 'explore, read, search, symbols, dependencies, callers, callees, find_usages, symbol_context, get_code_context, explore_namespace';
