"""The closed grammar of a profile file: SET, CREATE VIEW and DROP VIEW, and nothing about what they mean.

Only what reads the same everywhere is read: dollar quotes, prefixed strings (E'...') and characters no reader sees are
refused, so that this lexer, DuckDB's and a reviewer's eyes agree on where every statement ends.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple

from fledgling.plain import MAX_SHOWN


class SqlTextError(Exception):
    """The text is wrong at `line`: `problem` says how, `fix` what would be right."""

    def __init__(self, line: int, problem: str, fix: str) -> None:
        """Keep the parts; `str` is `line 7: a string is not closed; end it with ...`."""
        super().__init__(f"line {line}: {problem}; {fix}")
        self.line, self.problem, self.fix = line, problem, fix


class Token(NamedTuple):
    """A word, number, string, identifier or symbol as written, its line, and the blank space before it."""

    kind: str
    text: str
    line: int
    gap: str


class Setting(NamedTuple):
    """`SET name = literal`, the literal a number or a string."""

    name: Token
    literal: Token


class Create(NamedTuple):
    """`CREATE VIEW name AS select` at `line`; `replace` for `CREATE OR REPLACE VIEW`."""

    name: Token
    select: str
    line: int
    replace: bool


class Drop(NamedTuple):
    """`DROP VIEW name`; `lenient` for `DROP VIEW IF EXISTS name`."""

    name: Token
    lenient: bool


Statement = Setting | Create | Drop


def parse(text: str) -> Iterator[Statement]:
    """Yield the statements of `text`; the last needs no semicolon.

    >>> [(s.name.text, s.literal.text) for s in parse("SET a = 'x;y'; -- why") if isinstance(s, Setting)]
    [('a', "'x;y'")]

    Raises SqlTextError for any other statement, for text that is not closed, and where other readers could differ.
    """
    _check_characters(text)
    tokens: list[Token] = []
    for token in chain(_tokens(text), (SEMICOLON,)):
        if token.text != ";":
            tokens.append(token)
        elif tokens:
            yield _statement(tokens)
            tokens = []


def unquoted(token: Token) -> str:
    """Return what a string holds: `'it''s'` is `it's`."""
    return token.text[1:-1].replace("''", "'")


# ---- statements -----------------------------------------------------------------------------------------------------


class _StatementReader:
    """One statement, read from left to right: `accept` what may come next, `expect` and `take` what must."""

    def __init__(self, tokens: list[Token], form: str) -> None:
        """Read `tokens`; `form` says what the statement should look like."""
        self.rest, self.form, self.line = tokens, form, tokens[0].line

    def accept(self, *words: str) -> bool:
        """Step over `words`, given in upper case, if they come next."""
        found = [token.text.upper() for token in self.rest[: len(words)]] == list(words)
        self.rest = self.rest[len(words) :] if found else self.rest
        return found

    def expect(self, word: str) -> None:
        """Step over `word`, which must come next."""
        if not self.accept(word):
            raise self.wrong()

    def take(self, *kinds: str) -> Token:
        """Step over the next token, which must be of one of these kinds."""
        if not self.rest or self.rest[0].kind not in kinds:
            raise self.wrong()
        token, *self.rest = self.rest
        return token

    def end(self) -> None:
        """Refuse what is left."""
        if self.rest:
            raise self.wrong()

    def wrong(self) -> SqlTextError:
        """Return the error for what comes next."""
        if self.rest:
            return SqlTextError(self.rest[0].line, f"{self.rest[0].text[:MAX_SHOWN]!r} does not belong here", self.form)
        return SqlTextError(self.line, "the statement ends too early", self.form)


def _set(reader: _StatementReader) -> Setting:
    name = reader.take("word")
    if not reader.accept("="):
        reader.expect("TO")
    setting = Setting(name, reader.take("string", "number"))
    reader.end()
    return setting


def _create(reader: _StatementReader) -> Create:
    replace = reader.accept("OR", "REPLACE")
    _ = reader.accept("TEMP") or reader.accept("TEMPORARY")
    reader.expect("VIEW")
    name = reader.take("word")
    reader.expect("AS")
    if not reader.rest or reader.rest[0].text.upper() not in QUERY_WORDS:
        raise reader.wrong()
    return Create(name, _joined(reader.rest), reader.line, replace)


def _drop(reader: _StatementReader) -> Drop:
    reader.expect("VIEW")
    lenient = reader.accept("IF", "EXISTS")
    drop = Drop(reader.take("word"), lenient)
    reader.end()
    return drop


QUERY_WORDS = ("SELECT", "FROM", "WITH")
GRAMMAR: dict[str, tuple[Callable[[_StatementReader], Statement], str]] = {
    "SET": (_set, "write SET <setting> = <value>; the value a number or a text in single quotes"),
    "CREATE": (_create, "write CREATE [OR REPLACE] [TEMP] VIEW <name> AS SELECT ...; nothing else can be created"),
    "DROP": (_drop, "write DROP VIEW [IF EXISTS] <name>; nothing else can be dropped"),
}


def _statement(tokens: list[Token]) -> Statement:
    verb = tokens[0].text.upper()
    if verb not in GRAMMAR:
        allowed = "a profile holds only SET, CREATE VIEW and DROP VIEW"
        raise SqlTextError(tokens[0].line, f"{tokens[0].text[:MAX_SHOWN]!r} starts no statement of a profile", allowed)
    read, form = GRAMMAR[verb]
    reader = _StatementReader(tokens, form)
    reader.accept(verb)
    return read(reader)


def _joined(tokens: list[Token]) -> str:
    """Return the text of `tokens`, line breaks kept and comments blank: `SELECT 1 /* one */` is `SELECT 1`."""
    return "".join(token.gap + token.text for token in tokens).strip()


# ---- tokens ---------------------------------------------------------------------------------------------------------

INVISIBLE = frozenset({"Cc", "Cf", "Zl", "Zp"})  # control, format, line and paragraph separators (Unicode)
# The first alternative that matches wins; the last takes any character, so a match never fails.
TOKEN = re.compile(
    r"""
    (?P<space> \s+ )
  | (?P<comment> --[^\n]* )
  | (?P<block> /\* )
  | (?P<prefixed> \w+' )
  | (?P<word> [A-Za-z_]\w* )
  | (?P<number> [0-9]+ (?:\.[0-9]+)? )
  | (?P<string> ' (?>(?:[^']++|'')*) ' )
  | (?P<identifier> " (?>(?:[^"]++|"")*) " )
  | (?P<open_string> ' )
  | (?P<open_identifier> " )
  | (?P<dollar> \$ )
  | (?P<symbol> . )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,  # ASCII: no keyword has look-alikes ('\u017fET'.upper() is 'SET')
)
SEMICOLON = Token("symbol", ";", 0, "")  # the end of the file ends a statement
BLANK = frozenset({"space", "comment", "block"})
REFUSED = {
    "prefixed": ("a quote follows a letter or digit directly", "put a space before it; E'', X'' and B'' are not read"),
    "open_string": ("a string is not closed", "end it with ' and write a quote inside as ''"),
    "open_identifier": ("a quoted name is not closed", 'end it with " and write a quote inside as ""'),
    "dollar": ("$ starts a dollar quote or a parameter", "write text in single quotes, and no parameters"),
}


def _tokens(text: str) -> Iterator[Token]:
    place, line, gap = 0, 1, ""
    while match := TOKEN.match(text, place):
        kind, piece = match.lastgroup or "", match.group()
        if kind in REFUSED:
            raise SqlTextError(line, *REFUSED[kind])
        if kind == "block":
            piece = text[place : _end_of_comment(text, place, line)]
        if kind in BLANK:
            gap += piece if kind == "space" else "\n" * piece.count("\n") or " "
        else:
            yield Token(kind, piece, line, gap)
            gap = ""
        place, line = place + len(piece), line + piece.count("\n")


def _end_of_comment(text: str, start: int, line: int) -> int:
    """Return where the comment at `start` ends; comments nest, as in PostgreSQL and DuckDB."""
    depth = 0
    for mark in re.finditer(r"/\*|\*/", text[start:]):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return start + mark.end()
    raise SqlTextError(line, "a comment is not closed", "end it with */; comments nest")


def _check_characters(text: str) -> None:
    """Refuse control and format characters: they can show a reviewer another text than is read (CVE-2021-42574)."""
    for number, line in enumerate(text.split("\n"), 1):
        for character in line:
            if unicodedata.category(character) in INVISIBLE and character != "\t":
                raise SqlTextError(number, f"the invisible character U+{ord(character):04X}", "write plain text")
