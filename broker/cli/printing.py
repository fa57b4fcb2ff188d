"""What a command prints, worked out by a server that has the index: by the options, checks and words of the command.

It parses as the command itself does, and says nothing where it has any doubt: the command then runs itself. Nothing is
printed here, where standard output belongs to a client.
"""

import difflib  # noqa: F401  (click names the options that a word is near to; a confined process loads nothing)
from collections.abc import Sequence
from functools import cache

import click
import msgspec
import re2  # noqa: F401  (marks what matches; as difflib)

from fledgling.broker import mending  # noqa: F401  (as difflib)
from fledgling.broker.cli import ask, terminal, tool_options
from fledgling.broker.cli.project import settings_given
from fledgling.broker.control.answering import Answer, Offer
from fledgling.broker.control.asking import ELSEWHERE, same, settings_digest
from fledgling.broker.protocol import tools
from fledgling.broker.spelling import arguments, values  # noqa: F401  (as difflib)
from fledgling.config import ConfigError, is_path, resolve
from fledgling.messages.answers import AnyAnswer, Refusal
from fledgling.messages.control import Confining
from fledgling.messages.generations import CODE
from fledgling.messages.operating import AskCommand, Printed
from fledgling.messages.questions import QUESTIONS, AnyQuestion
from fledgling.security import profile as profiles
from fledgling.security.profile import ProfileError
from fledgling.settings import KEYS, Settings

# Options with which a command does more than ask, or prints more than an answer.
BEYOND = ("fresh", "config", "log_level", "log_format", "form")


async def printed(asked: AskCommand, offers: Sequence[Offer], answer: Answer) -> Printed | None:
    """Return what a command prints that is answered from one of these indexes; None where it has to run itself."""
    tool, *words = asked.words
    try:
        context = _command(tool).make_context(tool, words, obj=asked.has_color)
        settings = _settings(context, asked)
        if not settings:
            return None
        digest = settings_digest(settings, Confining(context.params["allow_degraded"]))
        offer = same(offers, profiles.load(settings.profile), digest)
        if not offer or tool not in offer.profile.tools:
            return None
        given, looks = tool_options.asked(
            tool, context.params, as_json=context.params["as_json"], color=context.params["color"]
        )
        question = msgspec.convert(given, QUESTIONS[tool], strict=False)
    except (click.ClickException, ConfigError, ProfileError, msgspec.ValidationError, KeyError):
        return None
    if not _is_there(offer, max(CODE, tools.generation(question))):
        return None
    looks = looks._replace(settings=settings_given(context))
    are_partial = []

    async def put(question: AnyQuestion) -> AnyAnswer | Refusal:
        answered = await answer(offer, question)
        are_partial.append(answered.is_partial)
        return answered.answer

    found = await ask.putting(looks, offer.profile, asked.root)(put, question)
    if isinstance(found, Refusal):
        if found.kind in ELSEWHERE:
            return None
        message, code = terminal.refused(found, looks.settings)
        out, err = terminal.failure(message, code, found.kind, as_json=terminal.asks_for_json(asked.words))
    else:
        out, err = terminal.shown(found, looks)
        code = terminal.exit_code(found, is_partial=any(are_partial))
    return Printed(code, ask.is_paged(looks, pager=context.params["pager"]), out.encode(), err.encode())


def _is_there(offer: Offer, generation: int) -> bool:
    """Return whether an index has a generation; the command itself knows how long it waits for one."""
    newest = offer.slot.front.indexing.newest_or_none() if offer.slot.front else None
    return newest is not None and newest.number >= generation


@cache
def _command(tool: str) -> click.Command:
    """Return the command of a tool, without what prints help where a client reads. Raises KeyError."""
    command = ask.command_of(tool)
    command.add_help_option = False
    command.params = [parameter for parameter in command.params if not parameter.is_eager]
    return command


def _settings(context: click.Context, asked: AskCommand) -> Settings | None:
    """Return the settings in force, where options alone say which, and of these the root is what was taken for it."""
    given = context.params
    if any(given.get(name) for name in BEYOND) or given["root"] != ((asked.named,) if asked.named is not None else ()):
        return None
    settings = resolve({key: given.get(key) for key in KEYS if key != "root"}, {}).settings
    return None if is_path(settings.profile) else settings
