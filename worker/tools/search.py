"""The search tool: lines of text, or definitions by name.

Signatures name the blocks that may hold what is asked for; their lines decide, in the order of paths and lines. It
stops early only behind the page, and then the totals are lower bounds.
"""

import re
from collections.abc import Iterator, Sequence, Set
from itertools import chain, groupby, islice
from typing import Literal, NamedTuple

import msgspec
import re2

from fledgling.messages.answers import FileHits, Hits, Ranking, SymbolList
from fledgling.messages.cursors import offset_of
from fledgling.messages.questions import Search
from fledgling.worker.matching import globs
from fledgling.worker.matching import lines as matching
from fledgling.worker.matching import prefilter as literals
from fledgling.worker.matching.lines import Matcher
from fledgling.worker.store.ngrams import Needed
from fledgling.worker.store.text import File
from fledgling.worker.tools import paths, tags, unknown
from fledgling.worker.tools.request import SHOWN_LINE_CHARS, Refused, Request, continuing, cut_page, shown

COUNTED_HITS = 2000  # behind a page: a microsecond each, of a pattern three or more; nobody reads so many one by one
COUNTED_BLOCKS = 512  # candidates that are all searched, so that the totals are exact: some milliseconds


Shown = dict[tuple[int, int], str]  # the first block of a file and the number of a line -> that line as it is shown


class _Hit(NamedTuple):
    """A matching line, in a block that has the lines `first_line` to `last_line` of a file."""

    line: int
    file: File
    block: int
    first_line: int
    last_line: int


class _Piece(NamedTuple):
    """A hit, the lines around it that no piece before it shows, and the definition it is in."""

    path: str  # empty where the piece before it is of the same file
    language: str | None
    line: int
    lines: list[tuple[int, str]]
    enclosing: str | None


class _Hits(NamedTuple):
    """The hits of a page, and the totals; they are exact unless the search ended before the last candidate."""

    hits: list[_Hit]
    lines: Shown
    total: int
    total_files: int
    is_exact: bool


def search(request: Request, question: Search) -> Hits | SymbolList | Ranking:
    """Answer with matching lines grouped by file, with definitions where a kind is asked for, or by meaning.

    By meaning also where no line holds what was asked for, if that is words and some file says what they say.
    """
    from fledgling.worker.tools import meaning  # noqa: PLC0415  (a text that is found needs nothing of it)

    if question.is_ranked:
        return meaning.ranked(request, question)
    if question.kind:
        return _named(request, question)
    if found := of_text(request, question):
        return msgspec.structs.replace(
            found, note=unknown.joined(found.note, meaning.besides(request, question, found))
        )
    found_instead = meaning.instead(request, question)
    if found_instead and found_instead.is_said:
        return found_instead.answer
    return _nothing(request, question, meaning.nearest(request, question, found_instead))


def _named(request: Request, question: Search) -> SymbolList:
    import _duckdb as duckdb  # noqa: PLC0415  (a text that is found needs nothing of it)

    from fledgling.worker.tools import symbols  # noqa: PLC0415

    _finding(question)  # refuses what is no pattern
    try:
        return symbols.named(request, question)
    except duckdb.InvalidInputException as problem:
        raise _irregular(question, problem) from problem


def _finding(question: Search) -> Matcher:
    """Return what finds the lines of a question. Raises Refused where its pattern is none."""
    try:
        return matching.matcher(question)
    except re2.error as problem:
        raise _irregular(question, problem) from problem


def _irregular(question: Search, problem: Exception) -> Refused:
    return Refused(
        "invalid",
        f"{question.query!r} is not an expression that RE2 can run: {matching.reason(problem)}",
        "Write RE2 syntax, without look-around or back-references, or search for the text: "
        f"search(query={msgspec.json.encode(question.query).decode()}).",
    )


