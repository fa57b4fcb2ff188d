"""The broker's own confinement: it comes before it starts any process, since none can have more than it has."""

import ctypes
from collections.abc import Iterable

from fledgling.messages.control import Confining, Layer
from fledgling.security import interpreter, limits
from fledgling.security.confinement import confine

M_TRIM_THRESHOLD, KEPT = -1, 128 * 1024  # mallopt(3): bytes that are free at the end of the heap and not given back


def confined_to(roots: Iterable[str], confining: Confining) -> tuple[Layer, ...]:
    """Confine this process to reading some directories and what its children need."""
    _give_back()
    readable = interpreter.readable(*roots)
    with interpreter.opened(readable) as reading, interpreter.opened(interpreter.executable()) as starting:
        return confine("broker", confining, lowered=limits.BROKER, readable=reading, executable=starting)


def _give_back() -> None:
    """Let the C library give back what this process has freed: an answer of megabytes would leave most of it behind.

    It raises KEPT with the sizes that are freed, up to 64 MiB, unless it is told what to keep.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt:  # macOS and musl have none
        mallopt(M_TRIM_THRESHOLD, KEPT)
