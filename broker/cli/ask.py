"""The tools as commands: the same questions, answered by the same processes under the same profile."""

import os
import sys
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin

import click
import msgspec
from msgspec.structs import replace

from fledgling.broker.cli import completing, terminal
from fledgling.broker.cli.help import Command
from fledgling.broker.cli.pager import paged
from fledgling.broker.cli.paint import highlighting
from fledgling.broker.cli.project import (
    ServedProject,
    json_option,
    output_options,
    project_of,
    setting_options,
    settings_given,
    warn,
)
from fledgling.broker.cli.terminal import FORMATS, Looks
from fledgling.broker.control import asking
from fledgling.broker.control.asking import NoAnswerError, settings_digest
from fledgling.broker.indexing.failures import IndexingError
from fledgling.broker.protocol import schema, tools
from fledgling.messages.answers import AnyAnswer, Hits, Refusal, SymbolList
from fledgling.messages.generations import CODE
from fledgling.messages.profile import Profile
from fledgling.messages.questions import QUESTIONS, AnyQuestion, Search
from fledgling.standing_in import standing_in

if TYPE_CHECKING:
    from fledgling.broker.audit_log.writer import AuditLog
    from fledgling.broker.front import Front
    from fledgling.broker.indexing.indexing import Indexing
    from fledgling.broker.indexing.seeking import Seeker
    from fledgling.messages.control import Built

# Letters that ripgrep, fd and tree have for the same.
SHORT: Mapping[str, Mapping[str, str]] = {
    "explore": {"depth": "-L", "pattern": "-g"},
    "search": {
        "path": "-g",
        "language": "-t",
        "kind": "-k",
        "case_sensitive": "-s",
        "whole_word": "-w",
        "context": "-C",
        "max_results": "-m",
    },
    "symbols": {"kind": "-k", "language": "-t", "name_pattern": "-n", "max_results": "-m"},
    "read": {"symbol": "-s"},
    "dependencies": {"direction": "-d", "depth": "-L"},
}
MAX_RESULTS = 1000  # hits a page, where all pages are asked for: as many as a question may ask
COMPLETED = {
    "path": completing.paths,
    "language": completing.languages,
    "symbol": completing.symbols,
    "name_pattern": completing.symbols,
}
METAVARS = {
    **dict.fromkeys(("path", "pattern", "name_pattern"), "GLOB"),
    **dict.fromkeys(("max_results", "start_line", "end_line", "depth", "context", "budget_tokens"), "N"),
    **dict.fromkeys(("tags_any", "tags_all"), "TAG"),
    "also": "WORDS",
}
# Meanings that a command has of its own: a person types, has no `next` to call, and sees choices in alphabetical order.
MEANINGS = {
    "also": "synonyms, for search by meaning",
    "cursor": "where a cut answer goes on: its last line has it",
    "detail": "how it is built; sizes; or what files say of themselves",
    "language": "python, sql, ...: `fledgling languages` lists them",
    "mode": "what to search by; `docs`: sections of documents",
    "path": "directory, file or glob: `src`, `src/*`, `*.py`",
}
Result = TypeVar("Result")
Ask = Callable[[AnyQuestion], Awaitable[AnyAnswer | Refusal]]
Put = Callable[[Ask, AnyQuestion], Coroutine[None, None, AnyAnswer | Refusal]]
LONGEST_CHOICE = 6  # words; longer lists are completed, and named where a word is wrong

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "explore": ("fledgling explore src -L 2", "fledgling explore -g '*.py' --json"),
    "search": (
        "fledgling search timeout -t python -C 0",
        "fledgling search -e 'def \\w+_test' -g 'src/**'",
        "fledgling search engine -k class",
        "fledgling search -l TODO",
    ),
    "symbols": ("fledgling symbols src/app.py", "fledgling symbols 'src/core/*' -k function -n 'parse_*'"),
    "read": ("fledgling read src/app.py --start-line 10 --end-line 40", "fledgling read src/app.py -s Engine.run"),
    "dependencies": ("fledgling dependencies src/app.py -d imported_by",),
    "query": (
        "fledgling query --profile fledgling-analyst 'SELECT language, count(*) FROM files GROUP BY ALL'",
        "fledgling query --profile fledgling-analyst --format csv 'FROM symbols' > symbols.csv",
    ),
}


