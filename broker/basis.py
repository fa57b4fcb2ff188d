"""What an answer is made of: a generation of changes, and the moment at which the project was as it says."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass
class Basis:
    """What the answers to one call were made of; the oldest, where it took several questions.

    >>> basis = Basis()
    >>> basis.take(3, datetime(2026, 11, 25, tzinfo=UTC))
    >>> basis.meta()
    {'generation': 3, 'as_of': '2026-11-25T00:00:00+00:00'}
    """

    generation: int | None = None  # of changes: 0 is the index that was built first
    as_of: datetime | None = None  # when the look at the project began that found nothing newer, if that is known

    def take(self, generation: int, as_of: datetime | None) -> None:
        """Note what one answer was made of."""
        if self.generation is None or generation < self.generation:
            self.generation, self.as_of = generation, as_of

    def meta(self) -> dict[str, Any] | None:
        """Return what a client is told beside the answer; None where nothing was asked of an index."""
        if self.generation is None:
            return None
        at = {} if self.as_of is None else {"as_of": self.as_of.isoformat(timespec="milliseconds")}
        return {"generation": self.generation, **at}
