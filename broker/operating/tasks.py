"""The tasks of a session: made, changed and listed by the agents that share it."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from fledgling.broker.operating.records import Stored, Task, TaskStep
from fledgling.broker.operating.session import Session
from fledgling.broker.operating.unfit import OperationError
from fledgling.messages.operations import MAX_LINKS, MAX_REFERENCES, State

MAX_STEPS = 100  # states of one task that are kept; a task that changes more often is none


class TaskList:
    """The tasks as they stand, by number.

    >>> tasks = TaskList(Session())
    >>> tasks.create("reviewer", title="Read the parser").id
    1
    >>> tasks.update(1, "reviewer", status="complete").status
    'complete'
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._tasks = {record.task.id: record.task for record in session.records if isinstance(record, Stored)}

    def create(
        self,
        agent: str,
        *,
        title: str,
        status: State = "need to be done",
        branch: str = "",
        commit: str = "",
        **fields: Any,
    ) -> Task:
        """Make a task, and store it. Raises FullError, or SessionError."""
        number = max(self._tasks, default=0) + 1
        task = Task(number, title, (TaskStep(status, datetime.now(UTC), agent),), **fields)
        return self._store(_linked(task, branch, commit))

    def update(
        self,
        number: int,
        agent: str,
        *,
        status: State | None = None,
        branch: str = "",
        commit: str = "",
        **fields: Any,
    ) -> Task:
        """Change a task, or link it to one more branch or commit, and store it.

        Raises OperationError, FullError, or SessionError.
        """
        task = self.get(number)
        history = task.history
        if status and status != task.status:
            if len(history) >= MAX_STEPS:
                raise OperationError(f"task {number} has changed its status {MAX_STEPS} times", "Make another task.")
            history = (*history, TaskStep(status, datetime.now(UTC), agent))
        return self._store(_linked(replace(task, history=history, **fields), branch, commit))

    def unlink(self, number: int, *, branch: str = "", commit: str = "") -> Task:
        """Take a branch or commit back that a task was linked to, or both, and store it. Raises as `update`."""
        task = self.get(number)
        if not (branch or commit):
            raise OperationError("branch is missing", "Give the branch or the commit that the task was linked to.")
        for kind, name, names in (("branch", branch, task.branches), ("commit", commit, task.commits)):
            if name and name not in names:
                raise OperationError(f"task {number} has no {kind} {name!r}", 'tasks(action="get") has its links.')
        branches = tuple(name for name in task.branches if name != branch)
        commits = tuple(name for name in task.commits if name != commit)
        return self._store(replace(task, branches=branches, commits=commits))

    def get(self, number: int) -> Task:
        """Return a task. Raises OperationError."""
        if number not in self._tasks:
            raise OperationError(f"there is no task {number}", 'tasks(action="list") has the numbers.')
        return self._tasks[number]

    def listed(self, status: State | None, branch: str | None) -> Sequence[Task]:
        """Return tasks of a status and a branch, or of any, those that were made last first."""
        return [
            task
            for task in reversed(self._tasks.values())
            if (status is None or task.status == status) and (branch is None or branch in task.branches)
        ]

    def _store(self, task: Task) -> Task:
        if len(task.planning_references) > MAX_REFERENCES:  # with those of others, which whoever gives more may not see
            raise OperationError(f"a task has up to {MAX_REFERENCES} planning_references", "Give fewer.")
        self._session.append(Stored(task))
        self._tasks[task.id] = task
        return task


def _linked(task: Task, branch: str, commit: str) -> Task:
    """Return a task with a branch and a commit among its links, if they are given. Raises OperationError."""
    branches = dict.fromkeys((*task.branches, *filter(None, [branch])))
    commits = dict.fromkeys((*task.commits, *filter(None, [commit])))
    if max(len(branches), len(commits)) > MAX_LINKS:
        raise OperationError(f"a task has up to {MAX_LINKS} branches, and as many commits", "Take one back: unlink.")
    return replace(task, branches=tuple(branches), commits=tuple(commits))


def counted(tasks: Iterable[Task]) -> dict[State, int]:
    """Return how many tasks are in each state."""
    found: dict[State, int] = {}
    for task in tasks:
        found[task.status] = found.get(task.status, 0) + 1
    return found
