"""A fastmcp client: `fastmcp_client.py calls|offers COMMAND...` prints what it saw as one JSON line."""

import asyncio
import json
import os
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp.types import PromptReference, ResourceTemplateReference


async def calls(client: Client) -> dict[str, object]:
    """List, call with progress, cancel, and call again."""
    progress: list[float] = []

    async def told(done: float, _: float | None, __: str | None) -> None:
        progress.append(done)

    first = await client.call_tool("symbols", {"max_results": 1}, progress_handler=told)
    tools = await client.list_tools()
    endless = asyncio.create_task(client.call_tool("query", {"sql": os.environ["ENDLESS"]}))
    await asyncio.sleep(0.3)
    endless.cancel()
    await asyncio.wait([endless])
    after = await client.call_tool("explore", {})
    return {
        "list": len(tools),
        "call": first.content[0].text.split("\n")[0],
        "progress": len(progress),
        "cancel": endless.cancelled() and not after.is_error,
        "era": str(getattr(client, "protocol_version", None) or client.initialize_result.protocol_version),
    }


async def offers(client: Client) -> dict[str, object]:
    """List and read resources, list and get prompts, complete."""
    resources = await client.list_resources()
    for resource in resources:
        await client.read_resource(resource.uri)
    templates = await client.list_resource_templates()
    prompt = await client.get_prompt("review_module", {"path": "src/core/engine.py"})
    file = ResourceTemplateReference(type="ref/resource", uri=templates[0].uri_template)
    symbol = PromptReference(type="ref/prompt", name="explain_symbol")
    return {
        "resources": [resource.name for resource in resources],
        "templates": [each.uri_template for each in templates],
        "prompts": [each.name for each in await client.list_prompts()],
        "prompt": prompt.messages[0].content.text.split("\n")[0],
        "path": (await client.complete(file, {"name": "path", "value": "src/co"})).values,
        "symbol": (await client.complete(symbol, {"name": "symbol", "value": "process"})).values,
    }


async def main(what: str, command: list[str]) -> None:
    """Do what is asked with the server that the command starts."""
    async with Client(StdioTransport(command[0], command[1:])) as client:
        seen = await {"calls": calls, "offers": offers}[what](client)
        sys.stdout.write(json.dumps(seen) + "\n")


asyncio.run(main(sys.argv[1], sys.argv[2:]))
