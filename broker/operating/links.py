"""Whether the branch and the commit of a task are there: a follower looks among the refs of its project."""

import time

from fledgling.broker.front import Front
from fledgling.broker.projects.projects import Projects
from fledgling.messages.control import AskRefs, Refs
from fledgling.plain import counted

LOOK_SECONDS = 5.0  # that an answer waits for all projects to look
UNFOLLOWED = "nobody follows the project, or has looked in time"


async def linked(front: Front | Projects, branch: str, commit: str | None, until: float) -> dict[str, str]:
    """Say of a branch and a commit whether a ref of a project in memory names them: found, not found, not checked.

    >>> await linked(front, "main", None, until)
    {'branch': 'found'}
    """
    asked = {name: value for name, value in (("branch", branch), ("commit", commit)) if value}
    if not asked:
        return {}
    by = min(until, time.monotonic() + LOOK_SECONDS)
    fronts, unloaded = _fronts(front)
    said = [await each.refs(AskRefs(branch, commit), by) or Refs(problem=UNFOLLOWED) for each in fronts]
    return {name: _standing([getattr(each, name) for each in said], said, unloaded) for name in asked}


def _fronts(front: Front | Projects) -> tuple[list[Front], int]:
    """Return the fronts in memory, and of how many projects there is none."""
    if isinstance(front, Front):
        return [front], 0
    loaded = [slot.front for slot in front.slots.values() if slot.front and slot.state == "serving"]
    return loaded, len(front.slots) - len(loaded)


def _standing(found: list[bool | None], said: list[Refs], unloaded: int) -> str:
    """Return what all projects together say: absent only where each has looked."""
    if True in found:
        return "found"
    problems = sorted({each.problem for each in said if each.problem})
    problems += [f"not in memory: {counted(unloaded, 'project')}"] if unloaded else []
    return f"not checked ({'; '.join(problems)})" if problems else "not found"
