"""Types that comments of JavaScript say in braces, `@param {A} b`, `@returns {Promise<A>}`, `@type {A[]}`."""

import re
from typing import ClassVar

from fledgling.worker.graph.reading.type_reader import MAX_TOLD, NoTypeError, TypeReader
from fledgling.worker.graph.tables import MADE, Op

PLAIN = frozenset(
    b"string number boolean bigint symbol null undefined void never String Number Boolean RegExp Date Error".split()
)
SAME = (b"Promise", b"Readonly", b"Partial", b"Required", b"NonNullable")
CONTAINERS = (b"Array", b"Set", b"Map", b"Iterable", b"ReadonlyArray", b"WeakMap", b"WeakSet")
SPECIAL = frozenset(b"Object Record function import typeof keyof module any unknown object Function this".split())


class BracedReader(TypeReader):
    """Reads a type and the brace behind it."""

    TAGS: ClassVar = {
        "param": re.compile(rb"@(?:param|arg|argument)\s++\{"),
        "return": re.compile(rb"@returns?\s++\{"),
        "var": re.compile(rb"@type\s++\{"),
    }
    NAMED: ClassVar = {"param": re.compile(rb"\s*+\[?\s*+([\w$]++)(?![.\[])")}
    TOKENS = re.compile(
        rb"[\s*]*+(?:(?P<name>[A-Za-z_$][\w$]*+(?:\.[A-Za-z_$][\w$]*+)*+)|(?P<text>\"[^\"\n]*+\"|'[^'\n]*+'|\d++)"
        rb"|(?P<sign>\[\]|\.\.\.|\.<|[|?!=<>(){},]))"
    )
    CLOSING = b"}"

    def _whole(self) -> int:
        found = self._type(0)
        if not self._takes(self.CLOSING):
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
        if self._is_given_elsewhere(name):
            raise NoTypeError
        return self._path(name.decode(errors="replace").split("."))
