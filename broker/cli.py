"""The command line. Every answer comes from the same processes, under the same profile, as an agent's would."""

import asyncio
import logging
import os
import signal
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, TextIO, TypeVar

import click
import msgspec
from click.shell_completion import get_completion_class

from fledgling import __version__, refusals
from fledgling.broker import audit_log, logs, terminal
from fledgling.broker.audit_log import AuditLog, AuditLogError
from fledgling.broker.front import Front, invalid
from fledgling.broker.indexing import Indexing, IndexingError
from fledgling.broker.protocol import agents, schema
from fledgling.broker.protocol.agents import Agent
from fledgling.broker.protocol.listening import opened as listen
from fledgling.broker.reporting import doctor as diagnosis
from fledgling.broker.reporting import output, report, stats
from fledgling.broker.setup import install
from fledgling.broker.setup.clients import CLIENTS, Client, entry
from fledgling.config import (
    KEYS,
    NO_AGENTS,
    PROJECT_FILE,
    ConfigError,
    Resolved,
    Settings,
    is_path,
    read_user_file,
    refuse_wide,
    resolve,
    with_root,
)
from fledgling.security import interpreter, limits
from fledgling.security import profile as profiles
from fledgling.security.confinement import ConfinementError, confine
from fledgling.wire import (
    QUESTIONS,
    Accepted,
    AnyAnswer,
    AnyQuestion,
    Built,
    Confining,
    Explore,
    Layer,
    Overview,
    Profile,
    Refusal,
)

Result = TypeVar("Result")
_log = logging.getLogger("fledgling")

EXIT_CODES = (
    "Exit codes: 0 found; 1 nothing found, or a check failed; 2 wrong usage; 3 found, in a partial index; 4 denied; "
    "124 timeout."
)


class Project(msgspec.Struct, frozen=True):
    """What a command works on: the settings in force, where each came from, and the profile."""

    resolved: Resolved
    profile: Profile
    confining: Confining

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.resolved.settings


def main() -> None:
    """Run the command line; errors of the user's making end in one line and an exit code."""
    logs.configure()
    try:
        cli(prog_name="fledgling")
    except (ConfigError, profiles.ProfileError) as wrong:
        terminal.fail(str(wrong))
    except IndexingError as failed:
        terminal.refuse(failed.refusal)
    except ConfinementError as absent:
        terminal.refuse(refusals.not_confined(str(absent)))


@click.group(epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="fledgling")
def cli() -> None:
    """Give an AI agent eyes on a codebase, and nothing else."""


_json_option = click.option("--json", "as_json", is_flag=True, help="print JSON")


def _setting_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add an option for every setting; their text is read where all settings are, in fledgling/config.py."""
    command = click.option("--config", metavar="FILE", help="your own settings file")(command)
    command = click.option(
        "--allow-degraded", is_flag=True, help="work without Landlock or seccomp where the kernel has none; see doctor"
    )(command)
    command = click.option(
        "--yes-really", is_flag=True, help="index the root even where it is `/`, a home directory or one above"
    )(command)
    for field in reversed(msgspec.structs.fields(Settings)):
        default = field.default
        shown = ", ".join(default) if isinstance(default, tuple) else default
        command = click.option(
            f"--{field.name.replace('_', '-')}",
            multiple=isinstance(default, tuple),
            metavar=field.name.upper(),
            help=f"{_meaning(field)} [default: {shown}]",
        )(command)
    return command


def _meaning(field: msgspec.structs.FieldInfo) -> str:
    return str(field.type.__metadata__[0].description)


def _warn(notices: Iterable[str]) -> None:
    """Log what the user should know; a notice may quote the project."""
    for notice in notices:
        _log.warning("%s", terminal.escaped(notice))


def _project(options: dict[str, Any], level: int = logging.DEBUG) -> Project:
    """Return what the options of a command name; the log's first line, at this level, says why the root is that one."""
    flags = {key: options.pop(key) for key in KEYS}
    resolved = resolve(flags, os.environ, read_user_file(os.environ, options.pop("config")))
    logs.configure(resolved.settings)
    resolved = with_root(resolved, os.environ)
    if not options.pop("yes_really"):
        refuse_wide(resolved, os.environ)
    profile = profiles.load(resolved.settings.profile)
    _log.log(level, "root %s (%s), profile %s", resolved.settings.root, resolved.sources["root"], profile.name)
    _warn(resolved.notices)
    return Project(resolved, profile, Confining(options.pop("allow_degraded")))


