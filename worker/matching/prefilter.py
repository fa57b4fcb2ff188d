"""What every line that matches must hold, derived from a literal or a pattern: all that decides it lives here.

A pattern is read as a few templates, texts with gaps: `(get|set)_id\\(.*\\)` is `get_id(`, a gap and `)`, or `set_id(`,
a gap and `)`. Only syntax that is known to mean in RE2 what it is taken for is read; the rest leaves the whole pattern
unread, which costs time and no hit. See https://github.com/google/re2/wiki/Syntax and, for the idea, Russ Cox,
"Regular Expression Matching with a Trigram Index", https://swtch.com/~rsc/regexp/regexp4.html
"""

import re
from collections.abc import Iterator

from fledgling.worker.store.ngrams import SHORTEST, Needed, folded

MAX_TEMPLATES = 32  # a pattern with more choices has a gap in their place
MAX_CHARS = 256  # of a template; what comes after is a gap
MAX_DEPTH = 50  # of groups in groups
_GAP = "\0"  # no text and no query holds it

Templates = frozenset[str]
Token = tuple[str, str]  # the group of _TOKEN, and what it matched
_ANYTHING: Templates = frozenset({_GAP})
_NOTHING: Templates = frozenset({""})

# Scripts without case in every version of Unicode: kana, han, hangul.
_CASELESS = (
    ("\u3041", "\u3096"),
    ("\u30a1", "\u30fa"),
    ("\u3400", "\u4dbf"),
    ("\u4e00", "\u9fff"),
    ("\uac00", "\ud7a3"),
)

_ESCAPED = r"\\[!-/:-@\[-^`{-~]"  # ASCII punctuation, which stands for itself; RE2 refuses `\_`
_TOKEN = rf"""
    (?P<open> \( (?: \?: | \?P?<[A-Za-z]\w*> | (?!\?) ) )
    | (?P<close> \) )
    | (?P<bar> \| )
    | (?P<fold> \(\?i\) )
    | (?P<repeat> (?: [*+?] | \{{ \d+ (?: , \d* )? \}} ) \?? )
    | (?P<place> \^ | \$ | \\[bB] )
    | (?P<any> \. | \\[dDsSwW] | \\[pP] (?: [A-Z] | \{{ \^? [A-Za-z_]+ \}} ) )
    | (?P<choice> \[ [^]\[\\^-] [^]\[\\-]* \] )
    | (?P<class> \[ \^? (?: \[:\^?[a-z]+:\] | \\[dDsSwW] | {_ESCAPED} | [^]\[\\] )+ \] )
    | (?P<escaped> {_ESCAPED} )
    | (?P<char> [^\\\[(] )
    | (?P<unread> . )
    """
_END: Token = ("end", "")


class _UnreadError(Exception):
    """The pattern holds something whose meaning is not known here."""


def of_literal(text: str, *, case_sensitive: bool) -> Needed | None:
    """Return what a line with this text holds, or None where that is nothing: [[b"foo"]] for "Foo"."""
    return _needed(frozenset({"".join(_char(char, case_sensitive=case_sensitive) for char in text)}))


def of_templates(templates: Templates | None) -> Needed | None:
    """Return groups of texts of which each matching line holds one whole, or None where that is nothing.

    >>> of_templates(read("(get|set)_id.*None", case_sensitive=True))
    [[b'get_id', b'none'], [b'set_id', b'none']]
    """
    return _needed(templates) if templates is not None else None


def read(pattern: str, *, case_sensitive: bool) -> Templates | None:
    """Return the texts with gaps that a pattern matches, or None where it holds something that is not read here."""
    try:
        return _PatternReader(pattern, case_sensitive=case_sensitive).read()
    except _UnreadError:
        return None


def _needed(templates: Templates) -> Needed | None:
    groups = {tuple(filter(_is_known, map(_folded, template.split(_GAP)))) for template in templates}
    return [list(group) for group in sorted(groups)] if all(groups) else None


def _folded(text: str) -> bytes:
    return folded(text.encode("utf-8", "replace"))


def _is_known(text: bytes) -> bool:
    return len(text) >= SHORTEST


def _char(char: str, *, case_sensitive: bool) -> str:
    """Return a character as a template holds it; one beyond ASCII that may have another case is a gap."""
    return char if case_sensitive or char.isascii() or _is_caseless(char) else _GAP


def _is_caseless(char: str) -> bool:
    return any(first <= char <= last for first, last in _CASELESS)


def _tokens(pattern: str) -> Iterator[Token]:
    # Compiled where a pattern is first read, and kept by `re`: a worker starts without that.
    for match in re.finditer(_TOKEN, pattern, re.VERBOSE | re.DOTALL | re.ASCII):
        yield match.lastgroup or "", match[0]
    yield _END


class _PatternReader:
    """Reads one pattern from left to right; a rule of the grammar each method."""

    def __init__(self, pattern: str, *, case_sensitive: bool) -> None:
        self._case_sensitive = case_sensitive
        self._tokens = _tokens(pattern)
        self._token = next(self._tokens)
        self._depth = 0

    def read(self) -> Templates:
        """Return the templates of the whole pattern."""
        found = self._alternatives()
        if self._token != _END:
            raise _UnreadError
        return found

    def _alternatives(self) -> Templates:
        found = self._sequence()
        while self._token[0] == "bar":
            self._step()
            found = _limited(found | self._sequence())
        return found

    def _sequence(self) -> Templates:
        found = _NOTHING
        while self._token[0] not in ("bar", "close", "end"):
            atom = self._atom()
            while self._token[0] == "repeat":
                atom = _repeated(atom, self._step())
            found = _joined(found, atom)
        return found

    def _atom(self) -> Templates:
        kind = self._token[0]
        text = self._step()
        match kind:
            case "char" | "escaped":
                return frozenset({self._char(text[-1])})
            case "choice":
                return _limited(frozenset(map(self._char, text[1:-1])))
            case "any" | "class":
                return _ANYTHING
            case "open":
                return self._group()
            case "fold":
                if self._token[0] == "repeat":
                    raise _UnreadError  # RE2 repeats what is before the flag
                self._case_sensitive = False  # until the group ends; taking it for longer asks for less
                return _NOTHING
            case "place":
                return _NOTHING
        raise _UnreadError

    def _group(self) -> Templates:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _UnreadError
        found = self._alternatives()
        if self._token[0] != "close":
            raise _UnreadError
        self._step()
        self._depth -= 1
        return found

    def _char(self, char: str) -> str:
        return _char(char, case_sensitive=self._case_sensitive)

    def _step(self) -> str:
        """Return the text of this token and go on to the next."""
        _, text = self._token
        self._token = next(self._tokens)
        return text


def _repeated(atom: Templates, repeat: str) -> Templates:
    """Return what an atom with `+`, `*?` or `{2,}` behind it matches: at least one of it, or anything."""
    least = 0 if repeat[0] in "*?" else 1 if repeat[0] == "+" else int(repeat[1:].split("}")[0].split(",")[0])
    return frozenset(_cut(text + _GAP) for text in atom) if least else _ANYTHING


def _joined(before: Templates, after: Templates) -> Templates:
    """Return each text with each that follows, or with a gap where that would be too many."""
    if len(before) * len(after) > MAX_TEMPLATES:
        after = _ANYTHING
    return frozenset(_cut(left + right) for left in before for right in after)


def _limited(templates: Templates) -> Templates:
    return templates if len(templates) <= MAX_TEMPLATES else _ANYTHING


def _cut(template: str) -> str:
    return template if len(template) <= MAX_CHARS else template[:MAX_CHARS] + _GAP
