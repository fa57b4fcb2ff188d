"""How the indexes of a server stand, and how they are made anew or given up."""

import asyncio
import time
from typing import Any, Literal

import msgspec

from fledgling.broker import status
from fledgling.broker.front import Front
from fledgling.broker.indexing.failures import IndexingError
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.projects.projects import Projects
from fledgling.messages.answers import Refusal
from fledgling.messages.operations import Manage, OwnAnswer, StatusOf
from fledgling.plain import one_line

MARGIN_SECONDS = 0.5  # before its deadline, a call that waits for an index is answered that it goes on

ONLY = Refusal(
    "invalid", "the only project of a server cannot be given up", "End the server; nothing of its index is left then."
)

Outcome = Literal["success", "partial", "failed", "in_progress"]


class Indexes:
    """The indexes behind a front, as an operator's agent sees them. Raises nothing: what is wrong is a refusal.

    >>> await Indexes(front).manage(Manage("reindex"), until)
    OwnAnswer(text='reindex the project: success, 812 files', ...)
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
            entry: dict[str, Any] = {"name": name, "state": state} if name else {}
            text += [f"{name}/: {state}"] if name else []
            if front is not None:
                found = await status.status(front, asked.since, looks=asked.changes)
                entry |= msgspec.to_builtins(found)
                lines = [*status.lines(found)]
                if not asked.changes:
                    entry.pop("changes", None)
                    lines = [line for line in lines if not line.startswith(("changes", "  "))]
                text += [f"  {line}" if name else line for line in lines]
            stands[name] = entry
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
        front = self._opened(name)
        if front is None:
            return Refusal("unavailable", "the project cannot be opened", "See the server's log.")
        if force:
            front.indexing.renew()
        elif front.indexing.is_over:
            await front.look()
        state, files, errors = await _built(front.indexing, until)
        structure: dict[str, object] = {
            "project": name,
            "status": state,
            "files_indexed": files,
            "duration": round(time.monotonic() - begun, 3),
            "errors": errors,
        }
        text = f"reindex {name or 'the project'}: {state}" + (f", {files} files" if files is not None else "")
        return OwnAnswer("\n".join([text, *map(one_line, errors)]), structure, 1)

    def _opened(self, name: str) -> Front | None:
        if not isinstance(self._front, Projects):
            return self._front
        try:
            return self._front.slots[name].open()
        except IndexingError:
            return None

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
            return slot.state, slot.front if slot.state == "serving" else None
        return "serving", self._front

    def _no_project(self, name: str | None) -> Refusal:
        names = ", ".join(filter(None, self._names())) or "one without a name: leave project out"
        problem = f"there is no project {name[:64]!r}" if name else "project is missing"
        return Refusal("not_found" if name else "invalid", problem, f"There is {names}.")


async def _built(indexing: Indexing, until: float) -> tuple[Outcome, int | None, list[str]]:
    """Wait for a build as long as a call may: how it went, its files, and what went wrong."""
    try:
        async with asyncio.timeout_at(until - MARGIN_SECONDS):
            built = await indexing.built()
    except TimeoutError:
        return "in_progress", None, []
    except IndexingError as failed:
        return "failed", None, [failed.refusal.reason]
    return "partial" if built.partial else "success", built.files, [built.partial] if built.partial else []
