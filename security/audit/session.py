"""A session under attack: calls are sent one after the other, and after each the files and processes are looked at."""

import asyncio
import os
import signal
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import psutil
from msgspec.structs import replace

from fledgling.security import limits
from fledgling.security.audit import client, corpus, outside
from fledgling.security.audit.client import ClientConnection
from fledgling.security.audit.corpus import Ask, Attack, LookFor
from fledgling.security.audit.outside import FOLLOWER, INDEXER, QUERY_WORKER, Seen
from fledgling.security.audit.report import Result
from fledgling.security.audit.target import SCRATCH, Target, judged, looked, result
from fledgling.security.audit.verdict import Verdict, judge, layer, leaks

PATIENCE = 1.0  # seconds until a call that may run on is cancelled, where the profile's own limit is later
SLACK = 3.0  # seconds that a busy machine may take to schedule who is due
END_SECONDS, LOOKS = 1.0, 100  # until nothing is left of a killed server, and how often that is looked at meanwhile
UNREADY = "within the profile's query_timeout"  # what the broker says of a call that nobody has looked at


async def by_session(target: Target, attacks: Sequence[Attack], log: TextIO) -> list[Result]:
    """Start a server, run every row that a client or a look at /proc can, and kill it."""
    environment = target.scratch.environment
    async with client.connected(target.command, target.root, target.asked, environment, log) as (process, shaken):
        building = asyncio.create_task(_looks_at_build(target, attacks, process.pid))
        session = _Session(target, await shaken)
        rows = await building
        await session.calibrate()
        rows += session.looks(attacks)
        for attack in attacks:
            if isinstance(attack.act, Ask):
                rows.append(result(attack, await session.asked(attack, attack.act), target, attack.act.tool))
        return rows + await session.closing(attacks)


