"""What operators ask running servers: how an index stands, what has changed, to build it anew or give it up."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import msgspec

from fledgling.broker import status as stands
from fledgling.broker.cli import terminal
from fledgling.broker.cli.help import Command
from fledgling.broker.cli.project import json_option, project_of, setting_options
from fledgling.broker.control import asking, place
from fledgling.broker.control.asking import ServedIndex
from fledgling.broker.protocol import render
from fledgling.messages.answers import Refusal
from fledgling.messages.bounded import MAX_COUNT
from fledgling.messages.operating import AskStatus, FromOperator, Purge, Reindex
from fledgling.messages.status import Status

EVERY_SECONDS = 0.2  # how often a build is looked at
LOOK_SECONDS = 60.0  # for a look at the project; the longest query_timeout of a shipped profile, which it may take

BUSY = (
    "takes commands and does not answer: it is starting, busy with others, or stopped. "
    f"Ask again in {place.REQUEST_SECONDS:.0f} s; if it still does not answer, it is stopped: end it."
)

FAILED, IN_PART = 1, 2  # as scripts that fill an index expect; wrong usage is 2, too

since_option = click.option(
    "--since",
    type=click.IntRange(0, MAX_COUNT),
    metavar="GENERATION",
    help="changes since this one: a number that `status`, or _meta of an answer, has",
)


def _of_project(command: Callable[..., None]) -> Callable[..., None]:
    """Add what names an index: a directory, or a project of a server that has several."""
    named = click.option(
        "--name", metavar="PROJECT", help="the project of this name; without a directory, of any server"
    )
    directory = click.argument("directory", required=False, type=click.Path(exists=True, file_okay=False))
    return setting_options(named(directory(command)), profile="only indexes under this profile")


@click.command(cls=Command, examples=("fledgling status", "fledgling status --since 12 --json"))
@_of_project
@since_option
@json_option
def status(since: int | None, as_json: bool, **options: Any) -> None:
    """Say how the index of a running server stands, and what has changed as of its last look at the project.

    The server was started with `serve --control`. Exit codes: 0 no build failed, no index is partial; 1 a build has
    failed, or there is no such server; 2 an index is partial.
    """
    indexes = _indexes(options)
    found = _asked(indexes, lambda index: AskStatus(index.number, since))
    _show(indexes, found, as_json=as_json)
    raise SystemExit(FAILED if any(said.state == "failed" for said in found) else _whole(found))


@click.command("check-updates", cls=Command, examples=("fledgling check-updates --since 12",))
@_of_project
@since_option
@json_option
def check_updates(since: int | None, as_json: bool, **options: Any) -> None:
    """Have a running server look for changes, and say which files differ, by default from its index.

    Exit codes: 0 it is said, be it nothing; 1 nobody can tell, or there is no server that takes commands; 2 not of all
    indexes.
    """
    indexes = _indexes(options)
    found = _asked(indexes, lambda index: AskStatus(index.number, since, looks=True))
    _show(indexes, found, as_json=as_json)
    known = [said.changes is not None for said in found]
    raise SystemExit(terminal.OK if all(known) else IN_PART if any(known) else FAILED)


@click.command(cls=Command, examples=("fledgling reindex",))
@_of_project
@json_option
def reindex(as_json: bool, **options: Any) -> None:
    """Have a running server build its index anew, and wait for that; it serves the one before meanwhile.

    Exit codes: 0 it is built; 1 it could not be, or there is no server that takes commands; 2 an index is partial.
    """
    raise SystemExit(_ingested(options, _built, as_json=as_json))


@click.command(cls=Command, examples=("fledgling ingest", "fledgling ingest src/api", "fledgling ingest --name api"))
@_of_project
@json_option
def ingest(as_json: bool, **options: Any) -> None:
    """Have a running server index a directory or project anew, and wait for that.

    Nothing is kept on a disk: the directory is one of a server that was started with `serve --control`.
    Exit codes: 0 all is indexed; 1 nothing is; 2 an index is partial.
    """
    raise SystemExit(_ingested(options, _built, as_json=as_json))


@click.command("ingest-delta", cls=Command, examples=("fledgling ingest-delta", "fledgling ingest-delta --name api"))
@_of_project
@json_option
def ingest_delta(as_json: bool, **options: Any) -> None:
    """Have a running server take over what has changed in a directory or project, and say what that is.

    Exit codes: 0 all is indexed; 1 nothing is, or nobody can tell what has changed; 2 an index is
    partial.
    """
    raise SystemExit(_ingested(options, _updated, as_json=as_json))


@click.command(cls=Command, examples=("fledgling purge --name api",))
@_of_project
@json_option
def purge(as_json: bool, **options: Any) -> None:
    """Have a running server of several projects drop the index of one, with all its processes and memory.

    The next question about the project indexes it again. Exit codes: 0 it is dropped; 1 it is the only one of its
    server, or there is no such server.
    """
    indexes = _indexes(options)
    found = _asked(indexes, lambda index: Purge(index.number))
    _show(indexes, found, as_json=as_json)


@click.command("list", cls=Command, examples=("fledgling list", "fledgling list --json"))
@json_option
def list_served(as_json: bool) -> None:
    """List what running servers of this user serve, of those that were started with `serve --control`.

    Those that are too busy to answer are missing: standard error has a line for each. Exit code 1: there are none.
    """
    found = asking.served(os.environ, None)
    replies = ((index, index.ask(AskStatus(index.number), LOOK_SECONDS)) for index in found.indexes)
    served = [(index, said) for index, said in replies if isinstance(said, Status)]
    if not served:
        if found.silent:
            terminal.fail(f"a server of yours {BUSY}", FAILED)
        terminal.fail("no server of yours takes commands; start one with `fledgling serve --control`", FAILED)
    served.sort(key=lambda each: (each[0].pid, each[0].serving.project or "", each[0].serving.agent or ""))
    if as_json:
        terminal.show_json({"served": [{"root": index.root, **_values(index, said)} for index, said in served]})
        return
    terminal.show_table(
        [
            ("project", "state", "files", "profile", "agent", "pid", "root"),
            *(_row(index, said) for index, said in served),
        ]
    )


def _row(index: ServedIndex, said: Status) -> tuple[str, ...]:
    files = "-" if said.total_files is None else str(said.total_files)
    serving = index.serving
    project, agent = serving.project or "-", serving.agent or "-"
    return project, said.state, files, serving.profile, agent, str(index.pid), index.root


def _built(indexes: list[ServedIndex]) -> list[Status]:
    """Have indexes built anew, and wait for that: percent, file and seconds go to the terminal meanwhile."""
    found = _asked(indexes, lambda index: Reindex(index.number))
    line, begun = terminal.ProgressLine(), time.monotonic()
    while any(said.state in ("pending", "in_progress") for said in found):
        time.sleep(EVERY_SECONDS)
        found = _asked(indexes, lambda index: AskStatus(index.number))
        how_far = ", ".join(f"{said.progress:g} % {said.current_file or ''}".rstrip() for said in found)
        line.draw(f"{how_far} ({time.monotonic() - begun:.0f} s)")
    line.clear()
    return _asked(indexes, lambda index: AskStatus(index.number, looks=True))  # by now it serves


def _updated(indexes: list[ServedIndex]) -> list[Status]:
    """Have indexes take over what has changed; those of which there is nothing to compare with, yet, are built."""
    found = _asked(indexes, lambda index: AskStatus(index.number, looks=True))
    return _built(indexes) if any(said.state != "completed" for said in found) else found


def _ingested(options: dict[str, Any], ingest: Callable[[list[ServedIndex]], list[Status]], *, as_json: bool) -> int:
    """Have what is served ingested, say how it stands then, and return the exit code."""
    indexes = _indexes(options)
    found = ingest(indexes)
    _show(indexes, found, as_json=as_json)
    return FAILED if any(said.state != "completed" or said.unfollowed for said in found) else _whole(found)


def _whole(found: list[Status]) -> int:
    return IN_PART if any(said.partial for said in found) else terminal.OK


def _indexes(options: dict[str, Any]) -> list[ServedIndex]:
    """Return what is served of a root, or a project by name; where somebody has named a profile, under that alone."""
    directory, name = options.pop("directory", None), options.pop("name", None)
    if directory:
        options["root"] = (directory,)
    options["yes_really"] |= name is not None  # where the command is typed does not matter, and nothing is indexed here
    project = project_of(options)
    served = asking.served(os.environ, Path(project.settings.root) if directory or not name else None)
    is_any = project.resolved.sources["profile"] == "default"
    wanted = [
        index
        for index in served.indexes
        if name in (None, index.serving.project) and (is_any or index.serving.digest == project.profile.digest)
    ]
    if not wanted and served.silent:
        terminal.fail(f"a server {'of yours' if name and not directory else 'of this root'} {BUSY}", FAILED)
    if not wanted:
        what = f"project {name!r}" if name else "this root"
        under = "" if is_any else f" under the profile {project.profile.name}"
        terminal.fail(
            f"no server of {what}{under} takes commands. Start one with `fledgling serve --control`; "
            "`fledgling index` says what an index built now holds.",
            FAILED,
        )
    return wanted


def _asked(indexes: list[ServedIndex], request: Callable[[ServedIndex], FromOperator]) -> list[Status]:
    """Put a request about each index to its server."""
    return [_status(index.ask(request(index), LOOK_SECONDS)) for index in indexes]


def _status(reply: object) -> Status:
    if isinstance(reply, Refusal):
        terminal.fail(render.refusal(reply), FAILED, reply.kind)
    if not isinstance(reply, Status):
        terminal.fail("the server has ended, or does not answer; start it again, or ask again", FAILED)
    return reply


def _show(indexes: list[ServedIndex], found: list[Status], *, as_json: bool) -> None:
    told = list(zip(indexes, found, strict=True))
    if as_json:
        terminal.show_json({"indexes": [_values(index, said) for index, said in told]})
        return
    blocks = (
        "\n".join([f"server {index.pid}, {_served(index)}", *(f"  {line}" for line in stands.lines(said))])
        for index, said in told
    )
    terminal.show_text("\n\n".join(blocks))


def _values(index: ServedIndex, said: Status) -> dict[str, Any]:
    serving = index.serving
    of = {"pid": index.pid, "project": serving.project, "profile": serving.profile, "agent": serving.agent}
    values = msgspec.structs.asdict(said)
    changes = values["changes"]
    return {**of, **values, "changes": changes and msgspec.structs.asdict(changes)}


def _served(index: ServedIndex) -> str:
    project = f"project {index.serving.project}, " if index.serving.project else ""
    agent = f", agent {index.serving.agent}" if index.serving.agent else ""
    return f"{project}profile {index.serving.profile}{agent}"