def of_text(request: Request, question: Search) -> Hits | None:
    """Answer with matching lines grouped by file; None where there are none."""
    offset = offset_of(question.cursor)
    tagged = tags.left(request, question)
    found = _find(request, _finding(question), _candidates(request, question, tagged), question, offset)
    if not found.total:
        return None
    pieces = cut_page(_pieces(request, question, found), request)
    following = continuing(request, question, offset + len(pieces), found.total)
    asked = unknown.scope(request, question.path, question.language)
    note = unknown.joined(tags.note(request, question, tagged), _note(request, question, asked, found))
    return Hits(
        _joined(pieces),
        found.total,
        found.total_files,
        _mode(question),
        following,
        note,
        total_is_lower_bound=not found.is_exact,
    )


def _nothing(request: Request, question: Search, nearest: str | None) -> Hits:
    """Answer that no line matches, and say where none does, and what is nearest."""
    from fledgling.worker.tools import empty_answers, meaning  # noqa: PLC0415  (a text that is found needs nothing of it)

    tagged = tags.left(request, question)
    asked = unknown.scope(request, question.path, question.language)
    note = unknown.joined(
        tags.note(request, question, tagged),
        meaning.later(request, question),
        empty_answers.of_text(request, question, asked, tagged),
        nearest,
    )
    return Hits([], 0, 0, _mode(question), None, note)


def _mode(question: Search) -> Literal["regex", "text"]:
    return "regex" if question.is_regex else "text"


def _note(request: Request, question: Search, asked: unknown.Searched, found: _Hits) -> str | None:
    """Say what there may be besides, and which enclosing definitions may be others."""
    return unknown.joined(
        request.partial,
        request.pending,
        _of_ends(question),
        unknown.of_paths(request, question.path),
        unknown.of_parsing(
            request, dict.fromkeys(hit.file for hit in found.hits), "names in [in ...] may be wrong there"
        ),
        unknown.of_unread(request, asked, "searched"),
        unknown.of_notebooks(request, asked),
        None if question.query.isascii() else unknown.of_encodings(request, asked),
    )


def _of_ends(question: Search) -> str | None:
    """Say what a whole word leaves out that begins or ends with another character: `exec(options)` has an `exec(`."""
    ends = [re.fullmatch(r"\w", end, re.ASCII) for end in (question.query[0], question.query[-1])]
    if question.is_regex or not question.whole_word or all(ends):
        return None
    first, last = (r"\b" if end else "" for end in ends)
    beside = question.query[0] if ends[1] else question.query[-1]
    pattern = msgspec.json.encode(f"{first}{globs.literal(question.query)}{last}").decode()
    return f"No letter, digit or `_` stands beside `{beside}` either: regex=true, query={pattern} allows that."


def _candidates(request: Request, question: Search, tagged: Set[int] | None) -> Iterator[int]:
    """Return the blocks that may hold hits, in their order."""
    assert request.signatures, "a listing is not searched"
    needed = prefilter(question)
    blocks = request.blocks.in_order() if needed is None else request.signatures.holding(needed)
    if tagged is not None:
        blocks = (block for block in blocks if request.blocks.files_of[block] in tagged)
    return _inside(request, question, blocks) if question.path or question.language else blocks


def prefilter(question: Search) -> Needed | None:
    """Return texts of which a block must hold one group to have a hit; None where nothing is known of that."""
    if question.is_regex:
        return literals.of_templates(literals.read(question.query, case_sensitive=question.case_sensitive))
    return literals.of_literal(question.query, case_sensitive=question.case_sensitive)


def _inside(request: Request, question: Search, blocks: Iterator[int]) -> Iterator[int]:
    """Yield the blocks of the files that `path` and `language` leave."""
    is_path = matching.in_path(paths.pattern(question.path))
    last, is_inside = None, False
    for block in blocks:
        number = request.blocks.files_of[block]
        if number != last:
            last, file = number, request.blocks.file(number)
            is_inside = question.language in (None, file.language) and is_path(file.path)
        if is_inside:
            yield block


