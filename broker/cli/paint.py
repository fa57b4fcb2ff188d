"""Answers in colour, for a person at a terminal.

What is quoted from the project is made visible before colour is added, so no terminal obeys it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fledgling.broker.cli.colors import COLORS, PLAIN
from fledgling.messages.answers import (
    AnyAnswer,
    DependencyGraph,
    Excerpt,
    Hits,
    SymbolList,
)
from fledgling.plain import visible

Spans = Callable[[str], Iterator[tuple[int, int]]]  # where a line matches

# The lines of an answer below its first one, by what they begin with; any other names a file.
_LINES: Mapping[type[AnyAnswer], str] = {
    Hits: r"(?P<number>\d+)(?P<mark>[:-])(?P<text>.*?)(?P<beside>    \[in [^\]]*\])?",
    Excerpt: r"(?P<number>\d+)(?P<mark>\t)(?P<text>.*)(?P<beside>)",
    SymbolList: r"(?P<number>  \d+(?:-\d+)?)(?P<mark>  )(?P<text>.*?)(?P<beside>  in .*)?",
    DependencyGraph: r"(?P<number>  \d+)(?P<mark>: )(?P<text>.*?)(?P<beside> -> .*)?",
}


def painted(text: str, answer: AnyAnswer, spans: Spans | None) -> str:
    """Return the text of an answer for a terminal, in colour; `spans` says what matches in a line."""
    lines = text.split("\n")
    if type(answer) not in _LINES:
        return visible(text)
    pattern = re.compile(_LINES[type(answer)], re.DOTALL)
    return "\n".join(
        _plainly(line, is_first=not number) if line.startswith("[") or not number else _line(line, pattern, spans)
        for number, line in enumerate(lines)
    )


def _plainly(line: str, *, is_first: bool) -> str:
    return visible(line) if is_first and not line.startswith("[") else _in("note", line)


def _line(line: str, pattern: "re.Pattern[str]", spans: Spans | None) -> str:
    found = pattern.fullmatch(line)
    if not found:
        return _in("path", line)
    is_hit = found["mark"] == ":"
    quoted = _marked(found["text"], spans) if spans and is_hit else visible(found["text"])
    return _in("number", found["number"]) + found["mark"] + quoted + _in("beside", found["beside"] or "")


def _marked(line: str, spans: Spans) -> str:
    """Return a line with what matches in it marked."""
    parts, last = [], 0
    for start, end in spans(line):
        parts += [visible(line[last:start]), _in("match", line[start:end])]
        last = end
    return "".join([*parts, visible(line[last:])])


def _in(what: str, text: str) -> str:
    return f"\x1b[{COLORS[what]}m{visible(text)}\x1b[{PLAIN}m" if text else ""


def highlighting(given: Mapping[str, Any]) -> Spans | None:
    """Return what finds a search's matches in a line; None for another question, or where there is no expression.

    >>> [*highlighting({"query": "a.", "whole_word": True})("a. a.b")]
    [(0, 2)]
    """
    query = given.get("query")
    if not query or given.get("kind"):
        return None
    import re2  # noqa: PLC0415  (it is loaded for colour alone)

    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = bool(given.get("case_sensitive"))
    expression = query if given.get("regex") else re2.escape(query)
    if given.get("whole_word"):
        beside = "[^0-9A-Za-z_]"
        expression = f"(?:^|{beside})({expression})(?:$|{beside})"
    try:
        pattern = re2.compile(expression, options)
    except re2.error:
        return None
    group = 1 if given.get("whole_word") else 0

    def spans(line: str) -> Iterator[tuple[int, int]]:
        return (found.span(group) for found in pattern.finditer(line) if found.end(group) > found.start(group))

    return spans
