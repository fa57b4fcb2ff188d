"""On which systems a file of Go is compiled, by what it says before its package clause: https://pkg.go.dev/go/build.

A tag that Go does not know is off unless a build asks for it, and the newest Go is at hand.
"""

import re

from fledgling.worker.deferred import deferred
from fledgling.worker.systems import AIX, ANY, APPLE, BSD, LINUX, OTHER, SUN, UNKNOWN, WINDOWS, ZOS, Condition, Where

MAX_CONSTRAINT = 2_000  # bytes of one that is read; of a longer one nothing is known
ALWAYS: Where = (ANY, 0)
NEVER: Where = (0, ANY)
TAGS: dict[str, Where] = {
    "linux": (LINUX | OTHER, ANY & ~LINUX),
    "windows": (WINDOWS, ANY & ~WINDOWS),
    "darwin": (APPLE, ANY & ~APPLE),
    "aix": (AIX, ANY & ~AIX),
    "zos": (ZOS, ANY & ~ZOS),
    "unix": (ANY & ~WINDOWS, WINDOWS | OTHER),
    **dict.fromkeys(("freebsd", "netbsd", "openbsd", "dragonfly"), (BSD, ANY)),
    **dict.fromkeys(("solaris", "illumos"), (SUN, ANY)),
    **dict.fromkeys(("android", "hurd", "js", "nacl", "plan9", "wasip1"), (OTHER, ANY)),
    "ios": (APPLE, ANY),
    "gc": ALWAYS,
    **dict.fromkeys(
        ("cgo", "386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle", "ppc64", "ppc64le"),
        UNKNOWN,
    ),
    **dict.fromkeys(("riscv64", "s390x", "sparc64", "wasm"), UNKNOWN),
}
VERSION = re.compile(r"go1(?:\.\d+)?")
SAID = deferred(rb"(?m)^//go:build[ \t]|^//[ \t]*\+build[ \t]")
LINE = deferred(rb"[ \t\r]*(?://(?P<said>[^\n]*)|/\*(?:(?!\*/).)*\*/[ \t]*|)(?:\n|\Z)", re.DOTALL)
TOKEN = deferred(rb"[\w.]+|&&|\|\||[!()]")


def systems(source: bytes) -> list[tuple[int, int]]:
    r"""From the first line on the text may be compiled on which systems, where it says so.

    >>> systems(b"//go:build linux || windows\n\npackage a\n"), systems(b"package a\n")
    ([(1, 131)], [])
    """
    if not SAID.search(source):
        return []
    older, at = list[Where](), 0
    while at < len(source) and (line := LINE.match(source, at)):
        said = (line["said"] or b"")[: MAX_CONSTRAINT + 1]
        if said.startswith(b"go:build "):
            return _told(_constraint(said.removeprefix(b"go:build ")) if len(said) <= MAX_CONSTRAINT else UNKNOWN)
        if (words := said.split())[:1] == [b"+build"]:
            older.append(_older(words[1:]) if len(said) <= MAX_CONSTRAINT else UNKNOWN)
        at = line.end()
    holds = ANY
    for where, _ in older:
        holds &= where
    return _told((holds, ANY))


def _told(where: Where) -> list[tuple[int, int]]:
    return [(1, where[0])] if where[0] != ANY else []


def _tag(word: str) -> Where:
    """Where a tag may be on, and where off."""
    return ALWAYS if VERSION.fullmatch(word) else TAGS.get(word, NEVER)


CONDITION = Condition(_tag)


def _older(options: list[bytes]) -> Where:
    """Where one of some options holds, `linux,!cgo darwin`: each is of several tags that all have to."""
    holds, fails = 0, ANY
    for option in options:
        both, either = ANY, 0
        for tag in option.decode(errors="replace").split(","):
            own = _tag(tag.removeprefix("!"))
            own = own[::-1] if tag.startswith("!") else own
            both, either = both & own[0], either | own[1]
        holds, fails = holds | both, fails & either
    return holds, fails


def _constraint(said: bytes) -> Where:
    """Where `a && (b || !c)` holds, and where not."""
    words = [match[0].decode(errors="replace") for match in TOKEN.finditer(said.partition(b"//")[0])]
    return CONDITION.read(words)
