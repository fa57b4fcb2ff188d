"""What a client hears that has subscribed to the status: that there is something to read, in both eras, and no more."""

import asyncio
import time
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from asking import client_of
from conftest import ERAS, connected
from mcp import MCPError
from mcp.types import ResourceUpdatedNotification, SubscriptionFilter
from running import building, fronted

from fledgling.broker.protocol.resources import STATUS
from fledgling.broker.protocol.updates import EVERY_SECONDS, MAX_LISTENERS

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")]
HEARD_SECONDS = 30.0


async def test_before_2026_a_client_subscribes_to_the_resource(tmp_path: Path) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def hear(message: object) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            heard.put_nowait(str(message.params.uri))

    (tmp_path / "a.py").write_text("needle = 1\n")
    async with connected(tmp_path, era="handshake", message_handler=hear) as client:
        assert client.server_capabilities.resources.subscribe
        await client.call_tool("symbols", {})
        with pytest.raises(MCPError, match="only fledgling://status tells of changes"):
            await client.subscribe_resource("fledgling://overview")
        await client.subscribe_resource(STATUS)
        (tmp_path / "b.py").write_text("needle = 2\n")
        await client.call_tool("search", {"query": "needle"})
        async with asyncio.timeout(HEARD_SECONDS):
            assert await heard.get() == STATUS
        assert "added: b.py" in (await client.read_resource(STATUS)).contents[0].text
        await client.unsubscribe_resource(STATUS)
        await asyncio.sleep(1.5)  # of what was on its way
        while not heard.empty():
            heard.get_nowait()
        (tmp_path / "c.py").write_text("needle = 3\n")
        await client.call_tool("search", {"query": "needle"})
        await asyncio.sleep(1.5)
        assert heard.empty()


async def test_since_2026_a_client_listens(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("needle = 1\n")
    async with (
        fronted(tmp_path, is_followed=True) as (front, _),
        client_of(front) as client,
    ):
        await client.call_tool("symbols", {})
        offered = client.server_capabilities
        assert [each.list_changed for each in (offered.tools, offered.prompts, offered.resources)] == [False] * 3
        asked = {"tools_list_changed": True, "resource_subscriptions": [STATUS, "fledgling://overview"]}
        async with client.listen(**asked) as events:
            assert events.honored == SubscriptionFilter(resource_subscriptions=[STATUS])
            (tmp_path / "b.py").write_text("needle = 2\n")
            await client.call_tool("search", {"query": "needle"})
            async with asyncio.timeout(HEARD_SECONDS):
                async for event in events:
                    assert event.uri == STATUS
                    break
                told = time.monotonic()
                (tmp_path / "b.py").write_text("needle = 3\n")
                await client.call_tool("search", {"query": "needle"})
                async for _ in events:
                    break
                assert time.monotonic() - told > EVERY_SECONDS / 2  # the one before was heard late, on a busy machine
        assert (await client.call_tool("search", {"query": "needle"})).structured_content["total"] == 2
        async with AsyncExitStack() as listening:
            for _ in range(MAX_LISTENERS):
                await listening.enter_async_context(client.listen(resource_subscriptions=[STATUS]))
            with pytest.raises(MCPError):
                await listening.enter_async_context(client.listen(resource_subscriptions=[STATUS]))


@pytest.mark.parametrize("era", ERAS)
async def test_a_profile_without_a_status_tells_of_none(tmp_path: Path, era: str) -> None:
    (tmp_path / "mine.sql").write_text("SET tools = 'search';")
    async with (
        building(tmp_path, tmp_path / "mine.sql") as (front, _),
        client_of(front, "text", mode=ERAS[era]) as client,
    ):
        assert not client.server_capabilities.resources.subscribe