def _confined(project: Project) -> tuple[Layer, ...]:
    """Confine this process to reading the project and what its children need; they cannot have more than it has."""
    readable = interpreter.readable(project.settings.root)
    with interpreter.opened(readable) as reading, interpreter.opened(interpreter.executable()) as starting:
        return confine("broker", project.confining, lowered=limits.BROKER, readable=reading, executable=starting)


def _indexing(project: Project, log: AuditLog | None = None) -> Indexing:
    """Confine this process, then start the indexer."""
    log = log or AuditLog()
    audit_log.tell_of(log.tell, "broker", os.getpid(), _confined(project))
    return Indexing(project.settings, project.profile, confining=project.confining, tell=log.tell)


# ---- serving --------------------------------------------------------------------------------------------------------


@cli.command()
@_setting_options
def serve(**options: Any) -> None:
    """Serve one MCP client on standard input and output, or several agents over HTTP."""
    project = _project(options, logging.INFO)
    if project.settings.transport != "stdio":
        _serve_http(project)
        return
    log = _audit_log(project, project.profile)
    indexing = _indexing(project, log)
    # Imported here, not at the top: the SDK takes 0.4 s, and the indexer works meanwhile.
    from fledgling.broker.protocol import server  # noqa: PLC0415

    # Ctrl-C ends us as SIGTERM does, and the kernel ends the others.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

    async def serving(front: Front, indexing: Indexing) -> None:
        telling = asyncio.create_task(_tell(indexing))
        await server.serve(front, log, project.settings.answers)
        telling.cancel()

    _run(indexing, serving)
    log.tell(audit_log.End(reason="the client has closed its end"))


def _serve_http(project: Project) -> None:
    """Serve over HTTP. What a confined broker may not do comes first: the file of agents, the log, the socket."""
    settings, root = project.settings, Path(project.settings.root).resolve()
    if settings.transport == "sse":
        _log.warning("transport sse is deprecated by MCP since 2025-03-26; use http")
    if settings.agents == NO_AGENTS:
        token = agents.new_token()
        known: tuple[Agent, ...] = (Agent("default", project.profile, agents.digest(token)),)
        click.echo(f"fledgling: the token of this run is {token}", err=True)
    else:
        known = agents.served(Path(settings.agents), root)
    listening = listen(project.resolved)
    log = _audit_log(project, None)
    logs_of = {agent: log.of(agent.name) for agent in known}
    for agent in known:
        _log.info("agent %s, profile %s", agent.name, agent.profile.name)
        logs_of[agent].tell(audit_log.Agent(profile=agent.profile.name, digest=agent.profile.digest))
    audit_log.tell_of(log.tell, "broker", os.getpid(), _confined(project))
    indexings = {
        agent: Indexing(settings, agent.profile, confining=project.confining, tell=logs_of[agent].tell)
        for agent in known
    }
    # Imported here, not at the top: the SDK takes 0.4 s, and the indexers work meanwhile.
    from fledgling.broker.protocol import http  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the server takes care of it

    async def serving() -> None:
        async with AsyncExitStack() as stack:
            guests = []
            for agent, indexing in indexings.items():
                front = http.SharingFront(agent.profile, indexing)
                stack.push_async_callback(front.close)
                guests.append(http.Guest(agent, front, logs_of[agent], settings))
            for indexing in indexings.values():
                _warn((await indexing.accepted()).notices)
                telling = asyncio.create_task(_tell(indexing))
                stack.callback(telling.cancel)
            await http.serve(listening, settings.transport, guests, log)

    asyncio.run(serving())
    log.tell(audit_log.End(reason="it was told to end"))


