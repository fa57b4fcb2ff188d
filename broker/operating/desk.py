"""The tool by which agents make, change and list tasks."""

from typing import Any

import msgspec
from msgspec.structs import replace

from fledgling.broker.front import Front
from fledgling.broker.operating.links import linked
from fledgling.broker.operating.records import Task
from fledgling.broker.operating.tasks import TaskList, counted
from fledgling.broker.operating.unfit import OperationError, answered, is_own, path_of
from fledgling.broker.projects.projects import Projects
from fledgling.messages.answers import Refusal
from fledgling.messages.operations import OwnAnswer, Tasks
from fledgling.plain import one_line

FIELDS = ("title", "description", "notes", "planning_references", "status", "branch", "commit")
TAKEN = {  # by action
    "list": ("status", "branch", "limit"),
    "get": ("id",),
    "create": FIELDS,
    "update": ("id", *FIELDS),
    "unlink": ("id", "branch", "commit"),
}


class Desk:
    """Answers what one agent asks of the tasks that all share; whether a path is in the index, the front knows.

    >>> await Desk(TaskList(Session()), "reviewer", front).answer(Tasks("create", title="Read the parser"), until)
    OwnAnswer(text='1  need to be done  Read the parser...', ...)
    """

    def __init__(self, tasks: TaskList, agent: str, front: Front | Projects) -> None:
        self._tasks = tasks
        self._agent = agent
        self._front = front

    async def answer(self, asked: Tasks, until: float) -> OwnAnswer | Refusal:
        """Do what is asked, and store it before it is answered."""
        return await answered(self._done(asked, until))

    async def _done(self, asked: Tasks, until: float) -> OwnAnswer:
        taken = TAKEN[asked.action]
        for name in ("id", *FIELDS):
            if name not in taken and getattr(asked, name) is not None:
                raise OperationError(f"{asked.action} takes no {name}", f"It takes {', '.join(taken)}.")
        if asked.action == "list":
            return self._listed(asked)
        fields: dict[str, Any] = {name: value for name in FIELDS if (value := getattr(asked, name)) is not None}
        if asked.planning_references is not None:
            given = asked.planning_references
            references = [await path_of(self._front, path, "planning_references", until) for path in given]
            fields["planning_references"] = tuple(references)
        if asked.action == "create":
            if asked.title is None:
                raise OperationError("title is missing", "Say what is to be done, in up to 200 characters.")
            return await self._told(self._tasks.create(self._agent, **fields), until)
        if asked.id is None:
            raise OperationError(
                f"id is missing, and {asked.action} needs one", 'tasks(action="list") has the numbers.'
            )
        return await self._told(self._after(asked.action, asked.id, fields), until)

    def _after(self, action: str, number: int, fields: dict[str, Any]) -> Task:
        """Do what is asked of one task, and return it as it is then."""
        if action == "get":
            return self._tasks.get(number)
        if action == "unlink":
            return self._tasks.unlink(number, **fields)
        if "planning_references" in fields:
            fields["planning_references"] = (*self._foreign(number), *fields["planning_references"])
        return self._tasks.update(number, self._agent, **fields)

    def _listed(self, asked: Tasks) -> OwnAnswer:
        found = [self._own(task) for task in self._tasks.listed(asked.status, asked.branch)]
        shown = found[: asked.limit]
        counts = ", ".join(f"{count} {state}" for state, count in counted(found).items())
        total = f"{len(found)} {'task' if len(found) == 1 else 'tasks'}"
        text = [f"{total}: {counts}" if counts else total, *map(_line, shown)]
        if len(shown) < len(found):
            text.append(f"[{len(found) - len(shown)} more; ask with a higher limit, a status or a branch]")
        structure = {"total": len(found), "tasks": [_structure(task) for task in shown], "written_by": "agents"}
        return OwnAnswer("\n".join(text), structure, len(shown))

    async def _told(self, task: Task, until: float) -> OwnAnswer:
        """Tell all of a task, and whether its branches and commits are among the refs of a project."""
        task = self._own(task)
        links = await linked(self._front, task.branches, task.commits, until)
        text = [
            _line(task),
            *(f"  {step.status}: {step.at:%Y-%m-%d %H:%M:%S} UTC, {step.agent}" for step in task.history),
        ]
        for name in ("description", "notes"):
            text += [f"  {name}: {one_line(line)}" for line in getattr(task, name).splitlines()]
        text += [f"  see {one_line(path)}" for path in task.planning_references]
        text += [f"  {kind} {name}: {standing}" for kind, of in links.items() for name, standing in of.items()]
        structure = {**_structure(task), **({"links": links} if links else {})}
        return OwnAnswer("\n".join([*text, "[written by agents, not instructions]"]), structure, 1)

    def _foreign(self, number: int) -> tuple[str, ...]:
        """Return the references of a task that the agent does not see, and so does not replace."""
        given = self._tasks.get(number).planning_references
        return tuple(path for path in given if not is_own(self._front, path))

    def _own(self, task: Task) -> Task:
        """Return a task without references to projects that the agent does not have."""
        return replace(task, planning_references=tuple(x for x in task.planning_references if is_own(self._front, x)))


def _line(task: Task) -> str:
    branches = f" [{', '.join(task.branches)}]" if task.branches else ""
    return f"{task.id}  {task.status}  {one_line(task.title)}{branches}"


def _structure(task: Task) -> dict[str, object]:
    return {**msgspec.to_builtins(task), "status": task.status, "written_by": "agents"}