class _Session:
    """A server at work, and what may be in none of its replies."""

    def __init__(self, target: Target, connection: ClientConnection) -> None:
        self._target = target
        self._connection = connection
        self._forbidden = dict(target.hidden)
        self._pid = connection.process.pid
        self._watched = [path for path in (*target.scratch.place.iterdir(), target.root) if path.is_dir()]
        self._times = self._changed_at()
        self._known: set[int] = set()

    async def calibrate(self) -> None:
        """Wait for the index, and forbid the bait that `read` does not show."""
        await self._first_tool(client.BUILD_SECONDS)
        await self._settled()
        if self._target.project == SCRATCH and "read" in self._target.profile.tools:
            for path, token in self._target.scratch.bait.items():
                if token not in (await self._connection.call("read", self._target.called({"path": path}))).text:
                    self._forbidden[path] = token

    async def _settled(self) -> None:
        """Wait until the index is complete and one worker is left: another one that is starting is not yet confined."""
        end = time.monotonic() + client.BUILD_SECONDS
        while time.monotonic() < end:
            if not outside.running(self._pid, INDEXER) and len(outside.running(self._pid, QUERY_WORKER)) == 1:
                return
            await asyncio.sleep(0.01)

    async def _first_tool(self, seconds: float = client.MOST_SECONDS) -> client.ClientReply:
        tool = self._target.profile.tools[0]
        return await self._connection.call(tool, corpus.REQUIRED.get(tool, {}), seconds)

    async def asked(self, attack: Attack, ask: Ask) -> Verdict:
        """Send one call, and judge what comes back and what became of files and processes."""
        if attack.layer == "door" and ask.tool in self._target.profile.tools:
            return Verdict("works", "", "the profile names this tool")
        missing = ask.arguments.get("path") in self._target.scratch.missing
        ask = replace(ask, arguments=self._target.called(ask.arguments))
        if ask.must == "works" and ask.tool not in self._target.profile.tools:
            ask = replace(ask, must="refused")
        if attack.family == "tree" and missing:
            return Verdict("not run", "", "this user may not make such a file")
        try:
            verdict = await (self._ends(ask) if ask.must == "ends" else self._replied(ask))
        except TimeoutError:
            verdict = Verdict("through", "", f"no answer in {client.MOST_SECONDS:g} s")
        except UnicodeError as problem:
            verdict = Verdict("not run", "", f"no client can send it: {problem}")
        if verdict.status == "through":
            return verdict
        if (now := self._changed_at()) != self._times:
            self._times = now
            return Verdict("through", "", "a file was made or removed in the project or beside it")
        if strange := self._stranger():
            return Verdict("through", "", f"a process was started: {strange}")
        return verdict

    async def _replied(self, ask: Ask) -> Verdict:
        """Judge the reply; a call that was refused for lateness alone has tried nothing, and is made again."""
        end = time.monotonic() + client.MOST_SECONDS
        reply = await self._connection.call(ask.tool, ask.arguments)
        while _is_late(ask, reply) and time.monotonic() < end:
            reply = await self._connection.call(ask.tool, ask.arguments)
        return judge(ask, reply, self._forbidden, str(self._target.root))

    async def _ends(self, ask: Ask) -> Verdict:
        """Let the profile's limit end a call where that comes soon, or cancel it; then its work must end too."""
        own = self._target.profile.query_timeout
        is_own = own <= PATIENCE
        try:
            async with asyncio.timeout(own + limits.GRACE + SLACK if is_own else PATIENCE):
                return await self._replied(ask)
        except TimeoutError:
            if is_own:
                return Verdict("through", "", f"at work {limits.GRACE + SLACK:g} s past the profile's query_timeout")
        if not await _idles(self._pid, limits.GRACE + SLACK):
            return Verdict("through", "", f"at work {limits.GRACE + SLACK:g} s after it was cancelled")
        return Verdict("held", "limits", f"cancelled after {PATIENCE:g} s, and its work ended")

    def _changed_at(self) -> list[int]:
        return [path.stat().st_mtime_ns for path in self._watched]

    def _stranger(self) -> str:
        """Name a child of the broker that is no back process of its own."""
        for child in outside.children(self._pid):
            if child not in self._known:
                self._known.add(child)
                if (name := outside.module(child)) not in (FOLLOWER, INDEXER, QUERY_WORKER, ""):
                    return name
        return ""

    def looks(self, attacks: Iterable[Attack]) -> list[Result]:
        """Look at the broker, the query worker and the follower."""
        pids = {
            "broker": [self._pid],
            "query worker": outside.running(self._pid, QUERY_WORKER)[-1:],
            "follower": outside.running(self._pid, FOLLOWER)[-1:],
        }
        return [
            result(attack, _seen(attack, attack.act, pids[attack.act.process], self._target), self._target)
            for attack in attacks
            if isinstance(attack.act, LookFor) and attack.act.at in outside.CHECKS and attack.act.process in pids
        ]

    async def closing(self, attacks: Sequence[Attack]) -> list[Result]:
        """Make the checks of a whole run; the last of them ends the server."""
        checks = {
            "children": self._children,
            "descriptions": self._descriptions,
            "replacement": self._replaced,
            "end": self._ended,
        }
        return [row for at, check in checks.items() for row in looked(self._target, attacks, at, await check())]

    async def _children(self) -> Seen:
        await _idles(self._pid, SLACK)
        names = [outside.module(pid) for pid in outside.children(self._pid) if outside.is_alive(pid)]
        return sorted(names) in ([QUERY_WORKER], [FOLLOWER, QUERY_WORKER]), ", ".join(names)

    async def _descriptions(self) -> Seen:
        described = await self._connection.descriptions()
        told = leaks("".join(described.values()), {**self._forbidden, "the root": str(self._target.root)})
        return tuple(described) == self._target.profile.tools and not told, ", ".join(described)

    async def _replaced(self) -> Seen:
        expected = await self._first_tool()
        killed = outside.running(self._pid, QUERY_WORKER)
        for worker in killed:
            os.kill(worker, signal.SIGKILL)
        begun = time.monotonic()
        after = await self._first_tool()
        while after.is_refused and time.monotonic() < begun + client.MOST_SECONDS:  # a profile's time may be less
            after = await self._first_tool()
        is_new = not set(killed) & set(outside.running(self._pid, QUERY_WORKER))
        is_same = after == expected and not expected.is_refused
        return is_same and is_new, f"answered {1000 * (time.monotonic() - begun):.0f} ms after the kill"

    async def _ended(self) -> Seen:
        left = [self._pid, *outside.children(self._pid)]
        os.kill(self._pid, signal.SIGKILL)
        begun = time.monotonic()
        for _ in range(LOOKS):  # and not until a time: a machine that stands still for a second ends nobody meanwhile
            if not any(map(outside.is_alive, left)):
                return True, f"{len(left)} processes were gone after {1000 * (time.monotonic() - begun):.0f} ms"
            await asyncio.sleep(END_SECONDS / LOOKS)
        return False, "still there: " + ", ".join(outside.module(pid) for pid in left if outside.is_alive(pid))


