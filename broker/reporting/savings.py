"""What navigation costs an agent with Fledgling and without: tokens and calls, measured on a project; see savings.toml.

All ways are counted on the same index: what grep and cat would print is asked for in SQL, so nothing of the project
is read here. Four characters are a token.
"""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from fledgling.broker.front import Front
from fledgling.broker.protocol import render, tools
from fledgling.messages.answers import AnyAnswer, Next, Ranking, Refusal, Table

CHARS_A_TOKEN = 4
MAX_PAGES = 50  # of one answer; the shell prints everything at once, so everything is asked for

Argument = str | int | bool | list[str]


class ToolCall(Struct, frozen=True):
    """A call; `pages` are looked at, all of them where that is 0."""

    tool: str
    arguments: dict[str, Argument]
    pages: int = 0


class ShellCommand(Struct, frozen=True):
    """A command, and the name of the SQL that says how many characters it prints."""

    command: str
    prints: str


class Template(Struct, frozen=True):
    """A question about each subject that its SQL finds, and how it is answered in each way."""

    ask: str
    subject: str
    calls: list[ToolCall]
    cat: list[ShellCommand]
    sed: list[ShellCommand]


class Questions(Struct, frozen=True):
    """The file."""

    prints: dict[str, str]
    question: list[Template]


QUESTIONS = msgspec.convert(tomllib.loads(Path(__file__).with_name("savings.toml").read_text("utf-8")), Questions)


class AnswerCost(NamedTuple):
    """What one side has spent."""

    chars: int
    calls: int

    @property
    def tokens(self) -> int:
        """What a model pays."""
        return self.chars // CHARS_A_TOKEN

    def and_(self, chars: int) -> "AnswerCost":
        """Return this and one more call."""
        return AnswerCost(self.chars + chars, self.calls + 1)


class Compared(NamedTuple):
    """One question, answered in each way."""

    ask: str
    fledgling: AnswerCost
    cat: AnswerCost
    sed: AnswerCost


class MeasureError(Exception):
    """A question cannot be put, and why."""


async def measure(front: Front) -> list[Compared]:
    """Put every question; the profile must allow SQL. Raises MeasureError."""
    compared = []
    for template in QUESTIONS.question:
        for subject in await _rows(front, template.subject):
            fledgling = await _with_calls(front, template.calls, subject)
            cat, sed = [await spent_in_shell(front, commands, subject) for commands in (template.cat, template.sed)]
            compared.append(Compared(_filled(template.ask, subject), fledgling, cat, sed))
    return compared


async def _with_calls(front: Front, calls: Iterable[ToolCall], subject: Mapping[str, str]) -> AnswerCost:
    spent = AnswerCost(0, 0)
    for call in calls:
        tool, arguments = call.tool, dict(call.arguments)
        arguments |= {key: _filled(value, subject) for key, value in arguments.items() if isinstance(value, str)}
        for page in range(1, (call.pages or MAX_PAGES) + 1):
            answer = await front.call(tool, arguments)
            spent = spent.and_(len(tool) + len(msgspec.json.encode(arguments)) + len(_said(answer)))
            following = _after(answer, arguments, subject)
            if following is None or page == call.pages:
                break
            tool, arguments = following.tool, dict(following.arguments)
    return spent


def _said(answer: AnyAnswer | Refusal) -> str:
    return render.refusal(answer) if isinstance(answer, Refusal) else tools.text(answer)


def _after(answer: AnyAnswer | Refusal, arguments: dict[str, Argument], subject: Mapping[str, str]) -> Next | None:
    """Return the call that must follow: the next page, or by lines where a name has more than one definition."""
    if isinstance(answer, Refusal):
        if answer.kind != "ambiguous":
            raise MeasureError(f"{arguments}: {render.refusal(answer)}")
        first, last = int(subject["line_start"]), int(subject["line_end"])
        return Next("read", {"path": subject["path"], "start_line": first, "end_line": last})
    return None if isinstance(answer, Table | Ranking) else answer.next


async def spent_in_shell(front: Front, commands: Iterable[ShellCommand], subject: Mapping[str, str]) -> AnswerCost:
    """Return what commands cost: what is written and what is printed. Raises MeasureError."""
    spent = AnswerCost(0, 0)
    quoted = {name: value.replace("'", "''") for name, value in subject.items()}
    for command in commands:
        [row] = await _rows(front, _filled(QUESTIONS.prints[command.prints], quoted))
        [printed] = row.values()
        spent = spent.and_(len(_filled(command.command, subject)) + int(printed or 0))
    return spent


async def _rows(front: Front, sql: str) -> list[dict[str, str]]:
    answer = await front.call("query", {"sql": sql})
    if not isinstance(answer, Table):
        raise MeasureError(f"{sql}: {_said(answer)}")
    return [{name: str(cell or "") for name, cell in zip(answer.columns, row, strict=True)} for row in answer.rows]


def _filled(template: str, subject: Mapping[str, str]) -> str:
    """Fill in `{name}` of the subject's columns, once."""
    pieces = template.replace("{", "\0{").replace("}", "}\0").split("\0")
    return "".join(subject.get(piece[1:-1], piece) if piece.startswith("{") else piece for piece in pieces)


KEYS = ("question", "tokens", "calls", "cat_tokens", "cat_calls", "sed_tokens", "sed_calls")  # of a row of `table`


def table(compared: Iterable[Compared]) -> list[tuple[str, ...]]:
    """Return the table: a row a question, and the totals. Columns are tokens and calls in each of the three ways."""
    listed = list(compared)
    totals = (_total(costs) for costs in zip(*(each[1:] for each in listed), strict=True))
    rows = [*listed, Compared(f"all {len(listed)}", *totals)] if listed else []
    heading = ("question", "tokens", "calls", "grep + cat", "calls", "grep + sed", "calls")
    return [heading, *(_row(each) for each in rows)]


def _total(costs: Iterable[AnswerCost]) -> AnswerCost:
    spent = list(costs)
    return AnswerCost(sum(cost.chars for cost in spent), sum(cost.calls for cost in spent))


def _row(each: Compared) -> tuple[str, ...]:
    costs = (each.fledgling, each.cat, each.sed)
    return (each.ask, *(str(number) for cost in costs for number in (cost.tokens, cost.calls)))
