"""The report of an index that is served, made when somebody looks at it: on a page of HTTP, or in a client's frame."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from fledgling.broker.front import Front
from fledgling.broker.indexing.failures import IndexingError
from fledgling.broker.refused import unfinished
from fledgling.broker.reporting import report
from fledgling.broker.terms import due
from fledgling.messages.answers import Refusal


async def made(front: Front, script: str = "", deadline: float | None = None) -> str | Refusal:
    """Return the page as the index is now, with a further script of ours, or why there is none; it is not kept.

    What it waits for ends by `deadline`, by default that of a call.
    """
    deadline = deadline or due(front.profile)
    overview = await front.survey(deadline)
    if isinstance(overview, Refusal):
        return overview
    try:
        async with asyncio.timeout_at(deadline):
            built = await front.indexing.built()
    except IndexingError as failed:
        return failed.refusal
    except TimeoutError:  # it is being built anew
        return unfinished(front.profile, front.indexing)
    at = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return report.page(Path(front.indexing.root).name, front.profile.name, at, built, overview, script)