def command_of(tool: str) -> click.Command:
    """Return the subcommand of a tool: its first argument by position, the others as options."""
    question = QUESTIONS[tool]
    properties = schema.input_schema(tool)["properties"]
    first, *others = msgspec.structs.fields(question)

    @setting_options
    @output_options
    @json_option
    @click.option("--fresh", is_flag=True, help="build an index, even where a server has one")
    @click.pass_context
    def command(
        context: click.Context, /, as_json: bool, color: bool, pager: bool, fresh: bool, **options: Any
    ) -> None:
        given, looks = asked(tool, options, as_json=as_json, color=color)
        looks = looks._replace(settings=settings_given(context))
        project = project_of(options)
        with paged(wanted=is_paged(looks, pager=pager)):
            code = _answer(project, tool, given, looks, fresh=fresh)
        raise SystemExit(code)

    for field in reversed(others):
        choices = properties[field.name].get("enum")
        kind = properties[field.name]["type"]
        is_flag, is_list = kind == "boolean", kind == "array"
        command = click.option(
            *filter(None, (SHORT.get(tool, {}).get(field.name), f"--{field.name.replace('_', '-')}")),
            f"ask_{field.name}",
            is_flag=is_flag,
            multiple=is_list,
            default=None,
            help=_help(field, choices or (), is_list=is_list),
            type=click.Choice(choices) if choices else int if kind == "integer" else None,
            shell_complete=COMPLETED.get(field.name),
            metavar=None if is_flag else _metavar(field.name),
        )(command)
    if tool == "search":
        command = _search_options(command)
    if tool == "query":
        command = click.option("--format", "form", type=click.Choice(FORMATS), help="all rows, for people or programs")(
            command
        )
    is_required = first.required and tool != "search"
    completed = COMPLETED.get(first.name)
    metavar = first.name.upper() if is_required else f"[{first.name.upper()}]"
    command = click.argument(f"ask_{first.name}", metavar=metavar, required=is_required, shell_complete=completed)(
        command
    )
    said = "\n".join(line for line in schema.description(tool).splitlines() if not line.startswith("Example: "))
    return click.command(name=tool, cls=Command, help=said, examples=EXAMPLES.get(tool, ()))(command)


def is_paged(looks: Looks, *, pager: bool) -> bool:
    """Return whether an answer is for a person who reads on, if it goes to a terminal."""
    return pager and not looks.as_json and looks.form in (None, "table")


def asked(tool: str, options: dict[str, Any], *, as_json: bool, color: bool) -> tuple[dict[str, Any], Looks]:
    """Take what a command asks out of its options: return the arguments of the question, and how to print answers."""
    given = {name: options.pop(f"ask_{name}") for name in QUESTIONS[tool].__struct_fields__}
    given = {name: value for name, value in given.items() if value is not None}
    if "" in given.values():
        from fledgling.broker.spelling.arguments import optional  # noqa: PLC0415  (as a rule none is empty)

        given = {name: value for name, value in given.items() if value != "" or name not in optional(tool)}
    if "language" in given:
        from fledgling.broker.spelling.values import VALUES  # noqa: PLC0415  (as a rule none is given)

        given["language"] = VALUES["language"](given["language"], "")  # `py`, as other programs have it, too
    is_listed = _merge(given, options) if tool == "search" else False
    form = options.pop("form", None)
    width = None
    if form and sys.stdout.isatty():
        import shutil  # noqa: PLC0415  (as a rule no form is asked for)

        width = shutil.get_terminal_size().columns
    return given, Looks(as_json, color, is_listed, form, (), highlighting(given) if color else None, width)


def _help(field: msgspec.structs.FieldInfo, choices: Sequence[str], *, is_list: bool) -> str:
    """Return what an option means, the words it takes, and its default where it has one that can be typed."""
    words = f" ({', '.join(choices)})" if 0 < len(choices) <= LONGEST_CHOICE else ""
    default = f" [default: {field.default}]" if field.default and isinstance(field.default, str | int) else ""
    return f"{_meaning(field)}{words}{'; repeatable' if is_list else ''}{default}"


