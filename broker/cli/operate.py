"""What an operator asks a server that is running: how its index stands, what has changed, to build it anew."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import msgspec

from fledgling.broker import status as stands
from fledgling.broker.cli import terminal
from fledgling.broker.cli.help import Command
from fledgling.broker.cli.project import json_option, project_of, setting_options
from fledgling.broker.control import asking
from fledgling.broker.control.asking import ServedIndex
from fledgling.messages.answers import Refusal
from fledgling.messages.operating import AskStatus, FromOperator, Reindex
from fledgling.messages.status import Status

EVERY_SECONDS = 0.2  # how often a build is looked at
LOOK_SECONDS = 60.0  # for a look at the project; the longest query_timeout of a shipped profile, which it may take

since_option = click.option(
    "--since", type=click.IntRange(0), metavar="GENERATION", help="a number from _meta of an answer, or from here"
)


@click.command(cls=Command, examples=("fledgling status", "fledgling status --since 12 --json"))
@setting_options
@since_option
@json_option
def status(since: int | None, as_json: bool, **options: Any) -> None:
    """Say how the index of a running server stands, and what has changed as of its last look at the project.

    The server was started with `serve --control`. Exit codes: 0; 1 a build has failed; 2 there is no such server.
    """
    with _indexes(options) as indexes:
        found = _asked(indexes, lambda index: AskStatus(index.number, since))
    _show(indexes, found, as_json=as_json)
    raise SystemExit(terminal.NOTHING if any(said.state == "failed" for said in found) else terminal.OK)


@click.command("check-updates", cls=Command, examples=("fledgling check-updates --since 12",))
@setting_options
@since_option
@json_option
def check_updates(since: int | None, as_json: bool, **options: Any) -> None:
    """Have a running server look for changes, and say which files are others, by default than in its index.

    Exit codes: 0 there are some; 1 there are none, or nobody can tell; 2 there is no server that takes commands.
    """
    with _indexes(options) as indexes:
        found = _asked(indexes, lambda index: AskStatus(index.number, since, looks=True))
    _show(indexes, found, as_json=as_json)
    raise SystemExit(terminal.OK if any(map(_has_changes, found)) else terminal.NOTHING)


@click.command(cls=Command, examples=("fledgling reindex",))
@setting_options
@json_option
def reindex(as_json: bool, **options: Any) -> None:
    """Have a running server build its index anew, and wait for that; it serves the one before meanwhile.

    Exit codes: 0 it is built; 1 it could not be; 2 there is no server that takes commands.
    """
    with _indexes(options) as indexes:
        found = _asked(indexes, lambda index: Reindex(index.number))
        line = terminal.ProgressLine()
        while any(said.state in ("pending", "in_progress") for said in found):
            time.sleep(EVERY_SECONDS)
            found = _asked(indexes, lambda index: AskStatus(index.number))
            line.draw(", ".join(f"{said.progress:g} % {said.current_file or ''}".rstrip() for said in found))
        line.clear()
        found = _asked(indexes, lambda index: AskStatus(index.number, looks=True))  # by now it serves
    _show(indexes, found, as_json=as_json)
    raise SystemExit(terminal.OK if all(said.state == "completed" for said in found) else terminal.NOTHING)


@contextmanager
def _indexes(options: dict[str, Any]) -> Iterator[list[ServedIndex]]:
    """Yield what is served of a root; where somebody has named a profile, under that alone."""
    project = project_of(options)
    with asking.indexes(os.environ, Path(project.settings.root)) as found:
        is_any = project.resolved.sources["profile"] == "default"
        wanted = [index for index in found if is_any or index.serving.digest == project.profile.digest]
        if not wanted:
            under = "" if is_any else f" under the profile {project.profile.name}"
            terminal.fail(
                f"no server of this root{under} takes commands. Start one with `fledgling serve --control`; "
                "`fledgling index` says what an index built now holds."
            )
        yield wanted


def _asked(indexes: list[ServedIndex], request: Callable[[ServedIndex], FromOperator]) -> list[Status]:
    """Put a request about each index to its server."""
    return [_status(index.ask(request(index), LOOK_SECONDS)) for index in indexes]


def _status(reply: object) -> Status:
    if isinstance(reply, Refusal):
        terminal.refuse(reply)
    if not isinstance(reply, Status):
        terminal.fail("the server has ended, or does not answer", terminal.NOTHING)
    return reply


def _has_changes(said: Status) -> bool:
    changes = said.changes
    return changes is not None and any(of.count for of in (changes.added, changes.modified, changes.deleted))


def _show(indexes: list[ServedIndex], found: list[Status], *, as_json: bool) -> None:
    told = list(zip(indexes, found, strict=True))
    if as_json:
        terminal.show_json([_values(index, said) for index, said in told])
        return
    blocks = (
        "\n".join([f"server {index.pid}, {_served(index)}", *(f"  {line}" for line in stands.lines(said))])
        for index, said in told
    )
    terminal.show_text("\n\n".join(blocks))


def _values(index: ServedIndex, said: Status) -> dict[str, Any]:
    of = {"pid": index.pid, "profile": index.serving.profile, "agent": index.serving.agent}
    values = msgspec.structs.asdict(said)
    changes = values["changes"]
    return {**of, **values, "changes": changes and msgspec.structs.asdict(changes)}


def _served(index: ServedIndex) -> str:
    agent = f", agent {index.serving.agent}" if index.serving.agent else ""
    return f"profile {index.serving.profile}{agent}"
