"""Tags that agents give by hand: what there are, and which of them an answer about one project may speak of."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from fledgling.broker.operating.records import Tagged
from fledgling.broker.operating.session import Session
from fledgling.broker.operating.unfit import OperationError
from fledgling.messages.control import TagByHand, TagsByHand
from fledgling.messages.questions import Asked, Explore, Query, Search

MAX_TAGS = 2000  # of a session, each to one place: a question takes those along that its answer may speak of


class GivenTag(NamedTuple):
    """A tag of one place: a file, or a definition in it; agents of another profile do not see it."""

    profile: str
    path: str
    symbol: str | None
    tag: str


class TagList:
    """The tags as they stand, and who gave them.

    >>> tags = TagList(Session())
    >>> tags.change("reviewer", "fledgling-operator", ["reviewed"], ["src/a.py"])
    1
    >>> tags.listed("fledgling-operator")[0].tag
    'reviewed'
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._agents: dict[GivenTag, str] = {}
        self._names: set[tuple[str, str]] = set()  # profiles, and tags that an agent of each gave at some time
        for record in session.records:
            if isinstance(record, Tagged):
                self._take(record)

    def change(
        self,
        agent: str,
        profile: str,
        tags: Sequence[str],
        paths: Sequence[str],
        symbol: str | None = None,
        *,
        is_removed: bool = False,
    ) -> int:
        """Give each tag to each place, or take it away, and store that: how many there were not, or are no more.

        Raises OperationError, FullError, or SessionError.
        """
        now = datetime.now(UTC)
        record = Tagged(profile, agent, now, tuple(tags), tuple(paths), symbol, is_removed=is_removed)
        places = {*_given(record)}
        if is_removed and (absent := sorted(places - self._agents.keys())):
            where = f"{absent[0].path} {symbol}" if symbol else absent[0].path
            fix = 'tags(action="list") has those that were; a tag of a rule stays.'
            raise OperationError(f"no agent gave {absent[0].tag!r} to {where}", fix)
        changed = places if is_removed else places - self._agents.keys()
        if not is_removed and len(self._agents) + len(changed) > MAX_TAGS:
            raise OperationError(f"a session holds {MAX_TAGS:,} tags", "Remove some first.")
        if changed:
            self._session.append(record)
            self._take(record)
        return len(changed)

    def listed(self, profile: str) -> list[GivenTag]:
        """Return the tags that agents of a profile gave, in the order of paths."""
        return sorted(
            (given for given in self._agents if given.profile == profile),
            key=lambda given: (given.path, given.symbol or "", given.tag),
        )

    def agent(self, given: GivenTag) -> str:
        """Return who gave a tag."""
        return self._agents[given]

    def told(self, profile: str, prefix: str, question: Asked) -> TagsByHand:
        """Return the tags below a directory of the tree, its name left out, that the answer to a question may need.

        With them go the names of all tags there are, and of those that are asked for and were taken away again.
        """
        names: set[str] | None = None
        if isinstance(question, Search):
            names = {*question.tags_any, *question.tags_all}
        elif not _shows_all(question):
            names = set()
        if names is not None and not names:
            return TagsByHand()
        given = tuple(
            TagByHand(given.tag, given.path.removeprefix(prefix), given.symbol)
            for given in self._agents
            if given.profile == profile and given.path.startswith(prefix) and (names is None or given.tag in names)
        )
        there = {given.tag for given in self._agents if given.profile == profile}
        asked = {name for name in names or () if (profile, name) in self._names}
        return TagsByHand(given, tuple(sorted(there | asked)))

    def _take(self, record: Tagged) -> None:
        for given in _given(record):
            self._names.add((given.profile, given.tag))
            if record.is_removed:
                self._agents.pop(given, None)
            else:
                self._agents.setdefault(given, record.agent)


def _shows_all(question: Asked) -> bool:
    """Return whether an answer may show any tag: a summary does, and rows of the table."""
    match question:
        case Explore(detail="summary"):
            return True
        case Query(sql):
            return "tags" in sql.lower()
    return False


def _given(record: Tagged) -> Iterable[GivenTag]:
    return (GivenTag(record.profile, path, record.symbol, tag) for path in record.paths for tag in record.tags)
