"""Types that comments of Ruby say in brackets, `@param a [A, nil]`, `@return [Array<A>]`, as YARD reads them.

What is said to be of no type of the project may be anything: a comment may leave out what else is taken.
"""

import re
from typing import ClassVar

from fledgling.worker.graph.reading.type_reader import MAX_TOLD, NoTypeError, TypeReader
from fledgling.worker.graph.tables import MADE, Op

PLAIN = frozenset(
    b"nil true false void Boolean String Symbol Integer Float Numeric Number Proc Regexp Time Date Range IO Exception"
    b" Rational TrueClass FalseClass NilClass".split()
)
SPECIAL = (b"Object", b"BasicObject", b"Class", b"Module", b"undefined", b"untyped", b"any", b"Method")
CONTAINERS = (b"Array", b"Set", b"Enumerable", b"Enumerator", b"Hash", b"List")
CLOSING = {b"<": b">", b"(": b")", b"{": b"}"}


class BracketedReader(TypeReader):
    """Reads `A, B]`: one of these, and the bracket behind them."""

    TAGS: ClassVar = {
        "param": re.compile(rb"@param[ \t]++(?:[*&]*+(\w++):?[ \t]++)?\["),
        "return": re.compile(rb"@return[ \t]++\["),
        "var": re.compile(rb"@type[ \t]++\["),
    }
    NAMED: ClassVar = {"param": re.compile(rb"[ \t]++[*&]*+(\w++)")}
    TOKENS = re.compile(
        rb"[ \t]*+(?:(?P<name>(?:::)?[A-Za-z_]\w*+(?:::[A-Za-z_]\w*+)*+)"
        rb"|(?P<text>:[\w?!]++|\"[^\"\n]*+\"|'[^'\n]*+'|\d++)|(?P<sign>=>|[,<>(){}\]]))"
    )
    CLOSING = b"]"

    def _whole(self) -> int:
        found = self._any_of(self._until(self.CLOSING, 0))
        return 0 if found == MADE else found

    def _until(self, closing: bytes, depth: int) -> list[int]:
        """The types before a bracket: `A, B>`, `K => V}`."""
        if depth > MAX_TOLD:
            raise NoTypeError
        found = [self._one(depth)]
        while self._takes(b",", b"=>"):
            found.append(self._one(depth))
        if not self._takes(closing):
            raise NoTypeError
        return found

    def _one(self, depth: int) -> int:
        """`A`, `A::B`, `Array<A>`, `Hash{A => B}`, `Array(A, B)`, `:a`"""
        token = self._next()
        name = token["name"]
        if token["sign"] or name in SPECIAL:
            raise NoTypeError
        opening = self._builder.tree.source[self.at : self.at + 1]
        parts: list[int] = []
        if name and opening in CLOSING:
            self.at += 1
            parts = self._until(CLOSING[opening], depth + 1)
        if not name or name in PLAIN:
            return MADE
        if name not in CONTAINERS:
            return self._of_name(name)
        held = self._any_of(parts[-1:] if name == b"Hash" else parts)
        return MADE if held == MADE else self._builder.add(Op.ARRAY, held)

    def _of_name(self, name: bytes) -> int:
        if name == b"self":
            return self._builder.add(Op.THIS, self._builder.scope)
        if name[:1].islower():  # no class: prose
            raise NoTypeError
        return self._path(name.decode(errors="replace").removeprefix("::").split("::"))