def _find(request: Request, finding: Matcher, candidates: Iterator[int], question: Search, offset: int) -> _Hits:
    """Search the candidates: all if that is no more work than it may be, else until a hit is left for the next page."""
    end = offset + min(question.max_results, request.profile.max_rows)
    hits: list[_Hit] = []
    lines: Shown = {}
    total = total_files = 0
    last = None
    counted = [*islice(candidates, COUNTED_BLOCKS + 1)]
    for block in chain(counted, candidates):
        if total > end and (len(counted) > COUNTED_BLOCKS or total > end + COUNTED_HITS):
            return _Hits(hits, lines, total, total_files, is_exact=False)
        request.check()
        places = matching.places(finding, request.blocks.text(block))
        if not places:
            continue
        if page := places[max(offset - total, 0) : max(end - total, 0)]:
            hits += _hits(request, question, block, page, lines)
        total += len(places)
        number = request.blocks.files_of[block]
        total_files += number != last
        last = number
    return _Hits(hits, lines, total, total_files, is_exact=True)


def _hits(request: Request, question: Search, block: int, places: Sequence[int], lines: Shown) -> Iterator[_Hit]:
    """Yield the hits of a block, and keep the lines around them: only what is shown, since a line may be a megabyte."""
    file, first_line = request.blocks.file_of(block), request.blocks.first_lines[block]
    text = request.blocks.text(block).decode().split("\n")
    for place in places:
        _keep(lines, file, first_line, text, place - question.context, place + question.context)
    for place in places:
        line = text[place]
        at = matching.column(question, line) if len(line) > SHOWN_LINE_CHARS else 0
        lines[file.block, first_line + place] = shown(line, at=at)
        yield _Hit(first_line + place, file, block, first_line, first_line + len(text) - 1)


def _keep(lines: Shown, file: File, first_line: int, text: Sequence[str], first: int, last: int) -> None:
    """Keep the lines from `first` to `last`, counted from 0 in a block, as far as they are in it."""
    for place in range(max(first, 0), min(last + 1, len(text))):
        at = file.block, first_line + place
        if at not in lines:
            lines[at] = shown(text[place])


def _pieces(request: Request, question: Search, found: _Hits) -> list[_Piece]:
    """Return a piece for each hit: a page is cut between two hits, within a file too."""
    hits, lines = found.hits, found.lines
    if not hits:
        return []
    _add_neighbours(request, question.context, found)
    outlines = request.outlines
    pieces = []
    for file, group in groupby(hits, lambda hit: hit.file):
        following = 0  # the first line of the file that no piece shows
        for hit in group:
            around = range(max(hit.line - question.context, following), hit.line + question.context + 1)
            piece = [(number, lines[file.block, number]) for number in around if (file.block, number) in lines]
            pieces.append(
                _Piece(
                    "" if following else file.path,
                    file.language,
                    hit.line,
                    piece,
                    inside.qualified_name if outlines and (inside := outlines.innermost(file, hit.line)) else None,
                )
            )
            following = around.stop
    return pieces


def _add_neighbours(request: Request, context: int, found: _Hits) -> None:
    """Keep the lines around hits that are in the blocks beside; each has at least one line, so as many are enough."""
    wanted: dict[int, list[_Hit]] = {}
    for hit in found.hits:
        before = max(hit.first_line - max(hit.line - context, 1), 0)
        after = max(hit.line + context - hit.last_line, 0)
        end = hit.file.block + hit.file.blocks
        for block in range(max(hit.block - before, hit.file.block), min(hit.block + after + 1, end)):
            if block != hit.block:
                wanted.setdefault(block, []).append(hit)
    for block, hits in wanted.items():
        request.check()
        first_line = request.blocks.first_lines[block]
        text = request.blocks.text(block).decode().split("\n")
        for hit in hits:
            place = hit.line - first_line
            _keep(found.lines, hit.file, first_line, text, place - context, place + context)


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
