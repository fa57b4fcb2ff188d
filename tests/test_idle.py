"""A server at rest does nothing, whatever it serves and however it is reached: nobody watches, or waits by looking."""

import asyncio
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest
from running import Server, back_processes
from test_fleet_http import Fleet
from test_http import serving
from test_live import write

pytestmark = [pytest.mark.anyio, pytest.mark.long, pytest.mark.usefixtures("executed")]

SECONDS = 60.0
RESTS_SECONDS = 300.0  # from the first answers: graphs are made behind them, also on a machine with other work
MOST = 0.03  # seconds of CPU, of all processes of a server; each second one over HTTP asks for the time of its file


def asked(server: Server) -> psutil.Process:
    """A server on pipes that has answered a call."""
    server.begin()
    server.call(2, "explore", {})
    assert server.receive()["id"] == 2
    return server.seen


class Taken(NamedTuple):
    """What a server has taken until now: its processes, and the CPU seconds of them and of those that have ended."""

    processes: set[psutil.Process]
    seconds: float


def taken(server: psutil.Process) -> Taken:
    """Raises NoSuchProcess and OSError where a process ends meanwhile.

    The clock of a process counts nanoseconds, also of threads that have ended (clock_getcpuclockid(3)); clock ticks, in
    which the kernel tells of children that have ended, are too coarse for what is told here.
    """
    processes, seconds = {server, *back_processes(server)}, 0.0
    for each in processes:
        ended = each.cpu_times()
        seconds += time.clock_gettime(~each.pid << 3 | 2) + ended.children_user + ended.children_system
    return Taken(processes, seconds)


async def taken_in(servers: Mapping[str, psutil.Process], seconds: float) -> dict[str, float]:
    """The CPU seconds that servers take in a time. Raises as `taken`; AssertionError where a process comes or goes."""
    before = {name: taken(server) for name, server in servers.items()}
    await asyncio.sleep(seconds)
    after = {name: taken(server) for name, server in servers.items()}
    assert [each.processes for each in after.values()] == [each.processes for each in before.values()]
    return {name: round(after[name].seconds - before[name].seconds, 3) for name in servers}


async def rest(servers: Mapping[str, psutil.Process]) -> None:
    """Wait until servers do next to nothing."""
    until_then = time.monotonic() + RESTS_SECONDS
    seconds: dict[str, float] = {}
    while not seconds or max(seconds.values()) >= 0.05:
        assert time.monotonic() < until_then, f"no rest in {RESTS_SECONDS:.0f} s: {seconds}"
        seconds = {}
        with suppress(psutil.NoSuchProcess, OSError, AssertionError):
            seconds = await taken_in(servers, 5)


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
        await rest(servers)
        seconds = await taken_in(servers, SECONDS)
        sys.stdout.write(f"at rest, seconds of CPU in a minute: {seconds}\n")
        assert max(seconds.values()) <= MOST, seconds
