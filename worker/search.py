"""The search tool: lines of text, or definitions by name.

Signatures name the blocks that may hold what is asked for; the engine's own RE2 then decides, line by line, in the
order of paths and lines. It stops early only behind the page, and then the totals are lower bounds.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, groupby, islice
from typing import NamedTuple

import duckdb

from fledgling.wire import FileHits, Hits, Search, SymbolList
from fledgling.worker import coverage, globs, literals, paths, symbols
from fledgling.worker.index import SHOWN_LINE_CHARS, Asking, Refused, continuing, cut_page, shown
from fledgling.worker.signatures import Needed, numbers

STEP = 512  # blocks searched by one statement: some megabytes, and a few milliseconds
COUNTED_BLOCKS = 1024  # candidates, some 5 MB, that are searched for the totals although the page is full


class _Block(NamedTuple):
    """A block with hits: `places` of lines counted from 0 in a block of `size` lines."""

    block: int
    path: str
    first_line: int
    size: int
    places: list[int]


class _Range(NamedTuple):
    first: int
    last: int


class _Hit(NamedTuple):
    """A matching line, and the block it is in."""

    line: int
    block: _Block


class _Lines(NamedTuple):
    """Consecutive lines of one block."""

    path: str
    first: int
    lines: list[str]


class _Piece(NamedTuple):
    """A hit, the lines around it that no piece before it shows, and the definition it is in."""

    path: str  # empty where the piece before it is of the same file
    language: str | None
    line: int
    lines: list[tuple[int, str]]
    enclosing: str | None


class _Column(NamedTuple):
    column: int


class _Enclosing(NamedTuple):
    path: str
    line: int
    language: str | None
    qualified_name: str | None


class _Asked(NamedTuple):
    """What is searched for: `line` decides on a line, and is not tried in what lacks `block` or what is `needed`."""

    line: str
    block: str
    needed: Needed | None


class _Found(NamedTuple):
    """The hits of a page, and the totals; they are exact unless the search ended before the last candidate."""

    hits: list[_Hit]
    total: int
    total_files: int
    is_exact: bool


def search(asking: Asking, question: Search) -> Hits | SymbolList:
    """Answer with matching lines grouped by file, or with definitions where a kind is asked for."""
    try:
        if question.regex:
            asking.rows("check_pattern", tuple, pattern=question.query)
        return symbols.named(asking, question) if question.kind else _text(asking, question)
    except duckdb.InvalidInputException as problem:
        raise Refused(
            "invalid",
            f"{question.query!r} is no regular expression: {str(problem).splitlines()[0]}",
            "Write RE2 syntax, without look-around or back-references; or leave `regex` out to search for the text.",
        ) from problem


def _text(asking: Asking, question: Search) -> Hits:
    offset = int(question.cursor or 0)
    asked = _asked(question)
    found = _find(asking, asked, _candidates(asking, question, asked.needed), question, offset)
    pieces = cut_page(_pieces(asking, asked, question.context, found.hits), asking)
    following = continuing(question, offset + len(pieces), found.total)
    note = asking.partial if found.total else coverage.of_text(asking, question.path, question.language)
    return Hits(
        _joined(pieces), found.total, found.total_files, following, note, total_is_lower_bound=not found.is_exact
    )


def _asked(question: Search) -> _Asked:
    """Say what is searched for. A block is tried whole where `^` and `$` can be told to mean the ends of its lines."""
    line = globs.query_pattern(question)
    if question.regex:
        templates = literals.read(question.query, case_sensitive=question.case_sensitive)
        needed = literals.of_templates(templates)
        return _Asked(line, "" if templates is None else f"(?m){line}", needed)
    needed = literals.of_literal(question.query, case_sensitive=question.case_sensitive)
    return _Asked(line, f"(?m){line}", needed)


def _candidates(asking: Asking, question: Search, needed: Needed | None) -> Iterator[int]:
    """Yield the blocks that may hold hits, in their order."""
    signatures = asking.signatures
    ranges = [_Range(0, signatures.blocks - 1)]
    if question.path or question.language:
        filters = {"path": paths.pattern(question.path), "language": question.language}
        ranges = asking.rows("search_blocks", _Range, **filters)
    if needed is None:
        return chain.from_iterable(range(first, last + 1) for first, last in ranges)
    return _inside(numbers(signatures.holding(needed)), ranges)


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


def _find(asking: Asking, asked: _Asked, candidates: Iterator[int], question: Search, offset: int) -> _Found:
    """Search the candidates until a hit is left for the next page, and COUNTED_BLOCKS of them at least."""
    end = offset + min(question.max_results, asking.profile.max_rows)
    hits: list[_Hit] = []
    total = total_files = searched = 0
    path = None
    while blocks := list(islice(candidates, STEP)):
        if total > end and searched >= COUNTED_BLOCKS:
            return _Found(hits, total, total_files, is_exact=False)
        searched += len(blocks)
        for block in asking.rows("search_text", _Block, blocks=blocks, line=asked.line, block=asked.block):
            if not block.places:
                continue
            page = block.places[max(offset - total, 0) : max(end - total, 0)]
            hits += [_Hit(block.first_line + place, block) for place in page]
            total += len(block.places)
            total_files += block.path != path
            path = block.path
    return _Found(hits, total, total_files, is_exact=True)


def _pieces(asking: Asking, asked: _Asked, context: int, hits: Sequence[_Hit]) -> list[_Piece]:
    """Return a piece for each hit: a page is cut between two hits, within a file too."""
    if not hits:
        return []
    text = _around(asking, context, hits)
    columns = _columns(asking, asked, {(hit.block.path, hit.line): text[hit.block.path, hit.line] for hit in hits})
    where = {"paths": [hit.block.path for hit in hits], "lines": [hit.line for hit in hits]}
    enclosing = {(row.path, row.line): row for row in asking.rows("enclosing_hits", _Enclosing, **where)}
    pieces = []
    for path, group in groupby(hits, lambda hit: hit.block.path):
        following = 0  # the first line of the file that no piece shows
        for hit in group:
            around = enclosing[path, hit.line]
            numbers = range(max(hit.line - context, following), hit.line + context + 1)
            lines = [(n, shown(text[path, n], at=columns.get((path, n), 0))) for n in numbers if (path, n) in text]
            pieces.append(_Piece("" if following else path, around.language, hit.line, lines, around.qualified_name))
            following = numbers.stop
    return pieces


def _around(asking: Asking, context: int, hits: Sequence[_Hit]) -> dict[tuple[str, int], str]:
    """Return the lines within `context` of the hits; a block has at least one line, so as many blocks are enough."""
    wanted: dict[int, _Range] = {}
    for line, block in hits:
        first, last = max(line - context, 1), line + context
        before = max(block.first_line - first, 0)
        after = max(last - (block.first_line + block.size - 1), 0)
        for number in range(max(block.block - before, 0), block.block + after + 1):
            known = wanted.get(number, _Range(first, last))
            wanted[number] = _Range(min(known.first, first), max(known.last, last))
    parts = asking.rows(
        "context_lines",
        _Lines,
        blocks=list(wanted),
        first=[lines.first for lines in wanted.values()],
        last=[lines.last for lines in wanted.values()],
    )
    return {(part.path, number): line for part in parts for number, line in enumerate(part.lines, part.first)}


def _columns(asking: Asking, asked: _Asked, hits: dict[tuple[str, int], str]) -> dict[tuple[str, int], int]:
    """Return where the match begins in those lines that are too long to be shown whole."""
    long = {place: line for place, line in hits.items() if len(line) > SHOWN_LINE_CHARS}
    if not long:
        return {}
    found = asking.rows("found_at", _Column, lines=list(long.values()), line=asked.line)
    return {place: row.column for place, row in zip(long, found, strict=True)}


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
