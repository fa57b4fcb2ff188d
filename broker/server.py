"""MCP over standard input and output: what is listed, what is called, what goes back."""

from typing import Any

import msgspec
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from fledgling import __version__
from fledgling.broker import render, schema
from fledgling.broker.front import Front
from fledgling.wire import AnyAnswer, Excerpt, Profile, Progress, Refusal

FRESH_MS = 3_600_000  # how long a client may keep the list of tools: a profile does not change while a server runs

# How far along a build is when a stage begins and when it ends, in percent of its time on a large project.
STAGES = {"walk": (0, 5), "read": (5, 20), "extract": (20, 95), "seal": (95, 100)}

Context = ServerRequestContext[Any, Any]


async def serve(front: Front) -> None:
    """Serve one client until it closes the pipe."""
    server = build(front)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def build(front: Front) -> Server[Any]:
    """Return the MCP server over a front: its tools are the profile's allowlist, no more."""

    async def list_tools(_: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=tools(front.profile))

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        if params.name not in front.profile.tools:
            denied = front.denied(params.name)
            raise MCPError(INVALID_PARAMS, render.refusal(denied))
        return result(await front.call(params.name, params.arguments or {}, Reporter(context).report))

    server: Server[Any] = Server(
        "fledgling",
        version=__version__,
        title="Fledgling",
        description="Read-only code navigation",
        instructions=schema.instructions(front.profile),
        cache_hints={"tools/list": CacheHint(ttl_ms=FRESH_MS, scope="private")},
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.clear()  # the SDK's tracing: Fledgling sends nothing about a call anywhere
    return server


def tools(profile: Profile) -> list[Tool]:
    """Return the definitions of the profile's tools, in the order of its allowlist."""
    return [
        Tool(
            name=name,
            description=schema.description(name),
            input_schema=schema.input_schema(name),
            output_schema=schema.output_schema(name),
            annotations=ToolAnnotations(
                read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
            ),
        )
        for name in profile.tools
    ]


def result(answer: AnyAnswer | Refusal) -> CallToolResult:
    """Return what goes back to the client: text alone for read, structure and the same as JSON text for the others."""
    if isinstance(answer, Refusal):
        return CallToolResult(content=[_text(render.refusal(answer))], is_error=True)
    if isinstance(answer, Excerpt):
        return CallToolResult(content=[_text(render.text(answer))])
    values = render.structured(answer)
    return CallToolResult(content=[_text(msgspec.json.encode(values).decode())], structured_content=values)


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


class Reporter:
    """Tells a waiting client how far the index is; the number only ever grows, as the protocol demands."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._told = -1.0

    async def report(self, progress: Progress) -> None:
        """Send a progress notification, if the client asked for them and there is progress."""
        begin, end = STAGES[progress.stage]
        percent = begin + (end - begin) * progress.done / max(progress.total, 1)
        if percent > self._told:
            self._told = percent
            await self._context.session.report_progress(percent, 100, f"indexing: {progress.stage}")
