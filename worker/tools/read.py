"""The read tool: lines of one file, by number or by definition."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from fledgling.messages.answers import Context, Excerpt, Next
from fledgling.messages.bounded import MAX_LINE
from fledgling.messages.questions import Read
from fledgling.plain import counted, in_sentence
from fledgling.refusals import NO_DEFINITION
from fledgling.worker.reasons import PASSING
from fledgling.worker.store.symbols import Row
from fledgling.worker.store.text import File
from fledgling.worker.tools import context, paths, relations, unknown
from fledgling.worker.tools.definitions import inherited
from fledgling.worker.tools.meant import SHOWN_MEANT, VALUES, named
from fledgling.worker.tools.request import Refused, Request, shown

SIGNATURE_CHARS = 120  # of an overload that a refusal names
READ_LINE_CHARS = 2_000  # characters shown of one line; longer lines are minified or data


class _Range(NamedTuple):
    start: int
    end: int
    note: str | None = None


def read(request: Request, question: Read) -> Excerpt | Context:
    """Answer with the asked lines, cut at a page; refuse what is not there with what is."""
    file = paths.find_file(request, question.path)
    reason = file.skip_reason or ("" if request.opened.generation.has_content else "index_content is off")
    if reason:
        raise Refused(
            "unavailable" if reason in PASSING else "not_indexed",
            f"the content of {in_sentence(file.path)} ({file.size_bytes} bytes) is not in the index: {reason}",
            "Read another file; explore() says for each file why it was skipped.",
        )
    wanted = _range(request, question, file)
    if question.budget_tokens:
        found = context.context(request, question, file, wanted.start, wanted.end)
        return replace(
            found,
            note=unknown.joined(
                found.note, wanted.note, _parsing(request, file, question, None), relations.unseen(request, file)
            ),
        )
    lines, cut_lines = _lines(request, file, wanted)
    last = wanted.start + len(lines) - 1
    enclosing = _enclosing(request, file, wanted.start, wanted.end if question.symbol else max(last, wanted.start))
    inside = ", ".join(f"{row.kind} {row.name}" for row in enclosing) or None
    return Excerpt(
        path=file.path,
        language=file.language,
        first=wanted.start,
        lines=lines,
        total_lines=file.line_count or 0,
        enclosing=inside,
        next=_continue(file.path, last + 1, wanted.end) if lines and last < wanted.end else None,
        note=unknown.joined(
            wanted.note,
            _parsing(request, file, question, inside),
            request.unread if request.is_unread(file.path) else None,
            request.pending if wanted.start > 1 else None,
            cut_lines,
            f"Not UTF-8, but taken for {file.encoding}." if file.encoding else None,
            unknown.of_hidden(unknown.hidden_lines(request, file, wanted.start, last)),
            _empty(file, lines),
            unknown.of_outputs([file]),
        ),
    )


def _parsing(request: Request, file: File, question: Read, inside: str | None) -> str | None:
    """Say that a file was not parsed whole, where lines were chosen or named by what was parsed."""
    if not (question.symbol or inside):
        return None
    so = "the end may be too early" if question.symbol else "what encloses this may be wrong"
    return unknown.of_parsing(request, [file], so)


def _range(request: Request, question: Read, file: File) -> _Range:
    total = file.line_count or 0
    if question.symbol:
        if question.start_line or question.end_line:
            raise Refused(
                "invalid", "both a symbol and lines were given", "Give either `symbol` or `start_line` and `end_line`."
            )
        return _definition(request, file, question.symbol, takes_last=question.budget_tokens is not None)
    start, end = question.start_line or 1, question.end_line or MAX_LINE
    if end < start:
        other = f'read(path="{file.path}", start_line={end}, end_line={start})'
        raise Refused("invalid", f"end_line {end} is before start_line {start}", f"Perhaps you mean {other}.")
    if start > max(total, 1):
        reason = f"{in_sentence(file.path)} has {counted(total, 'line')}; start_line is {start}"
        raise Refused("invalid", reason, f"Read from a line up to {total}.")
    return _Range(start, min(end, total))


def _definition(request: Request, file: File, symbol: str, *, takes_last: bool) -> _Range:
    """Return the lines of the one definition of a name; of its variants, if one `takes_last`, the last has the body."""
    path = file.path
    found = _named(request, file, symbol)
    full = [row for row in found if row.qualified_name == symbol]
    chosen = full if len(full) == 1 else _holding(found)
    is_overloaded = len({row.qualified_name for row in found}) == 1
    if is_overloaded:
        code = [row for row in found if row.kind not in VALUES] or found
        if takes_last:
            chosen = code[-1:]
        elif len(found) > 1 and _is_in_a_row(request, file, found):
            many = f"{symbol} is defined {len(found)} times here, one after the other."
            return _Range(found[0].line_start, max(row.line_end for row in found), many)
    if len(chosen) == 1:
        others = [f"{row.qualified_name} (lines {row.line_start}-{row.line_end})" for row in found if row != chosen[0]]
        note = f"Also of this name here: {unknown.listed(others)}; read one by its lines." if others else None
        return _Range(chosen[0].line_start, chosen[0].line_end, note)
    if not found:
        raise _undefined(request, file, symbol)
    places = "; ".join(_place(row, is_overloaded=is_overloaded) for row in found[:SHOWN_MEANT])
    more = f"; and {len(found) - SHOWN_MEANT:,} more" if len(found) > SHOWN_MEANT else ""
    raise Refused(
        "ambiguous",
        f"{symbol!r} names {len(found)} definitions in {in_sentence(path)}: {places}{more}",
        f"Give {'the lines' if is_overloaded else 'the qualified name, or the lines'}: "
        f'read(path="{path}", start_line={found[0].line_start}, end_line={found[0].line_end}).',
    )


def _place(row: Row, *, is_overloaded: bool) -> str:
    """Say which of several a definition is: by its parameters, where their names are the same."""
    named = f"{row.kind} {row.qualified_name}"
    if is_overloaded and row.signature:
        found = re.search(rf"(?<!\w){re.escape(row.name)}(?!\w).*", row.signature, re.DOTALL)
        named = shown(found[0] if found else row.name, SIGNATURE_CHARS)
    return f"{named}, lines {row.line_start}-{row.line_end}"


def _undefined(request: Request, file: File, symbol: str) -> Refused:
    """Return the refusal for a name that is not defined in a file, or not known to be."""
    known = request.outlines.definitions(file) if request.outlines else []
    names, qualified = [row.name for row in known], [row.qualified_name for row in known]
    nearest = request.rows("nearest_symbols", paths.Suggestion, names=names, qualified_names=qualified, symbol=symbol)
    near = f"The nearest: {', '.join(in_sentence(row.path) for row in nearest)}. " if nearest else ""
    if why := unknown.why_undefined(request, file):
        name = symbol.replace("::", ".").rpartition(".")[2]
        next_step = f'{near}search(query="{name}", path="{file.path}") finds its lines; read them by their numbers.'
        return Refused(
            "not_found", f"{NO_DEFINITION} {symbol!r} is known in {in_sentence(file.path)}: {why}", next_step
        )
    if above := inherited(request, symbol):
        name, place = above.row.qualified_name, above.file.path
        has_it = f"{symbol.rpartition('.')[0]} has it from {above.row.kind} {name} ({place}:{above.row.line_start})"
        reason = f"{NO_DEFINITION} {symbol!r} in {in_sentence(file.path)}; {has_it}"
        return Refused("not_found", reason, f'read(path="{place}", symbol="{name}").')
    hint = near or "The index holds no definition of this file. "
    return Refused(
        "not_found",
        f"{NO_DEFINITION} {symbol!r} in {in_sentence(file.path)}",
        f'{hint}symbols(path="{file.path}") lists them all.',
    )


def _named(request: Request, file: File, symbol: str) -> list[Row]:
    """Return the definitions that `Class.method` names: in full, or by the last parts of their qualified name."""
    rows = request.outlines.definitions(file) if request.outlines else []
    return sorted(named(rows, symbol), key=lambda row: (row.line_start, -row.line_end, row.qualified_name))


def _holding(rows: list[Row]) -> list[Row]:
    """Return the first alone if all others are in it, as constructors are in their class; else all."""
    if not rows:
        return rows
    first, *others = rows
    inside = f"{first.qualified_name}."
    holds = all(row.line_end <= first.line_end and row.qualified_name.startswith(inside) for row in others)
    return [first] if holds else rows


def _is_in_a_row(request: Request, file: File, rows: list[Row]) -> bool:
    """Return whether nothing else is defined from the first of some variants to the last, as between overloads."""
    first, last, name = rows[0].line_start, max(row.line_end for row in rows), rows[0].qualified_name
    every = request.outlines.definitions(file) if request.outlines else []
    between = (row.qualified_name for row in every if first <= row.line_start <= last)
    return all(each == name or each.startswith(f"{name}.") for each in between)


def _enclosing(request: Request, file: File, start: int, end: int) -> list[Row]:
    """Return the definitions that enclose all lines from `start` to `end` and more, the outermost first."""
    rows = request.outlines.definitions(file) if request.outlines else []
    return [
        row
        for row in rows
        if row.line_start <= start and row.line_end >= end and (row.line_start < start or row.line_end > end)
    ]


def _lines(request: Request, file: File, wanted: _Range) -> tuple[list[str], str | None]:
    """Return the lines that fit in a page, and a note where long ones were cut."""
    lines: list[str] = []
    room, cut = request.page_chars, 0
    for number, line in _numbered(request, file, wanted):
        cut += len(line) > READ_LINE_CHARS
        text = shown(line, READ_LINE_CHARS)
        room -= len(text) + len(str(number)) + 2
        if lines and room < 0:
            break
        lines.append(text)
    return lines, _cut_note(cut)


def _numbered(request: Request, file: File, wanted: _Range) -> Iterator[tuple[int, str]]:
    """Yield the lines of a range, up to the last that there is; those between that a view hides are blank."""
    following = wanted.start
    for block in request.blocks.holding(file, wanted.start, wanted.end):
        text = request.blocks.text(block).decode()
        for number, line in enumerate(text.split("\n"), request.blocks.first_lines[block]):
            if wanted.start <= number <= wanted.end:
                yield from ((hidden, "") for hidden in range(following, number))
                yield number, line
                following = number + 1


def _cut_note(cut: int) -> str | None:
    return f"Cut: {counted(cut, 'line')} of more than {READ_LINE_CHARS:,} characters." if cut else None


def _empty(file: File, lines: list[str]) -> str | None:
    if lines:
        return None
    return "The profile hides these lines." if file.line_count or file.blocks else "The file is empty."


def _continue(path: str, start: int, end: int) -> Next:
    return Next("read", {"path": path, "start_line": start, "end_line": end})
