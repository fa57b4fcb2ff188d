"""Which files hold secrets by their names alone: `secret_files.txt` is the list, and their content is never indexed.

A copy is as secret as its original, so a name counts without what is added to it when a copy is kept.
"""

from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import re2

from fledgling.gitignore import Patterns, compile_patterns

_LIST = Path(__file__).with_name("secret_files.txt").read_bytes().split(b"\n")
MOST_ADDED = 4  # additions to one name that are taken away, one after the other: `.netrc.bak.2~` has three

# What programs and people add to the name of a copy. RE2 as for all that is matched with hostile names: in linear time.
_AT_THE_END = (
    r" +|\.+",  # some file systems drop them
    r"~|\.~\d+~",  # Emacs, nano, patch
    r"[._-](?:bak|backup|bkp|old|orig|original|prev|previous|save|saved|copy|tmp|temp|rej|new|disabled|off)\d*",
    r"[._-]\d[\d._-]*",  # numbered, or dated: .netrc.2026-01-31
    r"\.sw[a-p]|\.un~|\.kate-swp|___jb_(?:old|tmp)___",  # Vim, Kate, JetBrains
    r"\.(?:dpkg|ucf)-\w+|\.rpm(?:save|new|orig)",  # package managers
    r"\.lock|,v|::\$data",  # Git writes `config.lock`; RCS; NTFS
)
_BEFORE_THE_EXTENSION = (
    r"(?: -)? copy(?: \(?\d+\)?)?| ?\(\d+\)",  # file managers, browsers
    r" \([^()]*conflicted copy[^()]*\)|\.sync-conflict-[\w-]+",  # what synchronises
    r"[._-](?:bak|backup|old|orig|copy)\d*|[._-]\d[\d_-]*",
    r"_(?:backup|base|local|remote)_\d+",  # git mergetool
)
_AROUND = r"^#(.+)#$|^\.#(.+)$"  # Emacs
_ADDED = (
    rf"{_AROUND}|({'|'.join(_AT_THE_END)})$"
    rf"|({'|'.join(_BEFORE_THE_EXTENSION)})(\.[^.]{{1,10}})?$"
)


class _Expressions(NamedTuple):
    """What is in the list, where something is added to a name, and whether."""

    names: Patterns
    where: "re2.Pattern[str]"
    whether: re2.Set  # in a twentieth of the time: most names have nothing added


@cache
def _compiled() -> _Expressions:
    """Compile them where a name is first looked at: who looks at none has not waited for them."""
    whether = re2.Set.SearchSet()
    whether.Add(_ADDED)
    whether.Compile()
    return _Expressions(compile_patterns(_LIST, of_files=True), re2.compile(_ADDED), whether)


def is_secret(path: str) -> bool:
    """Whether the file, by its path from the root, is taken to hold secrets.

    >>> is_secret("deploy/.ENV"), is_secret(".ssh/config"), is_secret(".netrc~"), is_secret(".env.example")
    (True, True, True, False)
    """
    folded = path.casefold()
    return _is_listed(folded) or (_may_be_a_copy(folded) and any(map(_is_listed, _of_originals(folded))))


def _is_listed(path: str) -> bool:
    return bool(_compiled().names.verdict(path.encode(), is_directory=False))


def _may_be_a_copy(path: str) -> bool:
    """Return whether something may be added to a name on the way: of most paths that is told in a third of the time."""
    directory, _, name = path.rpartition("/")
    return "." in directory or bool(_compiled().whether.Match(name))


def _of_originals(path: str) -> Iterator[str]:
    """Yield the paths that its original may have, if it may be that of a copy."""
    directory, slash, name = path.rpartition("/")
    above = _plain(directory) if "." in directory else directory  # as all directories of the list have
    if above != directory:
        yield f"{above}{slash}{name}"
    for original in _originals(name):
        yield f"{above}{slash}{original}"


@lru_cache(256)
def _plain(directory: str) -> str:
    """Return the path of a directory without all that is added to names on the way."""
    return "/".join([name, *_originals(name)][-1] for name in directory.split("/"))


def _originals(name: str) -> Iterator[str]:
    """Yield what is left of a name each time that something added to it is taken away."""
    for _ in range(MOST_ADDED):
        added = _compiled().whether.Match(name) and _compiled().where.search(name)
        if not added:
            return
        before = name[: added.start()]
        unsaved, locked, end, _, extension = added.groups()
        if name.startswith(".") and end and end.startswith((".sw", ".un", ".kate")):
            yield before[1:]  # the editor has put the dot before it, unless the name had one
        name = unsaved or locked or before + (extension or "")
        if not name:
            return
        yield name
