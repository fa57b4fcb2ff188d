"""Who hears that the status is another: clients that have asked for that, each in the way of its revision of MCP.

Since 2026-07-28 a client opens a stream with `subscriptions/listen`; before, it subscribes to a resource. Both are told
that there is something to read at `fledgling://status`, and nothing of what. They hear when a build begins, comes to a
further generation or ends, and when a look at the project has found changes: nobody looks for their sake.
"""

import asyncio
from typing import Any

import anyio
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourceUpdated
from mcp.types import (
    INVALID_PARAMS,
    EmptyResult,
    SubscribeRequestParams,
    SubscriptionFilter,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)

from fledgling.broker.front import Front
from fledgling.broker.protocol.offers import Context
from fledgling.broker.protocol.resources import STATUS

MAX_LISTENERS = 4  # of each way; a client needs one
MAX_EVENTS = 16  # that wait for a client; one that does not take them is told no more
EVERY_SECONDS = 1.0  # between two notifications
SEND_SECONDS = 1.0  # for one; a client that does not take it is told no more


def handlers(front: object) -> dict[str, Any]:
    """Return what a server answers subscriptions with; nothing where its profile has no status, or it has several."""
    if not isinstance(front, Front) or "explore" not in front.profile.tools:
        return {}
    updates = Updates(front)
    return {
        "on_subscribe_resource": updates.subscribe,
        "on_unsubscribe_resource": updates.unsubscribe,
        "on_subscriptions_listen": updates.listen,
    }


class Updates:
    """Tells the clients of one front."""

    def __init__(self, front: Front) -> None:
        self._front = front
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus, max_subscriptions=MAX_LISTENERS, max_buffered_events=MAX_EVENTS)
        self._listening = 0
        self._subscribed: list[ServerSession] = []
        self._telling: asyncio.Task[None] | None = None

    async def listen(self, context: Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        """Tell a client on the stream of this request, as long as it stays; others have their turn meanwhile.

        Of what it asks for it is promised word of the status alone: no list of ours changes.
        """
        is_told = STATUS in map(str, params.notifications.resource_subscriptions or ())
        told = SubscriptionFilter(resource_subscriptions=[STATUS] if is_told else None)
        self._listening += 1
        try:
            self._begin()
            async with self._front.aside():
                return await self._listen(context, params.model_copy(update={"notifications": told}))
        finally:
            self._listening -= 1

    async def subscribe(self, context: Context, params: SubscribeRequestParams) -> EmptyResult:
        """Tell a client from now on; one more than there may be takes the place of the first."""
        _check(str(params.uri))
        self._subscribed = [*self._subscribed, context.session][-MAX_LISTENERS:]
        self._begin()
        return EmptyResult()

    async def unsubscribe(self, _: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        """Tell nobody any more of those who have subscribed: a session is known by its requests alone."""
        _check(str(params.uri))
        self._subscribed = []
        return EmptyResult()

    def _begin(self) -> None:
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell())

    async def _tell(self) -> None:
        news = self._front.indexing.news
        while self._listening or self._subscribed:
            await news.wait()
            news = self._front.indexing.news
            await self._bus.publish(ResourceUpdated(STATUS))
            for session in list(self._subscribed):
                await self._send(session)
            await asyncio.sleep(EVERY_SECONDS)

    async def _send(self, session: ServerSession) -> None:
        try:
            async with asyncio.timeout(SEND_SECONDS):
                await session.send_resource_updated(STATUS)
        except (TimeoutError, MCPError, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._subscribed = [other for other in self._subscribed if other is not session]


def _check(uri: str) -> None:
    if uri != STATUS:
        raise MCPError(INVALID_PARAMS, f"only {STATUS} tells of changes. Subscribe to that.")
