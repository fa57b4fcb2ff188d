"""Twenty projects, ten clients, and all that may happen between their calls: purges, reindexing, edits, kills.

Every answer is the right one, or one of few refusals that say what to do. FLEDGLING_SOAK_CALLS are made, 100,000 if
nothing is said, or as many as FLEDGLING_SOAK_MINUTES allow, 60 if nothing is said.
"""

import http.client
import json
import os
import random
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from typing import Any

import psutil
import pytest
from running import FOLLOWER, PATIENCE, QUERY_WORKER, back_processes, is_alive, opened
from test_http import serving
from test_monitor import asked, called

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("executed")]

PROJECTS, CLIENTS = 20, 10
CALLS = int(os.environ.get("FLEDGLING_SOAK_CALLS", "100000"))
MINUTES = float(os.environ.get("FLEDGLING_SOAK_MINUTES", "60"))
TOLD_EVERY = 2_000  # calls
AGENTS = {"reader": "fledgling-core", "operator": "fledgling-operator"}  # five clients each
TOTAL_MEMORY = 2 * 2**30  # of what 20 projects of an agent hold: more, and each call would make an index anew
FILES = 12
DISTURB_SECONDS = 4.0  # between two kills, edits, purges or builds
# How often a kind of question is asked; what is not named, 25 times. These ask all projects, so each costs twenty.
WEIGHTS = {"all": 2, "absent": 2}
# What may be said instead of an answer, where a process was killed or an index is made anew.
EXCUSES = ("Ask again", "ask this again later", "Ask about another", "Wait for an answer")
MAX_EXCUSED = 0.02  # of all calls
MAX_GROWTH = 48 * 2**20  # bytes that are the broker's own, from the first thousand calls to the last


class Soak:
    """The clients, what they have been told, and what was wrong with it."""

    def __init__(self, server: Any, roots: dict[str, Any]) -> None:
        self.server = server
        self.roots = roots
        self.left = CALLS
        self.end = time.monotonic() + 60 * MINUTES
        self.seen = Counter[str]()
        self.wrong: list[str] = []
        self.answers = 0
        self.made = 0  # tasks
        self.lock = threading.Lock()

    def client(self, number: int) -> None:
        """Ask until all calls are made."""
        dice, agent = random.Random(number), (*AGENTS,)[number % len(AGENTS)]
        while self._takes_one():
            name = dice.choice([*self.roots])
            asks = questions(name, agent)
            kind, tool, arguments, right = dice.choices(asks, [WEIGHTS.get(ask[0], 25) for ask in asks])[0]
            try:
                result = answered(self.server, tool, agent, arguments)
            except (OSError, ValueError, KeyError) as broken:
                self._tell(kind, f"{kind}: {broken!r}")
                continue
            said = "".join(part["text"] for part in result["content"])
            if result.get("isError"):
                is_excused = any(words in said for words in EXCUSES)
                self._tell("excused" if is_excused else kind, None if is_excused else f"{kind}: {said}")
            elif not right(result.get("structuredContent"), said):
                self._tell(kind, f"{kind} {arguments}: {said[:300]}")
            else:
                self._tell(kind, None)
                self.made += kind == "task"

    def _takes_one(self) -> bool:
        with self.lock:
            if self.left <= 0 or time.monotonic() > self.end:
                self.left = 0
                return False
            self.left -= 1
            return True

    def _tell(self, kind: str, problem: str | None) -> None:
        with self.lock:
            self.seen[kind] += 1
            self.answers += 1
            if problem:
                self.wrong.append(problem)
            if problem or self.answers % TOLD_EVERY == 0:
                sys.stdout.write(f"{time.strftime('%T')} {self.answers} answers, {dict(self.seen)}; {problem or ''}\n")
                sys.stdout.flush()

    def disturb(self) -> None:
        """Kill, edit, purge and reindex while clients ask."""
        dice = random.Random("disturb")
        while self.left > 0:
            time.sleep(DISTURB_SECONDS)
            name = dice.choice([*self.roots])
            match dice.randrange(5):
                case 0 | 1:
                    module = dice.choice([QUERY_WORKER, FOLLOWER])
                    with suppress(psutil.NoSuchProcess, IndexError):
                        dice.choice(back_processes(self.server.seen, module)).kill()
                    self.seen[f"killed {module.rpartition('.')[2]}"] += 1
                case 2:
                    (self.roots[name] / "src" / "edited.py").write_text(f"edited = {dice.random()}\n")
                    self.seen["edited"] += 1
                case 3:
                    asked(self.server, "manage", agent="operator", action="purge", project=name)
                    self.seen["purged"] += 1
                case 4:
                    asked(self.server, "manage", agent="operator", action="reindex", project=name, force=True)
                    self.seen["reindexed"] += 1


