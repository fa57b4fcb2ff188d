"""Peers: found on PATH or installed by name below the cache, and run on an empty index of their own."""

import os
import shutil
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import measure
import msgspec

HERE = Path(__file__).parent


class Lookup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An MCP server over a peer's index, and the tool and argument that find a symbol by name."""

    serve: list[str]
    tool: str
    argument: str


class Peer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of peers.toml, which says what the fields mean."""

    program: str
    version: list[str]
    differs: str
    npm: str | None = None
    pip: str | None = None
    prepare: list[str] = []
    index: list[str] = []
    via: list[str] = []
    search: list[str] = []
    lookup: Lookup | None = None
    environment: dict[str, str] = {}
    leaves: list[str] = []
    heavy: bool = False


class MissingError(Exception):
    """A peer does not install or start; the message says why."""


class InstalledPeer(NamedTuple):
    """A program that is there, how it is called, and a home directory that is emptied before each run.

    >>> InstalledPeer("ctags", row, Path("/usr/bin/ctags"), home).run(corpus).wall
    2.36
    """

    name: str
    row: Peer
    program: Path
    home: Path
    version: str = ""

    @property
    def environment(self) -> dict[str, str]:
        """What the program is to find in its environment: a home directory where it may keep an index."""
        added = {name: self.filled(value) for name, value in self.row.environment.items()}
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), **added}

    def run(self, corpus: Path, *, watch: bool = False, keep: bool = False) -> measure.RunCost:
        """Index a corpus anew; the index is removed afterwards unless it is to be kept."""
        self.clean(corpus)
        via = [self.filled(word, corpus) for word in self.row.via]
        index = [self.filled(word, corpus) for word in self.row.index]
        try:
            return measure.run([*via, str(self.program), *index], corpus, self.environment, watch=watch)
        finally:
            if not keep:
                self.clean(corpus)

    def serve(self, corpus: Path) -> list[str]:
        """Return the command of the MCP server over the index."""
        assert self.row.lookup is not None
        return [str(self.program), *(self.filled(word, corpus) for word in self.row.lookup.serve)]

    def clean(self, corpus: Path) -> None:
        """Remove the index."""
        for left in (self.home, *(corpus / name for name in self.row.leaves)):
            shutil.rmtree(left, ignore_errors=True)
        self.home.mkdir(parents=True)

    def filled(self, word: str, corpus: Path | None = None) -> str:
        """Return a word of the table with its names filled in."""
        names = {"python": sys.executable, "here": HERE, "installed": _prefix(self.home), "home": self.home}
        for name, value in (names | {"corpus": corpus}).items():
            word = word.replace(f"{{{name}}}", str(value))
        return word


def load() -> dict[str, Peer]:
    """Return every row of peers.toml by name."""
    return msgspec.convert(tomllib.loads((HERE / "peers.toml").read_text("utf-8")), dict[str, Peer])


def prepare(name: str, cache: Path) -> InstalledPeer:
    """Return a peer, installed where that is needed; raises MissingError where it cannot be had or does not start."""
    row, home = load()[name], cache / "peers" / name / "home"
    home.mkdir(parents=True, exist_ok=True)
    tool = InstalledPeer(
        name, row, _installed(row, _prefix(home)) if row.npm or row.pip else _on_path(row.program), home
    )
    try:
        said = measure.run([str(tool.program), *row.version], home, tool.environment).output
    except measure.CommandError as problem:
        raise MissingError(str(problem)) from problem
    prepared = _prefix(home) / "prepared"
    if row.prepare and not prepared.exists():
        _do([tool.filled(word) for word in row.prepare], home)
        prepared.touch()
    return tool._replace(version=row.npm or row.pip or said.partition("\n")[0])


def _prefix(home: Path) -> Path:
    """Return where a peer is installed, beside its home."""
    return home.parent / "installed"


def _on_path(program: str) -> Path:
    found = shutil.which(program)
    if not found:
        raise MissingError(f"{program} is not on PATH")
    return Path(found)


def _installed(row: Peer, prefix: Path) -> Path:
    """Return the program of a peer that a registry has, in the version that the table names."""
    wanted, mark = row.npm or row.pip or "", prefix / "version"
    if not mark.exists() or mark.read_text() != wanted:
        shutil.rmtree(prefix, ignore_errors=True)
        prefix.mkdir(parents=True)
        if row.npm:
            npm = _on_path("npm")
            _do([str(npm), "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(prefix), wanted], prefix)
        else:
            _do([sys.executable, "-m", "venv", str(prefix)], prefix)
            _do([str(prefix / "bin" / "pip"), "--disable-pip-version-check", "install", "--quiet", wanted], prefix)
        mark.write_text(wanted)
    for program in sorted(prefix.glob(row.program)):
        return program
    raise MissingError("its package holds no program for this machine")


def _do(command: Sequence[str], folder: Path) -> None:
    try:
        measure.run(command, folder)
    except measure.CommandError as problem:
        raise MissingError(f"{Path(command[0]).name} failed: {problem}") from problem
