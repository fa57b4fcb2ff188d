"""The ground floor: what all processes share, and nothing that knows about MCP, DuckDB or a project."""

__version__ = "0.1.0"
