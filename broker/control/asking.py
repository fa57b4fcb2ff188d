"""A command's end of the control sockets: which servers there are of a root, and what they are asked."""

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import msgspec

from fledgling import __version__
from fledgling.broker.control import place
from fledgling.digests import sha256
from fledgling.messages.answers import Refusal
from fledgling.messages.control import Confining
from fledgling.messages.operating import AskTool, FromOperator, Greeting, ServedAnswer, Serving, ToOperator
from fledgling.messages.profile import Profile
from fledgling.messages.questions import AnyQuestion
from fledgling.pipe import FrameError, Pipe
from fledgling.settings import Settings

if TYPE_CHECKING:  # as in place.py
    import socket

REPLY_SECONDS = 5.0  # beside what a call may take
AT_ONCE = 8  # servers that are waited for: one that is silent holds up few, and a process may have 64 descriptors
ELSEWHERE = ("unavailable", "busy", "failed")  # refusals of a server, where an index of one's own may do better
_log = logging.getLogger("fledgling")


class NoAnswerError(Exception):
    """A server has not answered a call."""


class ServedIndex:
    """An index of a running server.

    >>> index.ask(AskStatus(index.number), 30.0)
    Status(state='completed', ...)
    """

    def __init__(
        self, environment: Mapping[str, str], name: str, server: Greeting, number: int, serving: Serving
    ) -> None:
        """Take the name of the server's socket, and what it has greeted with."""
        self.pid, self.root, self.number, self.serving = server.pid, server.root, number, serving
        self._environment, self._name, self._server = environment, name, server

    def ask(self, request: FromOperator, seconds: float) -> ToOperator | None:
        """Return the reply; None where there is none in its time, or the server has ended."""
        try:
            with (
                suppress(place.PlaceError),
                place.opened(self._environment) as directory,
                place.connection(directory, self._name) or nullcontext() as connection,
            ):
                if connection and _pipe(connection, place.GREETING_SECONDS).receive() == self._server:
                    pipe = _pipe(connection, seconds)
                    pipe.send(request)
                    return pipe.receive()
            _log.warning("the server with pid %d has ended", self.pid)
        except (OSError, FrameError) as broken:
            _log.warning("the server with pid %d does not answer: %s", self.pid, _why(broken))
        return None

    def answer(self, question: AnyQuestion, profile: Profile) -> ServedAnswer:
        """Return the answer to a call. Raises NoAnswerError where an index of one's own may do better."""
        reply = self.ask(AskTool(self.number, question), profile.query_timeout + REPLY_SECONDS)
        if not isinstance(reply, ServedAnswer):
            raise NoAnswerError
        if isinstance(reply.answer, Refusal) and reply.answer.kind in ELSEWHERE:
            raise NoAnswerError
        return reply


def settings_digest(settings: Settings, confining: Confining) -> str:
    """Return the hash of all settings that decide what is in an index, and how it may be made."""
    return sha256(msgspec.json.encode((settings.scope, confining))).hexdigest()


class ServedIndexes(NamedTuple):
    """What servers there are: their indexes, and how many of them were too busy to say what they serve, or stopped."""

    indexes: list[ServedIndex]
    silent: int


def served(environment: Mapping[str, str], root: Path | None) -> ServedIndexes:
    """Return what is served of a root, or of any, by all servers that take commands of this user.

    No connection is kept: a server hangs up on who is silent while another is asked, and there may be many.
    """
    found: list[ServedIndex] = []
    silent = 0
    of = "this root" if root else "yours"
    with suppress(place.PlaceError), place.opened(environment) as directory:
        names = place.names(directory, place.prefix_of(root) if root else place.PREFIX)
        for name, heard in zip(names, _heard(directory, names), strict=True):
            if heard.problem:
                _log.warning("a server of %s does not answer: %s", of, heard.problem)
                silent += heard.is_silent
            elif (server := heard.greeting) and server.version == __version__:
                found += [ServedIndex(environment, name, server, *each) for each in enumerate(server.serving)]
    return ServedIndexes(found, silent)


class _Heard(NamedTuple):
    """What the server behind a socket says first, or why it says nothing; neither where there is no server."""

    greeting: Greeting | None = None
    problem: str = ""
    is_silent: bool = False


_FULL = _Heard(problem="too many wait for it already", is_silent=True)


def _heard(directory: int, names: list[str]) -> Iterator[_Heard]:
    """Yield what is heard of each socket.

    So many at once are waited for, and by no thread: the kernel names one for a moment after its end, and a process
    that has another is not confined.
    """
    for first in range(0, len(names), AT_ONCE):
        together = names[first : first + AT_ONCE]
        until = time.monotonic() + place.GREETING_SECONDS
        with ExitStack() as connections:
            connect = partial(_connected, connections, directory)
            found = {name: connect(name, time.monotonic()) for name in together}
            heard = {name: _greeted(each, until) for name, each in found.items() if each is not _FULL}
            yield from (heard.get(name) or _greeted(connect(name, until), until) for name in together)


def _connected(connections: ExitStack, directory: int, name: str, until: float) -> "socket.socket | _Heard":
    """Return a connection to a server, or what is heard without one."""
    try:
        found = place.connection(directory, name, _left(until))
    except BlockingIOError:
        return _FULL
    return connections.enter_context(found) if found else _Heard()


def _greeted(connected: "socket.socket | _Heard", until: float) -> _Heard:
    if isinstance(connected, _Heard):
        return connected
    try:
        said = _pipe(connected, _left(until)).receive()
    except (OSError, FrameError) as broken:
        return _Heard(problem=_why(broken), is_silent=isinstance(broken, BlockingIOError))
    return _Heard(said if isinstance(said, Greeting) else None)


def _why(broken: OSError | FrameError) -> str:
    """Return what has gone wrong with a connection: `nothing came in time`."""
    if isinstance(broken, BlockingIOError) and broken.errno:  # as the kernel ends a wait; ours has words and no number
        return "nothing came in time"
    return (broken.strerror if isinstance(broken, OSError) else None) or str(broken)


def _left(until: float) -> float:
    """Return how many seconds are left; for what is there already, there are always some."""
    return max(until - time.monotonic(), 0.001)


class Greeted(Protocol):
    """What a server serves, at either end of its socket."""

    @property
    def serving(self) -> Serving:
        """How it is greeted with."""
        ...


Of = TypeVar("Of", bound=Greeted)


def same(indexes: Iterable[Of], profile: Profile, settings: str) -> Of | None:
    """Return an index that answers as one would that was built now under a profile and settings (their hash)."""
    wanted = profile.digest, settings
    return next(
        (
            index
            for index in indexes
            if index.serving.is_followed and (index.serving.digest, index.serving.settings) == wanted
        ),
        None,
    )


def _pipe(connection: "socket.socket", seconds: float) -> Pipe[ToOperator]:
    """Return a pipe to a server whose reads and writes take no longer than this: socket(7), SO_RCVTIMEO."""
    import socket  # noqa: PLC0415

    most = place.timeval(seconds)
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        connection.setsockopt(socket.SOL_SOCKET, option, most)
    return Pipe(ToOperator, connection.fileno(), connection.fileno())
