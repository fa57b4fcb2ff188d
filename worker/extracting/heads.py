"""Definitions by the heads of statements, for languages whose blocks tell where one begins: Protobuf, Solidity, Julia.

One pass over the tokens of a text cuts it at the ends of statements and at blocks; comments and strings are tokens of
`tokens.toml`. What stands before a block or an end is compared with expressions at its start, those that count inside
the block around it. All of it takes time linear in the text.
"""

import re
import tomllib
from functools import cache

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from fledgling.worker.extracting.lexical import scanner
from fledgling.worker.extracting.outline import Definition, Import, Outline, cleaned
from fledgling.worker.language import Languages

FILE = ""  # the kind of what is around everything
OTHER = "other"  # that of a block which defines nothing
ANYWHERE = "*"
MAX_NESTING = 1000  # blocks in each other; nobody writes a tenth of it
TAIL = 40  # bytes at the end of a line that tell whether it goes on
FLAGS = re.MULTILINE | re.DOTALL | re.VERBOSE
BLANK = re.compile(rb"\s*+")
COMMENTED = re.compile(rb"[^\n]")
NAME = re.compile(rb"([^\s,(){}]++)(?:\s++(?:as|=>)\s++([^\s,(){}]++))?")


class Head(Struct, frozen=True, forbid_unknown_fields=True):
    """What defines something: an expression for the start of a statement, and the kinds of blocks in which it counts.

    Its groups: `name`, or `names`, of which each word is one; `parent`, `visibility`; `value` or `body`, where the
    signature shows no more. `visibility` is that of what has no such group. With `block` the statement has to open a
    block, or has not to. Inside of that block `items` end a statement, too.
    """

    kind: str
    at: str
    within: tuple[str, ...] = (FILE,)
    block: bool | None = None
    items: bool = False
    visibility: str | None = None


class Rules(Struct, frozen=True, forbid_unknown_fields=True):
    """A file of heads. Its expressions are verbose: a space in one is `[ ]`. They take linear time, as tokens do.

    `open` and `close` are a block's ends; with `head_inside` a word opens it, and its head follows: `function f(x)`.
    Words that match `generator` open no block in brackets. `ends` end a statement; with `lines` a line does, too, but
    not one that ends in `unfinished`, nor before one that begins with `continuing`. What matches `skipped` is none of
    these. `prefix` stands before a head and is not in its signature. A statement that matches `doc` documents the next
    definition, one that matches `doc_inside` that around. Each of the `imports` names a `module`, and maybe `names` or
    an `alias`.
    """

    head: tuple[Head, ...]
    open: str = r"\{"
    close: str = r"\}"
    head_inside: bool = False
    generator: str = "(?!)"
    ends: str = ";"
    items: str = ","
    lines: bool = False
    unfinished: str = "(?!)"
    continuing: str = "(?!)"
    skipped: str = "(?!)"
    prefix: str = ""
    doc: str = "(?!)"
    doc_inside: str = "(?!)"
    imports: tuple[str, ...] = ()


class Block(Struct):
    """What is open: the file, or a block. `start` is that of the statement in it, `depth` counts its open brackets.

    It `awaits_head` while its first statement is the rest of its own head. `doc` is for the next definition in it.
    """

    kind: str = FILE
    defined: list[Definition] = []
    items: bool = False
    start: int = 0
    depth: int = 0
    awaits_head: bool = False
    doc: str | None = None


class HeadRules:
    """Finds what the statements of a text define. Made once per language."""

    def __init__(self, languages: Languages, name: str) -> None:
        (file,) = languages.rows[name].rules
        self.rules = rules = msgspec.convert(tomllib.loads(languages.rules[file]), Rules)
        tokens = {"skip": rules.skipped, "open": rules.open, "close": rules.close, "up": r"[(\[]", "down": r"[)\]]"}
        tokens |= {"end": rules.ends, "item": rules.items, "line": r"\n\s*+" if rules.lines else "(?!)"}
        # The scanner knows neither case nor verbose expressions.
        self.token = scanner(languages, name, **{kind: f"(?x-i:{token})" for kind, token in tokens.items()})
        self.heads = [(head, compiled(head.at)) for head in rules.head]
        self.imports = [compiled(one) for one in rules.imports]
        self.prefix, self.generator = compiled(rules.prefix), compiled(rules.generator)
        self.doc, self.doc_inside = compiled(rules.doc), compiled(rules.doc_inside)
        self.unfinished, self.continuing = compiled(rf"(?:{rules.unfinished})\Z"), compiled(rules.continuing)
        self.within = cache(self._within)

    def _within(self, kind: str) -> list[tuple[Head, re.Pattern[bytes]]]:
        """The heads that count in a block of a kind."""
        return [pair for pair in self.heads if kind in pair[0].within or ANYWHERE in pair[0].within]

    def outline(self, source: bytes) -> Outline:
        """What a text defines and imports, and its comments."""
        statements = Statements(self, source)
        statements.read()
        return statements.found


