"""What a call is told at the door: what it is taken for, or why it is refused."""

import re
from collections.abc import Collection, Mapping

import msgspec

from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.protocol import schema, tools
from fledgling.broker.spelling import arguments as spelled
from fledgling.broker.spelling.arguments import MeaningError, Taken
from fledgling.broker.spelling.tools import likely
from fledgling.config import suggestion
from fledgling.messages.answers import Refusal
from fledgling.messages.profile import Profile
from fledgling.messages.questions import QUESTIONS
from fledgling.plain import MAX_SHOWN, one_line, said

NO_ROOT = Refusal(
    "unavailable",
    "the root has been deleted or cannot be read, or another directory has taken its place",
    "Start Fledgling again, or make the root readable; nothing is answered from what was there.",
)
GIVEN_UP = Refusal("unavailable", "the index was given up meanwhile", "Ask again: another is made.")
NOT_STARTED = Refusal("unavailable", "the query worker does not start", "Ask again; see the server's log.")
MAX_MISFIT = 100  # characters of why a value does not fit: it may be part of that, and who has sent it knows it
# How msgspec names the field that is wrong, missing or unknown: last, behind what may be the value of it.
_FIELD = re.compile(r" - at `\$\.(\w+)[^`]*`\Z|field `(.*)`\Z", re.DOTALL)


def taken(profile: Profile, tool: str, arguments: Mapping[str, object], root: str) -> Taken | Refusal:
    """Return the question that a call means, or why it is refused before it is put to anybody.

    >>> taken(profile, "search", {"pattern": "x"}, "/srv/app").words
    ('pattern as query',)
    """
    if tool not in profile.tools:
        return denied(profile, tool, likely(tool, arguments, root, profile.tools))
    try:
        return spelled.taken(tool, arguments, root)
    except msgspec.ValidationError as problem:
        return invalid(tool, problem, profile.tools)
    except MeaningError as twice:
        return Refusal("invalid", str(twice), "Leave one of them out.")


def denied(profile: Profile, tool: str, likely: str | None = None) -> Refusal:
    """Return the refusal for a tool that the profile does not allow, or that there is not, with a `likely` call."""
    perhaps = f"Perhaps you mean {likely}. " if likely else ""
    return Refusal(
        "denied",
        f"{tool[:64]!r} is not a tool of the profile {profile.name}",
        said(f"{perhaps}Use one of: {', '.join(profile.tools)}."),
    )


def not_ready(profile: Profile) -> Refusal:
    """Return the refusal for a call that found no worker in its time."""
    return Refusal(
        "unavailable",
        f"no query worker was ready within the profile's query_timeout of {profile.query_timeout:g} s",
        "Ask again: one is being started.",
    )


def not_looked_at(profile: Profile) -> Refusal:
    """Return the refusal for a call in whose time nobody could say what has changed."""
    return Refusal(
        "unavailable",
        f"the project was not checked for changes within the profile's query_timeout of {profile.query_timeout:g} s",
        "Ask again: a process that does not answer is replaced.",
    )


def unfinished(profile: Profile, indexing: Indexing) -> Refusal:
    """Return the refusal for a call that waited for the index all its time: how far that is, and what it answers."""
    newest = indexing.newest_or_none()
    ways = (
        [tools.TOOLS[name].meanwhile.get(newest.number) for name in profile.tools if name in tools.TOOLS]
        if newest
        else []
    )
    answered = [how for how in ways if how]
    meanwhile = f"Meanwhile ask {' or '.join(answered)}; ask" if answered else "Ask"
    return Refusal(
        "unavailable",
        f"{indexing.state()}, and what this call needs was not ready within the profile's query_timeout of "
        f"{profile.query_timeout:g} s",
        f"{meanwhile} this again later: the work goes on.",
    )


def invalid(tool: str, problem: msgspec.ValidationError, allowed: Collection[str] = ()) -> Refusal:
    """Return the refusal for arguments that do not fit, saying what would, and which of the `allowed` tools take them.

    >>> invalid("read", msgspec.ValidationError("Expected `str`, got `int` - at `$.path`")).next_step
    'Give path as text: file below the root, or directory with `symbol`.'
    """
    known = spelled.properties(tool)
    named = _FIELD.search(str(problem))
    field = named[1] or named[2] if named else ""
    if field in known:
        misfit = one_line(str(problem).rpartition(" - at")[0])
        misfit = misfit if len(misfit) <= MAX_MISFIT else f"{misfit[:MAX_MISFIT]}..."
        unfit = f"has a value that does not fit{'' if 'matching regex' in misfit else f' ({misfit})'}"
        is_empty = "length >= 1" in misfit
        why = "is missing" if "missing required" in str(problem) else "is empty" if is_empty else unfit
        return Refusal("invalid", f"{tool}: {field} {why}", f"Give {field} as {schema.in_words(known[field])}.")
    if not field:
        return Refusal("invalid", said(f"{tool}: {problem}"), f"{tool} takes {', '.join(known)}.")
    others = [name for name in allowed if name in QUESTIONS and field in QUESTIONS[name].__struct_fields__]
    takers = f"; {field} is an argument of {', '.join(others)}" if others else ""
    near = re.sub("^did", "Did", suggestion(field, known, f"{tool} takes"))
    return Refusal("invalid", f"{tool}: there is no argument {field[:MAX_SHOWN]!r}", f"{near}{takers}.")
