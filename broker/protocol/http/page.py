"""The report of an index as a page for an operator, made anew each time it is opened: `serve --page`.

A browser asks for a name and a password: whose index is to be shown, and the page's own token of this run. An agent's
token opens no page, and the page's token asks nothing of an agent's.
"""

import asyncio
import base64
import binascii
import hmac
from collections.abc import Mapping
from typing import NamedTuple

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse
from starlette.types import Receive, Scope, Send

from fledgling.broker.audit_log.writer import AuditLog, AuditLogError
from fledgling.broker.front import Front
from fledgling.broker.protocol.http import agents
from fledgling.broker.protocol.http.refusing import RequestRefused
from fledgling.broker.reporting import live
from fledgling.broker.reporting.explorer import POLICY
from fledgling.messages.answers import Refusal

TOOL = "page"  # what the audit log calls it
CHALLENGE = 'Basic realm="fledgling", charset="UTF-8"'  # RFC 7617
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": f"{POLICY}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


class Shown(NamedTuple):
    """What an agent is shown of the project, and the log of who looks at that."""

    front: Front
    log: AuditLog


class ServedPage:
    """The page of each agent's index, behind one token."""

    path = "/page"

    def __init__(self, token: str, views: Mapping[str, Shown]) -> None:
        self._digest = agents.digest(token)
        self._views = views
        self._making = asyncio.Lock()

    async def serve(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        """Answer a GET, or raise RequestRefused."""
        view = self._view(headers)
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):  # W3C Fetch Metadata
            raise RequestRefused(403, "the page is opened by its address, not by another site")
        if self._making.locked():
            raise RequestRefused(429, "a page is being made already; ask again", retry_after="1")
        async with self._making:
            try:
                text = await _made(view)
            except AuditLogError:
                raise RequestRefused(503, "the audit log cannot be written, so nothing is shown") from None
        await HTMLResponse(text, headers=HEADERS)(scope, receive, send)

    def _view(self, headers: Headers) -> Shown:
        """Return whose index is asked for by whoever knows the token; the time it takes says nothing about that."""
        name, token = _credentials(headers)
        if not hmac.compare_digest(self._digest, agents.digest(token)):
            raise RequestRefused(401, "this is not the page's password", www_authenticate=CHALLENGE)
        if name in self._views:
            return self._views[name]
        if len(self._views) == 1 and not name:
            return next(iter(self._views.values()))
        raise RequestRefused(401, "no agent has this name", www_authenticate=CHALLENGE)


def _credentials(headers: Headers) -> tuple[str, str]:
    scheme, _, given = headers.get("authorization", "").partition(" ")
    try:
        if scheme.lower() != "basic":
            raise ValueError
        name, _, token = base64.b64decode(given, validate=True).decode().partition(":")
    except (ValueError, binascii.Error):
        problem = "no password; give the name of an agent, and the password of this run"
        raise RequestRefused(401, problem, www_authenticate=CHALLENGE) from None
    return name, token


async def _made(view: Shown) -> str:
    """Return the page of an index as it is now, with a line in the audit log. Raises RequestRefused, AuditLogError."""
    with view.log.deciding(view.front.profile, TOOL, {}) as decision:
        made = await live.made(view.front)
        if isinstance(made, Refusal):
            decision.verdict, decision.reason = "refused", made.kind
        else:
            decision.verdict, decision.layer, decision.bytes = "allowed", "worker", len(made.encode())
    if isinstance(made, Refusal):
        raise RequestRefused(503, f"{made.reason}. {made.next_step}", retry_after="1")
    return made
