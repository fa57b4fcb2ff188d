"""Types that comments of JavaScript say in braces, `@param {A} b`, `@returns {Promise<A>}`, `@type {import("m").A}`."""

import re
from typing import ClassVar

from fledgling.worker.graph.reading.told_names import named_type, of_module
from fledgling.worker.graph.reading.type_reader import MAX_TOLD, NoTypeError, TypeReader
from fledgling.worker.graph.tables import MADE, NONE, Op

PLAIN = frozenset(
    b"string number boolean bigint symbol null undefined void never String Number Boolean RegExp Date Error".split()
)
SAME = (b"Promise", b"Readonly", b"Partial", b"Required", b"NonNullable")
CONTAINERS = (b"Array", b"Set", b"Map", b"Iterable", b"ReadonlyArray", b"WeakMap", b"WeakSet")
SPECIAL = frozenset(b"Object Record function typeof keyof module any unknown object Function this".split())


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
        rb"|(?P<sign>\[\]|\.\.\.|\.<|[.|?!=<>(){},]))"
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
        """`A`, `a.A`, `A<B, C>`, `Array.<A>`, `import("m").A<B>`"""
        if name in SPECIAL:
            raise NoTypeError
        imported = self._of_module() if name == b"import" else NONE
        if not self._takes(b"<", b".<"):
            is_made = name in PLAIN or name in CONTAINERS or name in SAME
            return MADE if is_made else imported if imported != NONE else self._of_name(name)
        parts = [self._type(depth + 1)]
        while self._takes(b","):
            parts.append(self._type(depth + 1))
        if not self._takes(b">"):
            raise NoTypeError
        if imported != NONE:
            return imported
        if name in SAME or parts[-1] == MADE:
            return parts[-1] if name in (*SAME, *CONTAINERS) else self._of_name(name)
        return self._builder.add(Op.ARRAY, parts[-1]) if name in CONTAINERS else self._of_name(name)

    def _of_name(self, name: bytes) -> int:
        if self._is_given_elsewhere(name):
            raise NoTypeError
        first, *rest = name.decode(errors="replace").split(".")
        at = named_type(self._builder, type(self), first)
        if at == 0:
            raise NoTypeError
        return self._path([first, *rest] if at == NONE else rest, at)

    def _of_module(self) -> int:
        """`("m").a.B` behind `import`"""
        module = self._next()["text"] if self._takes(b"(") else None
        if not module or module[:1] not in b"\"'" or not self._takes(b")"):
            raise NoTypeError
        words: list[str] = []
        while self._takes(b"."):
            name = self._next()["name"]
            if not name:
                raise NoTypeError
            words += name.decode(errors="replace").split(".")
        return of_module(self._builder, module[1:-1], words)
