"""The front of many repositories: one query worker over one memory file, asked of each repository by its number.

A question about all is put to those that may answer it, which the worker knows from their signatures. What is shown of
the tree above them is what their manifests say.
"""

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from fledgling import refusals
from fledgling.broker.basis import Basis
from fledgling.broker.breaker import Breaker
from fledgling.broker.fleet import builds
from fledgling.broker.fleet.pack import PackIndex
from fledgling.broker.front import MAX_CALLS
from fledgling.broker.projects.merging import Merging, not_in_answer, ranked, some_of, summed, tree, turn
from fledgling.broker.projects.paths import Parts, ProjectPart, top
from fledgling.broker.projects.tree import ManyProjects, only
from fledgling.broker.query_worker import QueryWorker
from fledgling.broker.refused import not_ready
from fledgling.broker.succession import Succession
from fledgling.broker.terms import Terms
from fledgling.messages.answers import AnyAnswer, Exploration, Hits, Next, Ranking, Refusal, Summary, SymbolList
from fledgling.messages.cursors import PageStart, offset_of
from fledgling.messages.generations import GRAPH
from fledgling.messages.inner_answers import Found, InnerAnswer, Sifted
from fledgling.messages.questions import (
    AnyQuestion,
    Asked,
    Explore,
    Read,
    Search,
    Sift,
    Symbols,
    asks_graph,
)
from fledgling.plain import said

COUNTED_TOGETHER = 128  # repositories that are counted in, and then perhaps no further: some milliseconds each
RANKED_TOGETHER = 128  # repositories that are ranked by meaning, which takes 6 ms each: a second, of thousands as well
TOGETHER = 64  # repositories that are asked at once: the worker's pipe and its queue stay short
PAGE_CHARS = 28_000  # characters of JSON, as of other pages
SHOWN_NAMES = 5  # repositories in a sentence
UNREADABLE = Refusal(
    "unavailable", "its index cannot be read", "Ask about another repository; its shard is to be made again."
)


class _Left(NamedTuple):
    """Which repositories may have an answer, the best first; and which cannot be read, and may have one as well."""

    having: list[str]
    unreadable: list[str]


