"""Types that only a comment says, `@return A|null`, `@var array<int, B>`: nobody checks them, so none is certain.

What is no type by these rules says nothing. Each character is read once.
"""

import re
from collections.abc import Iterator

from fledgling.worker.graph.reading.braced_types import told_in_braces
from fledgling.worker.graph.reading.bracketed_types import told_in_brackets
from fledgling.worker.graph.reading.builder import Builder
from fledgling.worker.graph.reading.type_reader import MAX_TOLD, NoTypeError, TypeReader
from fledgling.worker.graph.tables import MADE, NONE, Op, ScopeKind, Write

MAX_COMMENT = 10_000  # bytes of a comment; a longer one says no types
MAX_BLANK = 200  # bytes between a comment and what it is about
TOKENS = re.compile(
    rb"[ \t]*+(?:(?P<name>\$this\b|\\?[A-Za-z_\x80-\xff][\w\x80-\xff]*+(?:[\\-][\w\x80-\xff]++)*+)"
    rb"|(?P<sign>\[\]|[][|&?<>(){},:])"
    rb"|(?P<text>\"[^\"\n]*+\"|'[^'\n]*+'|\.\.\.|::|[-\w*=$]++))"
)
TEMPLATE = re.compile(rb"@(?:phpstan-|psalm-)?template(?:-\w++)?[ \t]++(\w++)")
TAGS = {tag: re.compile(rb"@%b[ \t]++(?=\S)" % tag.encode()) for tag in ("return", "param", "var")}
TAGS["property"] = re.compile(rb"@property(?:-\w++)?[ \t]++(?=\S)")
METHOD = re.compile(rb"@method[ \t]++(?:static[ \t]++(?=[\w\\]++[^\s(]*+[ \t]))?(?=\S)")
NAMED = re.compile(rb"[ \t]++(\w++)\(")
VARIABLE = re.compile(rb"[ \t]*+(?:\.\.\.)?&?(\$\w++)")
PLAIN = frozenset(
    b"int integer float double string bool boolean array list iterable mixed object scalar numeric callable"
    b" resource void null false true never".split()
)
CONTAINERS = frozenset(
    b"array list iterable non-empty-array non-empty-list generator traversable iterator"
    b" iteratoraggregate arrayiterator arrayobject splobjectstorage".split()
)
# What may stand between a comment of JavaScript and a function or value that it is about.
BETWEEN = re.compile(
    rb"\*/\s*+(?:export\s++(?:default\s++)?+)?+(?:(?:const|let|var)\s++)?+(?:[\w$.]++\s*+[=:]\s*+)?+(?:async\s++)?+\Z"
)
COMMENTED = re.compile(rb"[ \t]*+#")  # a line of Ruby
CLOSING = {b"<": b">", b"(": b")", b"{": b"}", b"[": b"]"}


def comment_before(builder: Builder, node: int) -> tuple[int, int] | None:
    """The span of the comment that says types right before a node, where the language has such comments."""
    source, start = builder.tree.source, builder.tree.start[node]
    first = max(0, start - MAX_BLANK)
    if builder.dialect.told_in == "brackets":
        return _lines_before(source, start)
    if builder.dialect.told_in:
        between = BETWEEN.search(source[first:start])
        end = first + between.start() + 2 if between else 0
    elif builder.dialect.told_types:
        end = first + len(source[first:start].rstrip())
    else:
        return None
    if source[end - 2 : end] != b"*/":
        return None
    begins = source.rfind(b"/*", max(0, end - MAX_COMMENT), end - 2)
    is_one = begins >= 0 and source[begins : begins + 3] == b"/**" and source.find(b"*/", begins, end - 2) < 0
    return (begins, end - 2) if is_one else None


def _lines_before(source: bytes, start: int) -> tuple[int, int] | None:
    """The span of the lines right above that of a byte which hold a comment alone, `# a`."""
    end = source.rfind(b"\n", max(0, start - MAX_BLANK), start) + 1
    begins = end
    while begins and COMMENTED.match(source, above := source.rfind(b"\n", 0, begins - 1) + 1):
        begins = above
        if end - begins > MAX_COMMENT:
            return None
    return (begins, end) if begins < end else None


def told_type(builder: Builder, comment: tuple[int, int] | None, tag: str, name: str = "") -> int:
    """The expression of the type that a comment says behind a tag, `@var A $b` of a name; -1 where it says none."""
    for named, found in _told(builder, comment, tag) if comment else ():
        if not name or named in ("", name):
            return found
    return NONE


