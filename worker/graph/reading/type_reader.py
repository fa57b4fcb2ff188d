"""What reads types that comments say, `A|null`, `Promise<A>`, in a language's own way of writing them."""

import re
from typing import ClassVar

from fledgling.worker.graph.reading.builder import Builder
from fledgling.worker.graph.tables import MADE, Op

MAX_TOLD = 30  # brackets within each other


class NoTypeError(ValueError):
    """A text is not a type that the rules of its language know."""


class TypeReader:
    """Reads a type from a byte on, in `TOKENS`, of which each has one of the groups name, sign and text."""

    TOKENS: ClassVar[re.Pattern[bytes]]

    def __init__(self, builder: Builder, start: int, end: int) -> None:
        self._builder, self.at, self._end = builder, start, end

    def _next(self) -> re.Match[bytes]:
        """Take the next token. Raises NoTypeError."""
        match = self.TOKENS.match(self._builder.tree.source, self.at, self._end)
        if not match:
            raise NoTypeError
        self.at = match.end()
        return match

    def _takes(self, *signs: bytes) -> bool:
        """Go on where one of these signs is next."""
        match = self.TOKENS.match(self._builder.tree.source, self.at, self._end)
        if not match or match["sign"] not in signs:
            return False
        self.at = match.end()
        return True

    def _any_of(self, ways: list[int]) -> int:
        """The type that one of several is."""
        known = [way for way in ways if way != MADE]
        return known[0] if len(known) == 1 else self._builder.add(Op.CHOICE, known) if known else MADE
