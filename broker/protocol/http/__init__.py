"""MCP over HTTP: who may ask, what is refused before it is a message, and how much one agent may hold."""
