"""Answers and errors on a terminal: text or JSON, exit codes, and progress on standard error."""

import io
import sys
import time
from collections.abc import Sequence
from typing import NoReturn

import click
import msgspec

from fledgling.broker.protocol import render, tools
from fledgling.messages.answers import AnyAnswer, Refusal, RefusalKind
from fledgling.messages.control import Progress
from fledgling.plain import visible, visible_json

OK, NOTHING, USAGE, PARTIAL, DENIED, TIMEOUT = 0, 1, 2, 3, 4, 124
REFUSED: dict[RefusalKind, int] = {"denied": DENIED, "timeout": TIMEOUT, "invalid": USAGE}  # any other is NOTHING

SAID_SECONDS = 5.0  # of waiting for the index until somebody who sees no progress is told


def show(answer: AnyAnswer, *, as_json: bool) -> None:
    """Print an answer to standard output."""
    if as_json:
        show_json(render.structured(answer))
    else:
        show_text(tools.text(answer))


def show_json(values: object) -> None:
    """Print one JSON value, indented for a person who looks; no terminal obeys it, and it means the same."""
    click.echo(visible_json(msgspec.json.format(msgspec.json.encode(values), indent=2).decode()))


def show_text(text: str) -> None:
    """Print text; what a hostile file would have a terminal do is shown, also where a pager hands it on."""
    click.echo(visible(text))


def show_rows(rows: Sequence[tuple[str, ...]], *, as_json: bool) -> None:
    """Print rows as aligned columns, or as a JSON list of lists."""
    if as_json:
        show_json(rows)
        return
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        show_text("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def exit_code(answer: AnyAnswer, *, is_partial: bool) -> int:
    """Return what the shell is told: nothing found, found in a partial index, or found."""
    if tools.is_empty(answer):
        return NOTHING
    return PARTIAL if is_partial else OK


def refuse(refusal: Refusal) -> NoReturn:
    """Print why there is no answer, and exit with the code for it."""
    fail(render.refusal(refusal), REFUSED.get(refusal.kind, NOTHING))


def fail(message: str, code: int = USAGE) -> NoReturn:
    """Print one line to standard error and exit."""
    click.echo(f"fledgling: {visible(message)}", err=True)
    sys.exit(code)


def give_up(message: str) -> NoReturn:
    """Print one line to standard error and exit; what waits to be printed, and may be what cannot be, is dropped."""
    sys.stdout = io.StringIO()
    fail(message, NOTHING)


class ProgressLine:
    """One line on standard error: how far the index is, or where that is no terminal, that it is waited for."""

    def __init__(self) -> None:
        self._is_shown = False
        self._begun = time.monotonic()
        self._is_said = False

    async def report(self, progress: Progress) -> None:
        """Draw the line anew."""
        if sys.stderr.isatty():
            done = f"{progress.done}/{progress.total} files" if progress.total else ""
            click.echo(f"\r\x1b[Kindexing: {progress.stage} {done}", nl=False, err=True)
            self._is_shown = True
        elif not self._is_said and time.monotonic() - self._begun > SAID_SECONDS:
            click.echo("fledgling: waiting for the index, which is built for this one command", err=True)
            self._is_said = True

    def clear(self) -> None:
        """Take the line away."""
        if self._is_shown:
            click.echo("\r\x1b[K", nl=False, err=True)
            self._is_shown = False
