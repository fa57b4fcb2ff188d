"""A server at rest does nothing, whatever it serves and however it is reached: nobody watches, or waits by looking."""

import asyncio
import sys
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from running import Server, back_processes
from test_fleet_http import Fleet
from test_http import serving
from test_live import write

pytestmark = [pytest.mark.anyio, pytest.mark.long, pytest.mark.usefixtures("executed")]

SECONDS = 60.0
MOST = 0.03  # seconds of CPU, of all processes of a server; each second one over HTTP asks for the time of its file


def asked(server: Server) -> psutil.Process:
    """A server on pipes that has answered a call."""
    server.begin()
    server.call(2, "explore", {})
    assert server.receive()["id"] == 2
    return server.seen


def taken(server: psutil.Process) -> float:
    """The seconds of CPU of all threads of a server's processes; clock ticks are too coarse for what is told here."""
    paths = [path for each in [server, *back_processes(server)] for path in Path(f"/proc/{each.pid}/task").iterdir()]
    return sum(int((path / "schedstat").read_text().split()[0]) for path in paths) / 1e9


async def test_a_server_at_rest_does_nothing(tmp_path: Path, repositories_and_shards: tuple[Path, Path]) -> None:
    """Side by side, each in a minute: over pipes and over HTTP, of a project and of a fleet."""
    root, shards = tmp_path / "root", repositories_and_shards[1]
    write(root, "a.py", "needle = 1\n")
    for name in ("http", "fleet"):
        (tmp_path / name).mkdir()
    with ExitStack() as stack:
        fleet = [sys.executable, "-I", "-B", "-m", "fledgling", "fleet", "serve", str(shards)]
        http = stack.enter_context(serving(root, tmp_path / "http", agents_of={"reviewer": "fledgling-core"}))
        http.lists()
        fleet_http = Fleet(shards, tmp_path / "fleet")
        stack.callback(fleet_http.process.wait)
        stack.callback(fleet_http.process.kill)
        fleet_http.status(fleet_http.tokens["reader"])
        servers = {
            "stdio": asked(stack.enter_context(Server(root))),
            "HTTP": http.seen,
            "fleet, stdio": asked(stack.enter_context(Server(root, command=fleet))),
            "fleet, HTTP": fleet_http.seen,
        }
        while True:  # graphs are made behind the first answers
            before = {name: taken(server) for name, server in servers.items()}
            await asyncio.sleep(5)
            if all(taken(server) - before[name] < 0.05 for name, server in servers.items()):
                break
        before = {name: taken(server) for name, server in servers.items()}
        await asyncio.sleep(SECONDS)
        seconds = {name: round(taken(server) - before[name], 3) for name, server in servers.items()}
        sys.stdout.write(f"at rest, seconds of CPU in a minute: {seconds}\n")
        assert max(seconds.values()) <= MOST, seconds