def _audit_log(project: Project, profile: Profile | None) -> AuditLog:
    """Open the audit log, before anything else is opened or started."""
    settings = project.settings
    root = Path(settings.root).resolve()
    try:
        return audit_log.begun(settings.audit_log, root, profile, with_arguments=settings.audit_arguments)
    except AuditLogError as wrong:
        source = project.resolved.sources["audit_log"]
        raise ConfigError(source, f"audit_log {settings.audit_log!r}: {wrong}", "give another file") from None


async def _tell(indexing: Indexing) -> None:
    """Log how the build ended, as soon as it does."""
    try:
        built = await indexing.built()
    except IndexingError as failed:
        _log.error("no index: %s", failed)
    else:
        _log.info("%s", stats.headline(built), extra={"seconds": built.seconds})
        _log.debug("%s", ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in built.seconds.items()))
        _warn(built.notices)


def _run(indexing: Indexing, use: Callable[[Front, Indexing], Awaitable[Result]]) -> Result:
    """Open the door once the indexer has accepted the profile, and end all processes when `use` is done."""

    async def run() -> Result:
        front = Front(indexing.profile, indexing)
        try:
            _warn((await indexing.accepted()).notices)
            return await use(front, indexing)
        finally:
            await front.close()

    return asyncio.run(run())


# ---- asking ---------------------------------------------------------------------------------------------------------


def _tool_command(tool: str) -> click.Command:
    """Return the subcommand of a tool: its first argument by position, the others as options."""
    question = QUESTIONS[tool]
    first, *others = question.__struct_fields__
    arguments = schema.input_schema(tool)
    properties = arguments["properties"]

    @_setting_options
    @_json_option
    def command(as_json: bool, **options: Any) -> None:
        given = {name: options.pop(f"ask_{name}") for name in question.__struct_fields__}
        _answer(_project(options), tool, {k: v for k, v in given.items() if v is not None}, as_json=as_json)

    for name in reversed(others):
        is_flag = properties[name].get("type") == "boolean"
        choices = properties[name].get("enum")
        command = click.option(
            f"--{name.replace('_', '-')}",
            f"ask_{name}",
            is_flag=is_flag,
            default=None,
            help=properties[name].get("description"),
            type=click.Choice(choices) if choices else None,
        )(command)
    is_required = first in arguments.get("required", ())
    command = click.argument(f"ask_{first}", metavar=first.upper(), required=is_required)(command)
    return click.command(name=tool, help=schema.description(tool).replace("\n\n", "\n\n\b\n"))(command)


for _tool in QUESTIONS:
    cli.add_command(_tool_command(_tool))


def _answer(project: Project, tool: str, given: dict[str, Any], *, as_json: bool) -> None:
    if tool not in project.profile.tools:
        terminal.fail(
            f"{tool} is not a tool of the profile {project.profile.name}. "
            f"Use one of: {', '.join(project.profile.tools)}; or another --profile.",
            terminal.DENIED,
        )
    try:
        question: AnyQuestion = msgspec.convert(given, QUESTIONS[tool], strict=False)
    except msgspec.ValidationError as problem:
        terminal.refuse(invalid(tool, problem))

    async def ask(front: Front, indexing: Indexing) -> tuple[AnyAnswer | Refusal, Built]:
        line = terminal.ProgressLine()
        answer = await front.ask(question, line.report, whole=True)
        line.clear()
        return answer, await indexing.built()

    answer, built = _run(_indexing(project), ask)
    _warn(built.notices)
    if isinstance(answer, Refusal):
        terminal.refuse(answer)
    terminal.show(answer, as_json=as_json)
    raise SystemExit(terminal.exit_code(answer, is_partial=bool(built.partial)))


# ---- looking --------------------------------------------------------------------------------------------------------


