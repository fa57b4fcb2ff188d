"""Rows of a query as other programs want them, or people: `query --format table | csv | jsonl | parquet`."""

import csv
import io
import sys
from collections.abc import Callable, Iterator, Mapping

import click
import msgspec

from fledgling.broker.reporting import parquet
from fledgling.messages.answers import Table
from fledgling.plain import one_line, visible, visible_json

LEAST_WIDTH = 8  # characters of a column that is cut for a narrow terminal
GAP = 2  # characters between two columns


def show(answer: Table, form: str, width: int | None = None) -> None:
    """Print all rows of an answer to standard output, and nothing else; a table in so many columns, if they are given.

    Raises click.UsageError.
    """
    if form == "parquet":
        if sys.stdout.isatty():
            raise click.UsageError("parquet is for a file: fledgling query ... --format parquet > rows.parquet")
        sys.stdout.buffer.write(parquet.written(answer.columns, answer.rows))
        return
    lines = _aligned(answer, width) if form == "table" else _LINES[form](answer)
    click.echo("".join(f"{line}\n" for line in lines), nl=False)


def _objects(answer: Table) -> Iterator[str]:
    """Yield an object a row; a column whose name is taken already is told apart by a number."""
    names = parquet.unique(answer.columns)
    for row in answer.rows:
        yield visible_json(msgspec.json.encode(dict(zip(names, row, strict=True))).decode())


def _separated(answer: Table) -> Iterator[str]:
    """Yield rows as RFC 4180 has them, but for its line ends; what a terminal would obey is shown instead."""
    for row in (answer.columns, *answer.rows):
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(["" if cell is None else _text(cell) for cell in row])
        yield visible(line.getvalue())


def _aligned(answer: Table, width: int | None) -> Iterator[str]:
    """Yield aligned columns below their names, numbers to the right."""
    rows = [[one_line("" if cell is None else _text(cell)) for cell in row] for row in answer.rows]
    heads = [one_line(name) for name in answer.columns]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    if width:
        _narrow(widths, width)
    is_number = [
        all(cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool)) for cell in column)
        for column in (zip(*answer.rows, strict=True) if rows else [()] * len(heads))
    ]
    yield _line(heads, widths, is_number)
    yield _line(["-" * width for width in widths], widths, is_number)
    yield from (_line(row, widths, is_number) for row in rows)


def _narrow(widths: list[int], room: int) -> None:
    """Take from the widest columns what a terminal has no room for."""
    while sum(widths) + GAP * (len(widths) - 1) > room and max(widths) > LEAST_WIDTH:
        widths[widths.index(max(widths))] -= 1


def _line(cells: list[str], widths: list[int], is_number: list[bool]) -> str:
    cut = (cell if len(cell) <= width else f"{cell[: width - 1]}…" for cell, width in zip(cells, widths, strict=True))
    each = zip(cut, widths, is_number, strict=True)
    return (" " * GAP).join(cell.rjust(width) if right else cell.ljust(width) for cell, width, right in each).rstrip()


def _text(cell: object) -> str:
    return cell if isinstance(cell, str) else msgspec.json.encode(cell).decode()


_LINES: Mapping[str, Callable[[Table], Iterator[str]]] = {"csv": _separated, "jsonl": _objects}
