"""The tool by which agents give tags by hand, take them away, and see them beside those of the rules."""

from fledgling.broker.front import Front
from fledgling.broker.operating.tags import GivenTag, TagList
from fledgling.broker.operating.unfit import (
    OperationError,
    UncheckedError,
    answered,
    is_own,
    not_there,
    path_of,
    symbol_of,
)
from fledgling.broker.projects.projects import Projects
from fledgling.broker.terms import Terms
from fledgling.messages.answers import Refusal, Summaries
from fledgling.messages.operations import OwnAnswer, TagsOf
from fledgling.messages.questions import Explore
from fledgling.plain import counted, one_line, plain_path


class Tagging:
    """Answers what one agent asks of the tags; whether a path or a definition is in the index, the front knows.

    >>> await Tagging(TagList(Session()), "reviewer", front).answer(TagsOf("add", ("reviewed",), ("a.py",)), until)
    OwnAnswer(text='1 tag given ...', ...)
    """

    def __init__(self, tags: TagList, agent: str, front: Front | Projects) -> None:
        self._tags = tags
        self._agent = agent
        self._front = front
        self._profile = front.profile.name

    async def answer(self, asked: TagsOf, until: float) -> OwnAnswer | Refusal:
        """Do what is asked, and store it before it is answered."""
        return await answered(self._listed(asked, until) if asked.action == "list" else self._changed(asked, until))

    async def _changed(self, asked: TagsOf, until: float) -> OwnAnswer:
        for field in ("tags", "paths"):
            if not getattr(asked, field):
                raise OperationError(f"{field} is missing", f"{asked.action} takes tags, and the paths of files.")
        if asked.symbol and len(asked.paths) > 1:
            raise OperationError("symbol takes one path", "Give the file that defines it.")
        is_removed = asked.action == "remove"
        paths = [plain_path(path) if is_removed else await self._file(path, until) for path in asked.paths]
        if foreign := [path for path in paths if not is_own(self._front, path)]:
            raise not_there(foreign[0], "paths")
        if asked.symbol and not is_removed:
            await symbol_of(self._front, paths[0], asked.symbol, until)
        count = self._tags.change(self._agent, self._profile, asked.tags, paths, asked.symbol, is_removed=is_removed)
        text = f"{counted(count, 'tag')} {'taken away' if is_removed else 'given'}: {', '.join(asked.tags)}"
        return OwnAnswer(text, {"action": asked.action, "changed": count}, count)

    async def _file(self, path: str, until: float) -> str:
        found = await path_of(self._front, path, "paths", until)
        if found.endswith("/"):
            raise OperationError(f"{found} is a directory", "Give files; explore() lists those in it.")
        return found

    async def _listed(self, asked: TagsOf, until: float) -> OwnAnswer:
        """List tags by hand; of the paths that are asked for also those of the rules, with what says so."""
        if asked.symbol:
            raise OperationError("list takes no symbol", "It takes action, tags, paths, limit.")
        paths = [plain_path(path) for path in asked.paths]
        found = [
            given
            for given in self._tags.listed(self._profile)
            if is_own(self._front, given.path)
            and (not asked.tags or given.tag in asked.tags)
            and (not paths or given.path in paths)
        ]
        shown = found[: asked.limit]
        text = [f"{counted(len(found), 'tag')} by hand", *(f"  {self._line(given)}" for given in shown)]
        text += (
            [f"[{len(found) - len(shown)} more; ask with a higher limit, tags or paths]"] if found[len(shown) :] else []
        )
        structure: dict[str, object] = {
            "total": len(found),
            "tags": [self._structure(given) for given in shown],
            "written_by": "agents",
        }
        if paths:
            by_rules = {path: await self._by_rules(path, until) for path in paths}
            text += [f"{one_line(path)}: {'; '.join(tags) or 'no tags'}" for path, tags in by_rules.items()]
            structure["all"] = by_rules
        else:
            rules = sorted({rule.tag for rule in self._front.profile.tags})
            text.append(f"tags of rules: {', '.join(rules) or 'none'}")
            structure["rules"] = rules
        return OwnAnswer("\n".join(text), structure, len(shown))

    async def _by_rules(self, path: str, until: float) -> list[str]:
        """Return all tags of a file, each with what says so."""
        found = await self._front.ask(Explore(await self._file(path, until), detail="summary"), Terms(until))
        if isinstance(found, Refusal):
            raise UncheckedError(found)
        return found.summaries[0].tags if isinstance(found, Summaries) and found.summaries else []

    def _line(self, given: GivenTag) -> str:
        place = f"{given.path} {given.symbol}" if given.symbol else given.path
        return f"{one_line(place)}: {given.tag} [by hand, {self._tags.agent(given)}]"

    def _structure(self, given: GivenTag) -> dict[str, str]:
        place = {"path": given.path, **({"symbol": given.symbol} if given.symbol else {})}
        return {"tag": given.tag, **place, "agent": self._tags.agent(given)}
