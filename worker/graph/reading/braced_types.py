"""Types that comments of JavaScript say in braces, `@param {A} b`, `@returns {Promise<A>}`, `@type {A[]}`.

What is no type by these rules may be anything. Each character is read once.
"""

import re
from collections.abc import Iterator

from fledgling.worker.graph.reading.builder import Builder
from fledgling.worker.graph.reading.type_reader import MAX_TOLD, NoTypeError, TypeReader
from fledgling.worker.graph.tables import MADE, NONE, Op

TAGS = {
    "param": re.compile(rb"@(?:param|arg|argument)\s++\{"),
    "return": re.compile(rb"@returns?\s++\{"),
    "var": re.compile(rb"@type\s++\{"),
}
TOKENS = re.compile(
    rb"[\s*]*+(?:(?P<name>[A-Za-z_$][\w$]*+(?:\.[A-Za-z_$][\w$]*+)*+)|(?P<text>\"[^\"\n]*+\"|'[^'\n]*+'|\d++)"
    rb"|(?P<sign>\[\]|\.\.\.|\.<|[|?!=<>(){},]))"
)
NAMED = re.compile(rb"\s*+\[?\s*+([\w$]++)(?![.\[])")
PLAIN = frozenset(
    b"string number boolean bigint symbol null undefined void never String Number Boolean RegExp Date Error".split()
)
SAME = (b"Promise", b"Readonly", b"Partial", b"Required", b"NonNullable")
CONTAINERS = (b"Array", b"Set", b"Map", b"Iterable", b"ReadonlyArray", b"WeakMap", b"WeakSet")
SPECIAL = (
    b"Object",
    b"Record",
    b"function",
    b"import",
    b"typeof",
    b"keyof",
    b"module",
    b"any",
    b"unknown",
    b"object",
    b"Function",
    b"this",
)


def told_in_braces(builder: Builder, comment: tuple[int, int], tag: str) -> Iterator[tuple[str, int]]:
    """Yield the names, "" for none, and the types that stand behind a tag."""
    source = builder.tree.source
    for at in TAGS[tag].finditer(source, *comment):
        reader = _BracedReader(builder, at.end(), comment[1])
        try:
            found = reader.whole()
        except NoTypeError:
            found, reader.at = 0, source.find(b"}", reader.at, comment[1]) + 1 or comment[1]
        named = NAMED.match(source, reader.at, comment[1]) if tag == "param" else None
        if named or tag != "param":
            yield named[1].decode(errors="replace") if named else "", builder.add(Op.TOLD, found)


class _BracedReader(TypeReader):
    TOKENS = TOKENS

    def whole(self) -> int:
        """A type and the brace behind it."""
        found = self._type(0)
        if not self._takes(b"}"):
            raise NoTypeError
        return found

    def _type(self, depth: int) -> int:
        """`A|B`, `?A`, `A=`"""
        if depth > MAX_TOLD:
            raise NoTypeError
        ways = [self._one(depth)]
        while self._takes(b"|"):
            ways.append(self._one(depth))
        return self._any_of(ways)

    def _one(self, depth: int) -> int:
        is_rest = False
        while self._takes(b"?", b"!", b"..."):
            is_rest = self._builder.tree.source[self.at - 1 : self.at] == b"."
        token = self._next()
        if token["sign"] == b"(":
            found = self._type(depth + 1)
            if not self._takes(b")"):
                raise NoTypeError
        elif token["sign"] or is_rest:
            raise NoTypeError
        else:
            found = MADE if token["text"] else self._named(token["name"], depth)
        while self._takes(b"[]"):
            found = found if found == MADE else self._builder.add(Op.ARRAY, found)
        while self._takes(b"?", b"!", b"="):
            pass
        return found

    def _named(self, name: bytes, depth: int) -> int:
        """`A`, `a.A`, `A<B, C>`, `Array.<A>`"""
        if name in SPECIAL:
            raise NoTypeError
        if not self._takes(b"<", b".<"):
            return MADE if name in PLAIN or name in CONTAINERS or name in SAME else self._of_name(name)
        parts = [self._type(depth + 1)]
        while self._takes(b","):
            parts.append(self._type(depth + 1))
        if not self._takes(b">"):
            raise NoTypeError
        if name in SAME or parts[-1] == MADE:
            return parts[-1] if name in (*SAME, *CONTAINERS) else self._of_name(name)
        return self._builder.add(Op.ARRAY, parts[-1]) if name in CONTAINERS else self._of_name(name)

    def _of_name(self, name: bytes) -> int:
        builder, scope = self._builder, self._builder.scope
        while scope != NONE:
            if name in builder.templates.get(scope, ()):
                raise NoTypeError
            scope = builder.scopes[scope].parent
        first, *others = name.decode(errors="replace").split(".")
        at = builder.use_name(builder.named(first))
        for word in others:
            at = builder.add(Op.GET, at, builder.named(word))
        return at
