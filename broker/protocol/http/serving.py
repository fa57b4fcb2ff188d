"""MCP over HTTP: Streamable HTTP at /mcp, or the deprecated SSE, for several agents with a token each.

Each agent has a server, a front, an index and workers of its own; they share the socket, the event loop and the audit
log, so what one may hold of these is bounded.
"""

import asyncio
import hmac
import logging
import math
import signal
from collections.abc import Collection, Sequence
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from fledgling.broker.audit_log.records import MessageRecord
from fledgling.broker.audit_log.writer import AuditLog
from fledgling.broker.protocol.http import agents
from fledgling.broker.protocol.http.agents import WatchedFile
from fledgling.broker.protocol.http.connections import ServedSocket
from fledgling.broker.protocol.http.guests import MAX_REQUESTS, Guest
from fledgling.broker.protocol.http.listening import Listening
from fledgling.broker.protocol.http.monitor import MAX_CONNECTIONS, Monitor
from fledgling.broker.protocol.http.refusing import PATHS, RequestRefused, check_head, is_expecting, token
from fledgling.broker.protocol.http.turns import TURNS, taken

if TYPE_CHECKING:
    from fledgling.broker.protocol.http.issuer import Issuer  # where there is none, cryptography is not loaded
    from fledgling.broker.protocol.http.page import ServedPage

SPARE_CONNECTIONS = 64  # on top of MAX_REQUESTS for each agent: those that have not yet said whose they are
CALLS_SECONDS = 8.0  # for calls at work when the server is told to end; supervisors wait ten or more
LOOK_SECONDS = 1.0  # between two looks at the file of agents
TOLD_SECONDS = 1.0  # between two lines about requests that are nobody's: whoever can connect could fill the log

_log = logging.getLogger("fledgling")


class Door:
    """The ASGI application: finds out whose a request is, and hands it to its agent's own server."""

    def __init__(
        self,
        listening: Listening,
        transport: str,
        guests: Sequence[Guest],
        log: AuditLog,
        issuer: "Issuer | None",
        page: "ServedPage | None",
    ) -> None:
        self._listening = listening
        self._issuer = issuer
        self._page = page
        more = {each.path: ("GET",) for each in (issuer, page) if each}
        self._paths = {**PATHS[transport], **more}
        self._guests = guests
        self._log = log
        self._revoked: frozenset[str] = frozenset()  # names of agents
        self._turns = asyncio.Semaphore(TURNS)
        self._untold = 0
        self._told = -math.inf

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or say why not."""
        headers = Headers(scope=scope)
        guest = None
        try:
            check_head(scope, headers, self._listening, self._paths)
            if self._issuer and scope["path"] == self._issuer.path:
                async with taken(self._turns):
                    await JSONResponse(self._issuer.metadata())(scope, receive, send)
                return
            if self._page and scope["path"] == self._page.path:
                await self._page.serve(scope, headers, receive, send)
                return
            guest = await self._guest(scope, token(headers, self._challenge()))
            scope["state"]["agent"] = guest.agent.name
            await guest.serve(scope, headers, receive, send)
        except RequestRefused as refused:
            scope["state"]["is_refused"] = True
            if is_expecting(scope, headers):
                refused.headers["connection"] = "close"
            async with taken(guest.turns if guest else self._turns):
                self.tell(str(refused), guest)
                await refused.response()(scope, receive, send)

    async def _guest(self, scope: Scope, given: str) -> Guest:
        """Return who has this token; the time it takes says nothing about which bytes of it are right."""
        credential = agents.digest(given)
        found = [guest for guest in self._guests if hmac.compare_digest(guest.agent.credential, credential)]
        if not found and self._issuer:
            async with taken(self._turns):  # signatures take milliseconds, and whoever can connect may send them
                bearer = self._issuer.bearer(given)
            if bearer:
                credential, scope["state"]["until"] = agents.by_subject(bearer.subject), bearer.until
                found = [guest for guest in self._guests if guest.agent.credential == credential]
        if not found or found[0].agent.name in self._revoked:
            raise RequestRefused(401, "no agent has this token", www_authenticate=self._challenge("invalid_token"))
        return found[0]

    def _challenge(self, error: str | None = None) -> str:
        if self._issuer:
            return self._issuer.challenge(error)
        return f'Bearer error="{error}"' if error else "Bearer"

    def revoke(self, credentials: Collection[str]) -> frozenset[str]:
        """Serve those who are known by these and no others; return the names of those who are newly revoked."""
        revoked = {guest.agent.name for guest in self._guests if guest.agent.credential not in credentials}
        newly = frozenset(revoked - self._revoked)
        for name in sorted(newly):
            _log.warning("agent %s is revoked", name)
        self._revoked |= newly
        return newly

    def tell(self, reason: str, guest: Guest | None = None) -> None:
        """Put a refusal into the audit log; of what nobody has sent, a line a second."""
        if guest:
            guest.log.tell(MessageRecord(verdict="refused", layer="protocol", reason=reason))
            return
        now = asyncio.get_running_loop().time()
        if now - self._told < TOLD_SECONDS:
            self._untold += 1
            return
        more = f"; {self._untold} more before it" if self._untold else ""
        self._told, self._untold = now, 0
        _log.warning("a request is refused: %s%s", reason, more)
        self._log.tell(MessageRecord(verdict="refused", layer="protocol", reason=reason + more))


async def serve(
    listening: Listening,
    transport: str,
    guests: Sequence[Guest],
    log: AuditLog,
    file: WatchedFile | None = None,
    monitor: Monitor | None = None,
    issuer: "Issuer | None" = None,
    page: "ServedPage | None" = None,
) -> str | None:
    """Serve until a signal says to end, or until a file of agents or keys is another, which this process cannot open.

    Returns the name of that file, if there is one.
    """
    loop = asyncio.get_running_loop()
    ending = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ending.set)
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # what it warns of is told as refused
    door = Door(listening, transport, guests, log, issuer, page)
    sockets = [ServedSocket(door, listening, len(guests) * MAX_REQUESTS + SPARE_CONNECTIONS, door.tell)]
    if monitor:
        sockets.append(ServedSocket(monitor, monitor.listening, MAX_CONNECTIONS, door.tell))
    async with AsyncExitStack() as stack:
        for guest in guests:
            await stack.enter_async_context(guest.open())
        accepting = [await socket.accept() for socket in sockets]
        if monitor:
            _log.info("serving the page of the operator at http://%s", monitor.listening.authority)
        _log.info("serving http://%s%s", listening.authority, next(iter(PATHS[transport])))
        try:
            return await _until(ending, door, sockets[0], file, issuer)
        finally:
            for each in accepting:
                each.close()
            for socket in sockets:
                await socket.close(CALLS_SECONDS)


async def _until(
    ending: asyncio.Event, door: Door, socket: ServedSocket, file: WatchedFile | None, issuer: "Issuer | None"
) -> str | None:
    """Wait for a signal, and meanwhile end what was opened with tokens that are revoked or out of date.

    Returns what `serve` does.
    """
    while not ending.is_set():
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS if file else None):
                await ending.wait()
        for watched in (file, issuer):
            if watched and watched.has_replacement():
                return watched.name
        if file and (credentials := file.credentials()) is not None:
            socket.end(door.revoke(credentials))
        socket.expire()
    return None
