"""What an MCP client is offered beside tools: resources, prompts, completions; each decision is in the audit log."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    PromptReference,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
)

from fledgling.broker.audit_log.records import LAYERS
from fledgling.broker.audit_log.writer import UNLOGGED, AuditLog, AuditLogError
from fledgling.broker.protocol import app, prompts, render, resources, tools
from fledgling.broker.protocol.app import App
from fledgling.broker.terms import due
from fledgling.messages.answers import AnyAnswer, Refusal
from fledgling.messages.profile import Profile

TEXT = "text/plain"

Context = ServerRequestContext[Any, Any]
# Puts a call and logs it; all calls of one request have one deadline.
Ask = Callable[[Context, str, Mapping[str, object], float], Awaitable[AnyAnswer | Refusal]]
AskStatus = Callable[[int | None], Awaitable[list[str]]]  # since a generation of changes, or since the index was built
_log = logging.getLogger("fledgling")


class ToolDenied(MCPError):
    """A request that was refused; it is in the audit log already."""


class Offers:
    """The handlers of one profile's resources, prompts and completions."""

    def __init__(self, profile: Profile, log: AuditLog, ask: Ask, state: AskStatus, shown: App | None) -> None:
        """Put calls by `ask`; `state` says how the index is.

        `shown` is the page that clients may show, where there is one.
        """
        self._profile = profile
        self._log = log
        self._ask = ask
        self._state = state
        self._shown = shown

    async def list_resources(self, context: Context, _: PaginatedRequestParams | None) -> ListResourcesResult:
        """List what is at a fixed address, and the page for clients that show one."""
        listed = [
            Resource(uri=each.uri, name=each.name, description=each.description, mime_type=TEXT)
            for each in resources.allowed(self._profile)
        ]
        if self._shown and self._shown.is_for(context.session.client_capabilities):
            listed.append(Resource(uri=app.URI, name="report", description=app.DESCRIPTION, mime_type=app.MIME))
        return ListResourcesResult(resources=listed)

    async def list_templates(self, _: Context, __: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
        """List how the address of a file is made, and that of what has changed."""
        return ListResourceTemplatesResult(
            resource_templates=[
                ResourceTemplate(uri_template=each.uri, name=each.name, description=each.description, mime_type=TEXT)
                for each in resources.templates(self._profile)
            ]
        )

    async def read_resource(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        """Answer with what is at an address; a file is cut as read() cuts it, and says how to go on."""
        found = resources.found(self._profile, params.uri)
        about = {"uri": params.uri}
        if self._shown and params.uri == app.URI:
            page = _text(self._decided("resources/read", about, await self._shown.page(due(self._profile))), about)
            return ReadResourceResult(contents=[TextResourceContents(uri=app.URI, mime_type=app.MIME, text=page)])
        if isinstance(found, resources.MappedCall):
            text = _text(await self._ask(context, *found, due(self._profile)), about)
        elif isinstance(found, resources.Since):
            stands = "\n".join(await self._state(found.generation))
            text = _text(self._decided("resources/read", about, stands), about)
        else:
            text = _text(self._decided("resources/read", about, found), about)
        return ReadResourceResult(contents=[TextResourceContents(uri=params.uri, mime_type=TEXT, text=text)])

    async def list_prompts(self, _: Context, __: PaginatedRequestParams | None) -> ListPromptsResult:
        """List the prompts whose tools are allowed."""
        return ListPromptsResult(
            prompts=[
                Prompt(
                    name=each.name,
                    description=each.description,
                    arguments=[
                        PromptArgument(name=of.name, description=of.description, required=of.is_required)
                        for of in each.arguments
                    ],
                )
                for each in prompts.allowed(self._profile)
            ]
        )

    async def get_prompt(self, _: Context, params: GetPromptRequestParams) -> GetPromptResult:
        """Answer with a prompt and its arguments filled in."""
        given = params.arguments or {}
        said = prompts.text(self._profile, params.name, given)
        text = _text(self._decided(f"prompts/get {params.name}", given, said))
        return GetPromptResult(messages=[PromptMessage(role="user", content=TextContent(type="text", text=text))])

    async def complete(self, context: Context, params: CompleteRequestParams) -> CompleteResult:
        """Complete the path of a file, or the name of a definition."""
        deadline = due(self._profile)

        async def ask(tool: str, arguments: Mapping[str, object]) -> AnyAnswer | Refusal:
            return await self._ask(context, tool, arguments, deadline)

        given = (params.context.arguments if params.context else None) or {}
        typed = params.argument.value
        match self._about(params):
            case "path":
                found = await resources.paths(self._profile, typed, ask)
            case "symbol":
                found = await resources.symbols(self._profile, typed, ask, given.get("path"))
            case _:
                found = resources.Completed([])
        return CompleteResult(completion=Completion(values=found.values, has_more=found.has_more))

    def _about(self, params: CompleteRequestParams) -> str | None:
        """Return what is being typed, if it is an argument of something that this profile has."""
        name = params.argument.name
        if isinstance(params.ref, PromptReference):
            known = {prompt.name: prompt.arguments for prompt in prompts.allowed(self._profile)}
            return name if any(name == argument.name for argument in known.get(params.ref.name, ())) else None
        return name if params.ref.uri == resources.FILE_TEMPLATE and resources.has_files(self._profile) else None

    def _decided(self, what: str, arguments: Mapping[str, object], said: str | Refusal) -> str | Refusal:
        """Write the line about what needs no tool; without it there is no answer."""
        try:
            with self._log.deciding(self._profile, what, arguments) as decision:
                if isinstance(said, Refusal):
                    decision.became(said, len(render.refusal(said).encode()))
                    decision.layer = "profile" if said.kind == "denied" else LAYERS[said.kind]
                else:
                    decision.verdict, decision.layer, decision.bytes = "allowed", "broker", len(said.encode())
        except AuditLogError as failed:
            _log.error("%s; a request is refused", failed)
            return UNLOGGED
        return said


def _text(said: AnyAnswer | Refusal | str, about: Mapping[str, str] | None = None) -> str:
    if isinstance(said, Refusal):
        raise ToolDenied(INVALID_PARAMS, render.refusal(said), about)
    return said if isinstance(said, str) else tools.text(said)
