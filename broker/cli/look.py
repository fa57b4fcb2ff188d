"""What a person looks at: the index, what it saves, a page about it, the settings."""

import logging
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec

from fledgling.broker.cli import terminal
from fledgling.broker.cli.help import Command
from fledgling.broker.cli.project import json_option, project_of, setting_options, warn
from fledgling.broker.cli.starting import build, indexed, run
from fledgling.broker.front import Front
from fledgling.broker.indexing.failures import IndexingError
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.reporting import output, report, stats
from fledgling.found import PROJECT_FILE
from fledgling.messages.answers import Refusal
from fledgling.messages.control import Accepted, Built
from fledgling.messages.generations import GRAPH
from fledgling.messages.inner_answers import Overview
from fledgling.settings import KEYS

_log = logging.getLogger("fledgling")


@click.command(cls=Command)
@setting_options
@click.option("--stats", "with_stats", is_flag=True, help="languages, what was skipped and why, slowest files, sizes")
@click.option("--sections", "with_sections", is_flag=True, help="the sections of the index files, and their bytes")
@json_option
def index(with_stats: bool, with_sections: bool, as_json: bool, **options: Any) -> None:
    """Build the index once and say what is in it."""
    project = project_of(options)
    if with_stats:
        built, overview = run(indexed(project), partial(_surveyed, calls=False))
        lines, values = [*stats.lines(built, overview)], {**msgspec.structs.asdict(built), "overview": overview}
    else:
        built = build(indexed(project, for_graph=False))
        lines, values = [stats.headline(built)], msgspec.structs.asdict(built)
    if with_sections:
        lines += stats.sections(built)
    warn(built.notices)
    if as_json:
        terminal.show_json(values)
    else:
        terminal.show_text("\n".join(lines))
    raise SystemExit(terminal.PARTIAL if built.partial else terminal.OK)


NO_SUBJECT = (
    "none of the questions finds a subject in the project: they are about functions of 10 lines and more, "
    "functions and classes with long names that nothing else has, imported files, files of over 150 lines with "
    "10 to 200 definitions, and directories of 8 to 200 files. Give another one with --root."
)


@click.command(cls=Command)
@partial(setting_options, profile="the profile to ask under, which must allow SQL [default: fledgling-analyst]")
@json_option
def savings(as_json: bool, **options: Any) -> None:
    """Show what 30 questions about the project cost an agent in tokens and calls, here and with grep and cat.

    SQL chooses the questions and counts what grep and cat would print.
    """
    from fledgling.broker.reporting import savings as measuring  # noqa: PLC0415  (it reads the questions)

    options["profile"] = options["profile"] or "fledgling-analyst"
    project = project_of(options)

    async def measure(front: Front, indexing: Indexing) -> list[measuring.Compared]:
        await indexing.built()
        return await measuring.measure(front)

    try:
        compared = run(indexed(project), measure)
    except measuring.MeasureError as failed:
        terminal.fail(str(failed), terminal.NOTHING)
    if not compared:
        terminal.fail(NO_SUBJECT, terminal.NOTHING)
    rows = measuring.table(compared)
    terminal.show_rows(rows[1:] if as_json else rows, "questions", measuring.KEYS, as_json=as_json)


@click.command("report", cls=Command)
@setting_options
@click.option(
    "--html", "file", required=True, metavar="FILE", type=click.Path(path_type=Path), help="the page to write"
)
@json_option
def report_command(file: Path, as_json: bool, **options: Any) -> None:
    """Write a page that shows the project: sizes, languages, imports, calls, circles, what was skipped.

    FILE is new, or an earlier report.
    """
    project = project_of(options)
    with output.opened(file, report.MARK) as target:
        built, overview = run(indexed(project), _surveyed)
        name = Path(project.settings.root).name
        at = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
        target.write(report.page(name, project.profile.name, at, built, overview))
    warn(built.notices)
    if as_json:
        terminal.show_json({"file": str(file), "index": built, "overview": overview})
    _log.info("%s is written; %s", file, stats.headline(built))
    raise SystemExit(terminal.PARTIAL if built.partial else terminal.OK)


async def _surveyed(front: Front, indexing: Indexing, *, calls: bool = True) -> tuple[Built, Overview]:
    built = await indexing.built()
    if calls:
        line = terminal.ProgressLine("the graph of calls")
        with suppress(IndexingError):  # the survey says why there is no graph
            await front.indexed(GRAPH, line.report)
        line.clear()
    overview = await front.survey(calls=calls)
    if isinstance(overview, Refusal):
        terminal.refuse(overview)
    return built, overview


@click.group("config")
def config_group() -> None:
    """Look at the settings."""


@config_group.command("show", short_help="Show every setting, its value, and where it came from", cls=Command)
@setting_options
@json_option
def config_show(as_json: bool, **options: Any) -> None:
    """Show every setting, its value, and where it came from, the project's own file included."""
    project = project_of(options)
    accepted = run(indexed(project), _scope)
    values = {**msgspec.to_builtins(project.settings), **msgspec.to_builtins(accepted.scope)}
    sources = {**project.resolved.sources, **dict.fromkeys(accepted.narrowed, f"narrowed by {PROJECT_FILE}")}
    rows = [(key, msgspec.json.encode(values[key]).decode(), sources[key]) for key in KEYS]
    terminal.show_rows(rows, "settings", ("name", "value", "source"), as_json=as_json)


async def _scope(_: Front, indexing: Indexing) -> Accepted:
    return await indexing.accepted()
