"""The systems that code is compiled on, as bits, and which of them the name of a file says.

Of one function a program often has a definition for each system, of which no two are ever linked together.
"""

import re

LINUX, WINDOWS, APPLE, BSD, SUN, AIX, ZOS, OTHER = (1 << bit for bit in range(8))
ANY = 255
NAMES = {  # what words in the names of files and folders say
    "win": WINDOWS, "win32": WINDOWS, "win64": WINDOWS, "windows": WINDOWS, "msvc": WINDOWS, "mingw": WINDOWS,
    "posix": ANY & ~WINDOWS, "unix": ANY & ~WINDOWS, "linux": LINUX, "darwin": APPLE, "macos": APPLE, "osx": APPLE,
    "apple": APPLE, "ios": APPLE, "bsd": BSD, "freebsd": BSD, "netbsd": BSD, "openbsd": BSD, "dragonfly": BSD,
    "sunos": SUN, "solaris": SUN, "aix": AIX, "os390": ZOS, "zos": ZOS, "haiku": OTHER, "cygwin": OTHER, "hpux": OTHER,
    "qnx": OTHER, "ibmi": OTHER, "hurd": OTHER, "android": OTHER, "wasm": OTHER, "emscripten": OTHER, "amiga": OTHER,
    "os400": OTHER, "vms": OTHER, "dos": OTHER, "plan9": OTHER, "illumos": SUN, "kqueue": APPLE | BSD,
    "epoll": LINUX, "iocp": WINDOWS,
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
