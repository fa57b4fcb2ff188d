"""What reads types that comments say, `A|null`, `Promise<A>`, in a language's own way of writing them.

What is no type by its rules may be anything. Each character is read once.
"""

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar

from fledgling.worker.graph.reading.builder import Builder
from fledgling.worker.graph.tables import MADE, NONE, Op

MAX_TOLD = 30  # brackets within each other


class NoTypeError(ValueError):
    """A text is not a type that the rules of its language know."""


class TypeReader:
    """Reads a type from a byte on, in `TOKENS`, of which each has one of the groups name, sign and text."""

    TAGS: ClassVar[Mapping[str, re.Pattern[bytes]]]  # what stands before a type; a group is the name that it is of
    NAMED: ClassVar[Mapping[str, re.Pattern[bytes]]]  # that name, where it stands behind the type
    TOKENS: ClassVar[re.Pattern[bytes]]
    CLOSING = b""  # what ends a type, also one that these rules do not know

    def __init__(self, builder: Builder, start: int, end: int) -> None:
        self._builder, self.at, self._end = builder, start, end

    @classmethod
    def told(cls, builder: Builder, comment: tuple[int, int], tag: str) -> Iterator[tuple[str, int]]:
        """Yield the names, "" for none, and the types that stand behind a tag; those of parameters have names."""
        source = builder.tree.source
        for at in cls.TAGS[tag].finditer(source, *comment):
            reader = cls(builder, at.end(), comment[1])
            found = reader.read()
            behind = cls.NAMED[tag].match(source, reader.at, comment[1]) if tag in cls.NAMED else None
            named = at if at.lastindex else behind
            if named or tag != "param":
                yield named[1].decode(errors="replace") if named else "", builder.add(Op.TOLD, found)

    def read(self) -> int:
        """Return the expression of a type; 0 where these rules have none."""
        try:
            return self._whole()
        except NoTypeError:
            if self.CLOSING:
                self.at = self._builder.tree.source.find(self.CLOSING, self.at, self._end) + 1 or self._end
            return 0

    def _whole(self) -> int:
        """A type, and what ends it. Raises NoTypeError."""
        raise NotImplementedError

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

    def _is_given_elsewhere(self, name: bytes) -> bool:
        """Whether a name stands for a type that is given elsewhere: `@template T`."""
        scope = self._builder.scope
        while scope != NONE and name not in self._builder.templates.get(scope, ()):
            scope = self._builder.scopes[scope].parent
        return scope != NONE

    def _path(self, words: list[str], at: int = NONE) -> int:
        """What a path means, `a.b.C`; behind what stands before it."""
        for word in words:
            name = self._builder.named(word)
            at = self._builder.use_name(name) if at == NONE else self._builder.add(Op.GET, at, name)
        return at
