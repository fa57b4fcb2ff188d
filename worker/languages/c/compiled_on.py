"""On which systems the lines of a C file may be compiled, by what conditions ask of compilers.

What no compiler says of itself, `HAVE_EPOLL`, may be so on any system.
"""

import re
from collections.abc import Iterator

from fledgling.worker.deferred import deferred
from fledgling.worker.languages.c.conditionals import PIECE, REMARK
from fledgling.worker.systems import AIX, ANY, APPLE, BSD, LINUX, OTHER, SUN, WINDOWS, ZOS

MAX_CONDITION = 2_000  # bytes of one that is read; of a longer one nothing is known
MAX_INNER = 20  # brackets within each other in a condition; further inside nothing is known
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
Where = tuple[int, int]  # where something may hold, and where it may not
UNKNOWN: Where = (ANY, ANY)


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
    return _either(iter([*(word.decode(errors="replace") for word in words), ""]), 0)


def _either(tokens: Iterator[str], depth: int) -> Where:
    """`a && b || c`, up to the bracket that ends it."""
    holds, fails, end = 0, ANY, "||"
    while end == "||":
        both, end = _both(tokens, depth)
        holds, fails = holds | both[0], fails & both[1]
    return holds, fails


def _both(tokens: Iterator[str], depth: int) -> tuple[Where, str]:
    """`a && !b`, and what stands behind it."""
    holds, fails, end = ANY, 0, "&&"
    while end == "&&":
        (own_holds, own_fails), end = _operand(tokens, depth)
        holds, fails = holds & own_holds, fails | own_fails
    return (holds, fails), end


def _operand(tokens: Iterator[str], depth: int) -> tuple[Where, str]:
    """`!a`, `(a)`, `a >= 1`, and what stands behind it: an operator, a bracket, or nothing."""
    is_not, token = False, next(tokens, "")
    while token == "!":
        is_not, token = not is_not, next(tokens, "")
    if token == "(":
        found = _either(tokens, depth + 1) if depth < MAX_INNER else _skipped(tokens)
    else:
        found = MACROS.get(token, UNKNOWN)
    if token in ("1", "0"):
        found = (ANY, 0) if token == "1" else (0, ANY)
    found = found[::-1] if is_not else found
    end = next(tokens, "")
    if end in (">=", ">"):  # `_MSC_VER >= 1900` may fail anywhere
        found, _, end = (found[0], ANY), next(tokens, ""), next(tokens, "")
    while end not in ("&&", "||", ")", ""):  # of any other comparison nothing is known
        found = _skipped(tokens) if end == "(" else UNKNOWN
        end = next(tokens, "")
    return found, end


def _skipped(tokens: Iterator[str]) -> Where:
    """Of what is in brackets nothing is known."""
    inner = 1
    for token in tokens:
        inner += {"(": 1, ")": -1}.get(token, 0)
        if not inner:
            break
    return UNKNOWN
