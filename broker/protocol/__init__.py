"""MCP: transports, what is listed, what is called, what goes back."""
