"""The search tool: lines of text, or definitions by name."""

from collections.abc import Sequence
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
    files = cut_page(_grouped(asking, question, [row for row in rows if row.path is not None]), asking)
    given = offset + sum(len(file.hits) for file in files)
    note = asking.partial if total else coverage.of_text(asking, question.path, question.language)
    return Hits(files, total, total_files, continuing(question, given, total), note)


def _hits(asking: Asking, question: Search, offset: int) -> list[_Hit]:
    """Find the page's hits. A literal prunes whole blocks; a regular expression may span what a block is cut at."""
    pattern = question.query if question.regex else globs.literal(question.query)
    line = pattern if question.case_sensitive else f"(?i){pattern}"
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


def _grouped(asking: Asking, question: Search, hits: Sequence[_Hit]) -> list[FileHits]:
    where = {"paths": [hit.path for hit in hits], "lines": [hit.line for hit in hits]}
    at = {(hit.path, hit.line): hit.found_at or 0 for hit in hits}
    context: dict[str, list[tuple[int, str]]] = {}
    for row in asking.rows("context_lines", _Line, context=question.context, **where):
        context.setdefault(row.path, []).append((row.line, shown(row.text, at.get((row.path, row.line), 0))))
    enclosing: dict[str, dict[str, list[int]]] = {}
    for around in asking.rows("enclosing_hits", _Enclosing, **where):
        enclosing.setdefault(around.path, {}).setdefault(around.qualified_name, []).append(around.line)
    return [
        FileHits(
            path=path,
            hits=[hit.line for hit in hits if hit.path == path and hit.line],
            lines=found,
            language=next(hit.language for hit in hits if hit.path == path),
            enclosing=enclosing.get(path, {}),
        )
        for path, found in context.items()
    ]
