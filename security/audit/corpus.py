"""The attacks, as data: tests/attacks/*.toml, installed as `fledgling.attacks`. What a row may say is decided here."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import Any, Literal

import msgspec
from msgspec import Struct

# What each of them is, stands in report.py.
Layer = Literal[
    "door", "arguments", "paths", "gate", "engine", "image", "landlock", "seccomp", "privileges", "limits", "reader",
    "output", "wire", "protocol", "launch", "loader", "transport", "release", "none",
]  # fmt: skip
Process = Literal["broker", "query worker", "indexer", "follower", "extractor"]
Expected = str | int | list[str | int] | dict[str, str | int]
Must = Literal["refused", "harmless", "ends", "printable", "works"]
REQUIRED: Mapping[str, dict[str, Any]] = {
    "read": {"path": "README.md"},
    "search": {"query": "a"},
    "dependencies": {"path": "README.md"},
    "query": {"sql": "SELECT 1"},
    "manage": {"action": "reindex"},
    "tasks": {"action": "create", "title": "a"},
}  # what a call needs beside the argument under attack


class Ask(Struct, frozen=True, forbid_unknown_fields=True):
    """A call of a tool. It is stopped when `must` holds and the reply holds nothing that was hidden.

    refused: there is no answer. harmless: an answer may be given. ends: a refusal or an answer comes in time, or the
    work ends when it is cancelled. printable: the answer obeys no terminal. works: an answer, to prove that the others
    are refused for what they ask.
    """

    tool: str
    arguments: dict[str, Any] = {}
    must: Must = "refused"


class Line(Struct, frozen=True, forbid_unknown_fields=True):
    """Bytes on standard input: `times` x `text`, then `end`. The server must go on answering, and stay small."""

    text: str
    times: int = 1
    end: str = "\n"
    encoding: str = "utf-8"


class LookFor(Struct, frozen=True, forbid_unknown_fields=True):
    """What /proc must show of a process: `at` names the check of outside.py, `expected` what it must find."""

    process: Process
    at: str
    expected: Expected = ""


class Probe(Struct, frozen=True, forbid_unknown_fields=True):
    """System calls from inside a process, one after the other: security/audit/probes.py.

    `does` names the threat of security/layering.py that they carry out where nothing stops them.
    """

    role: str
    calls: list[list[Any]] = []
    code: str = ""
    refused: list[str] = []
    does: str = ""


class Elsewhere(Struct, frozen=True, forbid_unknown_fields=True):
    """A threat that takes a whole test, or a check before a release; an audit only names it."""

    test: str = ""
    because: str = ""


Act = Ask | Line | LookFor | Probe | Elsewhere


class Attack(Struct, frozen=True):
    """One row: what is tried, which layer must stop it, and where it is known from (CWE, CVE, issue)."""

    family: str
    name: str
    threats: tuple[int, ...]
    source: str
    layer: Layer
    act: Act


class ListedThreat(Struct, frozen=True):
    """One threat, and the layers that must stop it, the first of them first."""

    name: str
    layers: tuple[Layer, ...]


class Plant(Struct, frozen=True, forbid_unknown_fields=True):
    """Something hostile in the scratch project; `text` is its content, times over, or the target of a link."""

    path: str
    kind: Literal["file", "bytes", "closed", "link", "special", "sparse", "nest", "many"] = "file"
    text: str = ""
    times: int = 1
    hidden: bool = False  # no reply may hold its {canary}
    bait: bool = False  # where `read` does not show its {canary}, nothing else may


# ---- how the files are written --------------------------------------------------------------------------------------


class _Row(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    threats: tuple[int, ...]
    source: str = ""
    layer: Layer

    def acts(self) -> Iterator[tuple[str, Act]]:
        """Yield what the row stands for, each by a name of its own."""
        raise NotImplementedError


class _Ask(_Row, frozen=True, kw_only=True):
    name: str
    tool: str
    arguments: dict[str, Any] = {}
    must: Must = "refused"

    def acts(self) -> Iterator[tuple[str, Act]]:
        yield self.name, Ask(self.tool, {name: repeated(value) for name, value in self.arguments.items()}, self.must)


class _Asks(_Row, frozen=True, kw_only=True):
    """Every payload in every place: `read.path` is the argument `path` of `read`; `*.path` any tool, the payload.

    `read.file=path` is the argument `file` of `read`, and there is no `path` beside it.
    """

    places: tuple[str, ...]
    payloads: dict[str, Any]
    must: Must = "refused"

    def acts(self) -> Iterator[tuple[str, Act]]:
        for name, payload in self.payloads.items():
            for place in self.places:
                tool, _, named = place.partition(".")
                argument, _, instead = named.partition("=")
                if tool == "*":
                    yield f"{name}: {place}", Ask(repeated(payload), {argument: "README.md"}, self.must)
                else:
                    needed = {key: value for key, value in REQUIRED.get(tool, {}).items() if key != instead}
                    arguments = {**needed, argument: repeated(payload)}
                    yield f"{name}: {place}", Ask(tool, arguments, self.must)


class _Line(_Row, frozen=True, kw_only=True):
    name: str
    text: str
    times: int = 1
    end: str = "\n"
    encoding: str = "utf-8"

    def acts(self) -> Iterator[tuple[str, Act]]:
        yield self.name, Line(self.text, self.times, self.end, self.encoding)


class _Look(_Row, frozen=True, kw_only=True):
    name: str
    processes: tuple[Process, ...]
    at: str
    expected: Expected = ""

    def acts(self) -> Iterator[tuple[str, Act]]:
        for process in self.processes:
            yield f"{self.name}: {process}", LookFor(process, self.at, self.expected)


class _Probes(_Row, frozen=True, kw_only=True):
    calls: dict[str, list[Any]] = {}
    sequences: dict[str, list[list[Any]]] = {}
    codes: dict[str, str] = {}
    refused: list[str] = []
    does: str = ""

    def acts(self) -> Iterator[tuple[str, Act]]:
        sequences = {**{name: [call] for name, call in self.calls.items()}, **self.sequences}
        for role in ROLES:
            for name, calls in sequences.items():
                yield f"{name}: {role}", Probe(role, calls=calls, refused=self.refused, does=self.does)
            for name, code in self.codes.items():
                yield f"{name}: {role}", Probe(role, code=code, refused=self.refused)


class May(Struct, frozen=True, forbid_unknown_fields=True):
    """Probes that may go through in some roles, and why they do no harm there."""

    roles: tuple[str, ...]
    why: str
    calls: tuple[str, ...]


class _Elsewhere(_Row, frozen=True, kw_only=True):
    name: str
    test: str = ""
    because: str = ""

    def acts(self) -> Iterator[tuple[str, Act]]:
        yield self.name, Elsewhere(self.test, self.because)


class _Sql(_Row, frozen=True, kw_only=True):
    """Rows of sql.toml, by how their names begin; the first group that fits takes a row."""

    names: tuple[str, ...]


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    ask: tuple[_Ask, ...] = ()
    asks: tuple[_Asks, ...] = ()
    sql: tuple[_Sql, ...] = ()
    line: tuple[_Line, ...] = ()
    look: tuple[_Look, ...] = ()
    probes: tuple[_Probes, ...] = ()
    may: tuple[May, ...] = ()
    elsewhere: tuple[_Elsewhere, ...] = ()
    plant: tuple[Plant, ...] = ()
    numbers: dict[str, tuple[int, int]] = {}


class _Statement(Struct, frozen=True):
    name: str
    sql: str


class _SqlFile(Struct, frozen=True):
    payloads: dict[str, dict[str, str]]
    positions: dict[str, dict[str, str]]
    statement: tuple[_Statement, ...]


class _Threats(Struct, frozen=True):
    threats: dict[str, ListedThreat]


POSITIONS = 3  # that a payload of sql.toml is tried in; tests/test_statement.py tries them all
FILES = ("query", "arguments", "tree", "stdio", "process", "syscalls", "elsewhere")  # a family each, in this order
ROLES = ("query worker", "indexer", "extractor", "extractor's parent", "broker", "keeper", "connector", "embedder")


def threats() -> dict[int, ListedThreat]:
    """Return every threat by its number."""
    read = msgspec.toml.decode(_bytes("threats"), type=_Threats).threats
    return {int(number): threat for number, threat in read.items()}


def plants() -> tuple[Plant, ...]:
    """Return what is planted in the scratch project."""
    return _file("tree").plant


def harmless() -> dict[str, str]:
    """Return why a probe may go through, by its name: `harmless()["the time: indexer"]`."""
    return {f"{call}: {role}": may.why for may in _file("syscalls").may for role in may.roles for call in may.calls}


def numbers(machine: str) -> dict[str, int]:
    """Return the system calls of a machine that the probes use, by name."""
    column = ("x86_64", "aarch64").index(machine)
    return {name: both[column] for name, both in _file("syscalls").numbers.items() if both[column] >= 0}


def attacks(families: Sequence[str] = FILES) -> list[Attack]:
    """Return every row of the families, each with a name of its own."""
    return [attack for family in families for attack in _family(family, _file(family))]


def _bytes(name: str) -> bytes:
    return resources.files("fledgling.attacks").joinpath(f"{name}.toml").read_bytes()


def _file(name: str) -> _File:
    return msgspec.toml.decode(_bytes(name), type=_File)


def _family(family: str, file: _File) -> Iterator[Attack]:
    for row in (*file.ask, *file.asks, *file.line, *file.look, *file.probes, *file.elsewhere):
        for name, act in row.acts():
            yield Attack(family, name, row.threats, row.source, row.layer, act)
    if file.sql:
        for name, title, sql in _statements():
            group = next(group for group in file.sql if name.startswith(group.names))
            yield Attack(family, title, group.threats, group.source, group.layer, Ask("query", {"sql": sql}))


def repeated(payload: Any) -> Any:
    """Spell a long payload out: `repeated({"text": "a", "times": 3})` is `aaa`; any other is returned as it is."""
    if isinstance(payload, dict) and "times" in payload:
        return payload.get("before", "") + payload["text"] * payload["times"] + payload.get("after", "")
    return payload


def _statements() -> Iterator[tuple[str, str, str]]:
    """Yield the name of a payload, that of a row, and its SQL: each payload in some positions, and whole statements."""
    file = msgspec.toml.decode(_bytes("sql"), type=_SqlFile)
    for kind, payloads in file.payloads.items():
        positions = list(file.positions[kind].items())
        step = len(positions) // POSITIONS
        for at, (name, payload) in enumerate(payloads.items()):
            for position, text in (positions[(at + turn * step) % len(positions)] for turn in range(POSITIONS)):
                yield name, f"{name}: {kind} {position}", text.format(payload)
    for row in file.statement:
        yield row.name, f"statement: {row.name}", row.sql
