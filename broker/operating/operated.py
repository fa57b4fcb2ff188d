"""A front that also answers the tools of an operator: status, manage and tasks.

The tools that read go on to the front behind it, as they are. What is here takes no path of the machine, and an agent
whose profile does not name a tool is told what anybody is told of a tool that does not exist.
"""

from collections.abc import Mapping

import msgspec

from fledgling.broker.basis import Basis
from fledgling.broker.fleet.fleet import Fleet
from fledgling.broker.front import Front, Report
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.operating.desk import Desk
from fledgling.broker.operating.indexes import Indexes
from fledgling.broker.operating.tasks import TaskList
from fledgling.broker.projects.projects import Projects
from fledgling.broker.refused import denied, invalid
from fledgling.messages.answers import AnyAnswer, Refusal
from fledgling.messages.generations import LISTING
from fledgling.messages.operations import OPERATIONS, AnyOperation, Manage, OwnAnswer, StatusOf, Tasks
from fledgling.messages.profile import Profile


class Operated:
    """Answers an operator's agent; it is asked as the front behind it is.

    >>> operated = Operated(front, TaskList(Session()), "reviewer")
    >>> await operated.call("tasks", {"action": "create", "title": "Read the parser"})
    OwnAnswer(text='task 1 ...', ...)
    """

    def __init__(self, front: Front | Projects, tasks: TaskList, agent: str) -> None:
        self.front = front
        self._indexes = Indexes(front)
        self._desk = Desk(tasks, agent, front)

    @property
    def profile(self) -> Profile:
        """The profile of the agent."""
        return self.front.profile

    def deadline(self) -> float:
        """Return by when a call that arrives now must be answered, on the clock of time.monotonic."""
        return self.front.deadline()

    def indexings(self) -> dict[str, Indexing]:
        """Return the indexes there are, by project."""
        return self.front.indexings()

    async def close(self) -> None:
        """End the processes behind the door."""
        await self.front.close()

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, object],
        report: Report | None = None,
        *,
        least: int = LISTING,
        deadline: float | None = None,
        basis: Basis | None = None,
    ) -> AnyAnswer | Refusal | OwnAnswer:
        """Answer a tool of the operator's, or hand the call on."""
        if tool not in OPERATIONS:
            return await self.front.call(tool, arguments, report, least=least, deadline=deadline, basis=basis)
        if tool not in self.profile.tools:
            return denied(self.profile, tool)
        try:
            asked: AnyOperation = msgspec.convert(arguments, OPERATIONS[tool], strict=False)
        except msgspec.ValidationError as problem:
            return invalid(tool, problem)
        until = deadline or self.deadline()
        match asked:
            case StatusOf():
                return await self._indexes.status(asked)
            case Manage():
                return await self._indexes.manage(asked, until)
            case Tasks():
                return await self._desk.answer(asked, until)


Answering = Front | Projects | Fleet | Operated  # whatever a server puts the calls of an agent to
