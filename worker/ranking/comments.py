"""What code says of itself: a file by its first comment, a definition by its docstring or the comment above.

Comments are known by the signs that they begin with, whatever the language: only the top of a file is looked at, and
the lines above a definition.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from fledgling.worker.deferred import deferred
from fledgling.worker.ranking.sentences import LICENCE, TOP_BYTES, Sentence, paragraph_of, plain

TOP_LINES = 80  # of a file, in which its first comment is
ABOVE_LINES = 30  # of a comment above a definition
HEAD_LINES = 15  # of a definition, behind which its docstring stands
_LINE = deferred(r"\s*(?:///?!?|//!|--(?!\[)|;+|%+|#+:?(?![!\[])|'|\")(?:\s+|$)")
_DIRECTIVE = deferred(
    r"\s*#\s*(?:include|define|if|ifdef|ifndef|elif|else|endif|pragma|undef|error|import|region|line)\b"
)
_OPEN = deferred(
    r"\s*(?:[rRuUbB]*(\"\"\"|''')|(/\*+!?)|(<!--)|(\{-\|?)|(\(\*+)"
    r"|(--\[=*\[)|(#=)|(<#)|(=(?:begin|pod)\b))"
)
_CLOSES = (None, "*/", "-->", "-}", "*)", "]]", "=#", "#>", "=cut")
_PASSED = deferred(  # what may stand before the first comment about a file
    r"\s*(?:package|import|from|use|using|require|include|module|namespace|extern|mod|pub mod|export \*|library"
    r"|defmodule|@file|#!|<\?php|declare\(|['\"]use strict['\"]|\{-#|#\[)(?:\W|$)"
)
_ATTRIBUTE = deferred(r"\s*(?:@\w|#\[|\[\w|template\s*<)")
_FUNCTION = deferred(  # the head of one at the margin: words, the first perhaps on a line of their own, and a bracket
    r"^(?![\w \t]*\b(?:class|record|object|interface|enum|type|new|return|await|if)\b)(?=\w+[ \t*&\n]+[*&\w])"
    r"[\w \t*&:<>~]++(?:\n[\w \t*&:<>~]++)?\(",
    re.MULTILINE,
)
_TO_DO = deferred(r"(?i)\W*(?:todo|fixme|xxx|hack|bug|note|nb)\s*[:(]")  # a comment that says nothing of what it is


def of_code(text: bytes) -> Sentence | None:
    """Return what the top of a file says of it.

    >>> of_code(b"# Copyright me.\\n\\n# Sends a file again.\\nimport os\\n")
    Sentence(text='Sends a file again.', source='comment')
    """
    lines = text[:TOP_BYTES].decode(errors="replace").split("\n")
    is_one = sum(1 for _ in islice(_FUNCTION.finditer("\n".join(lines)), 2)) < 2
    return next((found for found in map(_sentence, _comments(lines[:TOP_LINES], is_one=is_one)) if found), None)


def of_definition(above: Sequence[str], head: Sequence[str], *, has_docstring: bool) -> Sentence | None:
    """Return what the lines above a definition say of it, or the docstring behind its head in its own lines.

    >>> of_definition(["# Sends it again."], ["def retry(file):"], has_docstring=True)
    Sentence(text='Sends it again.', source='comment')
    """
    if has_docstring and (found := _docstring(head)):
        return found
    block: list[str] = []
    for line in reversed(above):
        if not block and _ATTRIBUTE.match(line):
            continue
        if not line.strip():
            break
        block.insert(0, line)
    comments = [*_comments(block, is_one=True)]
    return _sentence(comments[-1]) if comments else None


class _Comment(NamedTuple):
    lines: list[str]
    source: str


def _is_function(lines: Sequence[str]) -> bool:
    """Return whether a function begins in the first of two lines."""
    return _FUNCTION.match("\n".join(lines)) is not None


def _comments(lines: Sequence[str], *, is_one: bool) -> Iterator[_Comment]:
    """Yield the comments before the first line that is code, but for packages and imports; without that which stands
    right above a function, unless it is the only one.
    """
    found: list[str]
    at = 0
    while at < len(lines):
        line = lines[at]
        opened = _OPEN.match(line)
        if opened:
            close = opened[1] or _CLOSES[(opened.lastindex or 1) - 1] or ""
            found, at = _block(lines, at, opened.end(), close)
            if is_one or not _is_function(lines[at : at + 2]):
                yield _Comment(found, "docstring" if opened[1] else "comment")
        elif _LINE.match(line) and not _DIRECTIVE.match(line) and not line.startswith("#!"):
            found = []
            while at < len(lines) and (mark := _LINE.match(lines[at])) and not _DIRECTIVE.match(lines[at]):
                found.append(lines[at][mark.end() :])
                at += 1
            if is_one or not _is_function(lines[at : at + 2]):
                yield _Comment(found, "comment")
        elif not line.strip() or _PASSED.match(line) or _DIRECTIVE.match(line) or line.strip() in (")", "};", "}"):
            at += 1
        else:
            return


def _block(lines: Sequence[str], at: int, start: int, close: str) -> tuple[list[str], int]:
    """Return the lines of a comment that is open at a place, and the number of the line behind it."""
    found, rest = [], lines[at][start:]
    while True:
        inside, end, _ = rest.partition(close)
        found.append(inside)
        at += 1
        if end or at >= len(lines):
            return [re.sub(r"^\s*\*(?:\s|$)", "", line) for line in found], at
        rest = lines[at]


def _docstring(head: Sequence[str]) -> Sentence | None:
    """Return what the string says that is first behind a head, which ends with a colon outside of brackets."""
    depth = 0
    for at, line in enumerate(head[:HEAD_LINES]):
        bare = line.partition("#")[0].rstrip()
        depth += sum(map(bare.count, "([{")) - sum(map(bare.count, ")]}"))
        if depth <= 0 and bare.endswith(":") and not bare.lstrip().startswith("@"):
            behind = [each for each in head[at + 1 : at + 1 + ABOVE_LINES] if each.strip()]
            opened = _OPEN.match(behind[0]) if behind else None
            if not opened or not opened[1]:
                return None
            found, _ = _block(behind, 0, opened.end(), opened[1])
            return _sentence(_Comment(found, "docstring"))
    return None


def _sentence(comment: _Comment) -> Sentence | None:
    """Return the first sentence of a comment that is not of licences and tools."""
    if sum(LICENCE.search(line) is not None for line in comment.lines) > 1:
        return None
    paragraph = paragraph_of(comment.lines)
    text = "" if _TO_DO.match(paragraph) else plain(paragraph)
    return Sentence(text, comment.source) if text else None
