"""Looks for changes find what a walk of the whole tree finds, whatever has been done to it in between."""

import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
from trees import make, somebody_else

from fledgling.scope import Scope
from fledgling.worker.files.sweep import Sweeper
from fledgling.worker.files.walk import MAX_NAMES, Walk, walk

DIRECTORIES = ["a", "b", "c"]
FILES = ["d.py", "e.py", "f.js", "g.log", "h.md"]


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", root, *arguments], capture_output=True, check=False)


class Tree:
    """A tree that changes at random; what cannot be done at the moment is left."""

    def __init__(self, root: Path, random: Random) -> None:
        self.root, self.random = root, random
        git(root, "init", "-q")
        self.changes: list[Callable[[], object]] = [
            *[self.write] * 3,
            self.ignore,
            self.exclude,
            self.remove,
            self.rename_file,
            self.rename_directory,
            self.make_directory_of_file,
            self.link,
            lambda: git(root, "add", "-f", random.choice([".", *DIRECTORIES])),
            lambda: git(root, "status"),
            lambda: git(self.place(), "init", "-q"),
            self.forget_repository,
            self.head,
            self.shut,
        ]

    def change(self) -> None:
        with suppress(OSError):
            self.random.choice(self.changes)()

    def place(self) -> Path:
        return self.root.joinpath(*self.random.choices(DIRECTORIES, k=self.random.randrange(4)))

    def files(self) -> list[Path]:
        return [path for path in sorted(self.root.rglob("*")) if path.is_file() and ".git" not in path.parts]

    def write(self) -> None:
        place = self.place()
        place.mkdir(parents=True, exist_ok=True)
        (place / self.random.choice(FILES)).write_text("x" * self.random.randrange(50))

    def ignore(self) -> None:
        (self.place() / ".gitignore").write_text(self.random.choice(["*.log\n", "b\n", "/a/\n", "!*.log\n", ""]))

    def exclude(self) -> None:
        (self.root / ".git/info/exclude").write_text(self.random.choice(["", "*.md\n", "c/\n"]))

    def head(self) -> None:
        """Make a repository a directory like any other for git, or the reverse."""
        if heads := sorted(self.root.glob("*/**/.git/HEAD")):
            self.random.choice(heads).write_text(self.random.choice(["x\n", "ref: refs/heads/x\n"]))

    def remove(self) -> None:
        if (place := self.place()) != self.root:
            shutil.rmtree(place)

    def rename_file(self) -> None:
        if files := self.files():
            self.random.choice(files).rename(self.place() / f"m{self.random.randrange(9)}.py")

    def rename_directory(self) -> None:
        if (place := self.place()) != self.root:
            place.rename(self.place() / f"r{self.random.randrange(9)}")

    def make_directory_of_file(self) -> None:
        if files := self.files():
            chosen = self.random.choice(files)
            chosen.unlink()
            chosen.mkdir()
            (chosen / "n.py").write_text("y")

    def link(self) -> None:
        (self.place() / f"l{self.random.randrange(5)}").symlink_to(self.random.choice(["a", "../b", "e.py"]))

    def shut(self) -> None:
        """Let nobody read a directory, or all who may; root reads both."""
        if (place := self.place()) != self.root:
            place.chmod(self.random.choice([0, 0o444, 0o755]))

    def forget_repository(self) -> None:
        if (place := self.place()) != self.root:
            shutil.rmtree(place / ".git")


def check(root: Path, seed: int, steps: int, max_files: int) -> None:
    random, scope = Random(seed), Scope(max_files=max_files)
    tree = Tree(root, random)
    fd = os.open(root, os.O_RDONLY)
    try:
        sweeper = Sweeper(fd, scope, names=MAX_NAMES, is_whole=False)
        known = dict(sweeper.entries)
        for step in range(steps):
            for _ in range(random.randrange(1, 4)):
                tree.change()
            found = sweeper.look()
            for path in found.removed:
                del known[path]
            known |= found.changed
            expected = walk(fd, scope)
            assert known == sweeper.entries == {entry.path: entry for entry in expected.entries}, step
            assert sweeper.unlisted == expected.unlisted, step
    finally:
        os.close(fd)


@pytest.mark.parametrize("max_files", [1000, 20], ids=["all files", "too many files"])
def test_looks_find_what_a_walk_finds(tmp_path: Path, max_files: int) -> None:
    check(tmp_path, 1, 60, max_files)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 22))
def test_looks_find_what_a_walk_finds_whatever_is_done(tmp_path: Path, seed: int) -> None:
    check(tmp_path, seed, 400, 60)


def test_names_and_rules_that_change_within_a_tick_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels before 6.13 stamp all that is done in some milliseconds alike; here a file system, in a second."""

    def coarse(look: Callable[..., os.stat_result]) -> Callable[..., os.stat_result]:
        def found(*asked: Any, **how: Any) -> os.stat_result:
            status = look(*asked, **how)
            times = {f"st_{name}_ns": getattr(status, f"st_{name}_ns") // 10**9 * 10**9 for name in ("mtime", "ctime")}
            return os.stat_result(status, times)

        return found

    git(tmp_path, "init", "-q")
    fd = os.open(tmp_path, os.O_RDONLY)
    monkeypatch.setattr(os, "stat", coarse(os.stat))
    monkeypatch.setattr(os, "fstat", coarse(os.fstat))
    try:
        sweeper = Sweeper(fd, Scope(), names=MAX_NAMES, is_whole=False)
        for name in map(str, range(5)):  # a second ends between two of them, or two
            make(tmp_path, f"d/a{name}")
            sweeper.look()
            make(tmp_path, f"d/b{name}", **{".gitignore": "a*\n"})
            sweeper.look()
            assert f"d/b{name}" in sweeper.entries
            make(tmp_path, **{".gitignore": "b*\n"})
            sweeper.look()
            assert (f"d/a{name}" in sweeper.entries, f"d/b{name}" in sweeper.entries) == (True, False)
            (tmp_path / ".gitignore").unlink()
            sweeper.look()
            assert f"d/b{name}" in sweeper.entries
    finally:
        os.close(fd)


def test_directories_that_are_read_again_count_once(tmp_path: Path) -> None:
    """Nor is anything forgotten where it is the root that cannot be read."""
    make(tmp_path, "a", "d/b", "d/e/f", **{"d/g.log": "x", ".gitignore": "*.log\n"})
    tmp_path.chmod(0o755)
    fd = os.open(tmp_path, os.O_RDONLY)
    walking = Walk(fd, Scope(), MAX_NAMES)
    try:
        walking.run()
        counts = walking.names, walking.path_bytes
        for mode in (0, 0o755):
            (tmp_path / "d").chmod(mode)
            with somebody_else():
                assert walking.again(b"d/")
        assert walking.again(b"")
        assert (walking.names, walking.path_bytes) == counts
        sweeper = Sweeper(fd, Scope(), names=MAX_NAMES, is_whole=False)
        tmp_path.chmod(0)
        make(tmp_path, "d/h")
        with somebody_else():
            for _ in range(2):
                with pytest.raises(PermissionError):
                    sweeper.look()
            with pytest.raises(PermissionError):
                walking.again(b"")
        tmp_path.chmod(0o755)
        assert [[*found.changed] for found in (sweeper.look(), sweeper.look())] == [["d/h"], []]
    finally:
        tmp_path.chmod(0o755)
        os.close(fd)