def told_parameters(builder: Builder, comment: tuple[int, int] | None) -> dict[str, int]:
    """The expressions of the types that a comment says of parameters: `@param A $b`."""
    return dict(_told(builder, comment, "param")) if comment else {}


def _told(builder: Builder, comment: tuple[int, int], tag: str) -> Iterator[tuple[str, int]]:
    """Yield the names, "" for none, and the types that stand behind a tag."""
    source = builder.tree.source
    if builder.dialect.told_in:
        read = told_in_brackets if builder.dialect.told_in == "brackets" else told_in_braces
        yield from read(builder, comment, tag)
        return
    for at in TAGS[tag].finditer(source, *comment):
        found, behind = _read(builder, at.end(), comment[1])
        named = VARIABLE.match(source, behind, comment[1])
        yield named[1].decode(errors="replace") if named else "", found


def told_instead(builder: Builder, declared: int, type_: int, told: int) -> int:
    """Of the type that a node declares, -1 for none, and the one that a comment says, the one that counts."""
    is_open = declared != NONE and builder.tree.text(declared).lower().lstrip("?\\") in builder.dialect.told_types
    return told if told != NONE and (type_ == NONE or is_open) else type_


def note_templates(builder: Builder, scope: int, comment: tuple[int, int] | None) -> None:
    """Note which names stand for types that are given elsewhere: `@template T`."""
    found = {match[1] for match in TEMPLATE.finditer(builder.tree.source, *comment)} if comment else ()
    if found:
        builder.templates[scope] = frozenset(found)


def hold_told(builder: Builder, scope: int, comment: tuple[int, int] | None, line: int) -> None:
    """Let objects of a class hold what a comment says that they have: `@property A $b`."""
    if not comment or builder.dialect.told_in:
        return
    for word, found in _told(builder, comment, "property"):
        held = builder.add(Op.DECLARED, found, NONE)
        name = builder.named(word.removeprefix(builder.dialect.sigil))
        builder.writes.append(Write(builder.add(Op.THIS, scope), name, NONE, held, line))
    for at in METHOD.finditer(builder.tree.source, *comment):
        inner = builder.enter(NONE, ScopeKind.SIGNATURE, NONE, line)
        builder.scopes[inner].returns, behind = _read(builder, at.end(), comment[1])
        builder.leave()
        if named := NAMED.match(builder.tree.source, behind, comment[1]):
            name, held = builder.named(named[1].decode(errors="replace")), builder.add(Op.FUNCTION, inner)
            builder.writes.append(Write(builder.add(Op.THIS, scope), name, NONE, held, line))


def _read(builder: Builder, start: int, end: int) -> tuple[int, int]:
    """The expression of a type, which is not known where these rules have none, and the byte behind it."""
    reader = _TagReader(builder, start, end)
    try:
        found = reader.type_(0)
    except NoTypeError:
        found = 0
    return builder.add(Op.TOLD, found), reader.at


class _TagReader(TypeReader):
    TOKENS = TOKENS

    def type_(self, depth: int) -> int:
        """`A|B`, `?A`"""
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
            found = self.type_(depth + 1)
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
            parts = [self.type_(depth + 1)]
            while self._takes(b","):
                parts.append(self.type_(depth + 1))
            if not self._takes(b">"):
                raise NoTypeError
            return self._applied(name, parts)
        if opening in (b"{", b"("):
            self._skip()
            if opening == b"(" and self._takes(b":"):
                self.type_(depth + 1)
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
        scope = builder.scope
        while scope != NONE:
            if name in builder.templates.get(scope, ()):
                return 0
            scope = builder.scopes[scope].parent
        *before, last = name.decode(errors="replace").split("\\")
        at = NONE
        if before and not before[0]:
            at = builder.add(Op.ROOT, builder.named(""), builder.scope)
        for word in before:
            at = builder.add(Op.PREFIX, self._step(at, word)) if word else at
        if last.lower() == builder.dialect.self_type:
            last = builder.dialect.self_type
        return self._step(at, last)

    def _step(self, of: int, word: str) -> int:
        name = self._builder.named(word)
        return self._builder.use_name(name) if of == NONE else self._builder.add(Op.GET, of, name)

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