class Fleet(ManyProjects):
    """A tree of repositories whose indexes were made beforehand.

    >>> fleet = Fleet(PackIndex(packed("/srv/shards", profile), profile, CONFINED, log.tell))
    >>> await fleet.call("read", {"path": "flask/src/flask/app.py"})
    Excerpt(path='flask/src/flask/app.py', ...)
    """

    def __init__(self, index: PackIndex, build: int = 0) -> None:
        """Serve a pack; the worker starts at once, so that the first call need not wait for it.

        `build` is the number of the pack among those that one server serves, which its cursors say.
        """
        self._build = build
        self._manifests = {manifest.repository: manifest for manifest in index.pack.manifests}
        super().__init__(index.profile, list(self._manifests))
        self._index = index
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._partial = {name for name, manifest in self._manifests.items() if manifest.partial}
        self._refused = sorted(index.pack.refused)
        self._breaker = Breaker()
        self._workers = Succession(index, self._breaker)
        self._calls = 0
        self._workers.replace()

    async def started(self) -> Refusal | None:
        """Wait for the first worker; return why there is none."""
        worker = await self._serving()
        return worker if isinstance(worker, Refusal) else None

    def is_serving(self) -> bool:
        """Return whether the worker takes calls; where it does not, another is started as for a call."""
        if (worker := self._workers.current) and worker.is_serving():
            return True
        self._workers.replace()
        return False

    def stands(self) -> list[str]:
        """Return which repositories are served, from which tree each, and which are not, a line each."""
        refused = {self._names[number]: UNREADABLE.reason for number in self._unreadable(self._workers.current)}
        served = [
            f"{name}/: {of.files:,} files, tree {of.tree[:16]}"
            for name, of in self._manifests.items()
            if name not in refused
        ]
        refused |= self._index.pack.refused
        return [*served, *(f"{name}/: not served, {why}" for name, why in sorted(refused.items()))]

    async def close(self) -> None:
        """End the processes, and let go of the indexes."""
        await self._workers.close()
        self._index.close()

    async def ask(self, question: AnyQuestion, terms: Terms | None = None) -> AnyAnswer | Refusal:
        """Answer one question; the next page of an older build is refused."""
        ours = builds.continued(question, self._build)
        if ours is None:
            return builds.OTHER_BUILD
        found = await super().ask(ours, terms)
        return builds.stamped(found, self._build)

    async def _ask(self, part: ProjectPart, terms: Terms) -> AnyAnswer | Refusal:
        with self._at_work() as busy:
            return busy or await self._answer(part, terms)

    async def _ask_all(self, question: AnyQuestion, about: Parts, terms: Terms) -> AnyAnswer | Refusal:
        with self._at_work() as busy:
            if busy:
                return busy
            match question:
                case Explore(depth=1, pattern=None):
                    return self._map(question)
                case Explore():
                    below = replace(question, depth=max(question.depth - 1, 1), cursor=None)
                    return self._page(question, await self._answers(Parts(about.projects, below), terms))
                case Search() | Symbols() | Read():
                    return await self._sifted(question, about, terms)
            return self._nowhere(question)

    @contextmanager
    def _at_work(self) -> Iterator[Refusal | None]:
        """Count a call, or yield the refusal of one too many."""
        if self._calls >= MAX_CALLS:
            yield Refusal("busy", f"{self._calls} calls are at work already", "Wait for an answer, then ask again.")
            return
        self._calls += 1
        try:
            yield None
        finally:
            self._calls -= 1

    # ---- one worker ----------------------------------------------------------------------------------------------

    async def _answer(self, part: ProjectPart, terms: Terms) -> AnyAnswer | Refusal:
        """Return what one repository answers."""
        number = self._numbers[part.project]
        if asks_graph(part.question) and self._index.pack.manifests[number].generation.number < GRAPH:
            return Refusal(
                "unavailable", "the uses of definitions could not be resolved", "search() finds them as text."
            )
        found = await self.put(part.question, number, terms)
        assert not isinstance(found, InnerAnswer)
        return found

    async def _answers(self, about: Parts, terms: Terms) -> dict[str, AnyAnswer | Refusal]:
        """Return what several answer, by name; some are asked at once."""
        room = asyncio.Semaphore(TOGETHER)

        async def answer(part: ProjectPart) -> AnyAnswer | Refusal:
            async with room:
                return await self._answer(part, terms)

        found = await asyncio.gather(*map(answer, about))
        return dict(zip(about.projects, found, strict=True))

    async def put(self, question: Asked, number: int, terms: Terms) -> Found | Refusal:
        """Put a question to the worker, and to the next one where that ends before it has begun with it."""
        while True:
            if deadly := self._breaker.refusal(question):
                return deadly
            if time.monotonic() >= terms.deadline:  # of many that were to be asked, some are left
                return refusals.timed_out(self.profile)
            try:
                async with asyncio.timeout_at(terms.deadline):
                    worker = await self._serving()
            except TimeoutError:
                return not_ready(self.profile)
            if isinstance(worker, Refusal):
                return worker
            if number in self._unreadable(worker) and not isinstance(question, Sift):
                return UNREADABLE
            if (found := await worker.ask(question, terms.deadline, Basis(), number)) is not None:
                return found

    def _unreadable(self, worker: QueryWorker | None) -> Set[int]:
        """Return the repositories whose index a worker cannot read, or is not to."""
        return (worker.unreadable if worker else frozenset()) | self._breaker.misleading

    async def _serving(self) -> QueryWorker | Refusal:
        """Return the worker, or another where it takes no calls any more."""
        while not (worker := self._workers.current) or not worker.is_serving():
            if refusal := await self._workers.replaced():
                return refusal
        return worker

    # ---- one answer out of many ----------------------------------------------------------------------------------

    async def _sifted(self, question: Search | Symbols | Read, about: Parts, terms: Terms) -> AnyAnswer | Refusal:
        """Answer by those that may have an answer, of which the worker tells from what it knows of all."""
        if isinstance(question, Search) and question.is_ranked:
            return await self._ranked(question, about, terms)
        found = await self._sift(question, about, terms)
        if isinstance(found, Refusal):
            return found
        asked = sorted((*found.having, *found.unreadable), key=self._numbers.__getitem__)
        left = Parts(asked, about.question)
        if isinstance(question, Read) or (isinstance(question, Symbols) and question.relation):
            if not left:
                reason = f"none of {len(about):,} repositories defines {question.symbol!r}"
                return Refusal("not_found", said(reason), "search(query, kind) finds names that hold a text.")
            return only(await self._answers(left, terms))
        return self._with_gaps(await self._listed(question, about, left, terms), about.projects)

    async def _sift(self, question: Search | Symbols | Read, about: Parts, terms: Terms) -> "_Left | Refusal":
        """Return those of whom a question is about that may have an answer, and those of which nobody knows."""
        found = await self.put(Sift(question), 0, terms)
        if not isinstance(found, Sifted):
            assert isinstance(found, Refusal)
            return found
        return _Left(self._of(about, found.indexes), self._of(about, found.unreadable))

    def _of(self, about: Parts, numbers: Iterable[int]) -> list[str]:
        """Return those of some repositories, by the numbers that a worker has said, that a question is about."""
        names = [self._names[number] for number in numbers if number < len(self._names)]
        if about.is_all:
            return names
        projects = {*about.projects}
        return [name for name in names if name in projects]

    async def _ranked(self, question: Search, about: Parts, terms: Terms) -> AnyAnswer | Refusal:
        """Return the best passages; of many repositories those are ranked alone that say most of what is asked."""
        if len(about) <= RANKED_TOGETHER:
            return self._with_gaps(ranked(question, await self._answers(about, terms)), about.projects)
        found = await self._sift(question, about, terms)
        if isinstance(found, Refusal):
            return found
        if not found.having and len(found.unreadable) < len(about):
            read = len(about) - len(found.unreadable)
            nothing = f"Nothing says this: none of {read:,} repositories has a word of it."
            mode: Literal["meaning", "docs"] = "docs" if question.mode == "docs" else "meaning"
            note = " ".join((nothing, *not_in_answer(dict.fromkeys(found.unreadable, UNREADABLE))))
            return self._with_gaps(Ranking([], 0, mode, said(note)), about.projects)
        best = found.having[:RANKED_TOGETHER]
        answer = ranked(question, await self._answers(Parts([*best, *found.unreadable], about.question), terms))
        if len(best) < len(found.having) and isinstance(answer, Ranking):
            cut = (
                f"Ranked are {len(best)} of {len(found.having):,} repositories that may have a word of this: those "
                "with most of its words. path asks others."
            )
            answer = replace(answer, note=said(" ".join(filter(None, (cut, answer.note)))))
        return self._with_gaps(answer, about.projects)

    async def _listed(self, question: Search | Symbols, about: Parts, left: Parts, terms: Terms) -> AnyAnswer | Refusal:
        """Return a page of what all have, in their order, with totals, which are asked for first."""
        places = self._numbers if about.is_all else {name: place for place, name in enumerate(about.projects)}
        merging = Merging(question, about.projects)
        totals = await self._totals(question, places, left, terms, merging)
        for part in left:
            number = places[part.project]
            if part.project not in totals:
                merging.leave(number)
                continue
            total = totals[part.project]
            if isinstance(total, Hits | SymbolList) and not total.total:
                continue  # why it has none is said of all of them
            asked = merging.question(number, part.question)
            if isinstance(total, Refusal) or asked == merging.counting(part.question):
                merging.take(number, total)
            else:
                merging.take(number, await self._answer(ProjectPart(part.project, asked), terms))
        found = merging.answer()
        if isinstance(found, Hits | SymbolList) and not found.total:
            found = replace(
                found, note=said(f"Nothing found in {len(about):,} repositories. {found.note or ''}".rstrip())
            )
        return found

    async def _totals(
        self,
        question: Search | Symbols,
        places: Mapping[str, int],
        left: Parts,
        terms: Terms,
        merging: Merging,
    ) -> dict[str, AnyAnswer | Refusal]:
        """Return answers that count what there is, of those first that the page begins with.

        It stops as soon as those counted have more than the page: totals are lower bounds then.
        """
        begin = turn(question.cursor)
        shown = {name for name in left.projects if places[name] >= begin.project}
        waiting = sorted(left.projects, key=lambda name: name not in shown)  # the order is kept otherwise
        wanted = begin.place.offset + question.max_results
        totals: dict[str, AnyAnswer | Refusal] = {}
        while waiting:
            some, waiting = waiting[:COUNTED_TOGETHER], waiting[COUNTED_TOGETHER:]
            totals |= await self._answers(Parts(some, merging.counting(left.question)), terms)
            counted = (
                each.total for name, each in totals.items() if name in shown and isinstance(each, Hits | SymbolList)
            )
            if sum(counted) > wanted:
                break
        return totals

    def _with_gaps(self, found: AnyAnswer | Refusal, names: Sequence[str]) -> AnyAnswer | Refusal:
        """Say which of some repositories lack something that could be in an answer."""
        if isinstance(found, Refusal):
            return found
        partial = [name for name in names if name in self._partial] if self._partial else []
        gaps = []
        if partial:
            gaps.append(f"Not all is indexed of {some_of(partial, SHOWN_NAMES)}; explore(path) says what is missing.")
        if self._refused:
            gaps.append(f"Not served, since their shards were refused: {some_of(self._refused, SHOWN_NAMES)}.")
        note = " ".join(filter(None, (found.note, *gaps)))
        return replace(found, note=said(note)) if gaps else found

    def _map(self, question: Explore) -> AnyAnswer | Refusal:
        """Return the map above the repositories, which their manifests tell."""
        summaries = {
            name: Summary(
                total_files=of.files,
                total_lines=of.lines,
                total_bytes=of.source_bytes,
                languages=of.languages,
                skipped=of.skipped,
            )
            for name, of in self._manifests.items()
        }
        return self._page(question, {name: Exploration("", [], [], each) for name, each in summaries.items()})

    def _page(self, question: Explore, found: Mapping[str, AnyAnswer | Refusal]) -> AnyAnswer | Refusal:
        """Return the part of a map that fits a page: whole repositories, of those with files where these are sought."""
        shown = {
            name: each
            for name, each in found.items()
            if not (question.pattern and isinstance(each, Exploration) and not each.summary.total_files)
        }
        names, offset = list(shown), offset_of(question.cursor)
        if offset and offset >= len(names):
            reason = f"the cursor {question.cursor} is past the last of {len(names)} repositories"
            return Refusal("invalid", reason, "Take it from `next`.")
        end, chars = offset, min(PAGE_CHARS, self.profile.max_result_bytes)
        while end < len(names):
            chars -= len(msgspec.json.encode(tree(question, {names[end]: shown[names[end]]})))
            if chars < 0 and end > offset:
                break
            end += 1
        page = tree(question, {name: shown[name] for name in names[offset:end]})
        if isinstance(page, Refusal):
            return page
        following = None
        if end < len(names):
            arguments = {"depth": question.depth, "pattern": question.pattern, "cursor": PageStart(end).cursor}
            following = Next("explore", {name: value for name, value in arguments.items() if value is not None})
        summary = summed(each.summary for each in shown.values() if isinstance(each, Exploration))
        return self._with_gaps(replace(page, summary=summary, next=following), names)

    def _nowhere(self, question: AnyQuestion) -> Refusal:
        name = top(question)
        if reason := self._index.pack.refused.get(name):
            return Refusal("unavailable", said(f"{name}/ is not served: {reason}"), "Ask about another repository.")
        return super()._nowhere(question)
