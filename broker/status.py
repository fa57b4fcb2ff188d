"""How an index stands, as a person and a client are told: its last build, and what has changed since."""

from collections.abc import Iterator

from msgspec.structs import astuple

from fledgling.broker.fleet.live import LiveFleet
from fledgling.broker.front import Front
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.indexing.progress import percent
from fledgling.broker.projects.projects import Projects
from fledgling.broker.refused import NO_ROOT
from fledgling.messages.status import Changed, Listed, State, Status
from fledgling.plain import one_line, said

UNFOLLOWED = "the server does not follow the project: its `freshness` is off"


async def status(front: Front, since: int | None = None, *, looks: bool) -> Status:
    """Return how an index stands, and what has changed since a generation of changes, by default that of the index.

    Where it `looks`, that is what has changed until now; else, until the last look.
    """
    if looks:
        await front.look()
    indexing, progress = front.indexing, front.indexing.progress
    changes = await front.changed(since)
    basis, state = front.basis, _state(indexing)
    is_counted = progress is not None and progress.total > 0
    files = indexing.has_files
    at_work = progress if state == "in_progress" else None
    return Status(
        state=state,
        progress=100.0 if state == "completed" else round(percent(progress), 1) if progress else 0.0,
        started_at=indexing.started_at,
        generation=basis.generation or 0,
        as_of=basis.as_of,
        completed_at=indexing.completed_at,
        current_file=at_work.at if at_work else None,
        total_files=files if state == "completed" else progress.total if progress and is_counted else None,
        processed_files=files if state == "completed" else progress.done if progress and is_counted else None,
        error=said(indexing.failure) if indexing.failure else None,
        partial=indexing.partial,
        changes=changes,
        unfollowed=_unfollowed(front),
        resolving=indexing.resolving(),
    )


def _state(indexing: Indexing) -> State:
    if indexing.failure:
        return "failed"
    if indexing.is_over:
        return "completed"
    return "in_progress" if indexing.is_accepted else "pending"


def _unfollowed(front: Front) -> str | None:
    """Say why nobody can tell what has changed, or will."""
    if not front.indexing.files.is_followed:
        return UNFOLLOWED
    return NO_ROOT.reason if front.has_no_root else None


# ---- as text ---------------------------------------------------------------------------------------------------------


async def told(front: Front | Projects | LiveFleet, since: int | None = None) -> list[str]:
    """Return how an index stands as lines, after a look; of several projects each, also of those that have none now."""
    if isinstance(front, LiveFleet):
        return front.stands()
    if isinstance(front, Front):
        return [*lines(await status(front, since, looks=True))]
    stands = []
    for name, slot in front.slots.items():
        stands.append(f"{name}/: {slot.state}")
        if slot.front and slot.state == "serving":
            stands += [f"  {line}" for line in lines(await status(slot.front, since, looks=True))]
    return stands


def lines(status: Status) -> Iterator[str]:
    """Yield a status as lines for a reader; a name of a file stays on its line."""
    if status.state == "unloaded":
        yield "state: unloaded"
        return
    rows = (
        ("state", status.state),
        ("progress", f"{status.progress:g} %"),
        ("current file", status.current_file and one_line(status.current_file)),
        ("files", _files(status)),
        ("started", status.started_at and f"{status.started_at:%Y-%m-%d %H:%M:%S} UTC"),
        ("completed", status.completed_at and f"{status.completed_at:%Y-%m-%d %H:%M:%S} UTC"),
        ("error", status.error),
        ("partial", status.partial),
        ("at work", status.resolving),
        ("generation", str(status.generation)),
        ("as of", status.as_of and f"{status.as_of:%Y-%m-%d %H:%M:%S.%f} UTC"),
    )
    yield from (f"{name}: {value}" for name, value in rows if value)
    if status.changes is None:
        yield f"changes: not known{f' ({status.unfollowed})' if status.unfollowed else ''}"
    else:
        yield from changes(status.changes)


def changes(changed: Changed) -> Iterator[str]:
    """Yield what has changed, a file on each line."""
    kinds = {"added": changed.added, "modified": changed.modified, "deleted": changed.deleted}
    counted = ", ".join(f"{of.count} {kind}" for kind, of in kinds.items())
    yield f"changes since generation {changed.since}: {counted}"
    for kind, of in kinds.items():
        yield from _listed(kind, of)


def _listed(kind: str, of: Listed) -> Iterator[str]:
    count, paths = astuple(of)
    yield from (f"  {kind}: {one_line(path)}" for path in paths)
    if count > len(paths):
        yield f"  {kind}: {count - len(paths)} more"


def _files(status: Status) -> str | None:
    if status.total_files is None:
        return None
    return f"{status.processed_files} of {status.total_files}"
