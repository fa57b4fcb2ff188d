"""Types that stand in quotes: `a: "dict[str, B | None]"`, read as what they are without them.

A text that is not a type by these rules is a string like any other. Each character is read once.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from fledgling.worker.graph.reading.builder import Builder
from fledgling.worker.graph.reading.flow import MAX_REACHING
from fledgling.worker.graph.reading.type_reader import NoTypeError
from fledgling.worker.graph.tables import MADE, NONE, Imported, Op, Use

MAX_QUOTED = 4_000  # bytes; a longer text is a string
MAX_NESTED = 30  # brackets and quotes within each other
OPENING = re.compile(rb"[uU]?(\"\"\"|'''|\"|')")
TOKENS = re.compile(
    rb"(?P<name>[A-Za-z_\x80-\xff][\w\x80-\xff]*+)|(?P<made>\.\.\.|\d++)|(?P<sign>[][().,|*])"
    rb"|(?P<text>\"[^\"\\\n]*+\"|'[^'\\\n]*+')|(?P<blank>\s++)"
)
CONSTANTS = (b"None", b"True", b"False")
WORDS = (b"and", b"await", b"else", b"for", b"if", b"in", b"is", b"lambda", b"not", b"or", b"yield")


class QuotedToken(NamedTuple):
    """A part of a text, and the byte where it begins."""

    kind: str
    text: bytes
    start: int


def quoted_type(builder: Builder, start: int, end: int) -> int | None:
    """Return the expression of a string that is a type, whose names are noted as occurrences; None of any other.

    >>> quoted_type(builder, 10, 20)  # of `"A | None"`
    """
    opening = OPENING.match(builder.tree.source, start, end)
    if not opening or end - start > MAX_QUOTED:
        return None
    inner = opening.end(), end - len(opening[1])
    sites: list[tuple[int, int, int]] = []
    try:
        found = _QuotedReader(builder, *inner, sites, 0).whole()
    except NoTypeError:
        return None
    for at, name, expression in sites:
        builder.site_at(at, name, Use.TYPE, expression)
    return found


def _tokens(source: bytes, start: int, end: int) -> list[QuotedToken]:
    found = []
    while start < end:
        match = TOKENS.match(source, start, end)
        if not match or match[0] in WORDS:
            raise NoTypeError
        if match.lastgroup and match.lastgroup != "blank":
            found.append(QuotedToken(match.lastgroup, match[0], start))
        start = match.end()
    return found


class _QuotedReader:
    """Reads the tokens of one text; `sites` gets the names, as places, names and expressions."""

    def __init__(self, builder: Builder, start: int, end: int, sites: list[tuple[int, int, int]], depth: int) -> None:
        self._builder, self._sites, self._depth = builder, sites, depth
        self._tokens = _tokens(builder.tree.source, start, end)
        self._at = 0

    def whole(self) -> int:
        """Return the expression of the whole text."""
        found = self._type()
        if self._at < len(self._tokens):
            raise NoTypeError
        return found

    def _next(self) -> QuotedToken:
        if self._at == len(self._tokens):
            raise NoTypeError
        self._at += 1
        return self._tokens[self._at - 1]

    def _takes(self, sign: bytes) -> bool:
        """Go on where this sign is next."""
        is_next = self._at < len(self._tokens) and self._tokens[self._at].text == sign
        self._at += is_next
        return is_next

    def _type(self) -> int:
        """`A | B`"""
        self._depth += 1
        if self._depth > MAX_NESTED:
            raise NoTypeError
        ways = [self._one()]
        while self._takes(b"|"):
            ways.append(self._one())
        self._depth -= 1
        return ways[0] if len(ways) == 1 else self._builder.add(Op.CHOICE, ways)

    def _one(self) -> int:
        token = self._next()
        if token.text == b"*":  # one, as in `tuple[*A]`
            token = self._next()
        if token.kind == "name":
            return self._named(token)
        if token.kind == "made":
            return MADE
        if token.kind == "text":
            end = token.start + len(token.text) - 1
            return _QuotedReader(self._builder, token.start + 1, end, self._sites, self._depth).whole()
        if token.text == b"[":
            return self._builder.add(Op.LIST, self._types(b"]"), True)
        if token.text == b"(":
            inner = self._types(b")")
            return inner[0] if len(inner) == 1 else self._builder.add(Op.TUPLE, inner)
        raise NoTypeError

    def _named(self, token: QuotedToken) -> int:
        """`A`, `a.A`, `A[B]`"""
        if token.text in CONSTANTS:
            return MADE
        builder = self._builder
        word = token.text.decode("utf-8", "replace")
        name = builder.named(word)
        at = builder.add(Op.NAME, name, builder.binder(name), None)  # it may be bound further down
        self._sites.append((token.start, name, at))
        while True:
            if self._takes(b"."):
                key = self._next()
                if key.kind != "name":
                    raise NoTypeError
                word = key.text.decode("utf-8", "replace")
                name = builder.named(word)
                at = builder.add(Op.GET, at, name)
                self._sites.append((key.start, name, at))
            elif self._takes(b"["):
                at = self._indexed(at, builder.dialect.typed_keys.get(word))
            else:
                return at

    def _indexed(self, of: int, typed: int | None) -> int:
        """`A[B, C]`, of which only the first are types where there is a number of those: `Literal["a"]`."""
        keys = self._types(b"]") if typed is None else []
        if typed is not None:
            keys = [self._type()] if typed else []
            self._skip()
        key = keys[0] if len(keys) == 1 else self._builder.add(Op.TUPLE, keys)
        return self._builder.add(Op.INDEX, of, key)

    def _types(self, end: bytes) -> list[int]:
        """`A, B` as far as a bracket ends it."""
        found: list[int] = []
        while not self._takes(end):
            found.append(self._type())
            if not self._takes(b",") and (self._at == len(self._tokens) or self._tokens[self._at].text != end):
                raise NoTypeError
        return found

    def _skip(self) -> None:
        """Leave out what stands before the bracket that ends this one."""
        open_ = 1
        while open_:
            sign = self._next().text
            open_ += (sign == b"[") - (sign == b"]")


def called_with_types(builder: Builder, function: int) -> tuple[str, ...]:
    """Return which arguments of a call are types, by their places and names: `("0",)` of `cast("A", b)`.

    The function is one that an import takes from a module of `typed_modules`: of a method `cast` nobody knows.
    """
    typed = builder.dialect.typed_arguments
    if not typed:
        return ()
    op, *parts = builder.expressions[function]
    if op == Op.GET:  # typing.cast
        is_module = any(row.name is None for row in _imported(builder, parts[0]))
        found = [word for word in typed if is_module and builder.names.get(word) == parts[1]]
    else:
        found = [*{row.name for row in _imported(builder, function) if row.name in typed}]
    return typed[found[0]] if len(found) == 1 else ()


def _imported(builder: Builder, at: int) -> Sequence[Imported]:
    """Return the imports from modules of types that a name stands for, if it stands for nothing else."""
    op, *parts = builder.expressions[at]
    if op != Op.NAME or parts[1] == NONE:
        return ()
    name, scope, reach = parts
    bound = builder.scopes[scope].every.get(name, ()) if reach is None else reach
    values = [builder.expressions[builder.bindings[each].value] for each in bound[:MAX_REACHING]]
    rows = [builder.imports[value[1]] for value in values if value[0] == Op.IMPORT]
    is_all = len(rows) == len(bound) and all(row.module in builder.dialect.typed_modules for row in rows)
    return rows if is_all else ()
