"""Rows that several processes make are those of one, whoever is lost; what resolves may be ended at any time."""

import errno
import os
import resource
from collections.abc import Iterator

import psutil
import pytest
from test_graph import LANGUAGES, PROGRAMS, graph_files

from fledgling.messages.control import CONFINED
from fledgling.pipe import MAX_FRAME_BYTES
from fledgling.security import limits
from fledgling.worker.extractor import row_makers
from fledgling.worker.extractor.messages import ReadFile, Resolve, packed
from fledgling.worker.extractor.pool import Extractors, ResolverLostError
from fledgling.worker.extractor.row_makers import RowMakers
from fledgling.worker.graph.columns import GraphColumns, joined, unpacked
from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.resolve import MakeRows, Resolving, in_this_process, solved
from fledgling.worker.graph.rows import rows
from fledgling.worker.graph.solving.budget import GraphBudget
from fledgling.worker.graph.tables import GraphFile
from fledgling.worker.graph.telling import unheard

GB = 1000**3
FEW = 10  # of so many marked programs one is in the projects of plain tests: some of each language


@pytest.fixture
def claims(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, int]]:
    """Where three processes take parts from, of small projects too."""
    monkeypatch.setattr(row_makers, "LEAST_BYTES", 0)
    monkeypatch.setattr(limits, "row_makers", lambda _: 3)
    ends = os.pipe()
    os.set_blocking(ends[0], False)
    yield ends
    for end in ends:
        os.close(end)


def project_of(*, language: str = "", every: int = 1) -> list[GraphFile]:
    """The marked programs whose names begin with a language, every so many of them, as one project."""
    programs = enumerate([program for name, program in PROGRAMS.items() if name.startswith(language)][::every])
    return graph_files({f"{at}/{path}": text.encode() for at, each in programs for path, text in each["files"].items()})


@pytest.fixture(scope="module", params=[FEW, pytest.param(1, marks=pytest.mark.long)], ids=["some", "all"])
def marked(request: pytest.FixtureRequest) -> list[GraphFile]:
    """The marked programs of all languages, every so many of them, as one project."""
    return project_of(every=request.param)


@pytest.fixture(scope="module")
def marked_by_one(marked: list[GraphFile]) -> GraphColumns:
    """Its graph where arguments are followed."""
    return graph(marked, in_this_process, follows=True)


@pytest.fixture(scope="module")
def some() -> list[GraphFile]:
    """Some 50 files in 30 parts; of some names there are so many definitions that it costs a budget."""
    return project_of(language="csharp", every=2)


@pytest.fixture(scope="module")
def made_by_one(some: list[GraphFile]) -> GraphColumns:
    return graph(some, in_this_process)


def graph(files: list[GraphFile], make_rows: MakeRows, *, follows: bool = False) -> GraphColumns:
    budget = GraphBudget(follows_arguments=follows)
    resolving = Resolving(
        files, budget=budget, languages=LANGUAGES.rows, is_partial=False, tell=unheard, make_rows=make_rows
    )
    return joined(resolving.numbers, [*resolving.graphs({})])


@pytest.mark.parametrize("follows", [pytest.param(False, marks=pytest.mark.long), True])
def test_rows_of_several_processes_are_those_of_one(
    marked: list[GraphFile], marked_by_one: GraphColumns, claims: tuple[int, int], follows: bool
) -> None:
    makers = RowMakers(claims, lambda: None, 2 * GB, GB)
    assert graph(marked, makers.rows, follows=follows) == (marked_by_one if follows else graph(marked, in_this_process))


def test_who_makes_rows_and_is_lost_costs_none(
    some: list[GraphFile], made_by_one: GraphColumns, claims: tuple[int, int]
) -> None:
    """It has taken parts by then, which nobody else makes."""

    def ends() -> None:
        os.read(claims[0], 3)
        os._exit(9)

    assert graph(some, RowMakers(claims, ends, 2 * GB, GB).rows) == made_by_one


