"""MCP over standard input and output: the server of one client, and what handles its requests."""

import warnings
from functools import partial
from typing import Any

from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.types import ServerCapabilities
from pydantic import ValidationError

from fledgling import __version__
from fledgling.broker.audit_log.records import MessageRecord, printable
from fledgling.broker.audit_log.writer import AuditLog
from fledgling.broker.front import Front
from fledgling.broker.operating.operated import Answering, Operated
from fledgling.broker.protocol import app, schema, stdio, updates
from fledgling.broker.protocol.calls import ToolCalls
from fledgling.broker.protocol.client_log import ClientLog
from fledgling.broker.protocol.offers import Context, Offers, ToolDenied
from fledgling.broker.status import told
from fledgling.settings import Answers

FRESH_MS = 3_600_000  # how long a client may keep a list: a profile does not change while a server runs
LISTS: tuple[CacheableMethod, ...] = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")


async def serve(front: Answering, log: AuditLog, answers: Answers) -> None:
    """Serve one client until it closes the pipe."""
    server = build(front, log, answers)

    def refused(unfit: stdio.UnfitLine) -> None:
        log.tell(MessageRecord(verdict="refused", layer="protocol", reason=str(unfit)))

    async with stdio.transport(refused) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def build(front: Answering, log: AuditLog, answers: Answers) -> Server[Any]:
    """Return the MCP server over a front: its tools are the profile's allowlist, no more."""
    behind = front.front if isinstance(front, Operated) else front
    shown = app.of(behind)
    client_log = ClientLog()
    calls = ToolCalls(front, log, answers, client_log, shown)
    offers = Offers(front.profile, log, calls.ask, partial(told, behind), shown)
    with warnings.catch_warnings(action="ignore", category=MCPDeprecationWarning):  # of logging: see ClientLog
        server = _Server(
            "fledgling",
            version=__version__,
            title="Fledgling",
            description="Read-only code navigation",
            instructions=schema.instructions(front.profile, is_one=isinstance(behind, Front)),
            cache_hints=dict.fromkeys(LISTS, CacheHint(ttl_ms=FRESH_MS, scope="private")),
            get_tool_input_schema={name: schema.input_schema(name) for name in front.profile.tools}.get,  # or it lists
            on_list_tools=calls.list_tools,
            on_call_tool=calls.call_tool,
            on_list_resources=offers.list_resources,
            on_list_resource_templates=offers.list_templates,
            on_read_resource=offers.read_resource,
            on_list_prompts=offers.list_prompts,
            on_get_prompt=offers.get_prompt,
            on_completion=offers.complete,
            on_set_logging_level=client_log.set_level,
            **updates.handlers(front),
        )
    server.extensions = {app.EXTENSION: {}} if shown else {}
    server.middleware[:] = [_logging_unfit(log)]  # without the SDK's tracing: nothing about a call is sent anywhere
    return server


def _logging_unfit(log: AuditLog) -> ServerMiddleware[Any]:
    """Return what logs a request that the SDK refuses before it is a call: an unknown method, unfit parameters."""

    async def answered(ctx: Context, call_next: CallNext) -> HandlerResult:
        try:
            return await call_next(ctx)
        except (MCPError, ValidationError) as refused:
            if not isinstance(refused, ToolDenied):
                unfit = f"unfit {printable(ctx.method[:64])}"
                log.tell(MessageRecord(verdict="refused", layer="protocol", reason=unfit))
            raise

    return answered


class _Server(Server[Any]):
    """A server whose lists stay as they are; the SDK says of each that serves subscriptions that they change."""

    def get_capabilities(self, *args: Any, **named: Any) -> ServerCapabilities:
        """Return what the SDK finds, without word of changes to the lists of tools, prompts and resources."""
        found = super().get_capabilities(*args, **named)
        for offered in (found.tools, found.prompts, found.resources):
            if offered:
                offered.list_changed = False
        return found
