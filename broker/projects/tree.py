"""Questions about one tree of several projects: whose part of it is whose, and one answer out of all of theirs.

What is told of a project an agent can see by exploring: a path that is in none leads nowhere, whatever it is called.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Literal

from msgspec.structs import replace

from fledgling.broker import mending
from fledgling.broker.projects.merging import Merging, may_be_ranked, ranked, some_of, tree, why_empty
from fledgling.broker.projects.paths import Parts, ProjectPart, parts, within
from fledgling.broker.refused import taken
from fledgling.broker.terms import Terms, due
from fledgling.messages.answers import AnyAnswer, Hits, Ranking, Refusal, Relations
from fledgling.messages.profile import Profile
from fledgling.messages.questions import AnyQuestion, Dependencies, Explore, Query, Read, Search, Symbols, name_of

NO_ROOT = "\0"  # no path begins with it: absolute paths are looked at here
# To what might be a way on, and was not asked by the agent: an index of each project is a high price for a hint.
NOT_ASKED = Refusal("not_found", "projects that are not running are not started for a hint", "Ask for it.")

AskPart = Callable[[ProjectPart], Awaitable[AnyAnswer | Refusal]]


class ManyProjects:
    """Answers the questions of one agent about several projects; it is asked as a front is.

    Whoever derives from it says how one project is asked, and may ask all of them in another way.
    """

    def __init__(self, profile: Profile, names: Sequence[str]) -> None:
        """Serve projects of these names, in this order."""
        self.profile = profile
        self._names = names

    async def call(self, tool: str, arguments: Mapping[str, object], terms: Terms | None = None) -> AnyAnswer | Refusal:
        """Check the tool and its arguments, then ask those projects that they are about."""
        meant = taken(self.profile, tool, arguments, NO_ROOT)
        if isinstance(meant, Refusal):
            return meant
        meant = meant._replace(question=self._relative(meant.question))
        terms = terms or Terms(due(self.profile))

        async def ask(question: AnyQuestion) -> AnyAnswer | Refusal:
            is_own = question is meant.question
            return await self.ask(question, terms) if is_own or not self._starts_others(question) else NOT_ASKED

        return await mending.answered(meant, ask, self.profile.tools, NO_ROOT)

    async def ask(self, question: AnyQuestion, terms: Terms | None = None) -> AnyAnswer | Refusal:
        """Put one question to whom it is about, and answer with paths of the tree."""
        if isinstance(question, Query):
            return self._of_one("SQL", question)
        about = parts(question, self._names)
        if not about:
            return self._nowhere(question)
        terms = terms or Terms(due(self.profile))
        if about.is_named:
            [part] = about
            return _as_of(part.project, await self._ask(part, terms))
        if isinstance(question, Explore) and question.detail != "map":
            return self._of_one(question.detail, question)
        return await self._ask_all(question, about, terms)

    async def _ask(self, part: ProjectPart, terms: Terms) -> AnyAnswer | Refusal:
        """Put to one project what of a question is its."""
        raise NotImplementedError

    async def _ask_all(self, question: AnyQuestion, about: Parts, terms: Terms) -> AnyAnswer | Refusal:
        """Put a question to all that it is about, and make one answer of theirs."""
        ask = partial(self._ask, terms=terms)
        match question:
            case Explore():
                below = replace(question, depth=max(question.depth - 1, 1))
                return tree(question, {part.project: await ask(ProjectPart(part.project, below)) for part in about})
            case Read() | Dependencies() | Symbols(relation=str()):
                return only({part.project: await ask(part) for part in about})
            case Search() | Symbols():
                return await _listed(question, about, ask)
        return self._of_one(name_of(type(question)), question)

    def _absent(self) -> frozenset[str]:
        """Return the projects that begin only where they are asked."""
        return frozenset()

    def _starts_others(self, question: AnyQuestion) -> bool:
        """Return whether a question about several projects has one of them begin."""
        about = parts(question, self._names).projects
        return len(about) > 1 and not self._absent().isdisjoint(about)

    def _relative(self, question: AnyQuestion) -> AnyQuestion:
        """Return a question whose path, where it is absolute and below a root, is that of the tree."""
        return question

    def _of_one(self, what: str, question: AnyQuestion) -> Refusal:
        """Refuse what nobody makes out of the answers of several projects."""
        if "path" in question.__struct_fields__:
            advice = f"Give path: one of {some_of(self._names)}."
        else:
            advice = "Use the other tools, or start a server for that project alone."
        return Refusal("invalid", f"{what} is asked of one project, and {len(self._names)} are served here", advice)

    def _nowhere(self, question: AnyQuestion) -> Refusal:
        """Say which projects there are to one who asks for what is in none."""
        path = str(getattr(question, "path", "") or "")
        kind: Literal["denied", "not_found"] = "denied" if path.startswith(("/", "..")) else "not_found"
        return Refusal(
            kind, f"there is no {path[:200]!r} here", f"Begin a path with a project: {some_of(self._names)}."
        )


def _as_of(project: str, found: AnyAnswer | Refusal) -> AnyAnswer | Refusal:
    return _told_by(project, found) if isinstance(found, Refusal) else within(found, project)


def _told_by(project: str, refusal: Refusal) -> Refusal:
    """Return the refusal of a project, with the calls that it names as they are made of the tree."""
    calls = re.sub(r'\bpath="', lambda path: f"{path[0]}{project}/", refusal.next_step)
    return replace(refusal, reason=f"{project}/: {refusal.reason}", next_step=calls)


def _path(found: AnyAnswer) -> str:
    """Return where the definition is that an answer is about."""
    return found.definitions[0].path if isinstance(found, Relations) else str(getattr(found, "path", ""))


def only(found: Mapping[str, AnyAnswer | Refusal]) -> AnyAnswer | Refusal:
    """Return the one answer there is, or say that there are several, or none."""
    answers = {name: each for name, each in found.items() if not isinstance(each, Refusal)}
    if len(answers) == 1:
        [(name, each)] = answers.items()
        return within(each, name)
    if answers:
        paths = ", ".join(f"{name}/{_path(each)}" for name, each in answers.items())
        return Refusal("ambiguous", f"several projects define it: {paths}", "Give one of these as path.")
    refusals = [(name, each) for name, each in found.items() if isinstance(each, Refusal)]
    name, best = next(((name, each) for name, each in refusals if each.kind != "not_found"), refusals[0])
    return _told_by(name, best) if best.kind != "not_found" else best


async def _listed(question: Search | Symbols, about: Parts, ask: AskPart) -> AnyAnswer | Refusal:
    """Answer with what projects list one after the other; by meaning, if that is asked for or no line is found."""
    if not (isinstance(question, Search) and question.is_ranked):
        merging = Merging(question, about.projects)
        for number, part in enumerate(about):
            merging.take(number, await ask(ProjectPart(part.project, merging.question(number, part.question))))
        found = merging.answer()
        if not (isinstance(question, Search) and may_be_ranked(question) and isinstance(found, Hits)) or found.total:
            return found
        answers = {part.project: await ask(part) for part in about}
        return (
            ranked(question, answers)
            if any(isinstance(each, Ranking) for each in answers.values())
            else why_empty(found, answers)
        )
    return ranked(question, {part.project: await ask(part) for part in about})