def test_where_no_further_process_is_to_be_had_those_that_are_there_make_all_rows(
    some: list[GraphFile], made_by_one: GraphColumns, claims: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container, or the user, has as many as it may have (fork(2), EAGAIN)."""
    one_more = [os.fork]

    def fork() -> int:
        if not one_more:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return one_more.pop()()

    monkeypatch.setattr(os, "fork", fork)
    assert graph(some, RowMakers(claims, lambda: None, 2 * GB, GB).rows) == made_by_one
    assert not one_more


@pytest.mark.parametrize("budget", ["MAX_CROWDED", "MAX_NAMES_ASKED"])
def test_where_a_budget_ends_rows_are_made_in_the_order_of_files(
    some: list[GraphFile], claims: tuple[int, int], monkeypatch: pytest.MonkeyPatch, budget: str
) -> None:
    """Then it matters which files come first."""
    monkeypatch.setattr(rows, budget, 1)
    assert graph(some, RowMakers(claims, lambda: None, 2 * GB, GB).rows) == graph(some, in_this_process)


def test_what_resolves_may_be_ended_and_another_begins(marked: list[GraphFile], marked_by_one: GraphColumns) -> None:
    """Its end is not told as that of memory, which would be untrue: the indexer asks once more for the same files."""
    resolving = Resolving(marked, budget=GraphBudget(), languages=LANGUAGES.rows, is_partial=False, tell=unheard)
    files = [ReadFile(file.path, file.language, memoryview(file.facts), packed(file.imports)) for file in marked]
    asked = Resolve(*GraphBudget(), False, [b""] * len(resolving.apart), GB)
    others = psutil.Process().children()
    running = Extractors(LANGUAGES, CONFINED, 2 * GB, 1)
    running.confined()
    [above] = {*psutil.Process().children()} - {*others}

    def kill(_: int) -> None:
        for process in above.children():
            process.kill()

    with pytest.raises(ResolverLostError):
        list(running.resolve(files, asked, kill))
    graphs = [*running.resolve(files, asked, unheard)]
    running.close()
    assert joined(resolving.numbers, [unpacked(each) for each in graphs if each]) == marked_by_one
    assert not above.is_running()


def test_a_graph_whose_names_fit_no_message_is_made_anew(some: list[GraphFile]) -> None:
    [file, *_] = some
    read = ReadFile(file.path, file.language, memoryview(file.facts), packed(file.imports))
    running = Extractors(LANGUAGES, CONFINED, 2 * GB, 1)
    running.confined()
    [made] = running.resolve([read], Resolve(*GraphBudget(), False, [bytes(MAX_FRAME_BYTES)], GB), unheard)
    running.close()
    assert made
    assert unpacked(made).names


def test_where_a_budget_has_ended_before_there_are_rows_nothing_is_solved_again(
    some: list[GraphFile], claims: tuple[int, int]
) -> None:
    dialects = {name: row.graph for name, row in LANGUAGES.rows.items()}
    cut = solved(GraphProject(some, dialects), GraphBudget(evaluations=100))
    found = RowMakers(claims, lambda: None, 2 * GB, GB).rows(cut, unheard)
    assert found
    assert found.is_cut


def test_as_many_make_rows_as_fit_and_there_are_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "cores", lambda: 4)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    held = usage.ru_maxrss * 1024 * limits.ROWS_BESIDE
    assert [limits.row_makers(int(held * times)) for times in (0.5, 1.5, 2.5, 100)] == [1, 1, 2, 4]


def test_rows_that_do_not_fit_where_they_are_handed_over_are_made_by_who_waits(
    some: list[GraphFile], made_by_one: GraphColumns, claims: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "rows_bytes", lambda _: 1_000)
    assert graph(some, RowMakers(claims, lambda: None, 2 * GB, GB).rows) == made_by_one


def test_parts_hold_all_files_in_order(some: list[GraphFile]) -> None:
    units = GraphProject(some, {name: row.graph for name, row in LANGUAGES.rows.items()}).units
    parts = row_makers.in_parts(units)
    assert [unit.number for part in parts for unit in part] == [*range(len(units))]
    assert 2 < len(parts) <= row_makers.PARTS <= 256
