"""Types that comments of Ruby say in brackets, `@param a [A, nil]`, `@return [Array<A>]`, as YARD reads them.

What is no type by these rules may be anything, and so may what is said to be of none of the project: a comment may
leave out what else is taken. Each character is read once.
"""

import re
from collections.abc import Iterator

from fledgling.worker.graph.reading.builder import Builder
from fledgling.worker.graph.reading.type_reader import MAX_TOLD, NoTypeError, TypeReader
from fledgling.worker.graph.tables import MADE, Op

TAGS = {
    "param": re.compile(rb"@param[ \t]++(?:[*&]*+(\w++):?[ \t]++)?\["),
    "return": re.compile(rb"@return[ \t]++()\["),
    "var": re.compile(rb"@type[ \t]++()\["),
}
TOKENS = re.compile(
    rb"[ \t]*+(?:(?P<name>(?:::)?[A-Za-z_]\w*+(?:::[A-Za-z_]\w*+)*+)|(?P<text>:[\w?!]++|\"[^\"\n]*+\"|'[^'\n]*+'|\d++)"
    rb"|(?P<sign>=>|[,<>(){}\]]))"
)
NAMED = re.compile(rb"[ \t]++[*&]*+(\w++)")
PLAIN = frozenset(
    b"nil true false void Boolean String Symbol Integer Float Numeric Number Proc Regexp Time Date Range IO Exception"
    b" Rational TrueClass FalseClass NilClass".split()
)
SPECIAL = (b"Object", b"BasicObject", b"Class", b"Module", b"undefined", b"untyped", b"any", b"Method")
CONTAINERS = (b"Array", b"Set", b"Enumerable", b"Enumerator", b"Hash", b"List")
CLOSING = {b"<": b">", b"(": b")", b"{": b"}"}


def told_in_brackets(builder: Builder, comment: tuple[int, int], tag: str) -> Iterator[tuple[str, int]]:
    """Yield the names, "" for none, and the types that stand behind a tag."""
    source = builder.tree.source
    for at in TAGS[tag].finditer(source, *comment):
        reader = _BracketedReader(builder, at.end(), comment[1])
        try:
            found = reader.whole()
        except NoTypeError:
            found, reader.at = 0, source.find(b"]", reader.at, comment[1]) + 1 or comment[1]
        named = at if at[1] else NAMED.match(source, reader.at, comment[1]) if tag == "param" else None
        if named or tag != "param":
            yield (
                named[1].decode(errors="replace") if named else "",
                builder.add(Op.TOLD, 0 if found == MADE else found),
            )


class _BracketedReader(TypeReader):
    TOKENS = TOKENS

    def whole(self) -> int:
        """`A, B]`: one of these, and the bracket behind them."""
        return self._any_of(self._until(b"]", 0))

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
        builder = self._builder
        if name == b"self":
            return builder.add(Op.THIS, builder.scope)
        if name[:1].islower():  # no class: prose
            raise NoTypeError
        first, *others = name.decode(errors="replace").removeprefix("::").split("::")
        at = builder.use_name(builder.named(first))
        for word in others:
            at = builder.add(Op.GET, at, builder.named(word))
        return at
