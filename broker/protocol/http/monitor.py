"""What watches a server may ask of it, on an address of its own: is it up, is it ready, what has it counted.

No token is needed, so nothing is answered but names of agents and numbers. There is nothing to be changed here, and a
request has no body.
"""

import ipaddress
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from fledgling.broker.fleet.live import LiveFleet
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.metrics import Metrics
from fledgling.broker.operating.operated import Answering
from fledgling.broker.protocol.http.agents import Agent
from fledgling.broker.protocol.http.listening import Listening
from fledgling.messages.generations import CODE

PATHS = ("/healthz", "/readyz", "/metrics")
MAX_CONNECTIONS = 16  # those who watch are few, and ask again
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Monitor:
    """The ASGI application behind `--monitor`."""

    def __init__(self, listening: Listening, metrics: Metrics, fronts: Mapping[Agent, Answering]) -> None:
        self.listening = listening
        self._metrics = metrics
        self._fronts = fronts

    def _indexings(self) -> dict[str, Indexing]:
        """Return the indexes there are now, by agent, and by project where there are several."""
        return {
            f"{agent.name}/{project}".removesuffix("/"): indexing
            for agent, front in self._fronts.items()
            for project, indexing in front.indexings().items()
        }

    def _states(self) -> dict[str, str]:
        """Return how far each index is; a fleet has none to make, and is as far as its worker."""
        fleets = {agent.name: front for agent, front in self._fronts.items() if isinstance(front, LiveFleet)}
        return {
            **{agent: _state(indexing) for agent, indexing in self._indexings().items()},
            **{agent: SERVING if fleet.is_serving() else "no query worker" for agent, fleet in fleets.items()},
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self._answer(scope["method"], scope["raw_path"].decode("latin-1"), Headers(scope=scope))(
            scope, receive, send
        )

    def _answer(self, method: str, path: str, headers: Headers) -> Response:
        closing = {"connection": "close"}  # a body that nobody has read may follow
        if not self._is_ours(headers["host"]) or "origin" in headers:
            return PlainTextResponse("this Host is not served here\n", 421, closing)
        if path not in PATHS:
            return PlainTextResponse(f"there is nothing here; ask for {', '.join(PATHS)}\n", 404, closing)
        if method not in ("GET", "HEAD"):
            return PlainTextResponse("only GET is answered here\n", 405, {"allow": "GET, HEAD", **closing})
        if path == "/healthz":
            return PlainTextResponse("ok\n")
        if path == "/metrics":
            return Response(self._metrics.text(self._indexings()), media_type=METRICS_TYPE)
        states = self._states()
        is_ready = all(state in (READY, SERVING) for state in states.values())
        return PlainTextResponse(
            "".join(f"{agent}: {state}\n" for agent, state in states.items()), 200 if is_ready else 503
        )

    def _is_ours(self, host: str) -> bool:
        """Return whether a Host is known, or an address: a page can let a name of its own lead here, no address."""
        if host.lower() in self.listening.hosts:
            return True
        name, _, port = host.rpartition(":")
        try:
            ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return port == self.listening.authority.rpartition(":")[2]


READY = f"generation {CODE}"
SERVING = "serving"


def _state(indexing: Indexing) -> str:
    """Say in a word or two how far an index is; never more, since anybody may ask."""
    newest = indexing.newest_or_none()
    if newest and newest.number >= CODE:
        return READY
    if indexing.is_over:
        return "failed"
    return f"generation {newest.number}, building" if newest else "building"
