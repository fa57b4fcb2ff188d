"""The search tool: lines of text, or definitions by name.

Signatures name the blocks that may hold what is asked for; the engine fetches those of them whose text matches; then
their lines decide, in the order of paths and lines. It stops early only behind the page, and then the totals are lower
bounds.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, groupby, islice
from typing import NamedTuple

import _duckdb as duckdb
import re2

from fledgling.wire import FileHits, Hits, Search, SymbolList
from fledgling.worker import coverage, literals, matching, paths, symbols
from fledgling.worker.index import SHOWN_LINE_CHARS, Asking, Refused, continuing, cut_page, shown
from fledgling.worker.matching import Matcher
from fledgling.worker.signatures import Needed, numbers

STEP = 512  # blocks looked at by one statement: some megabytes, and a few milliseconds
COUNTED_BLOCKS = 512  # candidates that are searched for the totals although the page is full


Shown = dict[tuple[int, int], str]  # the last block of a file and the number of a line -> that line as it is shown


class _Block(NamedTuple):
    """A piece of a file, which ends with the block `last_block`: that is its number, too."""

    block: int
    last_block: int
    path: str
    language: str | None
    first_line: int
    text: str


class _Range(NamedTuple):
    first: int
    last: int


class _Hit(NamedTuple):
    """A matching line, in a block that has the lines `first_line` to `last_line` of a file."""

    line: int
    path: str
    language: str | None
    block: int
    last_block: int
    first_line: int
    last_line: int


class _Piece(NamedTuple):
    """A hit, the lines around it that no piece before it shows, and the definition it is in."""

    path: str  # empty where the piece before it is of the same file
    language: str | None
    line: int
    lines: list[tuple[int, str]]
    enclosing: str | None


class _Enclosing(NamedTuple):
    last_block: int
    line: int
    qualified_name: str


class _Found(NamedTuple):
    """The hits of a page, and the totals; they are exact unless the search ended before the last candidate."""

    hits: list[_Hit]
    lines: Shown
    total: int
    total_files: int
    is_exact: bool


def search(asking: Asking, question: Search) -> Hits | SymbolList:
    """Answer with matching lines grouped by file, or with definitions where a kind is asked for."""
    try:
        finding = matching.matcher(question)
        return symbols.named(asking, question) if question.kind else _text(asking, question, finding)
    except (re2.error, duckdb.InvalidInputException) as problem:
        raise Refused(
            "invalid",
            f"{question.query!r} is no regular expression: {matching.reason(problem)}",
            "Write RE2 syntax, without look-around or back-references; or leave `regex` out to search for the text.",
        ) from problem


def _text(asking: Asking, question: Search, finding: Matcher) -> Hits:
    offset = int(question.cursor or 0)
    found = _find(asking, finding, _candidates(asking, question), question, offset)
    pieces = cut_page(_pieces(asking, question, found), asking)
    following = continuing(question, offset + len(pieces), found.total)
    note = asking.partial if found.total else coverage.of_text(asking, question.path, question.language)
    return Hits(
        _joined(pieces), found.total, found.total_files, following, note, total_is_lower_bound=not found.is_exact
    )


def _candidates(asking: Asking, question: Search) -> Iterator[int]:
    """Yield the blocks that may hold hits, in their order."""
    signatures = asking.signatures
    ranges = [_Range(0, signatures.blocks - 1)]
    if question.path or question.language:
        filters = {"path": paths.pattern(question.path), "language": question.language}
        ranges = asking.rows("search_blocks", _Range, **filters)
    needed = _needed(question)
    if needed is None:
        return chain.from_iterable(range(first, last + 1) for first, last in ranges)
    return _inside(numbers(signatures.holding(needed)), ranges)


def _needed(question: Search) -> Needed | None:
    if question.regex:
        return literals.of_templates(literals.read(question.query, case_sensitive=question.case_sensitive))
    return literals.of_literal(question.query, case_sensitive=question.case_sensitive)


def _inside(blocks: Iterator[int], ranges: Sequence[_Range]) -> Iterator[int]:
    """Yield the blocks that are in one of the ranges; both are in order."""
    following = iter(ranges)
    current = next(following, None)
    for block in blocks:
        while current and current.last < block:
            current = next(following, None)
        if current is None:
            return
        if current.first <= block:
            yield block


def _find(asking: Asking, finding: Matcher, candidates: Iterator[int], question: Search, offset: int) -> _Found:
    """Search the candidates until a hit is left for the next page, and COUNTED_BLOCKS of them at least."""
    end = offset + min(question.max_results, asking.profile.max_rows)
    hits: list[_Hit] = []
    lines: Shown = {}
    total = total_files = searched = 0
    last_block = None
    while numbers := list(islice(candidates, STEP)):
        if total > end and searched >= COUNTED_BLOCKS:
            return _Found(hits, lines, total, total_files, is_exact=False)
        searched += len(numbers)
        for block in _blocks(asking, numbers, finding.block):
            places = matching.places(finding, block.text)
            if not places:
                continue
            if page := places[max(offset - total, 0) : max(end - total, 0)]:
                hits += _hits(question, block, page, lines)
            total += len(places)
            total_files += block.last_block != last_block
            last_block = block.last_block
    return _Found(hits, lines, total, total_files, is_exact=True)


def _blocks(asking: Asking, numbers: Sequence[int], pattern: str = "") -> Iterator[_Block]:
    for block in sorted(asking.rows("blocks", _Block, blocks=numbers, pattern=pattern)):
        asking.check()
        yield block


def _hits(question: Search, block: _Block, places: Sequence[int], lines: Shown) -> Iterator[_Hit]:
    """Yield the hits of a block, and keep the lines around them: only what is shown, since a line may be a megabyte."""
    text = block.text.split("\n")
    last_line = block.first_line + len(text) - 1
    for place in places:
        _keep(lines, block, text, place - question.context, place + question.context)
    for place in places:
        line = text[place]
        at = matching.column(question, line) if len(line) > SHOWN_LINE_CHARS else 0
        number = block.first_line + place
        lines[block.last_block, number] = shown(line, at=at)
        yield _Hit(number, block.path, block.language, block.block, block.last_block, block.first_line, last_line)


def _keep(lines: Shown, block: _Block, text: Sequence[str], first: int, last: int) -> None:
    """Keep the lines from `first` to `last`, counted from 0 in a block, as far as they are in it."""
    for place in range(max(first, 0), min(last + 1, len(text))):
        lines.setdefault((block.last_block, block.first_line + place), shown(text[place]))


def _pieces(asking: Asking, question: Search, found: _Found) -> list[_Piece]:
    """Return a piece for each hit: a page is cut between two hits, within a file too."""
    hits, lines = found.hits, found.lines
    if not hits:
        return []
    _add_neighbours(asking, question.context, found)
    where = {"files": [hit.last_block for hit in hits], "lines": [hit.line for hit in hits]}
    enclosing = {
        (row.last_block, row.line): row.qualified_name for row in asking.rows("enclosing_hits", _Enclosing, **where)
    }
    pieces = []
    for file, group in groupby(hits, lambda hit: hit.last_block):
        following = 0  # the first line of the file that no piece shows
        for hit in group:
            around = range(max(hit.line - question.context, following), hit.line + question.context + 1)
            piece = [(number, lines[file, number]) for number in around if (file, number) in lines]
            pieces.append(
                _Piece("" if following else hit.path, hit.language, hit.line, piece, enclosing.get((file, hit.line)))
            )
            following = around.stop
    return pieces


def _add_neighbours(asking: Asking, context: int, found: _Found) -> None:
    """Keep the lines around hits that are in the blocks beside; each has at least one line, so as many are enough."""
    wanted: dict[int, list[_Hit]] = {}
    for hit in found.hits:
        before = max(hit.first_line - max(hit.line - context, 1), 0)
        after = max(hit.line + context - hit.last_line, 0)
        for number in range(max(hit.block - before, 0), min(hit.block + after, hit.last_block) + 1):
            if number != hit.block:
                wanted.setdefault(number, []).append(hit)
    missing = iter(sorted(wanted))
    while numbers := list(islice(missing, STEP)):
        for block in _blocks(asking, numbers):
            text = block.text.split("\n")
            for hit in wanted[block.block]:
                if hit.last_block == block.last_block:
                    place = hit.line - block.first_line
                    _keep(found.lines, block, text, place - context, place + context)


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
