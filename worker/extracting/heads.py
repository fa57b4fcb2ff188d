"""Definitions by the heads of statements, for languages whose blocks tell where one begins: Protobuf, Solidity, Julia.

One pass over the tokens of a text cuts it at the ends of statements and at blocks; comments and strings are tokens of
`tokens.toml`. What stands before a block or an end is compared with expressions at its start, those that count inside
the block around it. All of it takes time linear in the text.
"""

import re
import tomllib
from functools import cache
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from fledgling.messages.questions import Kind
from fledgling.worker.extracting.blanking import VISIBLE
from fledgling.worker.extracting.docstrings import cleaned
from fledgling.worker.extracting.lexical import scanner
from fledgling.worker.extracting.outline import Definition, FileOutline, FoundImport
from fledgling.worker.language import Languages

FILE = ""  # the kind of what is around everything
OTHER = "other"  # that of a block which defines nothing
CALL = "call"  # of one that defines nothing itself, but what is in it does: a set of Nix
ANYWHERE = "*"
MAX_NESTING = 1000  # blocks in each other; nobody writes a tenth of it
TAIL = 40  # bytes at the end of a line that tell whether it goes on
FLAGS = re.MULTILINE | re.DOTALL | re.VERBOSE
SHEBANG = r"\A\#![^\n]*+"  # the first line of a script, which is no part of the first statement
BLANK = re.compile(rb"\s*+")
NAME = re.compile(rb"([^\s,(){}]++)(?:\s++(?:as|=>)\s++([^\s,(){}]++))?")


class Head(Struct, frozen=True, forbid_unknown_fields=True):
    """What defines something: an expression for the start of a statement, and the kinds of blocks in which it counts.

    Its groups: `name`, or `names`, of which each word is one, or none for a `scope` of what is around; `before`, with
    which names begin; `parent`, `visibility`; `value` or `body`, where the signature shows no more.
    """

    kind: Kind | Literal["scope", "call"]
    at: str
    within: tuple[str, ...] = (FILE,)
    block: bool | None = None  # the statement has to open a block, or has not to
    items: bool = False  # in its block those of the rules end a statement, too
    visibility: str | None = None  # of what has no such group
    parts: str = ""  # what of the group `name` is the name
    behind: str = ""  # what names that behind its block whose own `name` is empty: `typedef struct { int x; } Point;`


class HeadsFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A file of heads. Its expressions are verbose: a space in one is `[ ]`. They take linear time, as tokens do."""

    head: tuple[Head, ...]
    prefix: str = ""  # stands before a head and is not in its signature
    skipped: str = "(?!)"  # is none of what follows

    # The ends of blocks. Where a word that opens one is `head_inside`, its head follows, to the group `body` or the end
    # of a statement: `function f(x)`. Between `up` and `down` nothing ends but blocks, and those not by words that are
    # `not_in_brackets`.
    open: str = r"\{"
    close: str = r"\}"
    head_inside: str = "(?!)"
    up: str = r"[(\[]"
    down: str = r"[)\]]"
    not_in_brackets: str = "(?!)"

    # The ends of statements: `items` only in some blocks, a line with `lines`, unless it is `unfinished` at its end or
    # the next one `continuing`. What is `whole` is a statement of itself. Before a `restart` all blocks end that no
    # word has opened. With `goes_on` a statement does not end with its block.
    ends: str = ";"
    items: str = ","
    items_in_file: bool = False
    lines: bool = False
    unfinished: str = "(?!)"
    continuing: str = "(?!)"
    whole: str = "(?!)"
    restart: str = "(?!)"
    goes_on: bool = False

    # Statements that document the next definition, or the one around; those that import a `module` or some `modules`,
    # and maybe `names` of it, or give it an `alias`, in blocks of some kinds; and what imports wherever it stands.
    doc: str = "(?!)"
    doc_inside: str = "(?!)"
    imports: tuple[str, ...] = ()
    imports_within: tuple[str, ...] = (ANYWHERE,)
    inner_import: str = "(?!)"


class HeadBlock(Struct):
    """What is open: the file, or a block. `start` is that of the statement in it, `depth` counts its open brackets.

    What a word has opened, a word closes. It `awaits_head` while its first statement is the rest of its own head. `doc`
    is for the next definition in it. The statement in it has `begun` some definitions, and goes on. What it is of may
    be named `behind` it.
    """

    kind: str = FILE
    defined: list[Definition] = []
    items: bool = False
    start: int = 0
    depth: int = 0
    is_word: bool = False
    awaits_head: bool = False
    doc: str | None = None
    begun: list[Definition] = []
    behind: str = ""


class HeadRules:
    """Finds what the statements of a text define. Made once per language."""

    def __init__(self, languages: Languages, name: str) -> None:
        (file,) = languages.rows[name].rules
        self.rules = rules = msgspec.convert(tomllib.loads(languages.rules[file]), HeadsFile)
        tokens = {"skip": rules.skipped, "open": rules.open, "close": rules.close, "up": rules.up, "down": rules.down}
        tokens |= {
            "whole": f"{SHEBANG}|{rules.whole}",
            "restart": rules.restart,
            "end": rules.ends,
            "item": rules.items,
        }
        tokens["import"] = rules.inner_import
        tokens["line"] = r"\n\s*+" if rules.lines else "(?!)"
        # The scanner knows neither case nor verbose expressions.
        self.token = scanner(languages, name, **{kind: f"(?x-i:{token})" for kind, token in tokens.items()})
        self.heads = [(head, compiled(head.at)) for head in rules.head]
        self.imports = [compiled(one) for one in rules.imports]
        self.inner_import = compiled(rules.inner_import)
        self.prefix, self.head_inside = compiled(rules.prefix), compiled(rules.head_inside)
        self.not_in_brackets = compiled(rules.not_in_brackets)
        self.doc, self.doc_inside = compiled(rules.doc), compiled(rules.doc_inside)
        self.unfinished, self.continuing = compiled(rf"(?:{rules.unfinished})\Z"), compiled(rules.continuing)
        self.within = cache(self._within)

    def _within(self, kind: str) -> list[tuple[Head, re.Pattern[bytes]]]:
        """The heads that count in a block of a kind."""
        return [pair for pair in self.heads if kind in pair[0].within or ANYWHERE in pair[0].within]

    def outline(self, source: bytes) -> FileOutline:
        """What a text defines and imports, and its comments."""
        statements = Statements(self, source)
        statements.read()
        return statements.found


class Statements:
    """A text that is read token by token; in `code` comments are blank."""

    def __init__(self, rules: HeadRules, source: bytes) -> None:
        self._rules = rules
        self._source = source
        self._code = bytearray(source)
        self._blocks = [HeadBlock(items=rules.rules.items_in_file)]
        self._words = 0  # how many blocks that words have opened
        self.found = FileOutline([])

    def read(self) -> None:
        """Cut the text into statements, and those at blocks."""
        steps = {"open": self._open, "close": self._close, "end": self._end, "item": self._item, "line": self._line}
        steps |= {"whole": self._whole, "restart": self._restart, "import": self._import}
        for token in self._rules.token.finditer(self._source):
            kind = token.lastgroup or ""
            if kind in ("up", "down"):
                block = self._blocks[-1]
                block.depth = max(block.depth + (1 if kind == "up" else -1), 0)
            elif kind == "comment":
                self.found.comments.append(token.span())
                self._code[token.start() : token.end()] = VISIBLE.sub(b" ", token[0])
            elif kind in steps:
                steps[kind](token)
            if len(self._blocks) > MAX_NESTING:
                break
        size = len(self._source)
        self.found.complete = self.found.complete and len(self._blocks) == 1
        for block in reversed(self._blocks):
            self._statement(block, size, size)
            settle(block.defined, size)
        self.found.definitions = [found for found in self.found.definitions if found.name]

    # ---- tokens

    def _open(self, token: re.Match[bytes]) -> None:
        around = self._blocks[-1]
        if around.depth and self._rules.not_in_brackets.fullmatch(token[0]):
            return
        follows = self._rules.head_inside.fullmatch(token[0]) is not None
        inside = HeadBlock(OTHER, start=token.end(), awaits_head=follows, is_word=token[0] != b"{")
        if not around.depth and not around.awaits_head:
            limit = len(self._code) if follows else token.start()
            inside.defined, head = self._defined(around, token.start(), limit, is_block=True)
            if head:
                inside.kind, inside.items, inside.behind = head.kind, head.items, head.behind
            body = inside.defined[0].body if inside.defined else None
            if follows and body is not None and body > token.start():
                inside.start, inside.awaits_head = body, False
            if self._rules.rules.goes_on and inside.kind not in (OTHER, CALL):
                around.begun += inside.defined
            else:
                around.start = token.end()
        self._blocks.append(inside)
        self._words += inside.is_word

    def _close(self, token: re.Match[bytes]) -> None:
        is_word = token[0] != b"}"
        if self._blocks[-1].depth and self._rules.not_in_brackets.fullmatch(token[0]):
            return
        while is_word and self._words and not self._blocks[-1].is_word:  # what a conditional has opened twice
            self._pop(token.start(), token.start())
            self.found.complete = False
        if len(self._blocks) == 1 or self._blocks[-1].is_word != is_word:
            self.found.complete = False
            return
        inside = self._blocks[-1]
        self._pop(token.start(), token.end())
        if inside.behind and (match := compiled(inside.behind).match(self._source, token.end())):
            for found in inside.defined:
                found.name = found.name or text(match["name"])
        around = self._blocks[-1]
        if not around.depth and not around.begun:
            around.start = token.end()

    def _pop(self, stop: int, end: int) -> None:
        block = self._blocks.pop()
        self._words -= block.is_word
        self._statement(block, stop, stop)
        settle(block.defined, end)

    def _whole(self, token: re.Match[bytes]) -> None:
        block = self._blocks[-1]
        if not block.depth:
            self._statement(block, token.start(), token.start())
            self._statement(block, token.end(), token.end())

    def _end(self, token: re.Match[bytes]) -> None:
        if not self._blocks[-1].depth:
            self._statement(self._blocks[-1], token.start(), token.end())

    def _item(self, token: re.Match[bytes]) -> None:
        if self._blocks[-1].items:
            self._end(token)

    def _line(self, token: re.Match[bytes]) -> None:
        block = self._blocks[-1]
        tail = bytes(self._code[max(block.start, token.start() - TAIL) : token.start()]).rstrip()
        goes_on = self._rules.unfinished.search(tail) or self._rules.continuing.match(self._source, token.end())
        if not block.depth and not goes_on:
            self._statement(block, token.start(), token.start())

    def _import(self, token: re.Match[bytes]) -> None:
        if match := self._rules.inner_import.match(self._source, token.start(), token.end()):
            self.found.imports.append(FoundImport(text(match["module"]), token.start(), token.end(), []))

    def _restart(self, token: re.Match[bytes]) -> None:
        while self._words and not self._blocks[-1].is_word:
            self._pop(token.start(), token.start())
            self.found.complete = False
        self._blocks[-1].start, self._blocks[-1].depth = token.start(), 0

    # ---- statements

    def _statement(self, block: HeadBlock, stop: int, end: int) -> None:
        """What ends in no block of its own; the first one of a block may be the rest of its head."""
        if block.awaits_head:
            block.awaits_head = False
            for found in block.defined:
                found.body = stop
        else:
            settle(block.begun or self._defined(block, stop, stop, is_block=False)[0], end)
        block.begun = []
        block.start = end

    def _defined(
        self, block: HeadBlock, stop: int, limit: int, *, is_block: bool
    ) -> tuple[list[Definition], Head | None]:
        """What the statement that goes to `stop` defines, its head to `limit`, and the head that says so."""
        start = behind(BLANK, self._code, block.start, limit)
        if (start == limit and not is_block) or block.begun or self._says(block, start, stop):
            return [], None
        begin = behind(self._rules.prefix, self._code, start, limit)
        for head, expression in self._rules.within(block.kind):
            if head.block in (None, is_block) and (match := expression.match(self._code, begin, limit)):
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

    def _says(self, block: HeadBlock, start: int, stop: int) -> bool:
        """Whether a statement documents something; what it imports is taken."""
        if match := self._rules.doc.match(self._code, start, stop):
            block.doc = repr(cleaned(text(match["doc"])))
        elif match := self._rules.doc_inside.match(self._code, start, stop):
            for found in block.defined:
                found.doc = repr(cleaned(text(match["doc"])))
        else:
            if not {block.kind, ANYWHERE}.isdisjoint(self._rules.rules.imports_within):
                self._imports(start, stop)
            return False
        return True

    def _imports(self, start: int, stop: int) -> None:
        for expression in self._rules.imports:
            if match := expression.match(self._code, start, stop):
                groups = match.groupdict(b"")
                pairs = (name.groups(b"") for name in NAME.finditer(groups.get("names", b"")))
                names = [(text(name) or None, text(alias) or None) for name, alias in pairs]
                if alias := text(groups.get("alias", b"")):
                    names = [(None, alias)]
                modules = (name[1] for name in NAME.finditer(groups.get("modules", b"")))
                for module in modules if "modules" in groups else [groups["module"]]:
                    self.found.imports.append(FoundImport(text(module), start, stop, names))
                return


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
    if head.parts:
        parts = (part[part.lastindex] for part in compiled(head.parts).finditer(groups["name"]) if part.lastindex)
        groups["name"] = b"".join(b"".join(parts).split())
    names = (name[1] for name in NAME.finditer(groups["names"])) if "names" in groups else [groups.get("name", b"self")]
    before = f"{text(groups['before'])}." if groups.get("before") else ""
    return [replace(defined, name=f"{before}{text(name)}") for name in names]


def settle(defined: list[Definition], end: int) -> None:
    """Say where definitions end."""
    for found in defined:
        found.end = end


def behind(pattern: re.Pattern[bytes], code: bytearray, start: int, stop: int) -> int:
    """Where what matches here ends."""
    match = pattern.match(code, start, stop)
    return match.end() if match else start


@cache
def compiled(expression: str) -> re.Pattern[bytes]:
    """An expression of a file of heads."""
    return re.compile(expression.encode(), FLAGS)


def text(written: bytes) -> str:
    """What a group says."""
    return written.decode(errors="replace")
