"""Answers and errors on a terminal: text, in colour or not, or JSON; exit codes, and progress on standard error."""

import io
import sys
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple, NoReturn

import click
import msgspec

from fledgling.broker.cli import paint
from fledgling.broker.cli.commands import command, in_shell
from fledgling.broker.protocol import render, tools
from fledgling.messages.answers import AnyAnswer, Hits, Ranking, Refusal, RefusalKind, SymbolList, Table
from fledgling.messages.control import Progress
from fledgling.plain import one_line, visible, visible_json

OK, NOTHING, USAGE, PARTIAL, DENIED, TIMEOUT = 0, 1, 2, 3, 4, 124
REFUSED: dict[RefusalKind, int] = {"denied": DENIED, "timeout": TIMEOUT, "invalid": USAGE}  # any other is NOTHING

FORMATS = ("table", "csv", "jsonl", "parquet")  # of rows, as formats.py writes them

_KINDS: dict[int, RefusalKind] = {USAGE: "invalid", DENIED: "denied", TIMEOUT: "timeout"}

SAID_SECONDS = 5.0  # of waiting for the index until somebody who sees no progress is told


class Looks(NamedTuple):
    """How an answer is printed: as JSON, in colour, as paths alone, or in a form of formats.py.

    `settings` are words of options as they were given; `spans` says what matches in a line, where that is marked;
    `width` is that of the terminal, if rows are for one, also where a pager shows them.
    """

    as_json: bool = False
    has_color: bool = False
    is_listed: bool = False
    form: str | None = None
    settings: tuple[str, ...] = ()
    spans: paint.Spans | None = None
    width: int | None = None


def show(answer: AnyAnswer, looks: Looks) -> None:
    """Print an answer to standard output."""
    if looks.form and isinstance(answer, Table):
        from fledgling.broker.cli import formats  # noqa: PLC0415  (few answers are in one)

        formats.show(answer, looks.form, looks.width)
        if answer.note or answer.truncated:
            click.echo(f"fledgling: {visible(answer.note or 'these are not all rows')}", err=True)
        return
    out, err = shown(answer, looks)
    click.echo(out, nl=False, color=True)
    click.echo(err, nl=False, err=True)


def shown(answer: AnyAnswer, looks: Looks) -> tuple[str, str]:
    """Return what is printed of an answer that has no form of its own: on standard output, and on standard error."""
    if looks.as_json:
        return _json(render.structured(answer)), ""
    if looks.is_listed and isinstance(answer, Hits | SymbolList):
        paths = "".join(f"{visible(one_line(file.path))}\n" for file in answer.files)
        note = answer.note and f"fledgling: {visible(in_shell(answer.note, looks.settings))}\n"
        return paths, note or ""
    following = {} if isinstance(answer, Table | Ranking) else {"next": None}
    body = tools.text(msgspec.structs.replace(answer, note=None, **following))
    text = "\n".join([body, *_closing(answer, looks.settings)])
    return (paint.painted(text, answer, looks.spans) if looks.has_color else visible(text)) + "\n", ""


def _closing(answer: AnyAnswer, settings: Sequence[str]) -> Iterator[str]:
    """Yield what is said at the end of an answer, with calls as commands."""
    if answer.note:
        yield f"[{in_shell(answer.note, settings)}]"
    if not isinstance(answer, Table | Ranking) and answer.next:
        yield f"[cut here; go on with: {command(answer.next.tool, answer.next.arguments, settings)}]"


def show_json(values: object) -> None:
    """Print one JSON value, indented for a person who looks; no terminal obeys it, and it means the same."""
    click.echo(_json(values), nl=False)


def _json(values: object) -> str:
    return f"{visible_json(msgspec.json.format(msgspec.json.encode(values), indent=2).decode())}\n"


def show_line(value: object) -> None:
    """Print one JSON value on a line of its own, for a program that reads on."""
    click.echo(visible_json(msgspec.json.encode(value).decode()))


def show_text(text: str) -> None:
    """Print text; what a hostile file would have a terminal do is shown, also where a pager hands it on."""
    click.echo(visible(text))


def show_rows(rows: Sequence[tuple[str, ...]], name: str, keys: Sequence[str], *, as_json: bool) -> None:
    """Print rows as aligned columns, or as a JSON object with a list of objects: `{"agents": [{"name": ...}]}`."""
    if as_json:
        show_json({name: [dict(zip(keys, row, strict=True)) for row in rows]})
    else:
        show_table(rows)


def show_table(rows: Sequence[tuple[str, ...]]) -> None:
    """Print rows as aligned columns."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        show_text("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def exit_code(answer: AnyAnswer, *, is_partial: bool) -> int:
    """Return what the shell is told: nothing found, found in a partial index, or found."""
    if tools.is_empty(answer):
        return NOTHING
    return PARTIAL if is_partial else OK


def refuse(refusal: Refusal, settings: Sequence[str] = ()) -> NoReturn:
    """Print why there is no answer, and exit with the code for it; `settings` go with a command that it names."""
    message, code = refused(refusal, settings)
    fail(message, code, refusal.kind)


def refused(refusal: Refusal, settings: Sequence[str]) -> tuple[str, int]:
    """Return why there is no answer, as a line, and the exit code for it."""
    return in_shell(render.refusal(refusal), settings), REFUSED.get(refusal.kind, NOTHING)


def fail(message: str, code: int = USAGE, kind: RefusalKind | None = None) -> NoReturn:
    """Print one line to standard error and exit; where JSON is asked for, standard output has the same as an object."""
    out, err = failure(message, code, kind, as_json=asks_for_json(sys.argv[1:]))
    click.echo(out, nl=False)
    click.echo(err, nl=False, err=True)
    sys.exit(code)


def failure(message: str, code: int, kind: RefusalKind | None, *, as_json: bool) -> tuple[str, str]:
    """Return what is printed of a failure: on standard output, and on standard error."""
    error = {"kind": kind or _KINDS.get(code, "failed"), "message": message, "exit_code": code}
    return _json({"error": error}) if as_json else "", f"fledgling: {visible(message)}\n"


def asks_for_json(words: Sequence[str]) -> bool:
    """Return whether a command is asked for JSON, though it may not have been understood."""
    return "--json" in (words[: words.index("--")] if "--" in words else words)


def give_up(message: str) -> NoReturn:
    """Print one line to standard error and exit; what waits to be printed, and may be what cannot be, is dropped."""
    sys.stdout = io.StringIO()
    fail(message, NOTHING)


class ProgressLine:
    """One line on standard error: how far the index is, or where that is no terminal, what of it is waited for."""

    def __init__(self, awaited: str = "the index") -> None:
        self._awaited = awaited
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
            click.echo(f"fledgling: waiting for {self._awaited}, which is built for this one command", err=True)
            self._is_said = True

    def draw(self, text: str) -> None:
        """Draw the line anew, on a terminal; what a file is called there is obeyed by none."""
        if sys.stderr.isatty():
            click.echo(f"\r\x1b[Kindexing: {visible(text)}", nl=False, err=True)
            self._is_shown = True

    def clear(self) -> None:
        """Take the line away."""
        if self._is_shown:
            click.echo("\r\x1b[K", nl=False, err=True)
            self._is_shown = False
