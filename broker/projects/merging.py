"""One answer out of those of several projects: pages go from one project to the next, totals are of all."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from msgspec.structs import replace

from fledgling.broker.projects.paths import within
from fledgling.messages.answers import (
    AnyAnswer,
    Directory,
    Exploration,
    Hits,
    Next,
    Ranking,
    Refusal,
    Summary,
    SymbolList,
)
from fledgling.messages.cursors import PageStart, place
from fledgling.messages.passages import SHOWN_WITH_LINES, filled, room
from fledgling.messages.questions import AnyQuestion, Explore, Search, Symbols, name_of
from fledgling.plain import said

SHOWN_REFUSALS = 5  # of projects, in a note
SHOWN_NAMES = 20  # of projects, in a sentence


class ProjectTurn(NamedTuple):
    """Where a page begins: with which project, counted from 0, and with which place of its answer."""

    project: int
    place: PageStart

    @property
    def cursor(self) -> str:
        """The cursor that means this: `ProjectTurn(2, PageStart(500)).cursor` is "2:0:500"."""
        return f"{self.project}:{self.place.changes}:{self.place._replace(changes=0).cursor}"


def turn(cursor: str | None) -> ProjectTurn:
    """Return what a cursor over several projects means.

    >>> turn("2:17:500")
    ProjectTurn(project=2, place=PageStart(offset=500, generation=2, changes=17, tags=0))
    """
    project, _, rest = (cursor or "0:0:0").partition(":")
    return ProjectTurn(int(project), place(rest))


class Merging:
    """A page of a list over several projects, filled one project after the other.

    >>> merging = Merging(Search("timeout"), ["api", "web"])
    >>> merging.question(0, Search("timeout"))
    Search(query='timeout', ...)
    """

    def __init__(self, question: Search | Symbols, projects: Sequence[str]) -> None:
        self._question = question
        self._projects = projects
        self._begin = turn(question.cursor)
        self._room = question.max_results
        self._shown: list[Hits | SymbolList] = []
        self._total = self._total_files = 0
        self._is_lower_bound = False
        self._next: ProjectTurn | None = None
        self._notes: list[str] = []
        self._refused: dict[str, Refusal] = {}

    def question(self, number: int, asked: AnyQuestion) -> AnyQuestion:
        """Return what to ask project `number`, of which `asked` is the part: its page, or its total alone."""
        assert isinstance(asked, Search | Symbols)
        asked = _as_text(asked)
        begin = self._begin.place if number == self._begin.project else PageStart(0)
        if number < self._begin.project or not self._room:
            return self.counting(asked)
        return replace(asked, cursor=begin.cursor if begin != PageStart(0) else None, max_results=self._room)

    def counting(self, asked: AnyQuestion) -> Search | Symbols:
        """Return what to ask a project whose total alone is wanted."""
        assert isinstance(asked, Search | Symbols)
        return replace(_as_text(asked), cursor=None, max_results=1)

    def take(self, number: int, found: AnyAnswer | Refusal) -> None:
        """Take the answer of project `number`."""
        name = self._projects[number]
        if isinstance(found, Refusal):
            self._refused[name] = found
            return
        assert isinstance(found, Hits | SymbolList)
        self._total += found.total
        self._is_lower_bound |= found.total_is_lower_bound
        if isinstance(found, Hits):
            self._total_files += found.total_files
        if number < self._begin.project:
            return
        if not self._room:
            if found.total and not self._next:
                self._next = ProjectTurn(number, PageStart(0))
            return
        shown = within(found, name)
        assert isinstance(shown, Hits | SymbolList)
        if shown.note:
            self._notes.append(shown.note)
        self._shown.append(shown)
        self._room -= _rows(found)
        if found.next:
            self._next = ProjectTurn(number, place(str(found.next.arguments["cursor"])))
            self._room = 0

    def leave(self, number: int) -> None:
        """Take nothing of project `number`, which may have something: the page is full, and nobody counts further."""
        self._is_lower_bound = True
        if number >= self._begin.project and not self._next:
            self._next = ProjectTurn(number, PageStart(0))

    def answer(self) -> AnyAnswer | Refusal:
        """Return the page; where no project has answered, why the first has not."""
        if len(self._refused) == len(self._projects):
            return next(iter(self._refused.values()))
        note = said(" ".join([*self._notes, *not_in_answer(self._refused)])) or None
        following = None
        if self._next:
            arguments = {
                field: value
                for field in self._question.__struct_fields__
                if (value := getattr(self._question, field)) != _default(self._question, field)
            }
            tool = name_of(type(self._question))
            following = Next(tool, {**arguments, "cursor": self._next.cursor})
        if isinstance(self._question, Symbols) or self._question.kind:
            files = [file for each in self._shown if isinstance(each, SymbolList) for file in each.files]
            return SymbolList(files, self._total, following, note, self._is_lower_bound)
        return Hits(
            [file for each in self._shown if isinstance(each, Hits) for file in each.files],
            self._total,
            self._total_files,
            "regex" if self._question.is_regex else "text",
            following,
            note,
            self._is_lower_bound,
        )


def not_in_answer(refused: Mapping[str, Refusal]) -> list[str]:
    """Say of the first projects why they are not in an answer, and how many more are not."""
    said_of = [
        f"{name}/ is not in this answer: {each.reason}." for name, each in islice(refused.items(), SHOWN_REFUSALS)
    ]
    more = len(refused) - len(said_of)
    return [*said_of, f"{more:,} more are not in it."] if more else said_of


def _as_text(asked: Search | Symbols) -> Search | Symbols:
    """Return what is asked first: by meaning only where no line of any project holds it."""
    return replace(asked, mode="text") if isinstance(asked, Search) and may_be_ranked(asked) else asked


def may_be_ranked(question: Search) -> bool:
    """Return whether a project may answer by meaning where no line of it holds what was asked."""
    return question.mode == "auto" and not (question.regex or question.kind or question.also)


def ranked(question: Search, found: Mapping[str, AnyAnswer | Refusal]) -> Ranking | Refusal:
    """Return the best passages of all projects as one answer, which is as short as that of one; where none is ranked,
    why the first is not.
    """
    rankings = {name: each for name, each in found.items() if isinstance(each, Ranking)}
    refusals = {name: each for name, each in found.items() if isinstance(each, Refusal)}
    if not rankings:
        return next(iter(refusals.values()))
    inside = [within(each, name) for name, each in rankings.items()]
    passages = [passage for each in inside if isinstance(each, Ranking) for passage in each.files]
    most = max(len(each.files) for each in rankings.values())
    note = said(" ".join([*_notes(rankings), *not_in_answer(refusals)])) or None
    best = sorted(passages, key=lambda passage: -passage.score)[:most]
    mode = next(iter(rankings.values())).mode_used
    if mode == "meaning" and question.is_default_many:
        best = [*best[:SHOWN_WITH_LINES], *(replace(each, best=[]) for each in best[SHOWN_WITH_LINES:])]
        best = [*filled(best, (each.others for each in best), room(note))]
    is_lower_bound = any(each.total_is_lower_bound for each in rankings.values())
    return Ranking(best, sum(each.total for each in rankings.values()), mode, note, total_is_lower_bound=is_lower_bound)


def why_empty(found: Hits, answers: Mapping[str, AnyAnswer | Refusal]) -> Hits:
    """Return an answer without a line, saying what the first projects say of the question, asked by meaning as well."""
    hits = {name: each for name, each in answers.items() if isinstance(each, Hits)}
    told = [*_notes(hits)]
    more = [f"path asks one of {len(hits):,} projects, which say more."] if len(told) > SHOWN_REFUSALS else []
    refused = not_in_answer({name: each for name, each in answers.items() if isinstance(each, Refusal)})
    return replace(found, note=said(" ".join([*told[:SHOWN_REFUSALS], *more, *refused])) or None)


def _notes(rankings: Mapping[str, Ranking | Hits]) -> Iterator[str]:
    """Yield what answers say besides, each once, and of which projects where it is not of all."""
    names: dict[str, list[str]] = {}
    for name, each in rankings.items():
        if each.note:
            names.setdefault(each.note, []).append(name)
    for note, told in names.items():
        yield note if len(told) == len(rankings) else f"{some_of(told)}: {note}"


def some_of(names: Sequence[str], most: int = SHOWN_NAMES) -> str:
    """Return the first of some projects in a sentence: `api/, web/ and 3 more`."""
    shown = ", ".join(f"{name}/" for name in names[:most])
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown


def _default(question: Search | Symbols, field: str) -> object:
    index = question.__struct_fields__.index(field) - len(question.__struct_fields__)
    defaults = question.__struct_defaults__
    return defaults[index] if -index <= len(defaults) else None


def _rows(found: Hits | SymbolList) -> int:
    if isinstance(found, Hits):
        return sum(len(file.hits) for file in found.files)
    return sum(len(file.symbols) for file in found.files)


def tree(question: Explore, found: Mapping[str, AnyAnswer | Refusal]) -> Exploration | Refusal:
    """Return the map of the tree above all projects: a directory each, and below it what `depth` asks for."""
    maps = {name: each for name, each in found.items() if isinstance(each, Exploration)}
    refusals = {name: each for name, each in found.items() if isinstance(each, Refusal)}
    if not maps and refusals:
        return next(iter(refusals.values()))
    directories, files, notes = [], [], []
    for name, each in maps.items():
        summary = each.summary
        directories.append(
            Directory(
                path=f"{name}/", files=summary.total_files, lines=summary.total_lines, languages=summary.languages
            )
        )
        if question.depth > 1:
            inside = within(each, name)
            assert isinstance(inside, Exploration)
            directories += inside.directories
            files += inside.files
            if each.next:
                notes.append(f"{name}/ has more: explore(path={name!r}).")
    notes += not_in_answer(refusals)
    return Exploration(
        "", directories, files, summed(each.summary for each in maps.values()), None, said(" ".join(notes)) or None
    )


def summed(summaries: Iterable[Summary]) -> Summary:
    """Return totals over projects; which file is the largest of all, their answers do not say."""
    languages: dict[str, int] = {}
    skipped: dict[str, int] = {}
    files = size = 0
    lines: int | None = 0
    for each in summaries:
        files += each.total_files
        size += each.total_bytes
        lines = None if lines is None or each.total_lines is None else lines + each.total_lines
        for totals, of in ((languages, each.languages), (skipped, each.skipped)):
            for name, count in of.items():
                totals[name] = totals.get(name, 0) + count
    return Summary(
        total_files=files,
        total_lines=lines,
        total_bytes=size,
        languages=dict(sorted(languages.items(), key=lambda item: -item[1])),
        skipped=skipped,
    )
