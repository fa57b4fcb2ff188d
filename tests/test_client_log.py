"""What a client hears that asks for a log: its own calls, from the level on that it has named, and nothing unasked."""

import tempfile

import pytest
from asking import client_of
from conftest import connected
from mcp import Client, MCPError
from mcp.types import INVALID_PARAMS
from mcp_types import LOG_LEVEL_META_KEY
from running import Server, fronted

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")]

FOUND = ("search", {"query": "timeout"})
REFUSED = ("read", {"path": "/etc/passwd"})
ANSWERED = {"tool": "search", "verdict": "allowed", "layer": "worker"}
DENIED = {"tool": "read", "verdict": "denied", "layer": "index"}

# the level that is named, and what is heard of one call that is answered and one that is refused
HEARD = {
    None: [],
    "debug": [("info", ANSWERED), ("warning", DENIED)],
    "info": [("info", ANSWERED), ("warning", DENIED)],
    "notice": [("warning", DENIED)],
    "warning": [("warning", DENIED)],
    "error": [],
    "emergency": [],
}


async def heard(client: Client, said: list, level: str | None = None) -> list:
    """Put the two calls, which name a level where one is given; return the level and the verdict of each message."""
    said.clear()
    for tool, arguments in (FOUND, REFUSED):
        await client.call_tool(tool, arguments, meta={LOG_LEVEL_META_KEY: level} if level else None)
    await client.list_tools()  # what was sent before its answer is here
    assert all(message.logger == "fledgling" for message in said)
    for message in said:
        assert message.data.keys() == {*ANSWERED, "milliseconds", "rows", "bytes"}
        assert message.data["milliseconds"] > 0
        assert (message.data["rows"] > 0) == (message.level == "info")
    return [(message.level, {key: message.data[key] for key in ANSWERED}) for message in said]


async def test_since_2026_a_request_names_the_level(project):
    said = []

    async def hear(message):
        said.append(message)

    async with (
        fronted(project) as (front, _),
        client_of(front, logging_callback=hear) as client,
    ):
        for level in HEARD:
            assert await heard(client, said, level) == HEARD[level], level
        with pytest.raises(MCPError, match="not found"):
            await client.set_logging_level("debug")


async def test_before_2026_a_client_sets_the_level(project):
    said = []

    async def hear(message):
        said.append(message)

    async with connected(project, era="handshake", logging_callback=hear) as client:
        assert client.server_capabilities.logging is not None
        assert await heard(client, said) == []
        for level in filter(None, HEARD):
            await client.set_logging_level(level)
            assert await heard(client, said) == HEARD[level]


def test_an_unknown_level_is_refused_and_nothing_is_said_of_deprecation(project):
    with tempfile.TemporaryFile() as said, Server(project, "--answers", "text", stderr=said) as server:
        server.begin()
        server.send({"id": 2, "method": "logging/setLevel", "params": {"level": "loud"}})
        assert server.receive()["error"]["code"] == INVALID_PARAMS
        server.send({"id": 3, "method": "logging/setLevel", "params": {"level": "debug"}})
        assert server.receive()["result"] == {}
        server.call(4, *FOUND)
        assert server.receive()["method"] == "notifications/message"
        answer = server.receive()
        assert answer["id"] == 4
        assert "structuredContent" not in answer["result"]
        said.seek(0)
        assert b"eprecat" not in said.read()
