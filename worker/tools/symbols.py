"""The symbols tool, and search for definitions by name.

The engine tells which rows of the outlines are meant, and how many there are; what is shown is in the outlines.
"""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from fledgling.messages.answers import FileSymbols, Relations, Symbol, SymbolList
from fledgling.messages.cursors import offset_of
from fledgling.messages.questions import Kind, Search, Symbols
from fledgling.worker.deferred import deferred
from fledgling.worker.matching import globs
from fledgling.worker.matching import lines as matching
from fledgling.worker.store.symbols import CODES, DEFINITIONS, Outlines, Row
from fledgling.worker.tools import empty_answers as coverage
from fledgling.worker.tools import paths, relations, unknown
from fledgling.worker.tools.meant import called
from fledgling.worker.tools.request import Request, continuing, cut_page, shown

MANY_SYMBOLS = 100  # definitions of a file: a longer outline is read without its properties
_BEGINNING = deferred(r"(?<![^*?])[a-zA-Z]")  # the first letter of a text of a glob


class _FoundRow(NamedTuple):
    """One row of a page, None where there is none, and the total."""

    total: int
    row: int | None = None


class _Inside(NamedTuple):
    """What a path filter leaves: the rows from `first` to `last`, or the files whose path matches a pattern."""

    first: int | None = None
    last: int | None = None
    path: str = ""


def symbols(request: Request, question: Symbols) -> SymbolList | Relations:
    """Answer with definitions in the order of the source, grouped by file; or with what is related to one."""
    if question.relation:
        return relations.relations(request, question)
    inside = globs.plain(paths.inside(question.path or ""))
    exact_name = globs.plain(question.name_pattern)
    file = request.blocks.find(inside) if inside and not question.name_pattern else None
    outlines = request.outlines
    left_out: set[int] = set()
    if outlines and file:
        of_file = outlines.of(file, question.kind)
        if not question.kind and len(of_file) > MANY_SYMBOLS:
            left_out.update(outlines.of(file, "property"))
        of_file = [number for number in of_file if number not in left_out]
        found = _page(request, question, _left(request, outlines, question, of_file))
    elif outlines and exact_name:
        found = _page(
            request, question, _left(request, outlines, question, called(request, outlines, exact_name, question.kind))
        )
    else:
        found = _matching(request, question)
    note = f'{len(left_out)} properties are left out; kind="property" lists them.' if left_out else None
    return _listed(request, question, found, note)


def _matching(request: Request, question: Symbols) -> list[_FoundRow]:
    """Return the page of the definitions whose names match a glob."""
    return request.rows(
        "list_names",
        _FoundRow,
        **_inside(request, question, globs.plain(paths.inside(question.path or "")))._asdict(),
        name=globs.name_pattern(question.name_pattern) if question.name_pattern else "",
        code=_code(question.kind),
        definitions=DEFINITIONS,
        language=question.language,
        **_limits(request, question),
    )


def named(request: Request, question: Search) -> SymbolList:
    """Answer with definitions of one kind whose name holds the query, the best match first."""
    found = request.rows(
        "search_names",
        _FoundRow,
        query=question.query,
        line=globs.query_pattern(question),
        path=paths.pattern(question.path),
        code=_code(question.kind),
        language=question.language,
        **_limits(request, question),
    )
    return _listed(request, question, found)


def _code(kind: Kind | None) -> int | None:
    return None if kind is None else CODES[kind]


def _limits(request: Request, question: Symbols | Search) -> dict[str, int]:
    return {
        "max_results": min(question.max_results, request.profile.max_rows),
        "offset": offset_of(question.cursor),
    }


def _inside(request: Request, question: Symbols, inside: str | None) -> _Inside:
    """Return what is left of the files: a plain path means one, or all that stand together below a directory."""
    if not inside:
        return _Inside(path=paths.pattern(question.path))
    if file := request.blocks.find(inside):
        files = range(file.number, file.number + 1)
    else:
        blocks = request.blocks
        files = range(blocks.first(f"{inside}/"), blocks.first(f"{inside}{paths.BEHIND_SLASH}"))
    return _Inside(*request.outlines.rows(files)) if request.outlines else _Inside()


def _left(request: Request, outlines: Outlines, question: Symbols, numbers: list[int]) -> list[int]:
    """Return those of some rows that the filters leave."""
    if not (question.language or question.path):
        return numbers
    is_path = matching.in_path(paths.pattern(question.path))
    files = ((number, request.blocks.file(outlines.file_of(number))) for number in numbers)
    return [number for number, file in files if question.language in (None, file.language) and is_path(file.path)]


def _page(request: Request, question: Symbols, numbers: Sequence[int]) -> list[_FoundRow]:
    limits = _limits(request, question)
    page = numbers[limits["offset"] : limits["offset"] + limits["max_results"]]
    return [_FoundRow(len(numbers), number) for number in page] or [_FoundRow(len(numbers))]


def _listed(
    request: Request, question: Symbols | Search, found: Sequence[_FoundRow], note: str | None = None
) -> SymbolList:
    total, outlines = found[0].total, request.outlines
    entries = []
    for _, number in found:
        if outlines and number is not None:
            file = request.blocks.file(outlines.file_of(number))
            entries.append((file.path, file.language, _symbol(outlines.row(number))))
    page = cut_page(entries, request)
    groups: dict[str, FileSymbols] = {}
    for path, language, symbol in page:
        groups.setdefault(path, FileSymbols(path, [], language)).symbols.append(symbol)
    if total:
        note = unknown.joined(note, _capitalised(request, question, total), _note(request, question))
    else:
        note = note or coverage.of_symbols(request, question)
    return SymbolList(
        list(groups.values()), total, continuing(request, question, offset_of(question.cursor) + len(page), total), note
    )


def _capitalised(request: Request, question: Symbols | Search, total: int) -> str | None:
    """Say what a glob finds if its texts begin with either case: of `*backend*` the names that hold `Backend`, too."""
    if not isinstance(question, Symbols) or not question.name_pattern or globs.plain(question.name_pattern):
        return None
    either = _BEGINNING.sub(lambda found: f"[{found[0].upper()}{found[0].lower()}]", question.name_pattern)
    more = _matching(request, replace(question, name_pattern=either, cursor=None, max_results=1))[0].total - total
    return f'name_pattern="{either}" finds {more:,} more.' if more else None


def _note(request: Request, question: Symbols | Search) -> str | None:
    """Say what there may be besides. Where a name is asked for, files matter whose text holds it."""
    asked = unknown.scope(request, question.path, question.language)
    about = asked.about(request, coverage.name_of(question))
    known = request.opened.generation
    is_import = question.kind in ("import", "export")
    return unknown.joined(
        request.partial,
        unknown.of_paths(request, question.path),
        unknown.of_parsing(
            request,
            unknown.naming(request, about, unknown.not_whole(request, about, question.kind)),
            "definitions may be missing or end too early",
        ),
        None if is_import else unknown.of_languages(request, about),
        unknown.of_unread(
            request, asked, "parsed", lambda file: file.language in known.defined or file.language in known.undefined
        ),
    )


def _symbol(row: Row) -> Symbol:
    return Symbol(
        name=row.name,
        kind=row.kind,
        lines=(row.line_start, row.line_end),
        signature=shown(row.signature) if row.signature else None,
        parent=row.parent_name,
    )
