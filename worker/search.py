"""The search tool: lines of text, or definitions by name."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import duckdb

from fledgling.wire import FileHits, Hits, Search, SymbolList
from fledgling.worker import coverage, globs, paths, symbols
from fledgling.worker.index import SHOWN_LINE_CHARS, Asking, Refused, continuing, cut_page, shown


class _Hit(NamedTuple):
    total: int
    total_files: int
    path: str | None
    language: str | None
    line: int | None
    found_at: int | None


class _Line(NamedTuple):
    path: str
    line: int
    text: str


class _Piece(NamedTuple):
    """A hit, the lines around it that no piece before it shows, and the definition it is in."""

    path: str  # empty where the piece before it is of the same file
    language: str | None
    line: int
    lines: list[tuple[int, str]]
    enclosing: str | None


class _Enclosing(NamedTuple):
    path: str
    line: int
    qualified_name: str


def search(asking: Asking, question: Search) -> Hits | SymbolList:
    """Answer with matching lines grouped by file, or with definitions where a kind is asked for."""
    try:
        return symbols.named(asking, question) if question.kind else _text(asking, question)
    except duckdb.InvalidInputException as problem:
        raise Refused(
            "invalid",
            f"{question.query!r} is no regular expression: {str(problem).splitlines()[0]}",
            "Write RE2 syntax, without look-around or back-references; or leave `regex` out to search for the text.",
        ) from problem


def _text(asking: Asking, question: Search) -> Hits:
    offset = int(question.cursor or 0)
    rows = _hits(asking, question, offset)
    total, total_files = rows[0].total, rows[0].total_files
    pieces = cut_page(_pieces(asking, question, [row for row in rows if row.path]), asking)
    files = _joined(pieces)
    given = offset + len(pieces)
    note = asking.partial if total else coverage.of_text(asking, question.path, question.language)
    return Hits(files, total, total_files, continuing(question, given, total), note)


def _hits(asking: Asking, question: Search, offset: int) -> list[_Hit]:
    """Find the page's hits. A literal prunes whole blocks; a regular expression may span what a block is cut at."""
    line = globs.query_pattern(question.query, regex=question.regex, case_sensitive=question.case_sensitive)
    return asking.rows(
        "search_text",
        _Hit,
        line=line,
        block="" if question.regex else line,
        path=paths.pattern(question.path),
        language=question.language,
        shown=SHOWN_LINE_CHARS,
        max_results=min(question.max_results, asking.profile.max_rows),
        offset=offset,
    )


def _pieces(asking: Asking, question: Search, hits: Sequence[_Hit]) -> list[_Piece]:
    """Return a piece for each hit: a page is cut between two hits, within a file too."""
    where = {"paths": [hit.path for hit in hits], "lines": [hit.line for hit in hits]}
    near = asking.rows("context_lines", _Line, context=question.context, **where)
    text = {(row.path, row.line): row.text for row in near}
    enclosing = {(row.path, row.line): row.qualified_name for row in asking.rows("enclosing_hits", _Enclosing, **where)}
    at = {(hit.path, hit.line): hit.found_at or 0 for hit in hits}
    pieces = []
    for path, group in groupby(hits, lambda hit: hit.path or ""):
        following = 0  # the first line of the file that no piece shows
        for hit in group:
            line = hit.line or 0
            numbers = range(max(line - question.context, following), line + question.context + 1)
            lines = [(n, shown(text[path, n], at=at.get((path, n), 0))) for n in numbers if (path, n) in text]
            pieces.append(_Piece("" if following else path, hit.language, line, lines, enclosing.get((path, line))))
            following = numbers.stop
    return pieces


def _joined(pieces: Sequence[_Piece]) -> list[FileHits]:
    """Put the pieces of each file together."""
    files: list[FileHits] = []
    for piece in pieces:
        if piece.path:
            files.append(FileHits(piece.path, [], [], piece.language, {}))
        files[-1].hits.append(piece.line)
        files[-1].lines.extend(piece.lines)
        if piece.enclosing:
            files[-1].enclosing.setdefault(piece.enclosing, []).append(piece.line)
    return files
