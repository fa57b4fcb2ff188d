"""The tools as commands: the same questions, answered by the same processes under the same profile."""

import os
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec
from msgspec.structs import replace

from fledgling.broker.cli import terminal
from fledgling.broker.cli.help import Command
from fledgling.broker.cli.pager import paged
from fledgling.broker.cli.project import (
    ServedProject,
    json_option,
    output_options,
    project_of,
    setting_options,
    settings_given,
    warn,
)
from fledgling.broker.cli.terminal import Looks
from fledgling.broker.cli.tool_options import EXAMPLES, asked, with_options
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

MAX_RESULTS = 1000  # hits a page, where all pages are asked for: as many as a question may ask
Result = TypeVar("Result")
Ask = Callable[[AnyQuestion], Awaitable[AnyAnswer | Refusal]]
Put = Callable[[Ask, AnyQuestion], Coroutine[None, None, AnyAnswer | Refusal]]


def command_of(tool: str) -> click.Command:
    """Return the subcommand of a tool."""

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

    said = "\n".join(line for line in schema.description(tool).splitlines() if not line.startswith("Example: "))
    command = with_options(command, tool)
    return click.command(name=tool, cls=Command, help=said, examples=EXAMPLES.get(tool, ()))(command)


def is_paged(looks: Looks, *, pager: bool) -> bool:
    """Return whether an answer is for a person who reads on, if it goes to a terminal."""
    return pager and not looks.as_json and looks.form in (None, "table")


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
