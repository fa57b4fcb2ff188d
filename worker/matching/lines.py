"""Which lines of a text match: a literal is compared, a pattern is matched by RE2. Both take linear time."""

import re
from collections.abc import Callable
from typing import NamedTuple

import re2

from fledgling.messages.questions import Search
from fledgling.worker.matching import globs
from fledgling.worker.store.ngrams import FOLDED_LETTERS, folded

# What can tell one line of a text from the whole of it: its ends, a line end as a byte, `^` and `$` that mean the text.
_OF_TEXT = re.compile(r"\\[AzC]|\(\?[A-Za-z]*-[A-Za-z]*m", re.ASCII)


class Matcher(NamedTuple):
    """`find` returns where a match begins at or after a place in a text, or -1; no match crosses a line end.

    It is asked about what `fold` makes of a text; with `by_line`, about one line at a time.
    """

    find: Callable[[bytes, int], int]
    fold: Callable[[bytes], bytes] | None = None
    by_line: bool = False


def matcher(question: Search) -> Matcher:
    """Return what finds the lines that a search asks for; raises re2.error for what is no pattern."""
    pattern = globs.query_pattern(question)
    if question.is_regex:
        _compiled(question.query)  # alone: an error is told of what was asked for
        if _OF_TEXT.search(question.query):
            return Matcher(_matching(pattern), by_line=True)
    is_text = not question.is_regex and not question.whole_word
    if is_text and question.case_sensitive:
        return Matcher(_comparing(question.query.encode()))
    if is_text and question.query.isascii():  # other characters have other cases
        literal = folded(question.query.encode())
        # Few literals hold a letter for which a text is looked through once more.
        fold = folded if any(letter in literal for _, letter in FOLDED_LETTERS) else bytes.lower
        return Matcher(_comparing(literal), fold)
    return Matcher(_matching(f"(?m){pattern}"))


def places(finding: Matcher, text: bytes) -> list[int]:
    r"""Return the matching lines of a text, counted from 0.

    >>> places(matcher(Search("b")), b"abc\nd\nb")
    [0, 2]
    """
    find = finding.find
    if finding.by_line:
        return [place for place, line in enumerate(text.split(b"\n")) if find(line, 0) >= 0]
    data = finding.fold(text) if finding.fold else text
    found = []
    place = counted = 0
    start = find(data, 0)
    while start >= 0:
        place += data.count(b"\n", counted, start)
        found.append(place)
        counted = data.find(b"\n", start)
        if counted < 0:
            break
        start = find(data, counted + 1)
    return found


def in_path(pattern: str) -> Callable[[str], bool]:
    """Return what tells whether a path matches a pattern of globs.py; the empty one matches all."""
    if not pattern:
        return lambda _: True
    find = _matching(pattern)
    return lambda path: find(path.encode(), 0) >= 0


def of_pattern(pattern: str) -> Matcher:
    """Return what finds the lines in which a pattern of RE2 matches."""
    return Matcher(_matching(f"(?m){pattern}"))


def column(question: Search, line: str) -> int:
    """Return the character of a matching line at which the match begins, counted from 0."""
    data = line.encode()
    return len(data[: max(_matching(globs.query_pattern(question))(data, 0), 0)].decode())


def reason(problem: Exception) -> str:
    """Return what an engine says about a pattern that is none, in one line."""
    said = problem.args[0]
    return (said.decode(errors="replace") if isinstance(said, bytes) else str(said)).splitlines()[0]


def _comparing(text: bytes) -> Callable[[bytes, int], int]:
    return lambda data, start: data.find(text, start)


def _matching(pattern: str) -> Callable[[bytes, int], int]:
    search = _compiled(pattern).search

    def find(data: bytes, start: int) -> int:
        found = search(data, start)
        return found.start() if found else -1

    return find


def _compiled(pattern: str) -> re2._Regexp:
    options = re2.Options()
    options.never_nl = options.never_capture = True
    options.log_errors = False
    compiled = re2.compile(pattern.encode(), options)
    re2.purge()  # it would keep 128 patterns, of up to 8 MiB each
    return compiled
