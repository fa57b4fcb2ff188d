"""Trees to walk: planted by a test, or random ones for git to judge, whose patterns and names often meet."""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from fledgling.scope import Scope
from fledgling.worker.files.tree import Tree
from fledgling.worker.files.walk import walk

ALL = Scope(exclude_patterns=())
NAMES = rb"""a b ab abc foo foobar bar.py x.log .hid A 1 _ - ^ ~ a-c ] [a] * !a #a \ a\b """.split()
NAMES += [b"a b", b" a", b"a ", b"a\nb", b"\t", b"\x0b", b"\xc3\xa9", b"\xff"]
PIECES = rb"""a b ab c foo bar x .py .log * * * * ** ** *** ? / / / / **/ /** /**/ - ^ # ! ] [ [! \ \a \* \/ \# \!
    [ab] [!a] [^ab] [a-c] []a] [!]a] [a-] [-a] [z-a] [a-c-e] [--a] [\]a] [a\-c] [\a-\c] [/] [!/] [.-0]
    [[:alpha:]] [[:upper:]] [^[:lower:]] [[:punct:][:digit:]] [[:space:]] [[:cntrl:]] [[:blank:]]
    [[:graph:]] [[:xdigit:]] [[:bogus:]] [[:alpha] [[:] [[::]] [a-[:digit:]]""".split()
PIECES += [b" ", b"\\ ", b"\t", b"\r", b"\0", b"\xc3\xa9", b"[\xc3\xa9]", b"\xff", b"[\xf0-\xff]"]
# Where git's versions differ: 2.47 takes the stars of `a**/x` for any number of directories, 2.55 for one star.
STARS_BEHIND_A_NAME = re.compile(rb"[!/]*[^*?\[\\]*[^*?\[\\/]\*\*+(?:\\?/|\s*$)")
NOWHERE = {"HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent", "GIT_CONFIG_GLOBAL": "/dev/null"}
GIT_ENV = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C", **NOWHERE}


@contextmanager
def somebody_else() -> Iterator[None]:
    """Root may read anything, so as root do it as nobody."""
    me = os.geteuid()
    if me == 0:
        os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(me)


def make(root: Path, *files: str, **contents: str) -> Path:
    """Plant files, with an x in them or with what is given, and the directories they are in."""
    for name in (*files, *contents):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(contents.get(name, "x"))
    return root


def walked(root: Path, scope: Scope = ALL, **whole: Any) -> Tree:
    """Walk it, by default without any exclude patterns."""
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return walk(fd, scope, **whole)
    finally:
        os.close(fd)


def git(root: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """Run git with nobody's configuration and return what it prints."""
    command = ["git", "-c", "core.fsync=none", *arguments]
    return subprocess.run(command, cwd=root, env=GIT_ENV, check=True, capture_output=True, input=stdin).stdout


def git_files(root: Path) -> set[bytes]:
    """What git lists at the root and is on disk, without the repositories that it lists as one name."""
    names = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split(b"\0")
    return {name for name in names if name and _is_entry(os.fsencode(root), name)}


@cache
def crosses_behind_a_name() -> bool:
    """Return whether the git here reads stars behind a name as Fledgling does, like older ones."""
    with tempfile.TemporaryDirectory() as place:
        root = make(Path(place), "a/b/x", **{".gitignore": "a**/x\n"})
        git(root, "init", "-q")
        return git_files(root) == {b".gitignore"}


def _is_entry(root: bytes, name: bytes) -> bool:
    parts = name.split(b"/")
    if any(os.path.islink(os.path.join(root, *parts[:at])) for at in range(1, len(parts))):
        return False  # git goes on listing a tracked file whose directory became a link
    path = os.path.join(root, name)
    return os.path.islink(path) or os.path.isfile(path)


def grow(root: Path, random: Random) -> None:
    """Make a tree of files, links and ignore files; some of it is tracked, some of that is changed afterwards."""
    git(root, "init", "-q")
    directories = [os.fsencode(root)]
    for _ in range(random.randrange(2, 12)):
        path = os.path.join(random.choice(directories[-4:] + directories[:1]), random.choice(NAMES))
        if not os.path.lexists(path):
            os.mkdir(path)
            directories.append(path)
    for directory in directories:
        for name in random.sample(NAMES, random.randrange(1, 8)):
            _place(os.path.join(directory, name), random)
        if random.random() < 0.5 or directory == directories[0]:
            Path(os.fsdecode(directory), ".gitignore").write_bytes(ignore_file(random))
    if random.random() < 0.3:
        (root / ".git/info/exclude").write_bytes(ignore_file(random))
    if random.random() < 0.6:
        _track(root, random)


def _place(path: bytes, random: Random) -> None:
    if os.path.lexists(path):
        return
    if random.random() < 0.1:
        os.symlink(random.choice([b".", b"..", b"/", b"missing", os.path.basename(path)]), path)
    else:
        Path(os.fsdecode(path)).write_bytes(b"x")


def ignore_file(random: Random) -> bytes:
    """A few random patterns, mostly short, some of them negated."""
    lines = [_pattern(random) for _ in range(random.randrange(1, 7))]
    if not crosses_behind_a_name():
        lines = [line for line in lines if not STARS_BEHIND_A_NAME.match(line)]
    end = random.choice([b"\n", b"\n", b"\n", b"\r\n"])
    return random.choice([b"", b"", b"\xef\xbb\xbf"]) + end.join(lines) + random.choice([b"", end])


def _pattern(random: Random) -> bytes:
    if random.random() < 0.3:
        body = random.choice(NAMES)
    else:
        body = b"".join(random.choices(PIECES, k=random.choice([1, 1, 2, 2, 3, 3, 4, 6])))
    return random.choice([b"", b"", b"", b"!", b"/"]) + body + random.choice([b"", b"", b"", b"/", b" "])


def _track(root: Path, random: Random) -> None:
    """Add some files, ignored or not; then remove or replace a few of them on disk."""
    paths = [path for path in root.rglob("*") if ".git" not in path.relative_to(root).parts and not path.is_dir()]
    chosen = [path for path in paths if random.random() < 0.3]
    if chosen:
        version = random.choice(["2", "2", "4"])
        git(
            root,
            "-c",
            f"index.version={version}",
            "add",
            "-f",
            "--",
            *(f":(literal){path.relative_to(root)}" for path in chosen),
        )
    for path in chosen:
        if random.random() < 0.1:
            path.unlink()