@cli.command()
@_setting_options
@click.option("--stats", "with_stats", is_flag=True, help="languages, what was skipped and why, slowest files, sizes")
@_json_option
def index(with_stats: bool, as_json: bool, **options: Any) -> None:
    """Build the index once and say what is in it."""
    project = _project(options)
    if with_stats:
        built, overview = _run(_indexing(project), _surveyed)
        lines, values = [*stats.lines(built, overview)], {**msgspec.structs.asdict(built), "overview": overview}
    else:
        built = _run(_indexing(project), _built)
        lines, values = [stats.headline(built)], msgspec.structs.asdict(built)
    _warn(built.notices)
    if as_json:
        terminal.show_json(values)
    else:
        terminal.show_text("\n".join(lines))
    raise SystemExit(terminal.PARTIAL if built.partial else terminal.OK)


@cli.command()
@_setting_options
@_json_option
def savings(as_json: bool, **options: Any) -> None:
    """Show what 30 questions about the project cost an agent in tokens and calls, here and with grep and cat.

    The profile must allow SQL: by it the questions are chosen, and counted what the shell would print.
    """
    from fledgling.broker.reporting import savings as measuring  # noqa: PLC0415  (it reads the questions)

    options["profile"] = options["profile"] or "fledgling-analyst"
    project = _project(options)

    async def measure(front: Front, indexing: Indexing) -> list[measuring.Compared]:
        await indexing.built()
        return await measuring.measure(front)

    try:
        compared = _run(_indexing(project), measure)
    except measuring.MeasureError as failed:
        terminal.fail(str(failed), terminal.NOTHING)
    terminal.show_rows(measuring.table(compared), as_json=as_json)


@cli.command()
@_setting_options
@_json_option
def doctor(as_json: bool, **options: Any) -> None:
    """Show what confines each process here, and what it means where a layer is missing. Exit code 1 where one is."""
    project = _project(options)
    confining = Confining(allow_degraded=True)
    project = msgspec.structs.replace(project, confining=confining)
    heard: list[audit_log.AnyRecord] = []
    audit_log.tell_of(heard.append, "broker", os.getpid(), _confined(project))
    answer = _run(Indexing(project.settings, project.profile, confining=confining, tell=heard.append), _asked)
    found = diagnosis.report(heard, answer)
    if as_json:
        terminal.show_json(found)
    else:
        terminal.show_text("\n".join(diagnosis.lines(found)))
    raise SystemExit(terminal.OK if found.serves else terminal.NOTHING)


async def _asked(front: Front, _: Indexing) -> AnyAnswer | Refusal:
    """Ask for the map, so that there is a query worker to look at."""
    return await front.ask(Explore(), whole=True)


@cli.command("report")
@_setting_options
@click.option(
    "--html", "file", required=True, metavar="FILE", type=click.Path(path_type=Path), help="the page to write"
)
def report_command(file: Path, **options: Any) -> None:
    """Write a page about the project to look at: sizes, languages, hubs of the import graph, what was skipped.

    FILE is new, or an earlier report.
    """
    project = _project(options)
    with output.opened(file, report.MARK) as target:
        built, overview = _run(_indexing(project), _surveyed)
        name = Path(project.settings.root).name
        at = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
        target.write(report.page(name, project.profile.name, at, built, overview))
    _warn(built.notices)
    _log.info("%s", stats.headline(built))
    raise SystemExit(terminal.PARTIAL if built.partial else terminal.OK)


async def _built(_: Front, indexing: Indexing) -> Built:
    return await indexing.built()


async def _surveyed(front: Front, indexing: Indexing) -> tuple[Built, Overview]:
    built = await indexing.built()
    overview = await front.survey()
    if isinstance(overview, Refusal):
        terminal.refuse(overview)
    return built, overview


@cli.group("profiles")
def profiles_group() -> None:
    """List, show, check and compare profiles."""


@profiles_group.command("list")
@_json_option
def profiles_list(as_json: bool) -> None:
    """List the shipped profiles with their tools."""
    rows = [(name, ", ".join(profiles.load(name).tools)) for name in profiles.shipped()]
    terminal.show_rows(rows, as_json=as_json)


@profiles_group.command("show")
@click.argument("profile")
@_json_option
def profiles_show(profile: str, as_json: bool) -> None:
    """Show what a profile says, with everything it inherits."""
    terminal.show_rows(profiles.describe(profiles.load(profile)), as_json=as_json)


