"""Where control sockets are: in the directory that the session keeps for this user alone, a name for each server.

Whoever reaches one may ask all that the server's profiles allow, so the file system decides who does: the directory is
this user's and closed to everybody else, and a sandbox that does not see it reaches nothing in it. An abstract socket
would need no file, and anybody in the network namespace could connect it, out of a container too (CVE-2020-15257).
"""

import os
import stat
import struct
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from fledgling.digests import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:  # loaded where there is a server
    import socket

VARIABLE = "XDG_RUNTIME_DIR"  # XDG Base Directory Specification: owned by the user, who alone has access to it
PREFIX = "fledgling-"
GREETING_SECONDS = 2.0  # of a server that is alive; one that is stopped is passed over
CONNECTING_SECONDS = 2.0  # who waits longer has met a server that stands still
REQUEST_SECONDS = 5.0  # from connecting, or the last reply, to the end of a request: then others have their turn


class PlaceError(Exception):
    """There is no directory for sockets: what is wrong, and with which option or variable."""

    def __init__(self, source: str, problem: str, fix: str) -> None:
        super().__init__(f"{source}: {problem}; {fix}")
        self.source, self.problem, self.fix = source, problem, fix


def connected(environment: Mapping[str, str], beginning: str) -> "Iterator[tuple[str, socket.socket | None]]":
    """Yield a connection to each server that takes commands of this user, and its socket's name, which begins so.

    As `those_in`. There is nothing where there is no directory.
    """
    with suppress(PlaceError), opened(environment) as directory:
        yield from those_in(directory, beginning)


def is_own(connection: "socket.socket") -> bool:
    """Return whether the user at the other end is this one, as the kernel knows it (unix(7), SO_PEERCRED)."""
    import socket  # noqa: PLC0415

    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, user, _ = struct.unpack("3i", credentials)
    return bool(user == os.geteuid())


@contextmanager
def opened(environment: Mapping[str, str]) -> Iterator[int]:
    """Open the directory of this user's sockets. Raises PlaceError where there is none, or others may enter it."""
    if sys.platform != "linux":  # who is at the other end is asked there otherwise, and nobody has tried
        raise PlaceError("--control", "it needs Linux", "serve without it")
    path = environment.get(VARIABLE, "")
    if not path.startswith("/"):
        raise PlaceError(VARIABLE, "no directory of this user is named there", fix())
    try:
        directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as missing:
        raise PlaceError(VARIABLE, f"it cannot be opened ({missing.strerror})", fix()) from None
    try:
        found = os.fstat(directory)
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise PlaceError(VARIABLE, "the directory is not this user's alone", fix())
        yield directory
    finally:
        os.close(directory)


def fix() -> str:
    """Return what to do where there is no such directory."""
    return f"set {VARIABLE} to a directory that you own and nobody else may enter (mode 0700)"


def prefix_of(root: "str | os.PathLike[str]") -> str:
    """Return how the names of a root's sockets begin; the root itself may be too long for one."""
    return f"{PREFIX}{sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]}-"


def address(directory: int, name: str) -> str:
    """Return the address of a socket: the kernel takes no more than 107 bytes of it."""
    return f"/proc/self/fd/{directory}/{name}"


def those_in(directory: int, beginning: str) -> "Iterator[tuple[str, socket.socket | None]]":
    """Yield the name of each socket that begins like this, and a connection to the server of this user behind it.

    It is None where a server listens and too many wait already. It is closed before the next is made: a process holds
    no more than some thousand descriptors. What a server has left that ended is removed.
    """
    for name in names(directory, beginning):
        try:
            found = connection(directory, name)
        except BlockingIOError:
            yield name, None
        else:
            if found:
                with found:
                    yield name, found


def timeval(seconds: float) -> bytes:
    """Return a time as socket(7) takes it: seconds and microseconds."""
    return struct.pack("ll", int(seconds), int(seconds % 1 * 1e6))


def names(directory: int, beginning: str) -> list[str]:
    """Return the names that begin like this, in order."""
    return sorted(name for name in os.listdir(directory) if name.startswith(beginning))


def connection(directory: int, name: str, seconds: float = CONNECTING_SECONDS) -> "socket.socket | None":
    """Return a connection to the server of this user behind a socket; None where nobody listens, or another user.

    Raises BlockingIOError where too many wait for so long, or until a signal ends the wait (signal(7), SO_SNDTIMEO),
    which Python takes for a connection. What a server has left that ended is removed.
    """
    import socket  # noqa: PLC0415

    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeval(seconds))
        made.connect(address(directory, name))
        if not _is_connected(made):
            raise BlockingIOError
        if is_own(made):
            return made
    except ConnectionRefusedError:  # nobody listens; or it is no socket at all
        with suppress(FileNotFoundError):
            if stat.S_ISSOCK(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
                os.unlink(name, dir_fd=directory)
    except BlockingIOError:
        made.close()
        raise BlockingIOError("too many wait for it already") from None
    except OSError:  # it has gone, or is another user's
        pass
    made.close()
    return None


def _is_connected(made: "socket.socket") -> bool:
    try:
        made.getpeername()
    except OSError:
        return False
    return True
