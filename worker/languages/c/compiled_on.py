"""On which systems the lines of a C file may be compiled, by what conditions ask of compilers, and of the file itself.

What no compiler says of itself, `HAVE_EPOLL`, may be so on any system. What the file defines is so behind that, also
what it gives only by default: `#ifndef A`, `#define A 1`.
"""

import operator
import re
from collections.abc import Callable, Iterator

from msgspec import Struct

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

MAX_AROUND = 50  # conditionals around a line, by which it is known where a macro is defined
MAX_SAID = 10_000  # macros of a file that are kept
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
        "NETWARE", "_WIN32_WCE", "__SYMBIAN32__", "__riscos__", "__INTEL_COMPILER", "__ICCARM__", "__TINYC__",
        "__SUNPRO_C", "__ARMCC_VERSION", "__IBMC__",
    ),
}  # fmt: skip
MACROS = {  # where each may be defined, and where it may not be
    **{word: (where, ANY & ~where) for where, words in SURELY.items() for word in words},
    **{word: (where, ANY) for where, words in PERHAPS.items() for word in words},
    "__GNUC__": (ANY, ANY & ~LINUX & ~APPLE),
}
KNOWN = deferred(rb"\b(?:" + b"|".join(sorted(map(str.encode, MACROS), reverse=True)) + rb")\b")
DEFINED = deferred(rb"(?m)^[ \t]*+\#[ \t]*+define[ \t]++(\w++)[ \t]++\(?\d++\)?[ \t]*+(?:/[/*].*)?$")
ASKED = deferred(rb"(?m)^[ \t]*+\#[ \t]*+(?:el)?if\b(.*)")
WORD = deferred(rb"\w++")
NUMBER = "0|[1-9][0-9]{0,8}"  # none of another base: 010
DEFINES = deferred(rb"\s*\#\s*(define|undef)[ \t]+(\w+)(?![\w(])[ \t]*(?:\(?(" + NUMBER.encode() + rb")\)?\s*$)?")
DIRECTIVE = deferred(rb"\s*\#\s*(?P<kind>\w+)(?P<condition>.*)", re.DOTALL)
HIDDEN = deferred(rb"\\\r?\n|" + REMARK)
COMPARED: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
ENDING = ("&&", "||", ")", "")
TOKEN = deferred(rb"defined\s*\(\s*(\w+)\s*\)|defined\s+(\w+)|(\w+)|(&&|\|\||[<>=!]=|[^\s\w])")


def systems(source: bytes) -> list[tuple[int, int]]:
    r"""From which line on the text may be compiled on which systems, where that changes.

    >>> systems(b"int a;\n#ifdef _WIN32\nint b;\n#else\nint c;\n#endif\n")
    [(2, 2), (4, 253), (6, 255)]
    >>> systems(b"#ifndef A\n#define A 1\n#endif\n#if A == 2\nint b;\n#endif\n")
    [(4, 0), (6, 255)]
    """
    if not KNOWN.search(source) and not _asks_itself(source):
        return []
    found: list[tuple[int, int]] = []
    here = ANY
    file = _Macros()
    line, read = 1, 0
    for piece in PIECE.finditer(source):
        if piece.lastgroup == "other":
            file.take(piece[0])
        if piece.lastgroup not in ("begin", "turn", "end"):
            continue
        line += source.count(b"\n", read, piece.start())
        read = piece.start()
        if piece.lastgroup == "begin":
            here = file.begin(piece[0], here)
        elif file.open and piece.lastgroup == "turn":
            here = file.turn(piece[0])
        elif file.open:
            here = file.end()
        if here != (found[-1][1] if found else ANY):
            found.append((line, here))
    return found


class _Conditional(Struct):
    """One that is open: the systems around it, where no branch need be taken, and where surely none has been.

    And of the branch that is read where it is surely taken, which macro its `#ifndef` asks for, and which it defines;
    and those that the branches before it do.
    """

    around: int
    left: int
    never: int
    sure: int
    unless: str
    names: list[str]
    before: list[str]


