"""What a call of a tool that is none of ours may mean: a call of one that is, for its refusal to name."""

import re
from collections.abc import Collection, Mapping
from functools import cache

import msgspec

from fledgling.broker.protocol import render
from fledgling.broker.spelling.arguments import MeaningError, snake, taken
from fledgling.broker.spelling.table import ToolRow, listed
from fledgling.messages.questions import QUESTIONS

_PREFIX = re.compile(r".*(?:__|[./:])")  # of a server, as clients put it before the name of a tool


@cache
def _rows() -> dict[str, ToolRow]:
    return {name: row for row in listed().tool for name in row.names}


def likely(tool: str, arguments: Mapping[str, object], root: str, allowed: Collection[str]) -> str | None:
    """Return the call of an allowed tool that is meant, the tool alone where its arguments do not fit, or None.

    >>> likely("mcp__fs__Grep", {"pattern": "run"}, "/srv/app", ["search"])
    'search(query="run")'
    """
    name = _PREFIX.sub("", snake(tool))
    row = _rows().get(name)
    means, more = (row.means, row.more) if row else (name, {})
    if means not in allowed or means not in QUESTIONS:
        return None
    try:
        return render.asking(taken(means, {**arguments, **more}, root).question)
    except (MeaningError, msgspec.ValidationError):
        return means
