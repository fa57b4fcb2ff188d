"""The symbols tool, and search for definitions by name."""

from collections.abc import Sequence
from typing import NamedTuple

from fledgling.wire import FileSymbols, Search, Symbol, SymbolList, Symbols
from fledgling.worker import coverage, globs, paths
from fledgling.worker.index import Asking, continuing, cut_page, shown


class _Found(NamedTuple):
    total: int
    path: str | None
    language: str | None
    name: str | None
    kind: str | None
    line_start: int | None
    line_end: int | None
    signature: str | None
    parent_name: str | None


def symbols(asking: Asking, question: Symbols) -> SymbolList:
    """Answer with definitions in the order of the source, grouped by file."""
    inside = globs.plain(paths.inside(question.path or ""))
    exact_name = globs.plain(question.name_pattern)
    rows = asking.rows(
        "list_symbols",
        _Found,
        inside=inside,
        path="" if inside else paths.pattern(question.path),
        exact_name=exact_name,
        name=globs.name_pattern(question.name_pattern) if question.name_pattern and not exact_name else "",
        kind=question.kind,
        language=question.language,
        max_results=min(question.max_results, asking.profile.max_rows),
        offset=int(question.cursor or 0),
    )
    return _listed(asking, question, rows)


def named(asking: Asking, question: Search) -> SymbolList:
    """Answer with definitions of one kind whose name holds the query, the best match first."""
    rows = asking.rows(
        "search_symbols",
        _Found,
        query=question.query,
        line=globs.query_pattern(question),
        path=paths.pattern(question.path),
        kind=question.kind,
        language=question.language,
        max_results=min(question.max_results, asking.profile.max_rows),
        offset=int(question.cursor or 0),
    )
    return _listed(asking, question, rows)


def _listed(asking: Asking, question: Symbols | Search, rows: Sequence[_Found]) -> SymbolList:
    total = rows[0].total
    page = cut_page([(row.path, row.language, _symbol(row)) for row in rows if row.path is not None], asking)
    groups: dict[str, FileSymbols] = {}
    for path, language, symbol in page:
        groups.setdefault(path, FileSymbols(path, [], language)).symbols.append(symbol)
    note = asking.partial if total else coverage.of_symbols(asking, question.path, question.language)
    return SymbolList(
        list(groups.values()), total, continuing(question, int(question.cursor or 0) + len(page), total), note
    )


def _symbol(row: _Found) -> Symbol:
    return Symbol(
        name=row.name or "",
        kind=row.kind or "",
        lines=(row.line_start or 0, row.line_end or 0),
        signature=shown(row.signature) if row.signature else None,
        parent=row.parent_name,
    )
