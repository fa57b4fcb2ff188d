"""The graph of an index: what its indexer reports behind it, when it is served already."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from fledgling.broker.indexing.attempt import Attempt
from fledgling.broker.indexing.failures import DiedError, IndexingError, without_graph, without_tables
from fledgling.broker.watchdog import within
from fledgling.messages.control import Generation, Progress, Relate
from fledgling.messages.generations import EDGES, GRAPH, WORDS

RELATE_AFTER_SECONDS = 1.0  # from an index to its graph, if nobody asks for it sooner: the first calls have the cores
RELATING_SECONDS = 600.0  # for the graph of an index, which is served meanwhile


async def related(attempt: Attempt, wanted: asyncio.Event, take: Callable[[Progress | Generation], None]) -> None:
    """Have an indexer resolve uses, sooner where that is `wanted`, and `take` all that it reports, to its end.

    Raises IndexingError, which says why there is no graph, or why there are no tables of it.
    """
    last: int = WORDS
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(RELATE_AFTER_SECONDS):
                await wanted.wait()
        attempt.tell(Relate())
        async with within(RELATING_SECONDS, lambda: attempt.pid):
            while last < EDGES:
                message = await attempt.report()
                if isinstance(message, Generation) and message.number > last:
                    await attempt.check(message.number)
                    last = message.number
                elif not isinstance(message, Progress):
                    raise await attempt.failed(message)
                take(message)
    except TimeoutError:
        raise _lacking(last, f"this was not finished after {RELATING_SECONDS:g} s") from None
    except (IndexingError, DiedError) as failure:
        raise _lacking(last, str(failure)) from failure
    finally:
        await attempt.end()


def _lacking(last: int, reason: str) -> IndexingError:
    return without_tables(reason) if last >= GRAPH else without_graph(reason)
