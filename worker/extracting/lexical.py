"""The linear engine, for languages without a grammar: comments, and definitions that are statements by themselves.

Comments and strings are tokens of `languages.toml`. Definitions are found by rules such as `sql.toml`: one pass cuts
the text into statements and blanks what is no code, then each statement is compared with one expression at its start.
What a language of templates defines around them is found by a pass of its own. All of it takes time linear in the text.
"""

import re
import tomllib
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from fledgling.messages.questions import Kind
from fledgling.worker.extracting.outline import Definition
from fledgling.worker.language import Languages

FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL
WORDS = ("noise", "delimiter", "quoted", "inner", "open", "close")


class Object(Struct, frozen=True, forbid_unknown_fields=True):
    """What can be created: its kind, where its signature ends, and whether it has a body of statements."""

    kind: Kind
    until: str = "(?!)"
    body: bool = False


class TemplateRules(Struct, frozen=True, forbid_unknown_fields=True):
    """A language of templates around the statements: what begins and ends a definition, and its kind by the word."""

    comment: str
    begin: str
    end: str
    kinds: dict[str, Kind]

    @property
    def pattern(self) -> re.Pattern[bytes]:
        """One expression for all of it; the last group's name tells which."""
        tokens = f"{self.comment}|{self.begin}|{self.end}"
        return re.compile(tokens.replace("WORD", "|".join(self.kinds)).encode(), FLAGS)


class LexicalRules(Struct, frozen=True, forbid_unknown_fields=True):
    """A file of rules; `sql.toml` explains the fields."""

    quoted: str
    terminators: tuple[str, ...]
    send: str
    delimiter: str
    open: str
    close: str
    inner: str
    noise: str
    create: str
    part: str
    object: dict[str, Object]
    template: TemplateRules


class Statement(Struct, frozen=True):
    """`source[start:stop]`, and `end` behind its terminator."""

    start: int
    stop: int
    end: int


class Cut(Struct):
    """A text in statements; in `code` all comments and strings are blank."""

    code: bytearray
    comments: list[tuple[int, int]] = []
    statements: list[Statement] = []


def scanner(languages: Languages, name: str, **first: str) -> re.Pattern[bytes]:
    """One expression for further tokens, then the comments and strings of a language; the group's name tells which."""
    row = languages.rows[name]
    kinds = {"comment": row.comments, "string": row.strings}
    tokens = first | {kind: "|".join(languages.tokens[token] for token in named) for kind, named in kinds.items()}
    return re.compile("|".join(f"(?P<{kind}>{token})" for kind, token in tokens.items() if token).encode(), FLAGS)


def comments(token: re.Pattern[bytes], source: bytes) -> list[tuple[int, int]]:
    """The spans of all comments, in order: in the Go line `f("//") // x`, that of the last two words."""
    return [match.span() for match in token.finditer(source) if match.lastgroup == "comment"]


class StatementRules:
    """Finds what the statements of a text define. Made once per language."""

    def __init__(self, languages: Languages, name: str) -> None:
        (file,) = languages.rows[name].rules
        rules = msgspec.convert(tomllib.loads(languages.rules[file]), LexicalRules)
        words = {word: getattr(rules, word) for word in WORDS}
        self._scanners = {
            end.encode(): scanner(languages, name, end=f"{re.escape(end)}|{rules.send}", **words)
            for end in rules.terminators
        }
        self._create = re.compile(rules.create.replace("PART", rules.part).encode(), FLAGS | re.VERBOSE)
        self._part = re.compile(rules.part.encode(), FLAGS | re.VERBOSE)
        self._objects = rules.object
        self._kinds = rules.template.kinds
        self._template = rules.template.pattern
        self._until = {kind: re.compile(rule.until.encode(), FLAGS) for kind, rule in rules.object.items()}

    def cut(self, source: bytes) -> Cut:
        """Cut the text at terminators that stand in no comment, string or body."""
        cut = Cut(bytearray(source))
        terminator = next(iter(self._scanners))
        start = position = depth = 0
        has_body: bool | None = None  # asked once for each statement
        while match := self._scanners[terminator].search(source, position):
            position = match.end()
            if match.lastgroup == "comment":
                cut.comments.append(match.span())
            if match.lastgroup in ("comment", "string", "noise", "delimiter"):
                cut.code[match.start() : position] = b" " * (position - match.start())
            if match.lastgroup == "delimiter" and match["mark"] in self._scanners:
                terminator = match["mark"]
            elif match.lastgroup == "open":
                has_body = self._has_body(cut.code, start) if has_body is None else has_body
                depth += has_body
            elif match.lastgroup == "close" and depth:
                depth -= 1
            elif match.lastgroup == "end" and not depth:
                cut.statements.append(Statement(start, match.start(), position))
                start, has_body = position, None
        rest = len(cut.code.rstrip())
        cut.statements.append(Statement(start, rest, rest))
        return cut

    def definitions(self, cut: Cut) -> Iterator[Definition]:
        """What the statements define: `CREATE VIEW a.b AS ...` the view `b` of `a`."""
        for statement in cut.statements:
            if match := self._create.match(cut.code, statement.start, statement.stop):
                word = match["object"].decode().upper()
                until = self._until[word].search(cut.code, match.end(), statement.stop)
                *schema, name = (unquoted(part.decode()) for part in self._part.findall(match["name"]))
                yield Definition(
                    name=name,
                    kind=self._objects[word].kind,
                    start=match.start("create"),
                    head=match.start("create"),
                    end=statement.end,
                    inside=statement.end,
                    body=until.start() if until else statement.stop,
                    parent=".".join(schema) or None,
                )

    def templates(self, source: bytes) -> Iterator[Definition]:
        """What templates define: `{% macro star(a) %} ... {% endmacro %}` the macro `star`."""
        opened: Definition | None = None
        for match in self._template.finditer(source):
            if match["begin"]:
                yield from filter(None, (opened,))
                opened = Definition(
                    name=match["name"].decode(),
                    kind=self._kinds[match["begin"].decode().lower()],
                    start=match.start(),
                    head=match.start("begin"),
                    end=match.end(),
                    inside=match.end(),
                    body=match.start() + len(match[0].rstrip(b"+- \t\r\n")),
                )
            elif match["end"] and opened:
                opened.end = match.end()
                yield opened
                opened = None
        yield from filter(None, (opened,))

    def _has_body(self, code: bytearray, start: int) -> bool:
        match = self._create.match(code, start)
        return match is not None and self._objects[match["object"].decode().upper()].body


def unquoted(name: str) -> str:
    """An identifier without its quotes: `"order"`, `[order]` and `order` are one."""
    if name[0] in '"`[':
        return name[1:-1].replace('""', '"')
    return name