def answered(server: Any, tool: str, agent: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The result of a call, also where progress and pings come before it. Raises ValueError where there is none."""
    request = called(server, tool, agent, arguments)
    with server.connect(timeout=120) as connection:
        connection.sendall(request)
        response = http.client.HTTPResponse(connection, method="POST")
        response.begin()
        is_stream = response.getheader("content-type", "").startswith("text/event-stream")
        while line := response.readline():
            data = line.removeprefix(b"data: ") if is_stream else line
            if data.startswith(b"{") and ("result" in (message := json.loads(data)) or "error" in message):
                if "error" in message:
                    raise ValueError(message["error"])
                found: dict[str, Any] = message["result"]
                return found
        raise ValueError(f"no result, status {response.status}")


def questions(name: str, agent: str) -> list[tuple[str, str, dict[str, Any], Any]]:
    """What is asked of a project, and what tells whether an answer is right."""
    number = int(name[1:])
    path = f"{name}/src/m3.py"
    asks: list[tuple[str, str, dict[str, Any], Any]] = [
        ("read", "read", {"path": path, "end_line": 1}, lambda _, said: f"def f{number}_3(x):" in said),
        ("search", "search", {"query": f"needle {number}_4 ", "path": name}, lambda s, _: s["total"] == 1),
        ("absent", "search", {"query": f"needle {number + 1}_4 ", "path": name}, lambda s, _: s.get("total") == 0),
        ("symbols", "symbols", {"path": path}, lambda s, _: s["total"] == 1),
        ("explore", "explore", {"path": name}, lambda s, _: s["summary"]["total_files"] in (FILES, FILES + 1)),
        (
            "all",
            "search",
            {"query": "needle 7_4 "},
            lambda s, _: s["total"] == 1 or "is not in this answer" in s["note"],
        ),
    ]
    if agent == "operator":
        asks += [
            ("task", "tasks", {"action": "create", "title": "t"}, lambda s, _: s["id"] > 0),
            ("status", "status", {}, lambda s, _: len(s["projects"]) == PROJECTS),
            ("tag", "tags", {"action": "add", "tags": ["seen"], "paths": [path]}, lambda s, _: s["changed"] in (0, 1)),
        ]
    return asks


def test_twenty_projects_ten_clients(tmp_path, record_testsuite_property):
    roots = {f"p{number}": tmp_path / f"p{number}" for number in range(PROJECTS)}
    for number, root in enumerate(roots.values()):
        (root / "src").mkdir(parents=True)
        for m in range(FILES):
            text = f"def f{number}_{m}(x):\n    return x  # needle {number}_{m} \n"
            (root / "src" / f"m{m}.py").write_text(text)
    first, *others = [f"{name}={root}" for name, root in roots.items()]
    options = [part for other in others for part in ("--root", other)]
    with serving(first, tmp_path, [*options, "--total-memory", str(TOTAL_MEMORY)], agents_of=AGENTS) as server:
        soak = Soak(server, roots)
        clients = [threading.Thread(target=soak.client, args=(number,)) for number in range(CLIENTS)]
        disturbing = threading.Thread(target=soak.disturb)
        begun = time.monotonic()
        for thread in (*clients, disturbing):
            thread.start()
        while soak.answers < min(1000, CALLS // 10) and any(thread.is_alive() for thread in clients):
            time.sleep(0.1)
        before = server.seen.memory_full_info().uss
        for thread in (*clients, disturbing):
            thread.join()
        grown = server.seen.memory_full_info().uss - before
        took = f"{grown} bytes more, {len(opened(server.seen))} files, {time.monotonic() - begun:.0f} s"
        record_testsuite_property("soak", f"{soak.answers} answers, {dict(soak.seen)}, {took}")
        soak.wrong += [line for line in server.said().splitlines() if "Traceback" in line]
        assert not soak.wrong, f"{len(soak.wrong)} of {soak.answers}: {soak.wrong[:5]}"
        assert soak.seen["excused"] <= MAX_EXCUSED * soak.answers, soak.seen
        assert grown < MAX_GROWTH
        _, _, body = asked(server, "tasks", agent="operator", limit=1)
        assert json.loads(body)["result"]["structuredContent"]["total"] == soak.made
        left = back_processes(server.seen)
        for name in roots:
            asked(server, "manage", agent="operator", action="purge", project=name)
    psutil.wait_procs(left, timeout=PATIENCE)
    assert not [process for process in left if is_alive(process)]
