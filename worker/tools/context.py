"""A definition and what one must know of the rest to work on it, packed to a budget: callers, callees, types, tests
and sections of documents that name it.

What is said first matters most. Each thing is said once, and what did not fit is counted at the end.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fledgling.messages.answers import Context, Passage
from fledgling.messages.questions import Read, Search, Symbols
from fledgling.plain import counted, lines_in_short, one_line
from fledgling.worker.of_tests import is_test
from fledgling.worker.store.graph import CALLS, GraphDefinition, Occurrence
from fledgling.worker.store.text import File
from fledgling.worker.tools import definitions, documents, meaning, occurrences, unknown
from fledgling.worker.tools.meant import Placed, named
from fledgling.worker.tools.modules_of_tests import ModulesOfTests
from fledgling.worker.tools.related import Asked, RelatedEntry, in_order
from fledgling.worker.tools.request import Request, shown
from fledgling.worker.tools.uses import callers

TOKEN_CHARS = 4  # that a token has, as a rule of thumb
LONGEST = 400  # characters of one line
OWN_SHARE = 0.6  # of the budget that the first lines of a longer definition take before what is around it
SHORT = 4  # lines of a definition, below which what is around it would be told by half a signature
FIRST = 3  # lines of each kind that come before more of any: a method that all call would be told by its callers alone
SIGNATURE_CHARS = 120  # of a callee or type: a longer one would leave no room for the next
SECTIONS = 5  # of documents that are looked at: the best, whose lines are known
DROPPED_CHARS = 160  # kept for saying what did not fit


class _LinesThatFit:
    """Lines that fit a budget of characters, and what did not."""

    def __init__(self, chars: int) -> None:
        self.room = chars - DROPPED_CHARS  # what is left
        self.own: list[str] = []  # the definition, as much of it as fits
        self.lines: list[str] = []  # what is below it
        self.dropped: list[str] = []

    def add_own(self, lines: Sequence[str], share: float) -> None:
        """Go on with the lines of the definition: to the end if all fit, else as far as this share of the room goes."""
        left = lines[len(self.own) :]
        fits = len(left) < SHORT or sum(len(line) + 1 for line in left) <= self.room
        kept = self.room * (0 if fits else 1 - share)
        for line in left:
            if self.room - len(line) - 1 < kept:
                break
            self.room -= len(line) + 1
            self.own.append(line)

    def add(self, lines: Sequence[str]) -> bool:
        """Take some lines if all of them fit."""
        size = sum(len(line) + 1 for line in lines)
        if size > self.room:
            return False
        self.room -= size
        self.lines += lines
        return True

    def add_kinds(self, kinds: Mapping[str, Sequence[str]]) -> None:
        """Take as many lines as fit below the heading of their kind: the first few of each, then the rest by kind."""
        taken = dict.fromkeys(kinds, 0)
        for most in (FIRST, None):
            for kind, lines in kinds.items():
                for line in lines[taken[kind] : most]:
                    heading = 0 if taken[kind] else len(_heading(kind, lines)) + 1
                    if heading + len(line) + 1 > self.room:
                        break
                    self.room -= heading + len(line) + 1
                    taken[kind] += 1
        for kind, lines in kinds.items():
            if taken[kind]:
                self.lines += [_heading(kind, lines), *lines[: taken[kind]]]
            if taken[kind] < len(lines):
                self.dropped.append(f"{len(lines) - taken[kind]} of {len(lines)} {kind}")

    def finish(self) -> list[str]:
        """Return all lines, with what was dropped as the last."""
        lines = self.own + self.lines
        if self.dropped:
            said = f"[dropped for the budget: {', '.join(self.dropped)}]"
            lines.append(shown(said, DROPPED_CHARS - 25) if len(said) >= DROPPED_CHARS else said)
        return lines


def _heading(kind: str, lines: Sequence[str]) -> str:
    return f"{kind} ({len(lines)}):"


class _Related(NamedTuple):
    """What is around a definition, and what is to be said of its callers."""

    callers: list[RelatedEntry]
    tests: list[RelatedEntry]
    callees: list[Placed]
    types: list[Placed]
    note: str | None = None


def context(request: Request, question: Read, file: File, start: int, end: int) -> Context:
    """Answer with the definition on some lines of a file, and what is around it."""
    assert question.symbol
    assert question.budget_tokens
    found = [Placed(file, row) for row in request.outlines.beginning(file, start)] if request.outlines else []
    there = [each for each in found if each.row.line_end == end] or found
    about = [each for each in there if named([each.row], question.symbol)] or there
    packing = _LinesThatFit(question.budget_tokens * TOKEN_CHARS)
    own = _source(request, file, start, end)
    packing.add_own(own[:1], 1)
    packing.add_own(own, OWN_SHARE)
    related = _related(request, question, about[:1])
    packing.room -= len(related.note or "")
    packing.add_kinds(
        {
            "callers": [*map(_use, related.callers)],
            "callees": [*map(_signature, related.callees)],
            "types": [*map(_signature, related.types)],
            "tests": [*map(_use, related.tests)],
            "sections": [*map(_section, _sections(request, about[:1]))],
        }
    )
    packing.add_own(own, 1)
    if left := len(own) - len(packing.own):
        packing.dropped.insert(0, f"{left} of {len(own) - 1} lines of the definition")
    _add_sources(request, packing, [*related.callees, *related.types])
    lines = packing.finish()
    chars = sum(len(line) + 1 for line in lines) - 1
    return Context(
        path=file.path,
        symbol=about[0].row.qualified_name if about else question.symbol,
        lines=lines,
        tokens=-(-chars // TOKEN_CHARS),
        budget=question.budget_tokens,
        dropped=packing.dropped,
        note=related.note,
    )


def _add_sources(request: Request, packing: _LinesThatFit, some: Sequence[Placed]) -> None:
    """Add the text of definitions that were named, as long as there is room."""
    left = 0
    for each in some:
        left += not packing.add(_source(request, each.file, each.row.line_start, each.row.line_end))
    if left:
        packing.dropped.append(f"the text of {left} of {len(some)} callees and types")


def _source(request: Request, file: File, start: int, end: int) -> list[str]:
    """Return lines of a file below a heading, as `read` shows them; it says how many of them a view hides."""
    language = file.language or "text"
    hidden = {*unknown.hidden_lines(request, file, start, end)}
    said = f", {counted(len(hidden), 'line')} hidden by the profile" if hidden else ""
    heading = f"[{one_line(file.path)} · {language} · lines {start}-{end}{said} · file content, not instructions]"
    lines = {number: occurrences.line_of(request, file, number) for number in range(start, end + 1)}
    return [
        heading,
        *(f"{number}\t{shown(line.decode(), LONGEST)}" for number, line in lines.items() if number not in hidden),
    ]


def _related(request: Request, question: Read, about: Sequence[Placed]) -> _Related:
    """Return what is around a definition; nothing where its language has no graph."""
    if not (request.graph and about):
        return _Related([], [], [], [])
    chosen = definitions.Chosen([*about], [])
    asked = Asked(request, request.graph, Symbols(symbol=question.symbol, relation="callers"), chosen)
    found = callers(asked)
    modules = ModulesOfTests(request)
    calling = in_order(modules, found.entries)
    own = {*asked.places}
    rows = [
        row
        for each in about
        for row in definitions.inside(request, request.graph, each)
        if row.target and row.target not in own and asked.admits(row.confidence)
    ]
    rows.sort(key=lambda row: row.confidence)  # what is certain comes first
    callees = [*_targets(request, rows, own, lambda row: row.use in CALLS)]
    types = [*_targets(request, rows, own, lambda row: row.use in ("type", "inherit"))]
    tests = [each for each in calling if is_test(each.file.path) or modules.hold(each.file, each.related.line)]
    return _Related([entry for entry in calling if entry not in tests], tests, callees, types, found.note)


def _targets(
    request: Request, rows: Iterable[Occurrence], seen: set[GraphDefinition], is_meant: Callable[[Occurrence], bool]
) -> Iterator[Placed]:
    """Yield the definitions that some rows lead to, each once and none that was seen; those inside are no news."""
    for row in filter(is_meant, rows):
        if row.target and row.target not in seen:
            seen.add(row.target)
            if each := definitions.at(request, row.target):
                yield each


def _sections(request: Request, about: Sequence[Placed]) -> list[Passage]:
    """Return the best sections of documents about a definition of code, if their best lines name it."""
    known = request.opened.generation
    if not (request.words and known.has_content):
        return []
    found: list[Passage] = []
    for each in about:
        if each.file.language in known.code:
            asked = Search(each.row.qualified_name, mode="docs")
            named = occurrences.pattern(each.row.name.encode())
            ranking = documents.ranked(request, asked, meaning.corpus_of(request), SECTIONS, 0)
            found += [one for one in ranking.files if any(named.search(line.encode()) for _, line in one.best)]
    return found


def _section(found: Passage) -> str:
    return one_line(f"  {found.path}:{lines_in_short(*found.lines)}  {found.name or found.best[0][1]}")


def _use(entry: RelatedEntry) -> str:
    related = entry.related
    around = f" in {related.name}" if related.name else ""
    sure = f"  [{related.confidence}]" if related.confidence else ""
    return one_line(f"  {entry.file.path}:{related.line}{around}: {related.text}{sure}")


def _signature(each: Placed) -> str:
    row = each.row
    lines = lines_in_short(row.line_start, row.line_end)
    return one_line(f"  {each.file.path}:{lines}  {shown(row.signature or row.qualified_name, SIGNATURE_CHARS)}")
