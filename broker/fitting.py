"""Whether what a worker says fits what it was asked: paths, filters, totals and the call that goes on.

Which of these functions is for which answer is in protocol/tools.py; the bounds of single values are in
messages/bounded.py. A worker that an attacker's code runs in must not lead an agent elsewhere, nor answer in place of
another file.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from operator import ge

from msgspec.structs import replace

from fledgling.messages.answers import (
    Architecture,
    Context,
    DependencyGraph,
    Excerpt,
    Exploration,
    FileHits,
    FileImports,
    FileSymbols,
    Hits,
    Next,
    Passage,
    Ranking,
    Relations,
    Summaries,
    SymbolList,
    Table,
)
from fledgling.messages.bounded import MAX_COUNT, MAX_LINE
from fledgling.messages.cursors import offset_of, place
from fledgling.messages.generations import CODE, LISTING, TEXT
from fledgling.messages.inner_answers import CandidateTexts, Overview, Sifted
from fledgling.messages.profile import Profile
from fledgling.messages.questions import (
    AnyQuestion,
    Asked,
    Candidates,
    Dependencies,
    Explore,
    Query,
    Read,
    Reordered,
    Search,
    Sift,
    Survey,
    Symbols,
    arguments_of,
    name_of,
)
from fledgling.plain import WILDCARD, plain_path


def may_mean(asked: Asked, taken: AnyQuestion) -> bool:
    """Return whether a worker may have taken one question as another: for its path a longer one that ends so, or a
    file below it that has the definition; for its definition the same name in another case; for a path that very name;
    and no other argument.

    >>> may_mean(Read("query.py"), Read("db/query.py")), may_mean(Read("query.py"), Read("secret.py"))
    (True, False)
    """
    if type(asked) is not type(taken):
        return False
    if isinstance(asked, Read) and isinstance(taken, Read) and asked.symbol and _is_below(asked.path, taken.path):
        asked = replace(asked, path=taken.path)  # of a definition that one file alone holds, there or anywhere
    if isinstance(asked, Symbols) and isinstance(taken, Symbols) and taken.path is None and not asked.name_pattern:
        asked = replace(asked, path=None, name_pattern=asked.path)  # a name in place of a path
    changed = {name for name in asked.__struct_fields__ if getattr(asked, name) != getattr(taken, name)}
    return all(name in _MAY_MEAN and _MAY_MEAN[name](getattr(asked, name), getattr(taken, name)) for name in changed)


def _is_longer_path(asked: str | None, taken: str | None) -> bool:
    """Whether a path is another one with directories before it, or an extension behind, in any case: `*` is any."""
    parts, ends = f"/{taken or ''}".casefold(), f"/{plain_path(asked or '')}".casefold()
    return parts.endswith(ends) or parts.rpartition(".")[0].endswith(ends)


def _is_below(directory: str, path: str) -> bool:
    place = plain_path(directory)
    return path.startswith(f"{place}/" if place else "")


def _is_same_in_another_case(asked: str | None, taken: str | None) -> bool:
    return (asked or "").casefold() == (taken or "").casefold()


def _is_same_name(asked: str | None, taken: str | None) -> bool:
    last = [re.split(r"[.]", name or "")[-1].casefold() for name in (asked, taken)]
    return last[0] == last[1]


_MAY_MEAN: dict[str, Callable[[str | None, str | None], bool]] = {
    "path": _is_longer_path,
    "symbol": _is_same_name,
    "name_pattern": _is_same_in_another_case,
}


def explores(question: Explore, found: Exploration, _: Profile) -> bool:
    """Return whether a map is of the place that was asked for, and its totals hold what it lists."""
    directory = plain_path(question.path)
    prefix = f"{directory}/" if directory else ""
    entries = [*(directory.path for directory in found.directories), *(file.path for file in found.files)]
    summary = found.summary
    return (
        question.detail == "map"
        and found.path == prefix
        and all(path.startswith(prefix) for path in (*entries, summary.largest_file or prefix))
        and all(path.removeprefix(prefix).rstrip("/").count("/") < question.depth for path in entries)
        and all(directory.path.endswith("/") for directory in found.directories)
        and all(directory.files <= summary.total_files for directory in found.directories)
        and len(found.files) <= summary.total_files
        and max(sum(summary.languages.values()), sum(summary.skipped.values())) <= summary.total_files
        and _goes_on(question, found.next, len(entries))
    )


def summarizes(question: Explore, found: Summaries, _: Profile) -> bool:
    """Return whether summaries are of the place that was asked for, and no more than their total."""
    asked = plain_path(question.path)
    paths = [each.path for each in found.summaries]
    is_file = bool(asked) and found.path == asked
    return (
        question.detail == "summary"
        and found.path.rstrip("/") == asked
        and all(path == asked if is_file else path.startswith(found.path) for path in paths)
        and all(is_file or path.removeprefix(found.path).rstrip("/").count("/") < question.depth for path in paths)
        and offset_of(question.cursor) + len(paths) <= max(found.total, offset_of(question.cursor))
        and _goes_on(question, found.next, len(paths))
    )


def outlines(question: Explore, found: Architecture, _: Profile) -> bool:
    """Return whether a picture is of the place that was asked for, and as short as it says."""
    chars = sum(len(line) + 1 for line in found.lines)
    return (
        question.detail == "architecture"
        and found.path.rstrip("/") == plain_path(question.path)
        and chars <= 4 * found.tokens + 4
    )


def reads(question: Read, found: Excerpt, _: Profile) -> bool:
    """Return whether lines are of the file and the range that were asked for."""
    last = found.first + len(found.lines) - 1
    end = min(question.end_line or MAX_LINE, found.total_lines)
    is_asked = bool(question.symbol) or found.first == (question.start_line or 1)
    return (
        found.path == plain_path(question.path)
        and is_asked
        and last <= max(end, found.first - 1)
        and (found.next is None or _reads_on(found.next, found.path, last + 1, end))
    )


def _reads_on(following: Next, path: str, start: int, end: int) -> bool:
    to = following.arguments.get("end_line")
    if not isinstance(to, int) or isinstance(to, bool) or not start <= to <= end:
        return False
    return following == Next("read", {"path": path, "start_line": start, "end_line": to})


def searches(question: Search, found: Hits, _: Profile) -> bool:
    """Return whether hits are where the filters leave them, and no more than their total."""
    count = sum(len(file.hits) for file in found.files)
    return (
        question.kind is None
        and _are_within(question, found.files)
        and all(_matches(question, file) for file in found.files)
        and _is_page(question, [file.path for file in found.files], count, found.total)
        and len(found.files) <= found.total_files <= found.total
        and _goes_on(question, found.next, count)
    )


def _matches(question: Search, file: FileHits) -> bool:
    """Return whether the lines of a file are its hits and those around them, each once, in their order."""
    hits, numbers = set(file.hits), [number for number, _ in file.lines]
    around = {number + off for number in hits for off in range(-question.context, question.context + 1)}
    inside = {number for numbers in file.enclosing.values() for number in numbers}
    return bool(hits) and _grows(file.hits) and _grows(numbers) and inside <= hits <= set(numbers) <= around


def ranks(question: Search, found: Ranking, profile: Profile) -> bool:
    """Return whether passages are where the filters leave them, by a mode that may be, not too many, the best first."""
    is_in_order = all(first.score >= second.score for first, second in pairwise(found.files))
    return is_in_order and _are_passages(question, found, profile)


def reorders(question: Reordered, found: Ranking, profile: Profile) -> bool:
    """Return whether passages are those of a search by meaning, in whatever order."""
    return found.mode_used == "meaning" and _are_passages(question.question, found, profile)


def offers(question: Candidates, found: CandidateTexts, _: Profile) -> bool:
    """Return whether texts are of files that the filters leave, each once."""
    asked, paths = question.question, [file.path for file in found.files]
    is_within = _are_within(asked, [Passage(path, (1, 1), 0, asked.language) for path in paths])
    return asked.mode in ("auto", "meaning") and len({*paths}) == len(paths) and is_within


def _are_passages(question: Search, found: Ranking, profile: Profile) -> bool:
    may_be = {"docs": ("docs",), "meaning": ("meaning",), "auto": ("meaning",)}
    return (
        question.kind is None
        and not question.is_regex
        and found.mode_used in may_be.get(question.mode, ())
        and len(found.files) <= min(question.max_results, found.total)
        and _are_within(question, found.files)
        and (found.mode_used == "docs" or len({passage.path for passage in found.files}) == len(found.files))
        and all(_grows([number for number, _ in passage.best]) for passage in found.files)
        and all((passage.why is not None) == question.explain for passage in found.files)
        and _are_ranges((passage.lines for passage in found.files), profile)
    )


def lists(question: Search | Symbols, found: SymbolList, profile: Profile) -> bool:
    """Return whether definitions are where the filters leave them, of the kind, and no more than their total."""
    count = sum(len(file.symbols) for file in found.files)
    symbols = [symbol for file in found.files for symbol in file.symbols]
    return (
        not (isinstance(question, Search) and question.kind is None)
        and _are_within(question, found.files)
        and _are_ranges((symbol.lines for symbol in symbols), profile)
        and all(symbol.kind == question.kind for symbol in symbols if question.kind)
        and _is_page(question, [file.path for file in found.files], count, found.total)
        and _goes_on(question, found.next, count)
    )


def relates(question: Symbols, found: Relations, profile: Profile) -> bool:
    """Return whether relations are of the name, the kind and the place that were asked for, and hold together."""
    count = sum(len(file.related) for file in found.files)
    name = (question.symbol or "").rpartition(".")[2]
    return (
        found.relation == question.relation
        and bool(found.definitions)
        and all(each.name.rpartition(".")[2] == name for each in found.definitions)
        and all(question.kind in (None, each.kind) for each in found.definitions)
        and _are_ranges((each.lines for each in found.definitions), profile)
        and _is_page(question, [file.path for file in found.files], count, found.total)
        and _goes_on(question, found.next, count)
    )


def gathers(question: Read, found: Context, _: Profile) -> bool:
    """Return whether a context is of the file that was asked for, and within the budget."""
    chars = sum(len(line) + 1 for line in found.lines)
    return (
        found.path == plain_path(question.path)
        and found.budget == question.budget_tokens
        and max(chars - 1, 0) <= 4 * found.budget
        and found.tokens <= found.budget
    )


def depends(question: Dependencies, found: DependencyGraph, _: Profile) -> bool:
    """Return whether edges are of the file, in the direction and within the depth that were asked for."""
    nodes = [FileImports(found.path, 0, found.imports, found.imported_by), *found.further]
    paths = [node.path for node in nodes]
    imports = [item for node in nodes for item in node.imports]
    importers = [item for node in nodes for item in node.imported_by]
    return (
        found.path == plain_path(question.path)
        and found.direction == question.direction
        and len(found.imports) <= (found.total_imports or len(found.imports))
        and len(found.imported_by) <= (found.total_importers or len(found.imported_by))
        and len(set(paths)) == len(paths)
        and all(1 <= node.distance < question.depth for node in found.further)
        and not (imports and question.direction == "imported_by")
        and not (importers and question.direction == "imports")
        and all((item.resolved is None) != (item.unresolved is None) for item in imports)
        and _goes_on(question, found.next, len(imports) + len(importers))
    )


def queries(_: Query, found: Table, profile: Profile) -> bool:
    """Return whether rows are as many as they may be, and can stand in JSON."""
    return (
        found.row_count == len(found.rows) <= profile.max_rows
        and all(len(row) == len(found.columns) for row in found.rows)
        and _are_json(cell for row in found.rows for cell in row)
    )


def surveys(_: Survey, found: Overview, profile: Profile) -> bool:
    """Return whether an overview holds together."""
    are_hubs = all(place < len(found.hubs) for hub in found.hubs for place in hub.imports)
    are_called = all(
        len(hub.callers) <= hub.total_callers <= hub.sites >= hub.certain_sites
        and len(hub.callees) <= hub.total_callees
        for hub in found.calls.hubs
    )
    are_circles = all(
        len(some.sizes) == len(some.members) <= some.total and all(map(ge, some.sizes, map(len, some.members)))
        for some in (found.circles, found.calls.circles)
    )
    return are_hubs and are_called and are_circles and _are_ranges((each.lines for each in found.functions), profile)


def sifts(question: Sift, found: Sifted, _: Profile) -> bool:
    """Return whether each number is there once, and in order if not by meaning; who asked knows how many there are."""
    if isinstance(question.question, Search) and question.question.is_ranked:
        return len({*found.indexes}) == len(found.indexes)
    return all(first < second for first, second in pairwise(found.indexes))


def _are_within(question: Search | Symbols, files: Iterable[FileHits | FileSymbols | Passage]) -> bool:
    """Return whether files are what the filters leave, as far as that is no matter of patterns."""
    asked = plain_path(question.path or "")
    directory = f"{asked}/" if asked and not WILDCARD.search(asked) else ""
    return all(f"{file.path}/".startswith(directory) and question.language in (None, file.language) for file in files)


def _is_page(question: Search | Symbols, paths: Sequence[str], count: int, total: int) -> bool:
    """Return whether there are no more rows than were asked for, nor than there are, and each file once."""
    is_one = len(set(paths)) == len(paths)
    return is_one and count <= question.max_results and (not count or offset_of(question.cursor) + count <= total)


def _goes_on(question: AnyQuestion, following: Next | None, count: int) -> bool:
    """Return whether the call that continues is the same one, behind the rows that were given, of the same index."""
    if following is None:
        return True
    tool, arguments = name_of(type(question)), arguments_of(question)
    begun = place(arguments.get("cursor"))
    try:
        goes_on = place(str(following.arguments.get("cursor")))
    except ValueError:
        return False
    return (
        count > 0
        and following == Next(tool, {**arguments, "cursor": goes_on.cursor})
        and goes_on.offset == begun.offset + count
        and ((goes_on.changes, goes_on.tags) == (begun.changes, begun.tags) or "cursor" not in arguments)
        and (goes_on.generation == CODE or (isinstance(question, Explore) and goes_on.generation in (LISTING, TEXT)))
    )


def _are_ranges(lines: Iterable[tuple[int, int]], profile: Profile) -> bool:
    """Return whether ranges end where they begin or later; a profile's views may say anything of lines."""
    return bool(profile.views) or all(first <= last for first, last in lines)


def _grows(numbers: Sequence[int]) -> bool:
    return all(first < second for first, second in pairwise(numbers))


def _are_json(cells: Iterable[object]) -> bool:
    """Return whether values can stand in JSON, and numbers be read from it as they are."""
    left = [*cells]
    while left:
        match left.pop():
            case None | bool() | str():
                pass
            case int() as number if abs(number) <= MAX_COUNT:
                pass
            case float() as number if math.isfinite(number):
                pass
            case list() as items:
                left += items
            case dict() as items if all(isinstance(key, str) for key in items):
                left += items.values()
            case _:
                return False
    return True
