"""The tools as commands: the same questions, answered by the same processes under the same profile."""

from typing import Any

import click
import msgspec

from fledgling.broker.cli import terminal
from fledgling.broker.cli.project import Project, indexed, json_option, project_of, run, setting_options, warn
from fledgling.broker.front import Front, invalid
from fledgling.broker.indexing import Indexing
from fledgling.broker.protocol import schema
from fledgling.messages.answers import AnyAnswer, Refusal
from fledgling.messages.control import Built
from fledgling.messages.generations import CODE
from fledgling.messages.questions import QUESTIONS, AnyQuestion


def command_of(tool: str) -> click.Command:
    """Return the subcommand of a tool: its first argument by position, the others as options."""
    question = QUESTIONS[tool]
    first, *others = question.__struct_fields__
    arguments = schema.input_schema(tool)
    properties = arguments["properties"]

    @setting_options
    @json_option
    def command(as_json: bool, **options: Any) -> None:
        given = {name: options.pop(f"ask_{name}") for name in question.__struct_fields__}
        _answer(project_of(options), tool, {k: v for k, v in given.items() if v is not None}, as_json=as_json)

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
        await front.indexed(CODE, line.report)
        line.clear()
        answer = await front.ask(question, least=CODE)
        return answer, await indexing.built()

    answer, built = run(indexed(project), ask)
    warn(built.notices)
    if isinstance(answer, Refusal):
        terminal.refuse(answer)
    terminal.show(answer, as_json=as_json)
    raise SystemExit(terminal.exit_code(answer, is_partial=bool(built.partial)))
