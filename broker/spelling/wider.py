"""What an agent may ask where nothing is found: with one condition less, or for another thing."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from fledgling.broker.spelling.values import words_of
from fledgling.messages.questions import AnyQuestion, Search, Symbols, asks_graph
from fledgling.plain import WILDCARD

MAX_JOINED = 12  # words of a text that are looked for however they are joined: a name has fewer
REGEX_SIGNS = re.compile(r"[\\^$.|?*+()\[\]{}]")  # of RE2's syntax; a text without one means the same as an expression

# `src/*.py`, with no file of a directory below; not `{src/*.py,docs/*.md}`, whose `/` stands in braces.
_ONE_LEVEL = re.compile(r"(?<!\*\*)/((?=[^/*]*\*)(?:[^/{}\[\]]|\{[^/{}]*\}|\[[^/\[\]]*\])*)\Z")
_NAME = re.compile(r"[^\W\d]\w*")  # what a path may be that is none
_NAMES = re.compile(r"\w++(?:\.\w++)*+")  # words and names in a query: `nodemon.json`


class Wider(NamedTuple):
    """A question that asks for more than another one did, and in words how: `as a regular expression`."""

    question: AnyQuestion
    words: str


def wider(question: AnyQuestion) -> Iterator[Wider]:
    """Yield what an agent may ask where a search finds nothing: without one of its conditions, then without all.

    >>> [each.words for each in wider(Search("get.*", path="src"))]
    ['as a regular expression', 'without path', 'as a regular expression, without path']
    """
    if not isinstance(question, Search | Symbols) or asks_graph(question):
        return
    if isinstance(question, Symbols) and question.kind and (name := (question.name_pattern or "").strip("*")):
        yield Wider(Search(name, question.path, question.language, question.kind), "in any case")
    if isinstance(question, Symbols) and not question.name_pattern and _NAME.fullmatch(question.path or ""):
        like = f"*{question.path}*"
        yield Wider(replace(question, path=None, name_pattern=like), f"for names like `{like}`")
    if question.path and (deeper := _ONE_LEVEL.sub(r"/**/\1", question.path)) != question.path:
        yield Wider(replace(question, path=deeper), f"in `{deeper}`")
    ways = [*_ways(question)]
    for words, changes in ways:
        yield Wider(replace(question, **changes), words)
    if len(ways) > 1:
        every = {name: value for _, changes in ways for name, value in changes.items()}
        yield Wider(replace(question, **every), ", ".join(words for words, _ in ways))
    if isinstance(question, Symbols):
        yield from _as_text(question)
    elif question.kind:
        yield Wider(Symbols(question.path, None, question.language, f"*{question.query}*"), "of any kind")
        yield Wider(replace(question, kind=None), "as text")
    elif not question.is_ranked and len(parts := _parts(question.query)) > 1:
        yield Wider(replace(question, query=max(parts, key=len), regex=False, mode="auto"), "its longest word")


def _parts(query: str) -> list[str]:
    """Return the words of a query, names as they are; of one name alone the words that it is made of."""
    names = _NAMES.findall(query)
    return names if len(names) > 1 else words_of(query)


def _as_text(question: Symbols) -> Iterator[Wider]:
    """Yield where a name stands that nothing defines."""
    name = question.name_pattern
    if name and not WILDCARD.search(name):
        yield Wider(Search(name, question.path, question.language), "as text")
        if len(words := words_of(name)) > 1:
            yield Wider(Search(_joined(words), regex=True), "as text, however its words are joined")


def _joined(words: list[str]) -> str:
    """Return an expression for some words that stand together: `get_url`, getUrl, "get url"."""
    return r"[\W_]*".join(words[:MAX_JOINED])


def _ways(question: Search | Symbols) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the conditions of a question that may be too narrow, in words and as arguments that are wider."""
    if isinstance(question, Search) and not question.is_ranked:
        if not question.is_regex and not question.kind and REGEX_SIGNS.search(question.query):
            yield "as a regular expression", {"regex": True, "mode": "auto"}
        elif not question.is_regex and not question.kind and len(words := words_of(question.query)) > 1:
            yield "however its words are joined", {"query": _joined(words), "regex": True, "mode": "auto"}
        if question.whole_word:
            yield "within words", {"whole_word": False}
        if question.case_sensitive:
            yield "in any case", {"case_sensitive": False}
    elif isinstance(question, Symbols):
        name = question.name_pattern
        if question.kind and name:
            yield "of any kind", {"kind": None}
        if name and not WILDCARD.search(name):
            yield f"for `*{name}*`", {"name_pattern": f"*{name}*"}
    if filters := [name for name in ("path", "language") if getattr(question, name)]:
        yield f"without {' and '.join(filters)}", dict.fromkeys(filters)
