"""The front process: it speaks MCP and the terminal, and holds no data."""
