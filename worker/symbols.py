"""The symbols tool, and search for definitions by name."""

from collections.abc import Sequence
from typing import NamedTuple

from fledgling.wire import FileSymbols, Search, Symbol, SymbolList, Symbols
from fledgling.worker import coverage, globs, matching, paths
from fledgling.worker.index import Asking, continuing, cut_page, shown
from fledgling.worker.outlines import Outlines


class _Found(NamedTuple):
    total: int
    path: str | None = None
    language: str | None = None
    name: str | None = None
    kind: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    signature: str | None = None
    parent_name: str | None = None


def symbols(asking: Asking, question: Symbols) -> SymbolList:
    """Answer with definitions in the order of the source, grouped by file."""
    inside = globs.plain(paths.inside(question.path or ""))
    exact_name = globs.plain(question.name_pattern)
    rows = _outlined(asking, question, inside, exact_name) or asking.rows(
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


def _outlined(asking: Asking, question: Symbols, inside: str | None, exact_name: str | None) -> list[_Found]:
    """Return a page of the definitions of one name, or in one file: the outlines know them. Of others, nothing."""
    outlines = asking.outlines
    file = asking.blocks.find(inside) if inside and not question.name_pattern else None
    if not outlines or question.kind in ("import", "export") or not (exact_name or file):
        return []
    return _page(asking, outlines, question, outlines.of(file) if file else outlines.named(exact_name or ""))


def _page(asking: Asking, outlines: Outlines, question: Symbols, numbers: Sequence[int]) -> list[_Found]:
    """Return the page of those definitions that the filters leave."""
    is_path = matching.in_path(paths.pattern(question.path))

    def is_left(number: int) -> bool:
        file = asking.blocks.file(outlines.files[number])
        return (
            question.language in (None, file.language)
            and is_path(file.path)
            and question.kind in (None, outlines.row(number).kind)
        )

    if question.kind or question.language or question.path:
        numbers = [*filter(is_left, numbers)]
    offset = int(question.cursor or 0)
    page = []
    for number in numbers[offset : offset + min(question.max_results, asking.profile.max_rows)]:
        file, row = asking.blocks.file(outlines.files[number]), outlines.row(number)
        lines = (row.line_start, row.line_end)
        page.append(
            _Found(len(numbers), file.path, file.language, row.name, row.kind, *lines, row.signature, row.parent_name)
        )
    return page or [_Found(len(numbers))]


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
