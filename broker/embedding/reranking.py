"""From an answer by meaning to the same files in an order that an embedding endpoint has a say in.

The answer is there before the endpoint is asked, so whatever that does, an agent has it, and is told in which order.
"""

import time
from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from fledgling.broker.audit_log.records import Tell
from fledgling.broker.embedding.connector import Connector, FailedError
from fledgling.messages.answers import Ranking, Refusal
from fledgling.messages.inner_answers import CandidateTexts, Found
from fledgling.messages.questions import Candidates, Near, Reordered, Search
from fledgling.plain import said

QUERY_CHARS = 1000  # of a question that go to the endpoint
LEFT_SECONDS = 1.0  # of a call's time, for the answer to be made once more
OTHERWISE = "the path was taken as another"

Ask = Callable[[Candidates | Reordered], Awaitable[Found | Refusal]]


async def reranked(
    connector: Connector, ask: Ask, question: Search, found: Ranking, deadline: float, tell: Tell
) -> Ranking:
    """Return an answer in another order, or as it is with a sentence on why; one of a single file has no other.

    `ask` puts a question to the index. To the endpoint go the question and what CandidateTexts holds, and nothing else.
    """
    if found.total < 2:
        return found
    if found.taken:
        return _as_it_was(found, OTHERWISE)
    candidates = await ask(Candidates(question))
    if not isinstance(candidates, CandidateTexts) or not candidates.files:
        return found
    until = min(deadline - LEFT_SECONDS, time.monotonic() + connector.endpoint.seconds)
    query = "; ".join([question.query, *question.also])[:QUERY_CHARS]
    try:
        shares = await connector.similar(query, [each.text for each in candidates.files], until, tell)
    except FailedError as failed:
        return _as_it_was(found, f"the embedding endpoint {failed}")
    near = tuple(Near(file.path, share) for file, share in zip(candidates.files, shares, strict=True))
    again = await ask(Reordered(question, near))
    return again if isinstance(again, Ranking) else _as_it_was(found, "the project has changed meanwhile")


def _as_it_was(found: Ranking, why: str) -> Ranking:
    return replace(found, note=said(" ".join(filter(None, (f"In the order of words alone: {why}.", found.note)))))
