"""The systems that code is compiled on, as bits, and which of them conditions and the names of files say.

Of one function a program often has a definition for each system, of which no two are ever linked together.
"""

import re
from collections.abc import Callable, Iterable, Iterator

LINUX, WINDOWS, APPLE, BSD, SUN, AIX, ZOS, OTHER = (1 << bit for bit in range(8))
ANY = 255
Where = tuple[int, int]  # where something may hold, and where it may not
UNKNOWN: Where = (ANY, ANY)
MAX_INNER = 20  # brackets within each other in a condition; further inside nothing is known
NAMES = {  # what words in the names of files and folders say
    "win": WINDOWS, "win32": WINDOWS, "win64": WINDOWS, "windows": WINDOWS, "msvc": WINDOWS, "mingw": WINDOWS,
    "posix": ANY & ~WINDOWS, "unix": ANY & ~WINDOWS, "linux": LINUX, "darwin": APPLE, "macos": APPLE, "osx": APPLE,
    "apple": APPLE, "ios": APPLE, "bsd": BSD, "freebsd": BSD, "netbsd": BSD, "openbsd": BSD, "dragonfly": BSD,
    "sunos": SUN, "solaris": SUN, "aix": AIX, "os390": ZOS, "zos": ZOS, "haiku": OTHER, "cygwin": OTHER, "hpux": OTHER,
    "qnx": OTHER, "ibmi": OTHER, "hurd": OTHER, "android": OTHER, "wasm": OTHER, "emscripten": OTHER, "amiga": OTHER,
    "os400": OTHER, "vms": OTHER, "openvms": OTHER, "vxworks": OTHER, "wince": WINDOWS, "uwp": WINDOWS, "dos": OTHER,
    "plan9": OTHER, "illumos": SUN, "kqueue": APPLE | BSD, "epoll": LINUX, "iocp": WINDOWS,
}  # fmt: skip
WORD = re.compile(r"[a-z0-9]+")


def of_path(path: str) -> int:
    """The systems that the name of a file says it is for; any, where it says none.

    >>> of_path("src/win/tcp.c") == WINDOWS, of_path("src/windows_list.c") == WINDOWS, of_path("src/window.c") == ANY
    (True, True, True)
    """
    found = ANY
    for word in WORD.findall(path.lower()):
        found &= NAMES.get(word, ANY)
    return found or ANY


def taken_on(where: int) -> int:
    """The system that is looked at of some: Linux if it is one of them, and if there is none."""
    return LINUX if where & LINUX or not where else where


class Condition:
    """What `a && (b || !c)` says, by what each of its words does.

    `behind` reads what may follow an operand, `a >= 1`: it is given the word that this is, else "", what is known
    so far, the next word and those after it; it returns what is known then, and the word behind that.

    >>> condition = Condition({"linux": (LINUX, ANY & ~LINUX), "cgo": UNKNOWN}.__getitem__)
    >>> condition.read(["linux", "&&", "cgo"]) == (LINUX, ANY)
    True
    """

    def __init__(
        self,
        known: Callable[[str], Where],
        behind: Callable[[str, Where, str, Iterator[str]], tuple[Where, str]] = lambda _, found, end, __: (found, end),
    ) -> None:
        self._known = known
        self._behind = behind

    def read(self, words: Iterable[str]) -> Where:
        """Where the condition may hold, and where not."""
        return self._either(iter([*words, ""]), 0)

    def _either(self, words: Iterator[str], depth: int) -> Where:
        """`a && b || c`, up to the bracket that ends it."""
        holds, fails, end = 0, ANY, "||"
        while end == "||":
            both, end = self._both(words, depth)
            holds, fails = holds | both[0], fails & both[1]
        return holds, fails

    def _both(self, words: Iterator[str], depth: int) -> tuple[Where, str]:
        """`a && !b`, and what stands behind it."""
        holds, fails, end = ANY, 0, "&&"
        while end == "&&":
            own, end = self._operand(words, depth)
            holds, fails = holds & own[0], fails | own[1]
        return (holds, fails), end

    def _operand(self, words: Iterator[str], depth: int) -> tuple[Where, str]:
        """`!a` or `(a)`, and what stands behind it: an operator, a bracket, or nothing."""
        is_not, word = False, next(words, "")
        while word == "!":
            is_not, word = not is_not, next(words, "")
        if word == "(":
            found = self._either(words, depth + 1) if depth < MAX_INNER else skipped(words)
        else:
            found = self._known(word)
        alone = "" if is_not or word == "(" else word
        return self._behind(alone, found[::-1] if is_not else found, next(words, ""), words)


def skipped(words: Iterator[str]) -> Where:
    """Of what is in brackets nothing is known."""
    inner = 1
    for word in words:
        inner += {"(": 1, ")": -1}.get(word, 0)
        if not inner:
            break
    return UNKNOWN
