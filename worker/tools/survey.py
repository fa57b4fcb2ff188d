"""What a report shows of the whole index: a few figures of everything, and the largest of each kind."""

from collections.abc import Iterator
from typing import NamedTuple

from fledgling.messages.inner_answers import Area, CallGraph, Hub, LongFunction, Overview, Parsed, SkippedFiles
from fledgling.messages.questions import Survey
from fledgling.worker.store.symbols import CODES
from fledgling.worker.tools import call_graph, packages
from fledgling.worker.tools.call_graph import PATH_CHARS
from fledgling.worker.tools.request import Request, shown

SHOWN_AREAS = 2000  # a page of 1,200 by 560 pixels has room for a few hundred
SHOWN_HUBS = 20
SHOWN_FUNCTIONS = 20
SHOWN_EXAMPLES = 5  # of the files that were skipped for one reason


class _Totals(NamedTuple):
    files: int
    lines: int


class _Link(NamedTuple):
    path: str
    resolved_path: str


def survey(request: Request, question: Survey) -> Overview:
    """Answer with what the image holds, which is what the profile lets an agent see."""
    totals = request.rows("survey_totals", _Totals)[0]
    hubs = request.rows("survey_hubs", lambda path, importers: Hub(path, importers, []), shown=SHOWN_HUBS)
    places = {hub.path: place for place, hub in enumerate(hubs)}
    for link in request.rows("survey_links", _Link, paths=list(places)):
        hubs[places[link.path]].imports.append(places[link.resolved_path])
    return Overview(
        files=totals.files,
        lines=totals.lines,
        areas=request.rows("survey_areas", Area, shown=SHOWN_AREAS, chars=PATH_CHARS),
        hubs=[Hub(shown(packages.named(request, hub.path), PATH_CHARS), hub.importers, hub.imports) for hub in hubs],
        functions=[*_functions(request)],
        parsed=request.rows("survey_parsed", Parsed),
        skipped=request.rows("survey_skipped", _skipped, shown=SHOWN_EXAMPLES),
        circles=call_graph.of_imports(request),
        calls=call_graph.of_calls(request) if question.calls else CallGraph(),
    )


def _functions(request: Request) -> Iterator[LongFunction]:
    codes = [CODES["function"], CODES["method"]]
    for number in request.rows("survey_functions", int, codes=codes, shown=SHOWN_FUNCTIONS):
        assert request.outlines, "a survey needs the second generation"
        row, file = request.outlines.row(number), request.blocks.file(request.outlines.file_of(number))
        name = shown(row.qualified_name, PATH_CHARS)
        yield LongFunction(shown(file.path, PATH_CHARS), name, (row.line_start, row.line_end))


def _skipped(reason: str, files: int, examples: list[str]) -> SkippedFiles:
    return SkippedFiles(reason, files, [shown(path, PATH_CHARS) for path in examples])
