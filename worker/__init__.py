"""The back processes: the indexer and the query worker. No MCP, no command line."""
