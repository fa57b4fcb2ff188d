"""MCP over standard input and output: what is listed, what is called, what goes back."""

import logging
import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any

from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ContentBlock,
    ListToolsResult,
    PaginatedRequestParams,
    ServerCapabilities,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import ValidationError

from fledgling import __version__
from fledgling.broker.audit_log.records import MessageRecord, printable
from fledgling.broker.audit_log.writer import UNLOGGED, AuditLog, AuditLogError
from fledgling.broker.basis import Basis
from fledgling.broker.operating.operated import Answering, Operated
from fledgling.broker.protocol import app, render, schema, stdio, tools, updates
from fledgling.broker.protocol.client_log import ClientLog
from fledgling.broker.protocol.offers import Context, Offers, ToolDenied
from fledgling.broker.status import percent, told
from fledgling.broker.terms import Terms, due
from fledgling.messages.answers import AnyAnswer, Refusal
from fledgling.messages.control import Progress
from fledgling.messages.generations import LISTING, TEXT
from fledgling.messages.operations import CHANGING, OwnAnswer
from fledgling.messages.profile import Profile
from fledgling.settings import Answers

FRESH_MS = 3_600_000  # how long a client may keep a list: a profile does not change while a server runs
LISTS: tuple[CacheableMethod, ...] = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")

_log = logging.getLogger("fledgling")


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

    async def list_tools(context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        has_app = shown is not None and shown.is_for(context.session.client_capabilities)
        return ListToolsResult(tools=definitions(front.profile, answers, has_app=has_app))

    async def put(
        context: Context, tool: str, arguments: Mapping[str, object], form: Answers, least: int, deadline: float
    ) -> tuple[AnyAnswer | Refusal | OwnAnswer, CallToolResult, str]:
        try:
            with log.deciding(front.profile, tool, arguments) as decision:
                terms = Terms(deadline, Reporter(context).report, least, decision.basis)
                answer = await front.call(tool, arguments, terms)
                returned, text = result(answer, form, decision.basis)
                decision.became(answer, len(text.encode()))
        except AuditLogError as failed:
            _log.error("%s; a call is refused", failed)
            return UNLOGGED, *result(UNLOGGED, form)
        await client_log.tell(context, decision)
        return answer, returned, text

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        arguments, deadline = params.arguments or {}, due(front.profile)
        _, returned, text = await put(context, params.name, arguments, answers, LISTING, deadline)
        if params.name not in front.profile.tools:
            raise ToolDenied(INVALID_PARAMS, text)
        return returned

    async def ask(context: Context, tool: str, arguments: Mapping[str, object], deadline: float) -> AnyAnswer | Refusal:
        """Ask for a resource or a completion, which say nothing of what they lack: no listing is good enough."""
        found, *_ = await put(context, tool, arguments, "text", TEXT, deadline)
        assert not isinstance(found, OwnAnswer), "no resource is made of it"
        return found

    async def protocol(ctx: Context, call_next: CallNext) -> HandlerResult:
        """Log what the SDK refuses before it is a call: no such method, parameters that do not fit."""
        try:
            return await call_next(ctx)
        except (MCPError, ValidationError) as refused:
            if not isinstance(refused, ToolDenied):
                log.tell(
                    MessageRecord(verdict="refused", layer="protocol", reason=f"unfit {printable(ctx.method[:64])}")
                )
            raise

    offers = Offers(front.profile, log, ask, partial(told, behind), shown)
    client_log = ClientLog()
    with warnings.catch_warnings(action="ignore", category=MCPDeprecationWarning):  # of logging: see ClientLog
        server = _Server(
            "fledgling",
            version=__version__,
            title="Fledgling",
            description="Read-only code navigation",
            instructions=schema.instructions(front.profile),
            cache_hints=dict.fromkeys(LISTS, CacheHint(ttl_ms=FRESH_MS, scope="private")),
            get_tool_input_schema={name: schema.input_schema(name) for name in front.profile.tools}.get,  # or it lists
            on_list_tools=list_tools,
            on_call_tool=call_tool,
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
    server.middleware[:] = [protocol]  # without the SDK's tracing: Fledgling sends nothing about a call anywhere
    return server


class _Server(Server[Any]):
    """A server whose lists stay as they are; the SDK says of each that serves subscriptions that they change."""

    def get_capabilities(self, *args: Any, **named: Any) -> ServerCapabilities:
        """Return what the SDK finds, without word of changes to the lists of tools, prompts and resources."""
        found = super().get_capabilities(*args, **named)
        for offered in (found.tools, found.prompts, found.resources):
            if offered:
                offered.list_changed = False
        return found


def definitions(profile: Profile, answers: Answers, *, has_app: bool = False) -> list[Tool]:
    """Return the definitions of the profile's tools, in the order of its allowlist; one may have a page beside it."""
    return [
        Tool(
            name=name,
            description=schema.description(name),
            input_schema=schema.input_schema(name),
            output_schema=schema.output_schema(name) if answers == "structured" else None,
            annotations=ToolAnnotations(
                read_only_hint=name not in CHANGING,
                destructive_hint=False,
                idempotent_hint=name not in CHANGING,
                open_world_hint=False,
            ),
            _meta=dict(app.META) if has_app and name == app.TOOL else None,
        )
        for name in profile.tools
    ]


def result(
    answer: AnyAnswer | Refusal | OwnAnswer, answers: Answers, basis: Basis | None = None
) -> tuple[CallToolResult, str]:
    """Return what goes back to the client, and its text.

    Some clients give a model the structure instead of the text where there are both, and as JSON it takes up to 2.4
    times the tokens: for those there is text alone. Of `basis` no model is told: it is for the client.
    """
    meta = basis.meta() if basis else None
    if isinstance(answer, Refusal):
        text = render.refusal(answer)
        return CallToolResult(content=_content(text), is_error=True, _meta=meta), text
    if isinstance(answer, OwnAnswer):
        structure = answer.structure if answers == "structured" else None
        return CallToolResult(content=_content(answer.text), structured_content=structure, _meta=meta), answer.text
    text = tools.text(answer)
    is_text = answers == "text" or tools.is_text(answer)
    structure = None if is_text else render.structured(answer)
    return CallToolResult(content=_content(text), structured_content=structure, _meta=meta), text


def _content(text: str) -> list[ContentBlock]:
    return [TextContent(type="text", text=text)]


class Reporter:
    """Tells a waiting client how far the index is; the number only ever grows, as the protocol demands."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._told = -1.0

    async def report(self, progress: Progress) -> None:
        """Send a progress notification, if the client asked for them and there is progress."""
        done = percent(progress)
        if done > self._told:
            self._told = done
            await self._context.session.report_progress(done, 100, f"indexing: {progress.stage}")
