"""Whether the branches and commits of a task are there: a follower looks among the refs of its project."""

import time
from collections.abc import Sequence
from typing import Literal

from fledgling.broker.front import Front
from fledgling.broker.projects.projects import Projects
from fledgling.messages.following import AskRefs, Refs
from fledgling.plain import counted

Kind = Literal["branch", "commit"]

LOOK_SECONDS = 5.0  # that an answer waits for all projects to look
UNFOLLOWED = "nobody follows the project, or has looked in time"


async def linked(
    front: Front | Projects, branches: Sequence[str], commits: Sequence[str], until: float
) -> dict[Kind, dict[str, str]]:
    """Say of branches and commits whether a ref of a project in memory names them: found, not found, not checked.

    >>> await linked(front, ["main"], [], until)
    {'branch': {'main': 'found'}}
    """
    by = min(until, time.monotonic() + LOOK_SECONDS)
    fronts, unloaded = _fronts(front)
    links: dict[Kind, dict[str, str]] = {}
    names: list[tuple[Kind, str]] = [*(("branch", name) for name in branches), *(("commit", name) for name in commits)]
    for kind, name in names:
        asked = AskRefs(branch=name) if kind == "branch" else AskRefs(commit=name)
        said = [await each.refs(asked, by) or Refs(problem=UNFOLLOWED) for each in fronts]
        found = [each.branch if kind == "branch" else each.commit for each in said]
        links.setdefault(kind, {})[name] = _standing(found, said, unloaded)
    return links


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
