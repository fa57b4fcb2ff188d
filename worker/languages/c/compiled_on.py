"""On which systems the lines of a C file may be compiled, by what conditions ask of compilers.

What no compiler says of itself, `HAVE_EPOLL`, may be so on any system.
"""

import re
from collections.abc import Iterator

from fledgling.worker.deferred import deferred
from fledgling.worker.languages.c.conditionals import PIECE, REMARK
from fledgling.worker.systems import (
    AIX,
    ANY,
    APPLE,
    BSD,
    LINUX,
    OTHER,
    SUN,
    UNKNOWN,
    WINDOWS,
    ZOS,
    Condition,
    Where,
    skipped,
)

MAX_CONDITION = 2_000  # bytes of one that is read; of a longer one nothing is known
# What compilers define, and where: surely, and perhaps.
SURELY = {
    WINDOWS: ("_WIN32", "WIN32", "__WIN32__", "_WINDOWS"),
    LINUX: ("__linux__", "__linux", "linux", "__gnu_linux__"),
    APPLE: ("__APPLE__", "__MACH__"),
    AIX: ("_AIX",),
    SUN: ("__sun", "__sun__", "sun"),
    ZOS: ("__MVS__",),
    ANY & ~WINDOWS & ~APPLE: ("__unix__", "__unix", "unix"),
}
PERHAPS = {
    WINDOWS: ("_WIN64", "WIN64", "_MSC_VER", "__MINGW32__", "__MINGW64__", "__BORLANDC__", "__WATCOMC__", "_WIN32_WCE"),
    APPLE: ("TARGET_OS_IPHONE", "TARGET_OS_MAC", "TARGET_OS_OSX"),
    BSD: ("__FreeBSD__", "__FreeBSD_kernel__", "__NetBSD__", "__OpenBSD__", "__DragonFly__", "__bsdi__"),
    SUN: ("__SVR4", "__svr4__"),
    OTHER: (
        "__CYGWIN__", "__MSYS__", "__ANDROID__", "__HAIKU__", "__BEOS__", "__QNX__", "__QNXNTO__", "__hpux", "__hpux__",
        "__PASE__", "__OS400__", "__GNU__", "__EMSCRIPTEN__", "__wasi__", "__wasm__", "AMIGA", "__AMIGA__", "MSDOS",
        "__MSDOS__", "__DJGPP__", "__OS2__", "__VMS", "__VXWORKS__", "__Fuchsia__", "__minix", "__osf__", "__sgi",
        "NETWARE", "_WIN32_WCE", "__SYMBIAN32__", "__riscos__",
    ),
}  # fmt: skip
MACROS = {  # where each may be defined, and where it may not be
    **{word: (where, ANY & ~where) for where, words in SURELY.items() for word in words},
    **{word: (where, ANY) for where, words in PERHAPS.items() for word in words},
}
KNOWN = deferred(rb"\b(?:" + b"|".join(sorted(map(str.encode, MACROS), reverse=True)) + rb")\b")
DIRECTIVE = deferred(rb"\s*\#\s*(?P<kind>\w+)(?P<condition>.*)", re.DOTALL)
HIDDEN = deferred(rb"\\\r?\n|" + REMARK)
TOKEN = deferred(rb"defined\s*\(\s*(\w+)\s*\)|defined\s+(\w+)|(\w+)|(&&|\|\||[<>=!]=|[^\s\w])")


def systems(source: bytes) -> list[tuple[int, int]]:
    r"""From which line on the text may be compiled on which systems, where that changes.

    >>> systems(b"int a;\n#ifdef _WIN32\nint b;\n#else\nint c;\n#endif\n")
    [(2, 2), (4, 253), (6, 255)]
    """
    if not KNOWN.search(source):
        return []
    found: list[tuple[int, int]] = []
    here = ANY
    open_: list[tuple[int, int]] = []  # around each conditional, and where none of its branches has been taken
    line, read = 1, 0
    for piece in PIECE.finditer(source):
        if piece.lastgroup not in ("begin", "turn", "end"):
            continue
        line += source.count(b"\n", read, piece.start())
        read = piece.start()
        if piece.lastgroup == "begin":
            holds, fails = _condition(piece[0])
            open_.append((here, fails))
            here &= holds
        elif open_ and piece.lastgroup == "turn":
            around, left = open_[-1]
            holds, fails = _condition(piece[0])
            open_[-1] = around, left & fails
            here = around & left & holds
        elif open_:
            here = open_.pop()[0]
        if here != (found[-1][1] if found else ANY):
            found.append((line, here))
    return found


def _condition(directive: bytes) -> Where:
    """Where the condition of a directive may hold, and where not."""
    match = DIRECTIVE.match(HIDDEN.sub(b" ", directive[:MAX_CONDITION]))
    kind, condition = (match["kind"], match["condition"]) if match else (b"", b"")
    if len(directive) > MAX_CONDITION:
        return UNKNOWN
    if kind.endswith(b"def"):  # ifdef, ifndef, elifdef, elifndef
        holds, fails = MACROS.get(condition.strip().decode(errors="replace"), UNKNOWN)
        return (fails, holds) if kind.endswith(b"ndef") else (holds, fails)
    if kind not in (b"if", b"elif"):
        return ANY, 0  # `#else`
    words = (next(filter(None, match.groups())) for match in TOKEN.finditer(condition))
    return CONDITION.read(word.decode(errors="replace") for word in words)


def _known(word: str) -> Where:
    """Where a macro is, and where not."""
    if word in ("1", "0"):
        return (ANY, 0) if word == "1" else (0, ANY)
    return MACROS.get(word, UNKNOWN)


def _compared(found: Where, end: str, words: Iterator[str]) -> tuple[Where, str]:
    """What is known behind `a >= 1`."""
    if end in (">=", ">"):  # `_MSC_VER >= 1900` may fail anywhere
        found, _, end = (found[0], ANY), next(words, ""), next(words, "")
    while end not in ("&&", "||", ")", ""):  # of any other comparison nothing is known
        found = skipped(words) if end == "(" else UNKNOWN
        end = next(words, "")
    return found, end


CONDITION = Condition(_known, _compared)
