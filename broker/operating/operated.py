"""A front that also answers the tools of an operator: status, manage, tasks and tags.

The tools that read go on to the front behind it, as they are. What is here takes no path of the machine, and an agent
whose profile does not name a tool is told what anybody is told of a tool that does not exist.
"""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import msgspec

from fledgling.broker.fleet.live import LiveFleet
from fledgling.broker.front import Front
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.operating.desk import Desk
from fledgling.broker.operating.indexes import Indexes
from fledgling.broker.operating.session import Session
from fledgling.broker.operating.tagging import Tagging
from fledgling.broker.operating.tags import TagList
from fledgling.broker.operating.tasks import TaskList
from fledgling.broker.projects.projects import Projects
from fledgling.broker.refused import denied, invalid
from fledgling.broker.terms import Terms, due
from fledgling.messages.answers import AnyAnswer, Refusal
from fledgling.messages.operations import OPERATIONS, AnyOperation, Manage, OwnAnswer, StatusOf, TagsOf, Tasks
from fledgling.messages.profile import Profile


class Shared(NamedTuple):
    """What the agents of a session share."""

    tasks: TaskList
    tags: TagList

    @classmethod
    def of(cls, session: Session) -> "Shared":
        """Return what a session has stored so far."""
        return cls(TaskList(session), TagList(session))


class Operated:
    """Answers an operator's agent; it is asked as the front behind it is.

    >>> operated = Operated(front, Shared.of(Session()), "reviewer")
    >>> await operated.call("tasks", {"action": "create", "title": "Read the parser"})
    OwnAnswer(text='task 1 ...', ...)
    """

    def __init__(self, front: Front | Projects, shared: Shared, agent: str) -> None:
        """Let answers speak of tags by hand where the profile has the tool that gives them."""
        self.front = front
        self._indexes = Indexes(front)
        self._desk = Desk(shared.tasks, agent, front)
        self._tagging = Tagging(shared.tags, agent, front)
        if "tags" in front.profile.tools:
            slots = front.slots.items() if isinstance(front, Projects) else [("", front)]
            for name, slot in slots:
                slot.by_hand = partial(shared.tags.told, front.profile.name, f"{name}/" if name else "")

    @property
    def profile(self) -> Profile:
        """The profile of the agent."""
        return self.front.profile

    def indexings(self) -> dict[str, Indexing]:
        """Return the indexes there are, by project."""
        return self.front.indexings()

    async def close(self) -> None:
        """End the processes behind the door."""
        await self.front.close()

    async def call(
        self, tool: str, arguments: Mapping[str, object], terms: Terms | None = None
    ) -> AnyAnswer | Refusal | OwnAnswer:
        """Answer a tool of the operator's, or hand the call on."""
        if tool not in OPERATIONS:
            return await self.front.call(tool, arguments, terms)
        if tool not in self.profile.tools:
            return denied(self.profile, tool)
        try:
            asked: AnyOperation = msgspec.convert(arguments, OPERATIONS[tool], strict=False)
        except msgspec.ValidationError as problem:
            return invalid(tool, problem)
        until = terms.deadline if terms else due(self.profile)
        match asked:
            case StatusOf():
                return await self._indexes.status(asked)
            case Manage():
                return await self._indexes.manage(asked, until)
            case Tasks():
                return await self._desk.answer(asked, until)
            case TagsOf():
                return await self._tagging.answer(asked, until)


Answering = Front | Projects | LiveFleet | Operated  # whatever a server puts the calls of an agent to
