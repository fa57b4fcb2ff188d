"""The front process: it speaks MCP and the terminal, and holds no data."""

from fledgling import imports_from_here, refuse_shadowed

if imports_from_here("-c"):
    refuse_shadowed()
