"""Judge of who calls whom in C and C++: clang's own parser. Needs apt, and pip's libclang, whose headers are gcc's."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from corpora import fetch, unpack
from uses import SURE, Call, Target, calls, report, tally

from fledgling.worker.graph.reasons import Confidence

cindex = pytest.importorskip("clang.cindex", reason="no libclang")

FUNCTIONS = {
    cindex.CursorKind.FUNCTION_DECL,
    cindex.CursorKind.CXX_METHOD,
    cindex.CursorKind.CONSTRUCTOR,
    cindex.CursorKind.FUNCTION_TEMPLATE,
}
WRAPPING = {cindex.CursorKind.UNEXPOSED_EXPR, cindex.CursorKind.PAREN_EXPR}
NAMING = {cindex.CursorKind.MEMBER_REF_EXPR, cindex.CursorKind.DECL_REF_EXPR}
# how each is compiled; what is left out is no part of the program or defines one class in several programs
PROJECTS: dict[str, dict[str, Any]] = {
    "jq": {
        "options": ["-Isrc", "-D_GNU_SOURCE", "-DHAVE_MEMMEM=1", "-DHAVE_STRPTIME=1", "-DHAVE_TIMEGM=1"],
        "language": "c",
        "ends": ".c",
        "apart": ("modules/",),
        "recall": 0.99,
    },
    "leveldb": {
        "options": ["-xc++", "-std=c++17", "-I.", "-Iinclude", "-DLEVELDB_PLATFORM_POSIX=1"],
        "language": "cpp",
        "ends": ".cc",
        "apart": ("benchmarks/", "third_party/"),
        "recall": 0.97,
    },
}

CLASS = re.compile(rb"(?:template\s*<[^()]*>\s*)?(?:class|struct)\s[^()]*$")  # and no function that gives one

pytestmark = [pytest.mark.judge, pytest.mark.long]


def gcc_headers() -> list[str]:
    """Return the options that name the folders of gcc's headers."""
    command = ["g++", "-E", "-x", "c++", "-v", "/dev/null"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return [f"-isystem{line.strip()}" for line in said.split("\n") if line.startswith(" /")]


class Program:
    """What clang says of all files of a project: where functions begin, and which one a call means."""

    def __init__(self, root: Path, options: list[str], ends: str) -> None:
        self._root = root.resolve()
        self._own: dict[str, str | None] = {}
        self._defined: dict[str, set[Target]] = {}  # in several programs of a project there may be several
        self._called: dict[Call, set[tuple[str, bool]]] = {}
        for path in sorted(root.rglob(f"*{ends}")):
            unit = cindex.Index.create().parse(str(path), args=[*options, *gcc_headers()])
            for cursor in self._inside(unit.cursor):
                self._take(cursor)

    def edges(self) -> tuple[dict[Call, set[Target]], set[Call]]:
        """The calls of functions of the project, and those of functions that nothing in it declares."""
        found = {
            call: {place for said, _ in meant for place in self._meant(said, call.path)}
            for call, meant in self._called.items()
        }
        outside = {call for call, meant in self._called.items() if not any(is_own for _, is_own in meant)}
        return {call: targets for call, targets in found.items() if targets}, outside

    def _meant(self, said: str, path: str) -> set[Target]:
        """The places where a function is defined: in a file that does, and calls it, its own."""
        places = self._defined.get(said, set())
        return {place for place in places if place[0] == path} or places

    def _inside(self, cursor: Any) -> Iterator[Any]:
        todo = [cursor]
        while todo:
            for kid in todo.pop().get_children():
                if self._path(kid.location):
                    todo.append(kid)
                    yield kid

    def _path(self, location: Any) -> str | None:
        name = location.file.name if location.file else ""
        if name not in self._own:
            path = Path(name).resolve()
            self._own[name] = str(path.relative_to(self._root)) if path.is_relative_to(self._root) else None
        return self._own[name]

    def _take(self, cursor: Any) -> None:
        if cursor.kind in FUNCTIONS and cursor.is_definition():
            place = self._path(cursor.extent.start) or "", cursor.extent.start.line
            self._defined.setdefault(cursor.get_usr(), set()).add(place)
        meant = cursor.referenced if cursor.kind == cindex.CursorKind.CALL_EXPR else None
        if meant is not None and meant.kind in FUNCTIONS:
            place = _named_at(cursor, meant)
            of = cindex.conf.lib.clang_getSpecializedCursorTemplate(meant)
            said = of.get_usr() if of and of.kind in FUNCTIONS else meant.get_usr()
            call = Call(self._path(place) or "", place.line, place.column - 1, meant.spelling.partition("<")[0])
            self._called.setdefault(call, set()).add((said, self._path(meant.location) is not None))


def _named_at(call: Any, meant: Any) -> Any:
    """Where the name of what a call means stands: `b` of `a.b()` and of `n::b()`."""
    named = next(iter(call.get_children()), None) if meant.kind != cindex.CursorKind.CONSTRUCTOR else None
    while named is not None and named.kind in WRAPPING:
        named = next(iter(named.get_children()), None)
    return (named if named is not None and named.kind in NAMING else call).location


def stands_there(root: Path, call: Call) -> bool:
    """Whether a call is written there, and no macro's."""
    line = (root / call.path).read_bytes().split(b"\n")[call.line - 1]
    return re.match(re.escape(call.name).encode() + rb"(?!\w)", line[call.column :]) is not None


@pytest.mark.parametrize("name", PROJECTS)
def test_calls_are_those_of_clang(
    name: str, pytestconfig: pytest.Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = PROJECTS[name]
    root = unpack(fetch(name, Path(pytestconfig.cache.mkdir("corpora"))), tmp_path)
    monkeypatch.chdir(root)
    theirs, outside = Program(root, row["options"], row["ends"]).edges()
    theirs = {
        call: targets
        for call, targets in theirs.items()
        if not call.path.startswith(row["apart"]) and stands_there(root, call)
    }
    ours = calls(root, "c", "cpp")
    classes = {place for place, text in _lines(root) if CLASS.match(text)}
    found = tally({call: {at: sure for at, sure in to.items() if at not in classes} for call, to in ours.items()},
                  theirs, {call for call in outside if not call.path.startswith(row["apart"])})  # fmt: skip
    report(name, found)
    assert found.sites > 1_000
    assert found.found / found.sites >= row["recall"]
    assert found.precision(Confidence.CERTAIN) >= 0.99, found.wrong[Confidence.CERTAIN]
    assert found.precision(*SURE) >= 0.95


def _lines(root: Path) -> Iterator[tuple[Target, bytes]]:
    """The lines of a project; a call of a class has a row for that, too, of which clang says nothing."""
    for path in root.rglob("*.*"):
        if path.suffix in (".h", ".hpp", ".c", ".cc", ".cpp"):
            for number, text in enumerate(path.read_bytes().split(b"\n"), 1):
                yield (str(path.relative_to(root)), number), text.lstrip()
