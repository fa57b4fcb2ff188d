"""What a process must read to start another Python: interpreter, libraries, our packages, the machine's size."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import fledgling

_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/nix/store", "/gnu/store")
_SYSTEM = (
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/usr/share/zoneinfo",
    "/usr/share/locale",
    "/proc",
    "/sys/fs/cgroup",  # the engine asks how much memory and how many processors it may use, and dies where it may not
    "/sys/devices/system/cpu",
    "/dev/null",
    "/dev/urandom",
)
_LOADER = re.compile(r"ld[-.].*so.*")  # the dynamic linker, which the kernel starts the interpreter with


def readable(*more: str) -> list[str]:
    """Return the files and directories that a broker and its children need to start, and `more`."""
    rooms = [
        str(room.resolve()) for package in fledgling.__path__ for room in (Path(package), *Path(package).iterdir())
    ]
    prefix = [sys.prefix] if sys.prefix != sys.base_prefix else []  # a virtual environment is told by a file in it
    return [*_LIBRARIES, *_SYSTEM, *sys.path, *prefix, f"{sys.base_prefix}/lib", *rooms, *more]


def executable() -> list[str]:
    """Return the only programs that may be started: this interpreter, and the linker that starts it."""
    linkers = [path for folder in ("/lib", "/lib64") for path in _entries(folder) if _LOADER.fullmatch(path.name)]
    return [os.path.realpath(sys.executable), *(os.path.realpath(path) for path in linkers)]


def _entries(folder: str) -> list[Path]:
    with suppress(OSError):
        return [*Path(folder).iterdir()]
    return []


@contextmanager
def opened(paths: list[str]) -> Iterator[list[int]]:
    """Open what exists of these, to be named and not read, until the end of the block."""
    with ExitStack() as stack:
        fds = []
        for path in dict.fromkeys(filter(None, paths)):
            with suppress(OSError):
                fds.append(os.open(path, os.O_PATH | os.O_CLOEXEC))
                stack.callback(os.close, fds[-1])
        yield fds