class Statements:
    """A text that is read token by token; in `code` comments are blank."""

    def __init__(self, rules: HeadRules, source: bytes) -> None:
        self._rules = rules
        self._head_inside = rules.rules.head_inside
        self._source = source
        self._code = bytearray(source)
        self._blocks = [Block()]
        self.found = Outline([])

    def read(self) -> None:
        """Cut the text into statements, and those at blocks."""
        steps = {"open": self._open, "close": self._close, "end": self._end, "item": self._item, "line": self._line}
        for token in self._rules.token.finditer(self._source):
            kind = token.lastgroup or ""
            if kind in ("up", "down"):
                block = self._blocks[-1]
                block.depth = max(block.depth + (1 if kind == "up" else -1), 0)
            elif kind == "comment":
                self.found.comments.append(token.span())
                self._code[token.start() : token.end()] = COMMENTED.sub(b" ", token[0])
            elif kind in steps:
                steps[kind](token)
            if len(self._blocks) > MAX_NESTING:
                break
        size = len(self._source)
        self.found.complete = self.found.complete and len(self._blocks) == 1
        for block in reversed(self._blocks):
            self._statement(block, size, size)
            settle(block.defined, size)

    # ---- tokens

    def _open(self, token: re.Match[bytes]) -> None:
        around = self._blocks[-1]
        if around.depth and self._rules.generator.fullmatch(token[0]):
            return
        inside = Block(OTHER, start=token.end(), awaits_head=self._head_inside)
        if not around.depth:
            inside.defined, head = self._defined(around, token.start(), is_block=True)
            if head:
                inside.kind, inside.items = head.kind, head.items
            around.start = token.end()
        self._blocks.append(inside)

    def _close(self, token: re.Match[bytes]) -> None:
        block = self._blocks[-1]
        if len(self._blocks) == 1:
            self.found.complete = False
        elif not (self._head_inside and block.depth):  # the last index of Julia: `a[end]`
            self._blocks.pop()
            self._statement(block, token.start(), token.end())
            settle(block.defined, token.end())
            if not self._blocks[-1].depth:
                self._blocks[-1].start = token.end()

    def _end(self, token: re.Match[bytes]) -> None:
        if not self._blocks[-1].depth:
            self._statement(self._blocks[-1], token.start(), token.end())

    def _item(self, token: re.Match[bytes]) -> None:
        if self._blocks[-1].items:
            self._end(token)

    def _line(self, token: re.Match[bytes]) -> None:
        block = self._blocks[-1]
        tail = bytes(self._code[max(block.start, token.start() - TAIL) : token.start()]).rstrip()
        if not (self._rules.unfinished.search(tail) or self._rules.continuing.match(self._source, token.end())):
            self._end(token)

    # ---- statements

    def _statement(self, block: Block, stop: int, end: int) -> None:
        """What ends in no block of its own; the first one of a block may be the rest of its head."""
        if block.awaits_head:
            block.awaits_head = False
            for found in block.defined:
                found.body = stop
        else:
            settle(self._defined(block, stop, is_block=False)[0], stop)
        block.start = end

    def _defined(self, block: Block, stop: int, *, is_block: bool) -> tuple[list[Definition], Head | None]:
        """What the statement that goes to `stop` defines, and the head that says so."""
        start = behind(BLANK, self._code, block.start, stop)
        end = len(self._code) if is_block and self._head_inside else stop
        if start == end or self._says(block, start, stop):
            return [], None
        begin = behind(self._rules.prefix, self._code, start, stop)
        for head, expression in self._rules.within(block.kind):
            if head.block in (None, is_block) and (match := expression.match(self._code, begin, end)):
                defined = definitions(head, match)
                for found in defined:
                    found.start, found.end, found.doc = start, stop, block.doc
                    found.inside = max(stop, match.end()) if is_block else match.end()
                    if found.body is None and found.value is None:
                        found.body = stop
                block.doc = None
                self.found.definitions += defined
                return defined, head
        return [], None

    def _says(self, block: Block, start: int, stop: int) -> bool:
        """Whether a statement documents something, or imports it."""
        if match := self._rules.doc.match(self._code, start, stop):
            block.doc = repr(cleaned(text(match["doc"])))
        elif match := self._rules.doc_inside.match(self._code, start, stop):
            for found in block.defined:
                found.doc = repr(cleaned(text(match["doc"])))
        else:
            return self._imports(start, stop)
        return True

    def _imports(self, start: int, stop: int) -> bool:
        for expression in self._rules.imports:
            if match := expression.match(self._code, start, stop):
                groups = match.groupdict(b"")
                pairs = (name.groups(b"") for name in NAME.finditer(groups.get("names", b"")))
                names = [(text(name) or None, text(alias) or None) for name, alias in pairs]
                if alias := text(groups.get("alias", b"")):
                    names = [(None, alias)]
                self.found.imports.append(Import(text(match["module"]), start, stop, names))
                return True
        return False


def definitions(head: Head, match: re.Match[bytes]) -> list[Definition]:
    """What a head that matches defines: one, or as many as it has `names`."""
    groups = match.groupdict(b"")
    defined = Definition(
        "",
        head.kind,
        head=match.start(),
        body=match.start("body") if groups.get("body") is not None and match.start("body") >= 0 else None,
        value=match.start("value") if groups.get("value") is not None and match.start("value") >= 0 else None,
        visibility=text(groups.get("visibility", b"")) or head.visibility,
        parent=text(groups.get("parent", b"")) or None,
    )
    names = (name[1] for name in NAME.finditer(groups["names"])) if "names" in groups else [groups["name"]]
    return [replace(defined, name=text(name)) for name in names]


def settle(defined: list[Definition], end: int) -> None:
    """Say where definitions end."""
    for found in defined:
        found.end = end


def behind(pattern: re.Pattern[bytes], code: bytearray, start: int, stop: int) -> int:
    """Where what matches here ends."""
    match = pattern.match(code, start, stop)
    return match.end() if match else start


def compiled(expression: str) -> re.Pattern[bytes]:
    """An expression of a file of heads."""
    return re.compile(expression.encode(), FLAGS)


def text(written: bytes) -> str:
    """What a group says."""
    return written.decode(errors="replace")
