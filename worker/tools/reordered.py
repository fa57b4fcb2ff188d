"""A search by meaning whose files an embedding endpoint has compared with the question."""

from msgspec.structs import replace

from fledgling.messages.answers import Ranking
from fledgling.messages.questions import Reordered
from fledgling.worker.tools import meaning, unknown
from fledgling.worker.tools.request import Refused, Request

REORDERED = "The operator's embedding endpoint helped to order the files."


def reordered(request: Request, question: Reordered) -> Ranking:
    """Answer as search does, in an order of both. Raises Refused where no file says any more what is asked."""
    near = {each.path: each.share for each in question.near}
    found = meaning.again(request, question.question, near)
    if found is None:
        raise Refused("failed", "the project has changed meanwhile", "Ask again.")
    return replace(found, note=unknown.joined(REORDERED, found.note))
