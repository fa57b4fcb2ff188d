"""A server under audit and its client: the MCP SDK's session over standard input and output, or bare lines."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

import psutil
from mcp import ClientSession, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import CallToolResult
from msgspec import Struct

COMMAND = (sys.executable, "-I", "-B", "-m", "fledgling", "serve")  # as a client is configured
MOST_SECONDS = 60.0  # until a call that asks for little is answered, on a busy machine
BORN_SECONDS = 2.0  # until a process that was started has its command line; for a moment it has none, or another
BUILD_SECONDS = 600.0  # until the first call is answered: the index is built meanwhile, of a project of any size


class ClientReply(Struct, frozen=True):
    """What came back: all text and structure of an answer, or why there is none; `code` is set by the protocol."""

    text: str
    is_refused: bool
    code: int = 0


class ClientConnection:
    """A session with a server, and its process."""

    def __init__(self, session: ClientSession, process: psutil.Process) -> None:
        """Wrap a session that has shaken hands."""
        self._session = session
        self.process = process

    async def call(self, tool: str, arguments: Mapping[str, Any], seconds: float = MOST_SECONDS) -> ClientReply:
        """Call a tool; a refusal is a reply too. Raises TimeoutError, and UnicodeError for what cannot be sent."""
        try:
            async with asyncio.timeout(seconds):
                result = await self._session.call_tool(tool, dict(arguments))
        except MCPError as refused:
            return ClientReply(
                f"{refused.error.message}{json.dumps(refused.error.data) if refused.error.data else ''}",
                True,
                refused.error.code,
            )
        assert isinstance(result, CallToolResult)
        texts = [getattr(part, "text", "") for part in result.content]
        return ClientReply("\n".join(texts), bool(result.is_error))

    async def descriptions(self) -> dict[str, str]:
        """Return what an agent is told of each tool."""
        listed = await self._session.list_tools()
        return {tool.name: tool.model_dump_json() for tool in listed.tools}


@asynccontextmanager
async def connected(
    command: Sequence[str], root: Path, profile: str, environment: Mapping[str, str], log: TextIO
) -> AsyncIterator[tuple[psutil.Process, "asyncio.Future[ClientConnection]"]]:
    """Start a server; its process is there at once, the session when the future is done.

    Raises OSError, in a group, where the server has ended by then.
    """
    told = ["--root", str(root), "--profile", profile]
    started = StdioServerParameters(command=command[0], args=[*command[1:], *told], env=dict(environment), cwd="/")
    async with stdio_client(started, errlog=log) as (incoming, outgoing):
        process = await child(told)
        async with ClientSession(incoming, outgoing) as session:

            async def shaken() -> ClientConnection:
                await session.initialize()
                return ClientConnection(session, process)

            yield process, asyncio.ensure_future(shaken())


async def child(told: Sequence[str]) -> psutil.Process:
    """Find the child of this process that was just started with such words at the end of its command line.

    Raises ProcessLookupError if there is none, or it has ended.
    """
    latest = time.monotonic() + BORN_SECONDS
    while time.monotonic() < latest:
        for process in psutil.Process().children():
            with suppress(psutil.NoSuchProcess):  # it has ended, and nobody has waited for it yet
                if process.cmdline()[-len(told) :] == told:
                    return process
        await asyncio.sleep(0.001)
    raise ProcessLookupError("the server ended as soon as it was started")


class Lines:
    """A server on two bare pipes, for bytes that no client would send."""

    def __init__(self, command: Sequence[str], root: Path, profile: str, environment: Mapping[str, str]) -> None:
        """Start it."""
        self._process = subprocess.Popen(
            [*command, "--root", str(root), "--profile", profile],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/", env=dict(environment),
        )  # fmt: skip
        self.process = psutil.Process(self._process.pid)
        self._ids = iter(range(100_000, 10**9))
        self._rest = b""

    def begin(self) -> None:
        """Shake hands."""
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "audit", "version": "1"}}
        self.ask("initialize", client)
        self._write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def ask(
        self, method: str, parameters: Mapping[str, Any], before: bytes = b"", seconds: float = MOST_SECONDS
    ) -> list[bytes]:
        """Send bytes, then a request; return the lines that come back, the last of them its answer.

        Raises TimeoutError where that does not come, OSError where the server has ended.
        """
        number = next(self._ids)
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
        self._write(before + json.dumps(request).encode() + b"\n")
        lines: list[bytes] = []
        end = time.monotonic() + seconds
        while True:
            lines.append(self._line(end))
            if _id(lines[-1]) == number:
                return lines

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()

    def _write(self, data: bytes) -> None:
        """Write without waiting for a server that writes too."""
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def _line(self, end: float) -> bytes:
        assert self._process.stdout is not None
        fd = self._process.stdout.fileno()
        os.set_blocking(fd, False)
        while b"\n" not in self._rest:
            if time.monotonic() > end:
                raise TimeoutError
            try:
                data = os.read(fd, 1 << 20)
            except BlockingIOError:
                time.sleep(0.001)
                continue
            if not data:
                raise BrokenPipeError("the server has ended")
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line


def _id(line: bytes) -> object:
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message.get("id") if isinstance(message, dict) and ("result" in message or "error" in message) else None
