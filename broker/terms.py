"""How a call is put to whoever answers it."""

import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from fledgling.broker.basis import Basis
from fledgling.messages.control import Progress
from fledgling.messages.generations import LISTING
from fledgling.messages.profile import Profile

Report = Callable[[Progress], Awaitable[None]]


class Terms(NamedTuple):
    """By when a call is answered, on the clock of time.monotonic, and who hears what of it meanwhile.

    >>> await front.call("explore", {}, Terms(due(front.profile), least=CODE))
    """

    deadline: float
    report: Report | None = None  # hears how far the index is
    least: int = LISTING  # the generation that may answer
    basis: Basis | None = None  # takes what the answer was made of


def due(profile: Profile) -> float:
    """Return by when a call that arrives now must be answered."""
    return time.monotonic() + profile.query_timeout
