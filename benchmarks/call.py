"""Start an MCP server, call its tools in order, end it: `call.py '[["index", {"path": "."}]]' SERVER ARGUMENT...`."""

import asyncio
import json
import os
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(calls: list[tuple[str, dict[str, object]]], command: list[str]) -> None:
    """Print each answer; a tool that fails is the end."""
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ), cwd=Path.cwd())
    async with Client(stdio_client(server)) as client:
        for tool, arguments in calls:
            answer = await client.call_tool(tool, arguments)
            sys.stdout.write(f"{tool}: {answer.content}\n")
            if answer.is_error:
                raise SystemExit(f"{tool} failed")


asyncio.run(main(json.loads(sys.argv[1]), sys.argv[2:]))