@profiles_group.command("check")
@click.argument("profile")
def profiles_check(profile: str) -> None:
    """Check a profile: its statements here, its views by the engine's own parser in a confined process."""
    checked = profiles.load(profile)
    _run(Indexing(Settings(), checked, confining=Confining(allow_degraded=True)), _accepted)
    terminal.show_text(f"{checked.file}: good")


async def _accepted(_: Front, __: Indexing) -> None:
    """By the time this runs, the indexer has accepted the profile."""


@profiles_group.command("diff")
@click.argument("a")
@click.argument("b")
@_json_option
def profiles_diff(a: str, b: str, as_json: bool) -> None:
    """Show where two profiles differ: field, text in A, text in B. Exit code 1 where they do."""
    rows = profiles.diff(profiles.load(a), profiles.load(b))
    if rows or as_json:
        terminal.show_rows(rows, as_json=as_json)
    raise SystemExit(terminal.NOTHING if rows else terminal.OK)


@cli.group("audit", invoke_without_command=True)
@click.option("--profile", "asked", multiple=True, metavar="PROFILE", help="a profile to audit; may be repeated")
@click.option(
    "--root", type=click.Path(exists=True, file_okay=False, path_type=Path), help="audit it on this project too"
)
@click.option("--junit", type=click.File("w", lazy=False), help="write JUnit XML to this file")
@click.option("--html", type=click.File("w", lazy=False), help="write a page for a reviewer to this file")
@_json_option
@click.pass_context
def audit_group(
    context: click.Context,
    asked: tuple[str, ...],
    root: Path | None,
    junit: TextIO | None,
    html: TextIO | None,
    as_json: bool,
) -> None:
    """Attack a server under a profile, and report what stopped what; or look at audit logs.

    The server is a real one, over a hostile project made for it in a temporary directory. Into a project of --root
    nothing is written. It takes a minute or two a profile. Exit codes: 0 nothing got through; 1 something did, or could
    not be proven; 2 wrong usage.
    """
    if context.invoked_subcommand is not None:
        return
    # Imported here, not at the top: it loads the MCP SDK, as a client.
    from fledgling.security.audit import junit as junit_xml  # noqa: PLC0415
    from fledgling.security.audit import page, report, run  # noqa: PLC0415

    names = asked or (Settings().profile,)
    audited = {str(Path(name).resolve()) if is_path(name) else name: profiles.load(name) for name in names}
    found = asyncio.run(run.audit(audited, root.resolve() if root else None))
    for file, written in ((junit, junit_xml.junit), (html, page.page)):
        if file:
            file.write(written(found))
    if as_json:
        terminal.show_json(found)
    else:
        terminal.show_text(report.text(found))
    raise SystemExit(found.exit_code)


@audit_group.command("verify")
@click.argument("file", type=click.File("rb"))
@click.option("--last", metavar="HASH", help="the hash of a line, printed by an earlier verify and kept elsewhere")
@_json_option
def audit_verify(file: BinaryIO, last: str | None, as_json: bool) -> None:
    """Check that no line of an audit log was changed, removed, inserted or moved.

    The last line, and lines cut off at the end, are vouched for by no other line, and someone who writes the whole file
    anew can chain it anew. So the last hash is printed: keep it where the log's writer cannot reach, and give it as
    --last the next time. Exit codes: 0 good; 1 broken, or no line has the hash of --last; 2 wrong usage.
    """
    checked = audit_log.verify(iter(lambda: file.readline(audit_log.MAX_LINE), b""), last)
    if as_json:
        terminal.show_json(checked)
    else:
        terminal.show_text("\n".join(audit_log.report(checked, last)))
    is_good = not checked.broken and (last is None or checked.found is not None)
    raise SystemExit(terminal.OK if is_good else terminal.NOTHING)


@cli.group("agents")
def agents_group() -> None:
    """Say which agents are served over HTTP. A server reads the file when it starts, and not again."""


_agents_option = click.option("--agents", "agents_file", metavar="FILE", help="the file of agents")


