"""One question answered, and what an answer becomes where DuckDB gives up."""

from typing import NamedTuple

import _duckdb as duckdb
import msgspec

from fledgling import refusals
from fledgling.messages.answers import Refusal
from fledgling.messages.cursors import place
from fledgling.messages.inner_answers import Found, InnerAnswer
from fledgling.messages.questions import QUESTIONS, AnyQuestion, Asked, Inner, asks_graph, name_of
from fledgling.plain import said
from fledgling.worker.tools.meant import meant
from fledgling.worker.tools.registry import HANDLERS
from fledgling.worker.tools.request import Paged, Refused, Request
from fledgling.worker.tools.unknown import joined


class Answered(NamedTuple):
    """What goes back, and the question that it answers where that is not the very one that was asked."""

    answer: Found | Refusal
    taken: AnyQuestion | None = None


def answer(request: Request, question: Asked) -> Answered:
    """Answer one question under the profile, or say why not: a tool outside the allowlist is refused here too."""
    tool = name_of(type(question))
    if tool in QUESTIONS and tool not in request.profile.tools:
        others = f"Use one of: {', '.join(request.profile.tools)}."
        return Answered(Refusal("denied", f"{tool} is not a tool of this profile", others))
    try:
        if asks_graph(question):
            request.use_base()
        if isinstance(question, Paged) and question.cursor:
            request.continue_at(place(question.cursor))
        if isinstance(question, Inner):
            return Answered(HANDLERS[type(question)](request, question))
        taken, also = meant(request, question)
        found = HANDLERS[type(taken)](request, taken)
        assert not isinstance(found, InnerAnswer), "only what no agent asks is answered with one"
        if note := joined(also, found.note):
            found = msgspec.structs.replace(found, note=said(note))
        return Answered(found, None if taken is question else taken)
    except Refused as refused:
        return Answered(refused.refusal)
    except duckdb.InterruptException:
        return Answered(interrupted(request))
    except (duckdb.OutOfMemoryException, MemoryError):
        return Answered(refusals.out_of_memory(request.profile))


def interrupted(request: Request) -> Refusal:
    """Return the refusal for a call that was told to end."""
    if request.ended == "cancelled":
        return Refusal("cancelled", "the call was cancelled", "Ask again if the answer is still wanted.")
    return refusals.timed_out(request.profile)