class _Macros:
    """The numbers that a file gives macros up to a line, and where it surely does."""

    def __init__(self) -> None:
        self.open: list[_Conditional] = []
        self._said: dict[str, tuple[int, int | None]] = {}
        self._condition = Condition(self._known, self._compared)

    def begin(self, directive: bytes, here: int) -> int:
        """Begin a conditional; where its first branch may be compiled."""
        (holds, fails), unless = self.condition(directive)
        self.open.append(_Conditional(here, fails, ANY & ~holds, ANY & ~fails, unless, [], []))
        return here & holds

    def turn(self, directive: bytes) -> int:
        """Go on with another branch, `#else`; where that may be compiled."""
        self._leave()
        last = self.open[-1]
        (holds, fails), _ = self.condition(directive)
        here = last.around & last.left & holds
        last.sure, last.unless = last.never & ~fails, ""
        last.left, last.never = last.left & fails, last.never & ~holds
        return here

    def end(self) -> int:
        """End a conditional; where what follows may be compiled."""
        self._leave()
        last = self.open.pop()
        if self.open:
            self.open[-1].names += last.before
        return last.around

    def _leave(self) -> None:
        """End a branch: what it defines need not be so behind it, but by default."""
        last = self.open[-1]
        names = [*dict.fromkeys(last.names)] if len(self.open) <= MAX_AROUND else []
        if last.unless in names:  # `#ifndef A_H`: what else it defines is so as well
            last.sure = ANY
        for name in names:
            where, value = self._said.get(name, (0, None))
            self._said[name] = where & last.sure, value
        last.before += names
        last.names = []

    def take(self, directive: bytes) -> None:
        """Note what a directive defines, or no longer does."""
        match = DEFINES.match(HIDDEN.sub(b" ", directive[:MAX_CONDITION]))
        if match is None:
            return
        number = None if len(directive) > MAX_CONDITION else match[3]
        name = match[2].decode(errors="replace")
        self._said.pop(name, None)
        if match[1] == b"define" and len(self.open) <= MAX_AROUND and len(self._said) < MAX_SAID:
            self._said[name] = ANY, None if number is None else int(number)
            if self.open:
                self.open[-1].names.append(name)

    def condition(self, directive: bytes) -> tuple[Where, str]:
        """Where the condition of a directive may hold, and where not; and the macro of an `#ifndef`."""
        match = DIRECTIVE.match(HIDDEN.sub(b" ", directive[:MAX_CONDITION]))
        kind, condition = (match["kind"], match["condition"].strip()) if match else (b"", b"")
        if len(directive) > MAX_CONDITION:
            return UNKNOWN, ""
        if kind.endswith(b"def"):  # ifdef, ifndef, elifdef, elifndef
            name = condition.decode(errors="replace")
            holds, fails = self._known("?" + name)
            return ((fails, holds), name) if kind.endswith(b"ndef") else ((holds, fails), "")
        if kind not in (b"if", b"elif"):
            return (ANY, 0), ""  # `#else`
        words = (
            ("?" if match.lastindex in (1, 2) else "") + match[match.lastindex or 0].decode(errors="replace")
            for match in TOKEN.finditer(condition)
        )
        return self._condition.read(words), ""

    def _known(self, word: str) -> Where:
        """Where a macro is, `?A`, or is another number than 0, and where not."""
        name = word.removeprefix("?")
        where, value = self._said.get(name, (0, None))
        if where and (word != name or value is not None):
            return (ANY & ~where, ANY) if word == name and not value else (ANY, ANY & ~where)
        if word in ("1", "0"):
            return (ANY, 0) if word == "1" else (0, ANY)
        return MACROS.get(name, UNKNOWN)

    def _compared(self, word: str, found: Where, end: str, words: Iterator[str]) -> tuple[Where, str]:
        """What is known behind `a >= 1`."""
        where, value = self._said.get(word, (0, None))
        if end in COMPARED and value is not None:
            other, end, compare = next(words, ""), next(words, ""), COMPARED[end]
            if re.fullmatch(NUMBER, other) and end in ENDING:
                return ((ANY, ANY & ~where) if compare(value, int(other)) else (ANY & ~where, ANY)), end
            found = UNKNOWN
        elif end in (">=", ">"):  # `_MSC_VER >= 1900` may fail anywhere
            found, _, end = (found[0], ANY), next(words, ""), next(words, "")
        while end not in ENDING:  # of any other comparison nothing is known
            found = skipped(words) if end == "(" else UNKNOWN
            end = next(words, "")
        return found, end


def _asks_itself(source: bytes) -> bool:
    """Whether a condition asks for a macro that the file gives a number."""
    said = frozenset(DEFINED.findall(source))
    return bool(said) and any(not said.isdisjoint(WORD.findall(match[1])) for match in ASKED.finditer(source))
