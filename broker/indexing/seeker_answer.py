"""The answer of an indexer that was started for one search (broker/indexing/seeking.py), and builds no index."""

import asyncio
import os
from contextlib import ExitStack

from msgspec.structs import replace

from fledgling.broker.audit_log.records import Tell
from fledgling.broker.indexing.attempt import Attempt
from fledgling.broker.indexing.failures import DiedError, IndexingError
from fledgling.broker.indexing.files import TakenOver
from fledgling.broker.indexing.seeking import Seeker
from fledgling.broker.memory import Memory
from fledgling.broker.protocol import tools
from fledgling.broker.taken import meant_by, with_words
from fledgling.broker.terms import Report
from fledgling.messages.answers import Hits
from fledgling.messages.control import Accepted, ExtractorsConfined, FromIndexer, Progress, Sought

TOLD_SECONDS = 0.5  # between two reports to who waits
READING = Progress("read", 0, 0)


async def answer_of(seeker: Seeker, tell: Tell, report: Report) -> Sought | None:
    """Return the answer, and all there is to notice; None where that takes an index, or the indexer fails.

    It has query_timeout once all text is read, and before that the time of an indexer that says nothing.
    """
    order, files, process = seeker
    profile, question = order.profile, order.sought
    assert question
    with ExitStack() as open_:
        open_.callback(os.close, order.root_fd)
        open_.callback(files.close)
        attempt = Attempt(process, order, files, TakenOver(), tell=tell)
        memory = Memory(profile.memory_limit, files.all)
        waiting = asyncio.create_task(_told(attempt, memory, profile.query_timeout))
        try:
            while not (await asyncio.wait([waiting], timeout=TOLD_SECONDS))[0]:
                await report(READING)
            accepted, message = await waiting
        except (IndexingError, DiedError, TimeoutError):
            return None
        finally:
            waiting.cancel()
            await attempt.end()
    if not isinstance(message, Sought) or not (meant := meant_by(question, message.taken)):
        return None
    if not tools.fits(meant, message.answer, profile):
        return None
    answer = with_words(question, meant, message.answer)
    assert isinstance(answer, Hits)
    return replace(message, answer=answer, notices=(*accepted.notices, *message.notices))


async def _told(attempt: Attempt, memory: Memory, seconds: float) -> tuple[Accepted, FromIndexer | None]:
    """Return what the indexer accepted, and what it says in the end: at most so long after all text is read."""
    accepted = await attempt.accepted(memory, is_first=True)
    message = await attempt.report()
    if isinstance(message, ExtractorsConfined):
        attempt.tell_extractors(message.layers)
        message = await attempt.report()
    if isinstance(message, Progress):
        async with asyncio.timeout(seconds):
            message = await attempt.report()
    return accepted, message