def _agents_file(flag: str | None) -> Path:
    """Return the file of agents: by flag, environment or the user's own settings, as for a server."""
    resolved = resolve({"agents": flag}, os.environ, read_user_file(os.environ))
    if resolved.settings.agents == NO_AGENTS:
        raise ConfigError("agents", "no file is named", "give --agents FILE")
    return Path(resolved.settings.agents)


@agents_group.command("add")
@click.argument("name")
@click.option("--profile", default=Settings().profile, show_default=True, help="what the agent may see")
@_agents_option
def agents_add(name: str, profile: str, agents_file: str | None) -> None:
    """Add an agent and print its token, which is not kept and not shown again."""
    terminal.show_text(agents.add(_agents_file(agents_file), name, profile))


@agents_group.command("list")
@_agents_option
@_json_option
def agents_list(agents_file: str | None, as_json: bool) -> None:
    """List the agents of a file with their profiles."""
    found = agents.read(_agents_file(agents_file))
    terminal.show_rows([(name, entry.profile) for name, entry in found.items()], as_json=as_json)


@agents_group.command("revoke")
@click.argument("name")
@_agents_option
def agents_revoke(name: str, agents_file: str | None) -> None:
    """Take an agent out of a file. A server that runs serves it until it is started again."""
    agents.revoke(_agents_file(agents_file), name)


@cli.group("config")
def config_group() -> None:
    """Look at the settings."""


@config_group.command("show")
@_setting_options
@_json_option
def config_show(as_json: bool, **options: Any) -> None:
    """Show every setting, its value, and where it came from, the project's own file included."""
    project = _project(options)
    accepted = _run(_indexing(project), _scope)
    values = {**msgspec.to_builtins(project.settings), **msgspec.to_builtins(accepted.scope)}
    sources = {**project.resolved.sources, **dict.fromkeys(accepted.narrowed, f"narrowed by {PROJECT_FILE}")}
    rows = [(key, msgspec.json.encode(values[key]).decode(), sources[key]) for key in KEYS]
    terminal.show_rows(rows, as_json=as_json)


async def _scope(_: Front, indexing: Indexing) -> Accepted:
    return await indexing.accepted()


# ---- clients --------------------------------------------------------------------------------------------------------


_client_option = click.option("--client", type=click.Choice(list(CLIENTS)), required=True, help="whose settings")
_write_option = click.option("--write/--dry-run", help="change the file; only shown by default")


@cli.command("install")
@_client_option
@click.option("--profile", metavar="PROFILE", help="the profile to serve under")
@click.option("--root", type=click.Path(exists=True, file_okay=False, path_type=Path), help="the directory to index")
@_write_option
def install_command(client: str, profile: str | None, root: Path | None, write: bool) -> None:
    """Show what to add to a client's settings so that it starts Fledgling, or add it.

    Everything else in the file stays; a copy of it is laid beside. Without --root, a client starts Fledgling for the
    project that it works on.
    """
    if profile:
        profiles.load(profile)
        profile = str(Path(profile).resolve()) if is_path(profile) else profile
    if root:
        refuse_wide(with_root(resolve({"root": str(root)}, {}), os.environ), os.environ)
    given = entry(CLIENTS[client], install.COMMAND, profile, str(root.resolve()) if root else None)
    _change(CLIENTS[client], given, write=write)


@cli.command("uninstall")
@_client_option
@_write_option
def uninstall_command(client: str, write: bool) -> None:
    """Show what to take out of a client's settings so that it knows nothing of Fledgling, or take it out."""
    _change(CLIENTS[client], None, write=write)


def _change(client: Client, given: dict[str, object] | None, *, write: bool) -> None:
    planned = install.plan(client, os.environ, given)
    terminal.show_text("\n".join(planned.lines()))
    if planned.changes and write:
        backup = install.write(planned, client, os.environ)
        _log.info("written%s", f"; the file as it was is {backup}" if backup else "")
    elif planned.changes:
        _log.info("nothing is written; add --write to do so")


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell: eval "$(fledgling completion bash)"."""
    script = get_completion_class(shell)
    assert script is not None
    click.echo(script(cli, {}, "fledgling", "_FLEDGLING_COMPLETE").source())
