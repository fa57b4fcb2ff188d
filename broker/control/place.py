"""Where control sockets are: in the directory that the session keeps for this user alone, a name for each server.

Whoever reaches one may ask all that the server's profiles allow, so the file system decides who does: the directory is
this user's and closed to everybody else, and a sandbox that does not see it reaches nothing in it. An abstract socket
would need no file, and anybody in the network namespace could connect it, out of a container too (CVE-2020-15257).
"""

import hashlib
import os
import resource
import secrets
import signal
import socket
import stat
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from fledgling.config import ConfigError
from fledgling.messages.control import Confining
from fledgling.security import limits
from fledgling.security.confinement import ConfinementError, confine

VARIABLE = "XDG_RUNTIME_DIR"  # XDG Base Directory Specification: owned by the user, who alone has access to it
PREFIX = "fledgling-"
BACKLOG = 8  # operators who wait; one more is refused by the kernel, and takes that for a server that has ended


def listening(environment: Mapping[str, str], roots: Iterable[Path]) -> list[socket.socket]:
    """Return a socket for each root, for its operators. Its file goes when this process does, whatever ends it.

    Comes before this process is confined, or starts a thread. Raises ConfigError.
    """
    names = [f"{_prefix(root)}{secrets.token_hex(4)}" for root in roots]
    with _directory(environment) as directory:
        for connection in _connected(directory, PREFIX):  # what others have left goes
            connection.close()
        _keep(directory, [*names, *map(_hidden, names)])
        try:
            return [_listening(directory, name) for name in names]
        except OSError as refused:
            raise ConfigError("--control", f"no socket can be made there ({refused.strerror})", _fix()) from None


def connected(environment: Mapping[str, str], root: Path | None) -> list[socket.socket]:
    """Return a connection to each server of a root, or of any, that takes commands of this user.

    There is none where there is no directory. What a server has left that ended is removed.
    """
    with suppress(ConfigError), _directory(environment) as directory:
        return _connected(directory, _prefix(root) if root else PREFIX)
    return []


def is_own(connection: socket.socket) -> bool:
    """Return whether the user at the other end is this one, as the kernel knows it (unix(7), SO_PEERCRED)."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, user, _ = struct.unpack("3i", credentials)
    return bool(user == os.geteuid())


@contextmanager
def _directory(environment: Mapping[str, str]) -> Iterator[int]:
    """Open the directory of this user's sockets. Raises ConfigError where there is none, or others may enter it."""
    if sys.platform != "linux":  # who is at the other end is asked there otherwise, and nobody has tried
        raise ConfigError("--control", "it needs Linux", "serve without it")
    path = environment.get(VARIABLE, "")
    if not path.startswith("/"):
        raise ConfigError(VARIABLE, "no directory of this user is named there", _fix())
    try:
        directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as missing:
        raise ConfigError(VARIABLE, f"it cannot be opened ({missing.strerror})", _fix()) from None
    try:
        found = os.fstat(directory)
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise ConfigError(VARIABLE, "the directory is not this user's alone", _fix())
        yield directory
    finally:
        os.close(directory)


def _fix() -> str:
    return f"set {VARIABLE} to a directory that you own and nobody else may enter (mode 0700)"


def _prefix(root: Path) -> str:
    """Return how the names of a root's sockets begin; the root itself may be too long for one."""
    return f"{PREFIX}{hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:16]}-"


def _hidden(name: str) -> str:
    """Return what a socket is called before it listens: who looks for one does not find it."""
    return f".{name}"


def _listening(directory: int, name: str) -> socket.socket:
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    bound.bind(_path(directory, _hidden(name)))
    bound.listen(BACKLOG)
    os.rename(_hidden(name), name, src_dir_fd=directory, dst_dir_fd=directory)
    bound.setblocking(False)
    return bound


def _path(directory: int, name: str) -> str:
    """Return the address of a socket: the kernel takes no more than 107 bytes of it."""
    return f"/proc/self/fd/{directory}/{name}"


def _connected(directory: int, prefix: str) -> list[socket.socket]:
    names = (name for name in sorted(os.listdir(directory)) if name.startswith(prefix))
    return [connection for name in names if (connection := _connection(directory, name))]


def _connection(directory: int, name: str) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(_path(directory, name))
        if is_own(connection):
            return connection
    except ConnectionRefusedError:  # nobody listens; or it is no socket at all
        with suppress(FileNotFoundError):
            if stat.S_ISSOCK(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
                os.unlink(name, dir_fd=directory)
    except OSError:  # it has gone, or is another user's
        pass
    connection.close()
    return None


def _keep(directory: int, names: Iterable[str]) -> None:
    """Have a process of its own remove files as soon as this one has ended, by whatever: the kernel closes the pipe."""
    reading, _ = os.pipe()  # this process holds the other end as long as it lives
    if os.fork():
        os.close(reading)
        return
    try:
        os.setsid()  # what ends a process group is not for it
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        _close_all_but(reading, directory)
        with suppress(ConfinementError):  # it reads nothing that anybody has written; the broker says what is absent
            confine("keeper", Confining(allow_degraded=True), lowered=limits.KEEPER, removable=[directory])
        os.read(reading, 1)
        for name in names:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=directory)
    finally:
        os._exit(0)


def _close_all_but(*kept: int) -> None:
    last = -1
    for descriptor in sorted(kept):
        os.closerange(last + 1, descriptor)
        last = descriptor
    os.closerange(last + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
