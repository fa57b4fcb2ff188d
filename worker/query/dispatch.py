"""Which function answers which question, and what becomes of an engine that gives up."""

from collections.abc import Callable
from typing import Any

import _duckdb as duckdb
import msgspec

from fledgling import refusals
from fledgling.messages.answers import Found, Overview, Refusal
from fledgling.messages.questions import QUESTIONS, Asked
from fledgling.plain import said
from fledgling.worker.tools.dependencies import dependencies
from fledgling.worker.tools.explore import explore
from fledgling.worker.tools.query import query
from fledgling.worker.tools.read import read
from fledgling.worker.tools.request import Refused, Request
from fledgling.worker.tools.search import search
from fledgling.worker.tools.survey import survey
from fledgling.worker.tools.symbols import symbols

ANSWERING: dict[str, Callable[[Request, Any], Found]] = {
    "explore": explore,
    "read": read,
    "search": search,
    "symbols": symbols,
    "dependencies": dependencies,
    "query": query,
    "survey": survey,
}


def answer(request: Request, question: Asked) -> Found | Refusal:
    """Answer one question under the profile, or say why not: a tool outside the allowlist is refused here too."""
    tool = type(question).__name__.lower()
    if tool in QUESTIONS and tool not in request.profile.tools:
        return Refusal(
            "denied", f"{tool} is not a tool of this profile", f"Use one of: {', '.join(request.profile.tools)}."
        )
    try:
        found = ANSWERING[tool](request, question)
        note = None if isinstance(found, Overview) else found.note
        return msgspec.structs.replace(found, note=said(note)) if note else found
    except Refused as refused:
        return refused.refusal
    except duckdb.InterruptException:
        return interrupted(request)
    except (duckdb.OutOfMemoryException, MemoryError):
        return refusals.out_of_memory(request.profile)


def interrupted(request: Request) -> Refusal:
    """Return the refusal for a call that was told to end."""
    if request.ended == "cancelled":
        return Refusal("cancelled", "the call was cancelled", "Ask again if the answer is still wanted.")
    return refusals.timed_out(request.profile)