def _is_late(ask: Ask, reply: client.ClientReply) -> bool:
    """Return whether no process has looked at a call in its time, or what has to work took longer."""
    if ask.must == "ends" or not reply.is_refused:
        return False
    return UNREADY in reply.text or (ask.must == "works" and layer(ask.tool, reply) == "limits")


async def _idles(broker: int, seconds: float) -> bool:
    """Return whether the query worker comes to rest, or is gone, in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        workers = outside.running(broker, QUERY_WORKER)
        before = [_busy(worker) for worker in workers]
        await asyncio.sleep(0.1)
        if sum(map(_busy, workers)) - sum(before) < 0.03:  # three ticks of the kernel's clock
            return True
    return False


def _busy(pid: int) -> float:
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


# ---- while the index is built ---------------------------------------------------------------------------------------


async def _looks_at_build(target: Target, attacks: Iterable[Attack], broker: int) -> list[Result]:
    """Stop the indexer and an extractor when they are confined, and look at them."""
    pids = await _build_at_work(broker)
    rows = [
        result(attack, _seen(attack, attack.act, pids[attack.act.process], target), target)
        for attack in attacks
        if isinstance(attack.act, LookFor) and attack.act.process in pids
    ]
    for [pid] in filter(None, pids.values()):
        os.kill(pid, signal.SIGCONT)
    return rows


async def _build_at_work(broker: int) -> dict[str, list[int]]:
    """Wait for an indexer that has forked its extractors, and hold them where they are."""
    end = time.monotonic() + client.MOST_SECONDS
    has_begun = False
    while time.monotonic() < end:
        indexers = outside.running(broker, INDEXER)
        if has_begun and not indexers:
            break
        has_begun = bool(indexers)
        for indexer in indexers:
            for above in outside.children(indexer):
                for extractor in outside.children(above):
                    if _filters(broker) < _filters(indexer) and _filters(above) < _filters(extractor):
                        if await stopped(indexer) and await stopped(extractor):
                            return {"indexer": [indexer], "extractor": [extractor]}
                        with suppress(ProcessLookupError):
                            os.kill(indexer, signal.SIGCONT)
        await asyncio.sleep(0.002)
    return {"indexer": [], "extractor": []}


async def stopped(pid: int) -> bool:
    """Stop a process where it is, and return whether that came before its end, which is not stopped any more."""
    with suppress(OSError):
        os.kill(pid, signal.SIGSTOP)
        while True:
            letter, is_ending = outside.state(pid)
            if letter == "T" or is_ending:
                return not is_ending
            await asyncio.sleep(0.001)
    return False


def _filters(pid: int) -> int:
    """Return how many seccomp filters hold a process: the last thing it does is to add its own to those it inherits."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Seccomp_filters:")), 0)


def _seen(attack: Attack, look: LookFor, pids: Sequence[int], target: Target) -> Verdict:
    if not pids:
        return Verdict("unproven", "", f"no {look.process} was seen")
    try:
        return judged(attack, outside.look(pids[0], look.at, target.filled(look.expected)))
    except PermissionError:
        return Verdict("not run", "", "this user may not look at it")
    except OSError as gone:
        return Verdict("unproven", "", f"the {look.process} has ended: {gone.strerror}")
