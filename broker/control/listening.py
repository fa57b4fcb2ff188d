"""A server's control sockets: made for its operators, and removed when it ends, whatever ends it."""

import os
import resource
import secrets
import signal
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from fledgling.broker.control import place
from fledgling.config import ConfigError
from fledgling.messages.control import Confining
from fledgling.security import limits
from fledgling.security.confinement import ConfinementError, confine

BACKLOG = 8  # operators who wait for one who accepts; one more waits `place.CONNECTING_SECONDS`, and asks nobody


def opened(environment: Mapping[str, str], roots: Iterable[Path]) -> list[socket.socket]:
    """Return a socket for each root, for its operators. Its file goes when this process does, whatever ends it.

    Comes before this process is confined, or starts a thread. Raises ConfigError.
    """
    names = [f"{place.prefix_of(root)}{secrets.token_hex(4)}" for root in roots]
    with _opened(environment) as directory:
        for _ in place.those_in(directory, place.PREFIX):
            pass  # what others have left goes
        _keep(directory, [*names, *map(_hidden, names)])
        try:
            return [_listening(directory, name) for name in names]
        except OSError as refused:
            raise ConfigError("--control", f"no socket can be made there ({refused.strerror})", place.fix()) from None


@contextmanager
def _opened(environment: Mapping[str, str]) -> Iterator[int]:
    try:
        with place.opened(environment) as directory:
            yield directory
    except place.PlaceError as wrong:
        raise ConfigError(wrong.source, wrong.problem, wrong.fix) from None


def _hidden(name: str) -> str:
    """Return what a socket is called before it listens: who looks for one does not find it."""
    return f".{name}"


def _listening(directory: int, name: str) -> socket.socket:
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    bound.bind(place.address(directory, _hidden(name)))
    bound.listen(BACKLOG)
    os.rename(_hidden(name), name, src_dir_fd=directory, dst_dir_fd=directory)
    bound.setblocking(False)
    return bound


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
