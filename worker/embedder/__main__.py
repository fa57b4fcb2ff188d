"""The connector's main: it forks an embedder for each question, and reads nothing of what those are asked and told.

An embedder connects, gives up whatever could connect again, and only then reads what goes to the endpoint. It asks
once, and ends: nothing of a question is left for the next. The kernel ends one that does not, by an alarm that its
filter lets it neither move nor catch. The connector ends when its socket does, and where somebody has stopped it, by a
pipe that nobody but the broker holds open.
"""

if __name__ == "__main__":
    from fledgling.worker.process.begin import begin

    begin()

import gc
import os
import select
import signal
import time
from contextlib import suppress

from fledgling.messages.embedding import (
    PACKET_BYTES,
    Connect,
    Connected,
    Connecting,
    Embed,
    FromEmbedder,
    NotSimilar,
    Similar,
    ToEmbedder,
    Wanted,
)
from fledgling.pipe import HEADER_BYTES, Unpacker, pack
from fledgling.security import lifeline, limits
from fledgling.security.confinement import ConfinementError, confine
from fledgling.worker.embedder.asking import EndpointError, ask, connected
from fledgling.worker.process.fault import ended

CHANNEL = 0  # the socket to the broker, which keeps packets apart: one that was not finished spoils no other
LEFT_SECONDS = 0.5  # behind the time that an embedder has, until the kernel ends it
LOOK_MILLISECONDS = 20  # between two looks at whether an embedder has ended, or the broker
UNUSED = 2  # exit status: an embedder could not be confined, and another could not


def main() -> None:
    """Run the connector, until the broker ends."""
    order = _received()
    assert isinstance(order, Connect)
    lifeline.tie_to_pipe(order.lifeline)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    try:
        layers = confine(
            "connector",
            order.confining,
            lowered=limits.CONNECTOR,
            connectable=[order.port],
        )
    except ConfinementError as absent:
        _send(Connecting(problem=str(absent)))
        return
    _send(Connecting(layers))
    gc.freeze()
    above, gone = os.getpid(), select.poll()
    gone.register(CHANNEL, select.POLLRDHUP)
    while True:
        select.select([CHANNEL], [], [])
        if gone.poll(0):
            return
        if (child := os.fork()) == 0:
            _serve(order, above)
        ended_as = status = 0
        while not ended_as:
            if gone.poll(LOOK_MILLISECONDS):
                return  # the kernel then ends the embedder
            ended_as, status = os.waitpid(child, os.WNOHANG)
        if os.waitstatus_to_exitcode(status) == UNUSED:
            return


def _serve(order: Connect, above: int) -> None:
    """Be the embedder of one question, from its connection to its end."""
    os.close(order.lifeline)
    wanted = _received()
    if not isinstance(wanted, Wanted):  # its question has been given up, or the broker is gone
        os._exit(0)
    until = time.monotonic() + wanted.seconds
    signal.setitimer(signal.ITIMER_REAL, wanted.seconds + LEFT_SECONDS)
    try:
        connection = connected(order, until)
        _confine(order, above, wanted)
        asked = _received()
        if isinstance(asked, Embed) and asked.number == wanted.number:
            shares = ask(connection, order, asked, until)
            _send(Similar(wanted.number, tuple(shares)))
    except EndpointError as failed:
        _send(NotSimilar(wanted.number, failed.reason))
    except MemoryError:
        _send(NotSimilar(wanted.number, "too long"))
    os._exit(0)


def _confine(order: Connect, above: int, wanted: Wanted) -> None:
    """Keep what is open, and no way to open more; then say so."""
    try:
        layers = confine("embedder", order.confining, parent=above, lowered=limits.EMBEDDER)
    except ConfinementError:
        os._exit(UNUSED)
    _send(Connected(wanted.number, os.getpid(), layers))


_UNPACKER: Unpacker[ToEmbedder] = Unpacker(ToEmbedder, PACKET_BYTES)


def _received() -> ToEmbedder | None:
    """Return the next message, or None where the broker is gone."""
    packet = os.read(CHANNEL, PACKET_BYTES)
    return _UNPACKER.message(packet[HEADER_BYTES:]) if packet else None


def _send(message: FromEmbedder) -> None:
    with suppress(BrokenPipeError):
        os.write(CHANNEL, pack(message))


if __name__ == "__main__":
    ended(main)
