"""A fleet over HTTP: each agent has its own profile, copy and worker; the door is that of any server over HTTP."""

import asyncio
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import ClassVar
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import psutil
import pytest
from forking import fledgling
from httpx2 import AsyncClient
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from running import PATIENCE, QUERY_WORKER, back_processes, is_alive, until
from test_monitor import free_port

from fledgling.broker.audit_log.verify import verify
from fledgling.broker.fleet.live import LiveFleet, ShardDirectory
from fledgling.broker.fleet.pack import PackIndex
from fledgling.broker.protocol.http import agents
from fledgling.broker.protocol.http.turns import TURN_SECONDS, TURNS, SharingFleet, taken
from fledgling.broker.query_worker import QueryWorker
from fledgling.broker.terms import Terms
from fledgling.messages.answers import AnyAnswer, Refusal
from fledgling.messages.control import Confining
from fledgling.messages.questions import AnyQuestion
from fledgling.security import profile as profiles

pytestmark = pytest.mark.anyio
READER = "SET extends = 'fledgling-core';\nSET tools = 'explore, read';\n"


class Fleet:
    """A server, with a token for each agent, and what it has said so far."""

    def __init__(self, shards: Path, home: Path) -> None:
        (home / "reader.sql").write_text(READER)
        self.file, self.log, self._errors = home / "agents.yaml", home / "audit.jsonl", home / "stderr"
        profiles = {"searcher": "fledgling-core", "reader": str(home / "reader.sql")}
        self.tokens = {name: agents.add(self.file, name, profile) for name, profile in profiles.items()}
        self.url = f"http://127.0.0.1:{free_port()}/mcp"
        (home / "fledgling.yaml").write_text(f"audit_log: {self.log}\n")
        command = [sys.executable, "-I", "-B", "-m", "fledgling", "fleet", "serve", str(shards), "--transport", "http"]
        command += ["--agents", str(self.file), "--port", self.url.split(":")[2].partition("/")[0]]
        command += ["--config", str(home / "fledgling.yaml")]
        self.monitor = f"127.0.0.1:{free_port()}"
        with self._errors.open("w") as errors:
            self.process = subprocess.Popen(
                command, cwd="/", env={"FLEDGLING_MONITOR": self.monitor}, stdin=subprocess.DEVNULL, stderr=errors
            )
        self.seen = psutil.Process(self.process.pid)
        end = time.monotonic() + PATIENCE
        while "serving http" not in self.said():
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < end, self.said()
            time.sleep(0.05)

    def said(self) -> str:
        return self._errors.read_text()

    def records(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.log.read_bytes().splitlines()]

    def status(self, token: str | None, host: str | None = None) -> int:
        """What comes back for a request with a token and a Host."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        headers |= {"Authorization": f"Bearer {token}"} if token else {}
        headers |= {"Host": host} if host else {}
        try:
            with urlopen(Request(self.url, body, headers), timeout=PATIENCE) as answer:
                return int(answer.status)
        except HTTPError as refused:
            return refused.code

    def readiness(self) -> tuple[int, str]:
        """What /readyz answers."""
        try:
            with urlopen(f"http://{self.monitor}/readyz", timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as refused:
            return refused.code, refused.read().decode()

    @asynccontextmanager
    async def client(self, agent: str) -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {self.tokens[agent]}"}
        async with (
            AsyncClient(headers=headers, timeout=PATIENCE) as connections,
            Client(streamable_http_client(self.url, http_client=connections)) as found,
        ):
            yield found


@pytest.fixture(scope="module")
def shards(repositories_and_shards: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("shards")
    for shard in repositories_and_shards[1].glob("*.shard"):
        shutil.copy(shard, out)
    return out


@pytest.fixture(scope="module")
def served(shards: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    fleet = Fleet(shards, tmp_path_factory.mktemp("served"))
    try:
        yield fleet
    finally:
        fleet.process.kill()
        fleet.process.wait()


WHOLE = (200, "searcher: serving\nreader: serving\n")


async def test_agents_have_a_fleet_each_under_their_own_profiles(served: Fleet) -> None:
    async with served.client("searcher") as searcher, served.client("reader") as reader:
        assert "search" in [tool.name for tool in (await searcher.list_tools()).tools]
        assert [tool.name for tool in (await reader.list_tools()).tools] == ["explore", "read"]
        asked = [searcher.call_tool("search", {"query": "needle", "context": 0}) for _ in range(20)]
        read = [reader.call_tool("read", {"path": "web/README.md"}) for _ in range(20)]
        found = await asyncio.gather(*asked, *read)
    assert not any(each.is_error for each in found)
    assert all("web/README.md" in str(each.content) for each in found)
    assert len(back_processes(served.seen, QUERY_WORKER)) == 2
    calls = [(each["agent"], each["tool"], each["verdict"]) for each in served.records() if each["event"] == "call"]
    assert sorted(set(calls)) == [("reader", "read", "allowed"), ("searcher", "search", "allowed")]
    assert len(calls) == 40


async def test_it_is_ready_while_each_agent_has_a_worker(served: Fleet) -> None:
    await until(lambda: served.readiness() == WHOLE)
    _, second = back_processes(served.seen, QUERY_WORKER)

    def is_missed() -> bool:
        """Kill the other worker and its successors: one of them may be there before this looks again."""
        for worker in {*back_processes(served.seen, QUERY_WORKER)} - {second}:
            with suppress(psutil.NoSuchProcess):
                worker.kill()
        return served.readiness()[0] == 503

    await until(is_missed)
    await until(lambda: served.readiness() == WHOLE)  # though nobody has called
    assert second in back_processes(served.seen, QUERY_WORKER)


async def test_nobody_else_is_served_and_nothing_is_left_at_its_end(served: Fleet) -> None:
    assert served.status(None) == 401
    assert served.status("A" * 43) == 401
    assert served.status(served.tokens["reader"], host="evil.example") == 421
    async with served.client("reader") as reader:
        agents.revoke(served.file, "reader")
        await until(lambda: "agent reader is revoked" in served.said())
        await asyncio.sleep(0.2)  # its connection is closed then: what is sent as that happens is not answered
        with pytest.raises(MCPError, match="no agent has this token"):
            await reader.call_tool("read", {"path": "web/README.md"})
    assert served.status(served.tokens["reader"]) == 401
    broker = [each for each in served.records() if each.get("process") == "broker"]
    assert broker[0]["confinement"]["seccomp"] == "enforced"
    workers = back_processes(served.seen, QUERY_WORKER)
    assert workers
    served.process.send_signal(signal.SIGTERM)
    assert await asyncio.to_thread(served.process.wait, PATIENCE) == 0
    await until(lambda: not any(map(is_alive, workers)))
    assert "it was told to end" in str(served.records()[-1])
    with served.log.open("rb") as lines:
        assert verify(lines).broken is None


class Watched(SharingFleet):
    """A fleet that keeps whether its request has the turn as a question begins, is with the worker, and ends."""

    turns = asyncio.Semaphore(TURNS)
    seen: ClassVar[list[bool]] = []

    async def ask(self, question: AnyQuestion, terms: Terms | None = None) -> AnyAnswer | Refusal:
        self.seen.append(self.turns.locked())
        found = await super().ask(question, terms)
        self.seen.append(self.turns.locked())
        return found

    async def _serving(self) -> QueryWorker | Refusal:
        self.seen.append(self.turns.locked())
        return await super()._serving()


async def test_a_call_has_its_turn_but_while_the_worker_has_it(shards: Path) -> None:
    profile = profiles.load("fledgling-core")
    directory = ShardDirectory(str(shards), profile, None)
    index = PackIndex(directory.packed(), profile, Confining(allow_degraded=True), lambda _: None)
    fleet = LiveFleet(directory, index, Watched)
    try:
        await fleet.call("explore", {"path": "web"})  # the worker is there then
        Watched.seen.clear()
        begun = time.monotonic()
        async with taken(Watched.turns):
            await fleet.call("search", {"query": "needle"})
        assert time.monotonic() - begun < TURN_SECONDS, "it does not wait for a turn that it has itself"
    finally:
        await fleet.close()
    first, *with_worker, last = Watched.seen
    assert (first, any(with_worker), last) == (True, False, True)
    assert len(with_worker) > 2, "several repositories were asked"


REFUSED = {
    "a secret of no transport": ("--secrets {home}/secrets", "only a server over HTTP has any"),
    "no terminal for the token": ("--transport http", "give --secrets FILE"),
    "agents beside the shards": ("--transport http --agents {shards}/agents.yaml", "is inside the root"),
    "an agent of some projects": ("--transport http --agents {home}/some.yaml", "which this server has not"),
    "an agent that may see less": (
        "--transport http --agents {home}/less.yaml",
        "agent less: no shard in the directory can be",
    ),
    "agents of no transport": ("--agents {home}/some.yaml", "flag --agents: only a server over HTTP has any"),
    "a port of no transport": ("--port 3000", "flag --port: only a server over HTTP has any"),
    "another machine": ("--transport http --host 0.0.0.0 --secrets {home}/secrets", "reached from other machines"),
    "no port": ("--transport http --port 99999", "port cannot be '99999'"),
}


@pytest.mark.parametrize(("options", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_served_is_said_before_anybody_is(shards: Path, tmp_path: Path, options: str, said: str) -> None:
    (tmp_path / "less.sql").write_text(
        "SET tools = 'read';\nCREATE VIEW visible_files AS SELECT * FROM files WHERE path NOT LIKE '%.md';\n"
    )
    agents.add(tmp_path / "some.yaml", "some", "fledgling-core", projects=["web"])
    agents.add(tmp_path / "less.yaml", "less", str(tmp_path / "less.sql"))
    given = options.format(home=tmp_path, shards=shards).split()
    done = fledgling("fleet", "serve", str(shards), *given)
    assert done.returncode == 2
    assert said in done.stderr
    assert not re.search("Traceback", done.stderr)


def test_the_transport_may_come_from_the_environment_or_the_file(shards: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("transport: http\n")
    serve = ("fleet", "serve", str(shards))
    by_file = fledgling(*serve, "--config", str(tmp_path / "mine.yaml"))
    by_environment = fledgling(*serve, FLEDGLING_TRANSPORT="http")
    for done in (by_file, by_environment):
        assert done.returncode == 2
        assert "give --secrets FILE" in done.stderr
