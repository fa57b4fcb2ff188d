"""How the indexes of a server stand, and how they are made anew or given up."""

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, Literal

import msgspec

from fledgling.broker import status
from fledgling.broker.front import Front
from fledgling.broker.indexing.failures import IndexingError
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.projects.projects import Projects
from fledgling.broker.refused import GIVEN_UP, NO_ROOT
from fledgling.messages.answers import Refusal
from fledgling.messages.control import Built
from fledgling.messages.operations import Manage, OwnAnswer, StatusOf
from fledgling.messages.status import Status
from fledgling.plain import counted, one_line

MARGIN_SECONDS = 0.5  # before its deadline, a call that waits for an index is answered that it goes on

ONLY = Refusal(
    "invalid", "the only project of a server cannot be given up", "End the server; nothing of its index is left then."
)

_log = logging.getLogger("fledgling")

Outcome = Literal["success", "partial", "failed", "in_progress"]


class Indexes:
    """The indexes behind a front, as an operator's agent sees them. Raises nothing: what is wrong is a refusal.

    >>> await Indexes(front).manage(Manage("reindex"), until)
    OwnAnswer(text='reindex the project: success, 812 files, 9,031 definitions', ...)
    """

    def __init__(self, front: Front | Projects) -> None:
        self._front = front

    async def status(self, asked: StatusOf) -> OwnAnswer | Refusal:
        """Say how each index stands, or one; of a project that is not in memory, that it is not."""
        stands: dict[str, dict[str, Any]] = {}
        text: list[str] = []
        for name in self._names():
            if asked.project not in (None, name):
                continue
            state, front = self._of(name)
            stands[name] = {"name": name, "state": state} if name else {"state": state}
            text += [f"{name}/: {state}"] if name else []
            if front is not None:
                found = await status.status(front, asked.since, looks=asked.changes and state == "serving")
                stands[name] |= _fields(front.indexing, found, has_changes=asked.changes)
                lines = [*status.lines(found), *_lines(front.indexing)]
                if not asked.changes:
                    lines = [line for line in lines if not line.startswith(("changes", "  "))]
                text += [f"  {line}" if name else line for line in lines]
        if not stands:
            return self._no_project(asked.project)
        return OwnAnswer("\n".join(text), {"projects": list(stands.values())}, len(stands))

    async def manage(self, asked: Manage, until: float) -> OwnAnswer | Refusal:
        """Make an index anew, and wait for it as long as a call may; or give it up."""
        names = self._names()
        name = asked.project if asked.project is not None or len(names) > 1 else names[0]
        if name not in names:
            return self._no_project(name)
        if asked.action == "purge":
            return await self._purge(name)
        return await self._reindex(name, until, force=asked.force)

    async def _reindex(self, name: str, until: float, *, force: bool) -> OwnAnswer | Refusal:
        begun = time.monotonic()
        try:
            with self._in_use(name) as front:
                if force:
                    front.indexing.renew(afresh=True)
                elif front.indexing.is_over:
                    await front.look()
                state, built, errors = await _built(front, until)
                reference = front.indexing.reference
        except IndexingError as failed:
            _log.error("project %s: %s", name, failed)
            return Refusal("unavailable", "the project cannot be opened", "See the server's log.")
        structure: dict[str, object] = {
            "project": name,
            "reference": reference,
            "status": state,
            "files_indexed": built and built.files,
            "definitions": built and built.symbols,
            "duration": round(time.monotonic() - begun, 3),
            "errors": errors,
        }
        holds = f", {counted(built.files, 'file')}, {counted(built.symbols, 'definition')}" if built else ""
        text = f"reindex {name or 'the project'}: {state}{holds}"
        return OwnAnswer("\n".join([text, *map(one_line, errors)]), structure, 1)

    def _in_use(self, name: str) -> AbstractContextManager[Front]:
        """Return the front of a project, which does not rest meanwhile. Raises IndexingError where there is none."""
        return self._front.slots[name].in_use() if isinstance(self._front, Projects) else nullcontext(self._front)

    async def _purge(self, name: str) -> OwnAnswer | Refusal:
        if not isinstance(self._front, Projects):
            return ONLY
        slot = self._front.slots[name]
        was = slot.state
        await slot.unload()
        return OwnAnswer(f"purge {name}: {was}, now unloaded", {"project": name, "was": was, "state": slot.state}, 1)

    def _names(self) -> list[str]:
        return list(self._front.slots) if isinstance(self._front, Projects) else [""]

    def _of(self, name: str) -> tuple[str, Front | None]:
        if isinstance(self._front, Projects):
            slot = self._front.slots[name]
            return slot.state, slot.front
        return "serving", self._front

    def _no_project(self, name: str | None) -> Refusal:
        names = ", ".join(filter(None, self._names())) or "one without a name: leave project out"
        problem = f"there is no project {name[:64]!r}" if name else "project is missing"
        return Refusal("not_found" if name else "invalid", problem, f"There is {names}.")


def _fields(indexing: Indexing, found: Status, *, has_changes: bool) -> dict[str, Any]:
    """Return what is told of a project, by the names that tools of this kind have agreed on."""
    fields = msgspec.to_builtins(found)
    if not has_changes:
        del fields["changes"]
    times = {"ingestion_date": indexing.ingested_at, "last_updated": indexing.updated_at}
    known = {"reference": indexing.reference, "content_hash": indexing.content_hash, **msgspec.to_builtins(times)}
    if indexing.profile.absolute_paths:
        known["source_path"] = indexing.root
    return {"status": fields.pop("state"), **fields, **known}


def _lines(indexing: Indexing) -> Iterator[str]:
    yield f"reference: {indexing.reference}"
    if indexing.profile.absolute_paths:
        yield f"source path: {one_line(indexing.root)}"
    for name, at in (("ingested", indexing.ingested_at), ("updated", indexing.updated_at)):
        if at:
            yield f"{name}: {at:%Y-%m-%d %H:%M:%S} UTC"
    if indexing.content_hash:
        yield f"content hash: {indexing.content_hash}"


async def _built(front: Front, until: float) -> tuple[Outcome, Built | None, list[str]]:
    """Wait for a build as long as a call may: how it went, what the index holds, and what went wrong."""
    try:
        async with asyncio.timeout_at(until - MARGIN_SECONDS):
            built = await front.indexing.built()
    except TimeoutError:
        return "in_progress", None, []
    except IndexingError as failed:
        return "failed", None, [failed.refusal.reason]
    except asyncio.CancelledError:
        if (task := asyncio.current_task()) and task.cancelling():
            raise
        return "failed", None, [GIVEN_UP.reason]  # the build was ended, not who waits for it
    with suppress(TimeoutError):
        async with asyncio.timeout_at(until - MARGIN_SECONDS):
            await front.look()
    if front.has_no_root:
        return "failed", None, [NO_ROOT.reason]
    return "partial" if built.partial else "success", built, [built.partial] if built.partial else []
