"""A fastmcp client: `fastmcp_client.py COMMAND...` prints what it saw as one JSON line."""

import asyncio
import json
import os
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport


async def main(command: list[str]) -> None:
    """List, call with progress, cancel, and call again."""
    progress: list[float] = []

    async def told(done: float, _: float | None, __: str | None) -> None:
        progress.append(done)

    transport = StdioTransport(command[0], command[1:])
    async with Client(transport) as client:
        first = await client.call_tool("symbols", {"max_results": 1}, progress_handler=told)
        tools = await client.list_tools()
        endless = asyncio.create_task(client.call_tool("query", {"sql": os.environ["ENDLESS"]}))
        await asyncio.sleep(0.3)
        endless.cancel()
        await asyncio.wait([endless])
        after = await client.call_tool("explore", {})
        seen = {
            "list": len(tools),
            "call": first.content[0].text.split("\n")[0],
            "progress": len(progress),
            "cancel": endless.cancelled() and not after.is_error,
            "era": str(getattr(client, "protocol_version", None) or client.initialize_result.protocol_version),
        }
        sys.stdout.write(json.dumps(seen) + "\n")


asyncio.run(main(sys.argv[1:]))
