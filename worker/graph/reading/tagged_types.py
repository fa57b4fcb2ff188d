"""Types that comments of PHP say behind a tag, `@return A|null`, `@var array<int, B>`, `@property A $b`."""

import re
from typing import ClassVar

from fledgling.worker.graph.reading.builder import Builder
from fledgling.worker.graph.reading.type_reader import MAX_TOLD, NoTypeError, TypeReader
from fledgling.worker.graph.tables import MADE, NONE, Op, ScopeKind, Write

METHOD = re.compile(rb"@method[ \t]++(?:static[ \t]++(?=[\w\\]++[^\s(]*+[ \t]))?(?=\S)")
METHOD_NAME = re.compile(rb"[ \t]++(\w++)\(")
PLAIN = frozenset(
    b"int integer float double string bool boolean array list iterable mixed object scalar numeric callable"
    b" resource void null false true never".split()
)
CONTAINERS = frozenset(
    b"array list iterable non-empty-array non-empty-list generator traversable iterator"
    b" iteratoraggregate arrayiterator arrayobject splobjectstorage".split()
)
CLOSING = {b"<": b">", b"(": b")", b"{": b"}", b"[": b"]"}


def hold_told(builder: Builder, scope: int, comment: tuple[int, int] | None, line: int) -> None:
    """Let objects of a class hold what a comment says that they have: `@property A $b`."""
    if not comment or builder.dialect.told_in:
        return
    for word, found in TagReader.told(builder, comment, "property"):
        held = builder.add(Op.DECLARED, found, NONE)
        name = builder.named(word.removeprefix(builder.dialect.sigil))
        builder.writes.append(Write(builder.add(Op.THIS, scope), name, NONE, held, line))
    for at in METHOD.finditer(builder.tree.source, *comment):
        inner = builder.enter(NONE, ScopeKind.SIGNATURE, NONE, line)
        reader = TagReader(builder, at.end(), comment[1])
        builder.scopes[inner].returns = builder.add(Op.TOLD, reader.read())
        builder.leave()
        if named := METHOD_NAME.match(builder.tree.source, reader.at, comment[1]):
            name, held = builder.named(named[1].decode(errors="replace")), builder.add(Op.FUNCTION, inner)
            builder.writes.append(Write(builder.add(Op.THIS, scope), name, NONE, held, line))


class TagReader(TypeReader):
    """Reads `A|B`, `?A`."""

    TAGS: ClassVar = {
        "return": re.compile(rb"@return[ \t]++(?=\S)"),
        "param": re.compile(rb"@param[ \t]++(?=\S)"),
        "var": re.compile(rb"@var[ \t]++(?=\S)"),
        "property": re.compile(rb"@property(?:-\w++)?[ \t]++(?=\S)"),
    }
    NAMED: ClassVar = dict.fromkeys(("param", "var", "property"), re.compile(rb"[ \t]*+(?:\.\.\.)?&?(\$\w++)"))
    TOKENS = re.compile(
        rb"[ \t]*+(?:(?P<name>\$this\b|\\?[A-Za-z_\x80-\xff][\w\x80-\xff]*+(?:[\\-][\w\x80-\xff]++)*+)"
        rb"|(?P<sign>\[\]|[][|&?<>(){},:])"
        rb"|(?P<text>\"[^\"\n]*+\"|'[^'\n]*+'|\.\.\.|::|[-\w*=$]++))"
    )

    def _whole(self) -> int:
        return self._type(0)

    def _type(self, depth: int) -> int:
        if depth > MAX_TOLD:
            raise NoTypeError
        self._takes(b"?")
        ways = [self._one(depth)]
        while self._takes(b"|", b"&"):
            ways.append(self._one(depth))
        return self._any_of(ways)

    def _one(self, depth: int) -> int:
        token = self._next()
        if token["sign"] == b"(":
            found = self._type(depth + 1)
            if not self._takes(b")"):
                raise NoTypeError
        elif token["sign"]:
            raise NoTypeError
        else:
            found = MADE if token["text"] else self._named(token["name"], depth)
        while self._takes(b"[]"):
            found = self._builder.add(Op.ARRAY, found)
        return found

    def _named(self, name: bytes, depth: int) -> int:
        """`A`, `A<B, C>`, `array{a: B}`, `callable(A): B`"""
        source = self._builder.tree.source
        opening = source[self.at : self.at + 1]
        if opening == b"<":
            self.at += 1
            parts = [self._type(depth + 1)]
            while self._takes(b","):
                parts.append(self._type(depth + 1))
            if not self._takes(b">"):
                raise NoTypeError
            return self._applied(name, parts)
        if opening in (b"{", b"("):
            self._skip()
            if opening == b"(" and self._takes(b":"):
                self._type(depth + 1)
            return MADE
        if source[self.at : self.at + 2] == b"::":  # A::B_*
            self._next(), self._next()
            return MADE
        return self._of_name(name)

    def _applied(self, name: bytes, parts: list[int]) -> int:
        """`A<B, C>`: an A, which holds what the last of these is; what a generator gives is the second."""
        last = name.rpartition(b"\\")[2].lower()
        held = parts[1] if last == b"generator" and len(parts) > 1 else parts[-1]
        if last.startswith((b"class-string", b"interface-string", b"int", b"key-of", b"value-of")):
            return MADE
        elements = MADE if held == MADE else self._builder.add(Op.ARRAY, held)
        if last in CONTAINERS:
            return elements
        own = self._of_name(name)
        return own if elements == MADE else self._builder.add(Op.CHOICE, [own, elements])

    def _of_name(self, name: bytes) -> int:
        builder = self._builder
        if name == b"$this" or name.lower() == b"static":
            return builder.add(Op.THIS, builder.scope)
        if name.lower() in PLAIN or b"-" in name:
            return MADE
        if self._is_given_elsewhere(name):
            return 0
        *before, last = name.decode(errors="replace").split("\\")
        at = NONE
        if before and not before[0]:
            at = builder.add(Op.ROOT, builder.named(""), builder.scope)
        for word in before:
            at = builder.add(Op.PREFIX, self._path([word], at)) if word else at
        return self._path([builder.dialect.self_type if last.lower() == builder.dialect.self_type else last], at)

    def _skip(self) -> None:
        """Leave out what stands in brackets."""
        source, ends = self._builder.tree.source, list[bytes]()
        while self.at < self._end:
            sign = source[self.at : self.at + 1]
            self.at += 1
            if sign in CLOSING:
                ends.append(CLOSING[sign])
            elif ends and sign == ends[-1]:
                ends.pop()
                if not ends:
                    return
        raise NoTypeError
