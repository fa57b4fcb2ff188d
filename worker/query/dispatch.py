"""One question answered, and what becomes of an engine that gives up."""

import _duckdb as duckdb
import msgspec

from fledgling import refusals
from fledgling.messages.answers import Found, Overview, Refusal
from fledgling.messages.questions import QUESTIONS, Asked, name_of
from fledgling.plain import said
from fledgling.worker.tools.registry import HANDLERS
from fledgling.worker.tools.request import Refused, Request


def answer(request: Request, question: Asked) -> Found | Refusal:
    """Answer one question under the profile, or say why not: a tool outside the allowlist is refused here too."""
    tool = name_of(type(question))
    if tool in QUESTIONS and tool not in request.profile.tools:
        return Refusal(
            "denied", f"{tool} is not a tool of this profile", f"Use one of: {', '.join(request.profile.tools)}."
        )
    try:
        found = HANDLERS[type(question)](request, question)
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