def _meaning(field: msgspec.structs.FieldInfo) -> str | None:
    """Return what an argument means, as docs/tools.md has it, but for MEANINGS."""
    if said := MEANINGS.get(field.name):
        return said
    metas = get_args(field.type)[1:] if get_origin(field.type) is Annotated else ()
    return next(filter(None, (meta.description or (meta.extra or {}).get("meaning") for meta in metas)), None)


def _metavar(name: str) -> str:
    return METAVARS.get(name, name.upper())


def _search_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that search has in a shell alone, under the names that grep and ripgrep have for them."""
    flag = partial(click.option, is_flag=True)
    command = flag("-l", "--files-with-matches", "is_listed", help="only the paths of files, on all pages")(command)
    command = flag("-i", "--ignore-case", help="upper and lower case are the same: the default")(command)
    command = flag("-F", "--fixed-strings", help="QUERY is plain text, and no meaning is asked for")(command)
    return click.option("-e", "--regexp", metavar="REGEX", help="an expression of RE2, in place of QUERY")(command)


def _merge(given: dict[str, Any], options: dict[str, Any]) -> bool:
    """Take the options that search has in a shell alone; return whether only paths are asked for."""
    expression, is_plain = options.pop("regexp"), options.pop("fixed_strings")
    if options.pop("ignore_case"):
        given.pop("case_sensitive", None)
    if expression is not None and "query" in given:
        raise click.UsageError("give QUERY, or -e REGEX in its place; -g GLOB says where to search")
    if expression is not None:
        given |= {"query": expression, "regex": True}
    if "query" not in given:
        raise click.UsageError("Missing argument 'QUERY'.")
    if is_plain:
        given.pop("regex", None)
        given["mode"] = "text"
    is_listed: bool = options.pop("is_listed")
    return is_listed


def _answer(project: ServedProject, tool: str, given: dict[str, Any], looks: Looks, *, fresh: bool) -> int:
    """Put one question, print the answer, and return the exit code."""
    question = checked(project, tool, given)

    put = putting(looks, project.profile, project.settings.root)
    served = None if fresh else _served(project, question, put)
    answer, is_partial = served or _indexed(project, question, put)
    if isinstance(answer, Refusal):
        terminal.refuse(answer, looks.settings)
    terminal.show(answer, looks)
    return terminal.exit_code(answer, is_partial=is_partial)


def checked(project: ServedProject, tool: str, given: Mapping[str, Any]) -> AnyQuestion:
    """Return the question of a tool, or say why it cannot be asked, and exit."""
    if tool not in project.profile.tools:
        terminal.fail(
            f"{tool} is not a tool of the profile {project.profile.name}. "
            f"Use one of: {', '.join(project.profile.tools)}; or a --profile that has it: fledgling profiles list.",
            terminal.DENIED,
        )
    try:
        return msgspec.convert(given, QUESTIONS[tool], strict=False)
    except msgspec.ValidationError as problem:
        from fledgling.broker.refused import invalid  # noqa: PLC0415  (as a rule nothing is wrong)

        terminal.refuse(invalid(tool, problem))


def _served(project: ServedProject, question: AnyQuestion, put: Put) -> tuple[AnyAnswer | Refusal, bool] | None:
    """Return the answer of a running server, and whether its index is partial; None where none serves the same."""
    settings = settings_digest(project.settings, project.confining)
    served = asking.served(os.environ, Path(project.settings.root))
    index = asking.same(served.indexes, project.profile, settings)
    if not index:
        return None
    are_partial = []

    async def ask(asked: AnyQuestion) -> AnyAnswer | Refusal:
        answered = index.answer(asked, project.profile)
        are_partial.append(answered.is_partial)
        return answered.answer

    try:
        return _at_once(put(ask, question)), any(are_partial)
    except NoAnswerError:
        return None


def _at_once(asking: Coroutine[None, None, Result]) -> Result:
    """Return what a coroutine does that waits for nothing: an event loop is half of what a command loads."""
    try:
        asking.send(None)
    except StopIteration as done:
        result: Result = done.value
        return result
    raise AssertionError("a call of a running server is not waited for")


def _indexed(project: ServedProject, question: AnyQuestion, put: Put) -> tuple[AnyAnswer | Refusal, bool]:
    """Return the answer of an index that is built for it, and whether that is partial."""
    from fledgling.broker.confining import confined_to  # noqa: PLC0415  (a server that runs has an index)

    async def use(front: "Front", indexing: "Indexing") -> "tuple[AnyAnswer | Refusal, Built]":
        return await _put_to_whole(front, question, put), await indexing.built()

    layers = confined_to(project.settings.roots.values(), project.confining)
    seeker = None if put is _listed else _seeker(project, question)
    _load_event_loop()
    from fledgling.broker.audit_log.writer import AuditLog, tell_confinement  # noqa: PLC0415  (while the indexer loads)

    log = AuditLog()
    tell_confinement(log.tell, "broker", os.getpid(), layers)
    if seeker and (found := _without_index(seeker, log)):
        return found
    from fledgling.broker.cli import starting  # noqa: PLC0415

    answer, built = starting.run(starting.indexing(project, log), use)
    warn(built.notices)
    return answer, bool(built.partial)


def _load_event_loop() -> None:
    """Load asyncio, without TLS where nobody has loaded that yet: no command speaks it."""
    with standing_in("ssl", None):
        import asyncio  # noqa: F401, PLC0415


def _seeker(project: ServedProject, question: AnyQuestion) -> "Seeker | None":
    """Start an indexer that may answer a question without an index; None where it may not.

    It is None, too, where the root cannot be opened: building the index meets that again, and says it.
    """
    from fledgling.broker.indexing import seeking  # noqa: PLC0415  (as confining)

    if not seeking.may_need_no_index(question, project.profile):
        return None
    with suppress(IndexingError):
        return seeking.start_seeker(project.settings, project.profile, question, project.confining)
    return None


def _without_index(seeker: "Seeker", log: "AuditLog") -> tuple[AnyAnswer, bool] | None:
    """Return what a search finds without an index, and whether in a part; None where that takes one.

    It is None, too, where the indexer fails: building the index meets that again, and says it.
    """
    import asyncio  # noqa: PLC0415  (while the indexer loads)

    from fledgling.broker.indexing.seeker_answer import answer_of  # noqa: PLC0415

    line = terminal.ProgressLine()
    told = asyncio.run(answer_of(seeker, log.tell, line.report))
    line.clear()
    if not told:
        return None
    warn(told.notices)
    return told.answer, bool(told.partial)


def putting(looks: Looks, profile: Profile, root: str) -> Put:
    """Return what puts a question of a command."""
    return _listed if looks.is_listed else _mending(profile.tools, root)


def _mending(allowed: Collection[str], root: str) -> Put:
    """Return what puts a question, and where nothing is found what it may mean, as an agent is answered."""

    async def put(ask: Ask, question: AnyQuestion) -> AnyAnswer | Refusal:
        found = await ask(question)
        if not isinstance(found, Refusal) and not tools.is_empty(found):
            return found
        from fledgling.broker import mending  # noqa: PLC0415  (as a rule something is found)
        from fledgling.broker.spelling.arguments import Taken  # noqa: PLC0415

        async def again(other: AnyQuestion) -> AnyAnswer | Refusal:
            return found if other is question else await ask(other)

        return await mending.answered(Taken(question), again, allowed, root)

    return put


async def asked_of(front: "Front", question: AnyQuestion, looks: Looks) -> AnyAnswer | Refusal:
    """Put a question to the whole index, and draw how far that is meanwhile."""
    put = putting(looks, front.profile, front.indexing.root)
    return await _put_to_whole(front, question, put)


async def _put_to_whole(front: "Front", question: AnyQuestion, put: Put) -> AnyAnswer | Refusal:
    from fledgling.broker.terms import Terms, due  # noqa: PLC0415  (as starting)

    line, needed = terminal.ProgressLine(), max(CODE, tools.generation(question))
    await front.indexed(needed, line.report)
    line.clear()
    return await put(lambda asked: front.ask(asked, Terms(due(front.profile), least=needed)), question)


async def _listed(ask: Ask, question: AnyQuestion) -> AnyAnswer | Refusal:
    """Return the last page of a search, with the files of all pages: only their paths are asked for."""
    assert isinstance(question, Search)
    question = replace(question, context=0, max_results=MAX_RESULTS)
    files: dict[str, Any] = {}
    while isinstance(page := await ask(question), Hits | SymbolList):
        files |= {file.path: file for file in page.files}
        if not page.next:
            return replace(page, files=[*files.values()])
        question = replace(question, cursor=str(page.next.arguments["cursor"]))
    return page
