"""Tools of MCP: which are listed, what is called, what goes back; each call is in the audit log."""

import logging
from collections.abc import Mapping

from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ContentBlock,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from fledgling.broker.audit_log.writer import UNLOGGED, AuditLog, AuditLogError
from fledgling.broker.basis import Basis
from fledgling.broker.indexing.progress import percent
from fledgling.broker.operating.operated import Answering
from fledgling.broker.protocol import app, render, schema, tools
from fledgling.broker.protocol.client_log import ClientLog
from fledgling.broker.protocol.offers import Context, ToolDenied
from fledgling.broker.terms import Terms, due
from fledgling.messages.answers import AnyAnswer, Refusal
from fledgling.messages.control import Progress
from fledgling.messages.generations import LISTING, TEXT
from fledgling.messages.operations import CHANGING, OwnAnswer
from fledgling.messages.profile import Profile
from fledgling.settings import Answers

_log = logging.getLogger("fledgling")


class ToolCalls:
    """The handlers of one profile's tools."""

    def __init__(
        self, front: Answering, log: AuditLog, answers: Answers, client_log: ClientLog, shown: app.App | None
    ) -> None:
        """Answer from a front, in the form of `answers`; `shown` is a page beside a tool, where there is one."""
        self._front = front
        self._profile = front.profile
        self._log = log
        self._answers = answers
        self._client_log = client_log
        self._shown = shown

    async def list_tools(self, context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        """List the tools of the profile."""
        has_app = self._shown is not None and self._shown.is_for(context.session.client_capabilities)
        return ListToolsResult(tools=definitions(self._profile, self._answers, has_app=has_app))

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        """Call a tool. Raises ToolDenied where the profile does not have it."""
        arguments, deadline = params.arguments or {}, due(self._profile)
        _, returned, text = await self._put(context, params.name, arguments, self._answers, LISTING, deadline)
        if params.name not in self._profile.tools:
            raise ToolDenied(INVALID_PARAMS, text)
        return returned

    async def ask(
        self, context: Context, tool: str, arguments: Mapping[str, object], deadline: float
    ) -> AnyAnswer | Refusal:
        """Ask for a resource or a completion, which say nothing of what they lack: no listing is good enough."""
        found, *_ = await self._put(context, tool, arguments, "text", TEXT, deadline)
        assert not isinstance(found, OwnAnswer), "no resource is made of it"
        return found

    async def _put(
        self,
        context: Context,
        tool: str,
        arguments: Mapping[str, object],
        form: Answers,
        least: int,
        deadline: float,
    ) -> tuple[AnyAnswer | Refusal | OwnAnswer, CallToolResult, str]:
        """Put one call and log it; return the answer, what goes back to the client, and its text."""
        try:
            with self._log.deciding(self._profile, tool, arguments) as decision:
                terms = Terms(deadline, Reporter(context).report, least, decision.basis)
                answer = await self._front.call(tool, arguments, terms)
                returned, text = result(answer, form, decision.basis)
                decision.became(answer, len(text.encode()))
        except AuditLogError as failed:
            _log.error("%s; a call is refused", failed)
            return UNLOGGED, *result(UNLOGGED, form)
        await self._client_log.tell(context, decision)
        return answer, returned, text


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
