"""Trials of a live index at length: commits of real projects, checkouts, kills and pages.

They take minutes each. FLEDGLING_REPOSITORIES names clones of real projects, separated by colons, for those
that need one; FLEDGLING_TRIALS is how much of each is tried, 1.0 is all.
"""

import asyncio
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from random import Random

import psutil
import pytest
from changing import ASKED, GRAPHED, SHORT, edit, names_in, question
from running import FOLLOWER, INDEXER, QUERY_WORKER, answered, back_processes, fronted
from test_live import git, live, pages, paths_in, settled, write

from fledgling.broker import breaker, following
from fledgling.broker.front import UNFOLLOWED, Front
from fledgling.messages.answers import Exploration, Refusal, Summaries
from fledgling.messages.questions import Explore, Read, Search, Survey, Symbols
from fledgling.security import memory_file

pytestmark = [pytest.mark.anyio, pytest.mark.long]

SHARE = float(os.environ.get("FLEDGLING_TRIALS", "1"))
REPOSITORIES = [Path(name) for name in os.environ.get("FLEDGLING_REPOSITORIES", "").split(":") if name]
NO_CLONE = pytest.mark.skip(
    reason="name clones of real projects in FLEDGLING_REPOSITORIES: it is tried on their commits"
)
CLONES = [pytest.param(path, id=path.parent.name) for path in REPOSITORIES]


def tell(figures: str) -> None:
    sys.stdout.write(f"{figures}\n")


def count(whole: int) -> int:
    return max(1, int(whole * SHARE))


def cloned(repository: Path, root: Path) -> list[str]:
    """Clone a project; return its commits, those of all branches."""
    subprocess.run(["git", "clone", "-q", "--no-checkout", repository, root], check=True)
    listed = subprocess.run(["git", "-C", root, "rev-list", "--all"], check=True, capture_output=True, text=True)
    return listed.stdout.split()


def at_random(root: Path, random: Random, commits: list[str]) -> None:
    """Check out one of some commits; of a clone that is not whole, one that is."""
    for commit in random.sample(commits, 100):
        with suppress(subprocess.CalledProcessError):
            git(root, "checkout", "-q", "--force", commit)
            git(root, "clean", "-qfdx")
            return


# ---- commits ---------------------------------------------------------------------------------------------------------


SPANS = 5  # of 100 commits each, which can be run one by one, or beside each other
GRAPHS = 4  # of so many commits, at one it is asked what uses what, and as often as otherwise at all of them


@pytest.mark.parametrize("span", range(SPANS))
@pytest.mark.parametrize("repository", CLONES or [pytest.param(Path(), id="of no clone", marks=NO_CLONE)])
async def test_answers_at_random_commits_are_those_of_an_index_built_there(
    tmp_path: Path, repository: Path, span: int
) -> None:
    """With ignore files edited, files renamed and swapped on top; and now and then the bytes of an index built anew."""
    root, random = tmp_path / "root", Random(f"{repository.parent.name} {span}")
    without = [kind for kind in ASKED if kind not in GRAPHED]
    kinds = [ASKED + [kind for kind in ASKED if kind in GRAPHED] * (GRAPHS - 1), *[without] * (GRAPHS - 1)]
    commits = cloned(repository, root)
    git(root, "checkout", "-q", "--force", commits[0])
    tried = asked = rebuilt = 0
    async with live(root, "fledgling-analyst") as front:
        for number in range(count(100)):
            at_random(root, random, commits)
            if paths_in(root):
                edit(root, random, random.choice([0, 0, 1, 5]))
            if number % 50 == 49:
                front.indexing.renew()
                await front.indexing.built()
                rebuilt += 1
            known, names = sorted({*paths_in(root), "none.py"}), names_in(root, random)
            async with fronted(root, "fledgling-analyst") as (fresh, indexing):
                await indexing.built()
                for _ in range(50):
                    put = question(random, known, names, kinds[number % GRAPHS])
                    if not isinstance(put, Survey):
                        there, here = await pages(fresh, put), await settled(front, put)
                        assert here == there, (number, put)
                        asked += 1
                if number % 50 == 49 and not front.indexing.changes < front.indexing.latest:
                    for name in ("blocks", "signatures", "outlines"):
                        one, two = (
                            bytes(memory_file.mapped(getattr(of.images, name))) for of in (front.indexing, indexing)
                        )
                        assert one == two, (number, name)
            tried += 1
            if tried % 25 == 0:
                tell(f"{repository.parent.name} {span}: {tried} commits, {asked} questions")
    tell(f"{repository.parent.name} {span}: {tried} commits, {asked} questions, {rebuilt} built anew, 0 differences")


# ---- a checkout ------------------------------------------------------------------------------------------------------


def two_branches(root: Path, files: int) -> None:
    for branch in ("one", "two"):
        for number in range(files):
            body = "".join(f"def {branch}_{number}_{line}():\n    return '{branch}'\n" for line in range(20))
            write(root, f"d{number % 60}/m{number}.py", f"import os\n{body}")
        if branch == "one":
            git(root, "init", "-q")
        git(root, "checkout", "-q", "-b", branch)
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", branch)


async def test_every_answer_during_a_checkout_is_of_one_tree_or_the_other(tmp_path: Path) -> None:
    """200 calls while 3,000 files change: what is shown of a file is one state of it, and what is old says so."""
    root, files, random = tmp_path / "root", 3_000, Random(3)
    root.mkdir()
    two_branches(root, files)
    noted = old = refused = 0
    async with live(root) as front:
        await answered(front, Search("needle"))
        moving = asyncio.create_task(asyncio.to_thread(git, root, "checkout", "-q", "one"))
        for _ in range(200):
            was_over = moving.done()
            number = random.randrange(files)
            found = await front.ask(Read(f"d{number % 60}/m{number}.py"))
            if isinstance(found, Refusal):
                assert found.kind in ("unavailable", "not_found"), found  # git removes a file before it writes it anew
                assert not (was_over and found.kind == "not_found"), found
                refused += 1
                continue
            states = {line.split("'")[1] for line in found.lines if "return" in line}
            assert len(states) == 1
            noted += "changed since this was indexed" in (found.note or "")
            if was_over and states == {"two"}:
                assert "changed since this was indexed" in found.note
                old += 1
            await asyncio.sleep(0.01)
        await moving
        begun = time.monotonic()
        while (found := await answered(front, Search("return 'one'", max_results=1, context=0))).note:
            pass
        assert (found.total, (await answered(front, Search("return 'two'"))).total) == (files * 20, 0) or (
            found.total_is_lower_bound
        )
        seconds = time.monotonic() - begun
        tell(f"checkout: {noted} noted, {old} old and said so, {refused} refused; whole {seconds:.1f} s after")


# ---- kills -----------------------------------------------------------------------------------------------------------


async def test_kills_at_any_moment_of_an_update_show_nothing_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """300 kills. An answer shows the edit, or says that it cannot; and soon after the last kill it shows all."""
    for module, name in ((following, "RESTARTS"), (breaker, "CRASHES"), (breaker, "DEADLY")):
        monkeypatch.setattr(module, name, 10**6)  # they bound how often one may end, and here that is wanted
    random, kills, shown, said = Random(300), 0, 0, 0
    for number in range(40):
        write(tmp_path, f"m{number}.py", f"value_{number} = 0\n")
    async with live(tmp_path) as front:
        await answered(front, Search("value_1"))
        for trial in range(count(300)):
            if trial % 50 == 25:
                front.indexing.renew(afresh=True)
            number = random.randrange(40)
            write(tmp_path, f"m{number}.py", f"def word{trial}x():\n    return {trial}\n")
            call = asyncio.create_task(front.ask(Search(f"word{trial}x")))
            await asyncio.sleep(random.random() * 0.04)
            victims = back_processes(psutil.Process(), random.choice([FOLLOWER, QUERY_WORKER, FOLLOWER, INDEXER]))
            for victim in victims:
                with suppress(psutil.NoSuchProcess):
                    random.choice([victim, *victim.children(recursive=True)]).kill()
                    kills += 1
            found = await call
            if isinstance(found, Refusal):
                assert found.kind in ("unavailable", "timeout", "busy"), found
                said += 1
            elif found.total == 1:
                shown += 1
            else:
                assert found.total == 0
                assert UNFOLLOWED in found.note or "changed since" in found.note, found
                said += 1
            found = await answered(front, Read(f"m{number}.py"))
            assert f"word{trial}x" in found.lines[0] or found.note, found
        for number in range(40):
            text = (tmp_path / f"m{number}.py").read_text().split("\n")[:-1]
            assert (await answered(front, Read(f"m{number}.py"))).lines == text
    tell(f"storm: {kills} processes killed in {count(300)} updates, {shown} shown, {said} said that they could not")


# ---- pages -----------------------------------------------------------------------------------------------------------


PAGED = [
    Search("needle", max_results=40, context=0),
    Symbols(max_results=20),
    Explore(),
    Explore(detail="summary"),
]


async def test_pages_lose_and_repeat_nothing_while_files_change(tmp_path: Path) -> None:
    """1,000 cursors: all pages of an answer are of the state of its first, or refused with the reason."""
    random, whole, refused, cursors = Random(1000), 0, 0, 0
    root, short = tmp_path / "root", tmp_path / "short.sql"
    short.write_text(SHORT)
    for number in range(30):
        write(root, f"m{number}.py", f"needle = {number}\n" * 20)
    async with live(root, short) as front:
        while cursors < count(1_000):
            kind = random.choice(PAGED)
            expected = await _all_lines(front, kind)
            page, seen, asked = await answered(front, kind), [], kind
            while True:
                seen += _lines(page)
                if not page.next:
                    break
                for _ in range(random.choice([0, 1, 1, 3, 10])):
                    name = f"m{random.randrange(40)}.py"
                    if random.random() < 0.2:
                        (root / name).unlink(missing_ok=True)
                    else:
                        write(root, name, f"needle = {random.randrange(99)}\n" * random.randrange(1, 40))
                    await front.ask(Search("needle", max_results=1))
                cursors += 1
                asked = type(asked)(**page.next.arguments)
                page = await front.ask(asked)
                if isinstance(page, Refusal):
                    assert "changed" in page.reason, page
                    refused += 1
                    break
            if not isinstance(page, Refusal):
                assert seen == expected
                whole += 1
    tell(f"pages: {cursors} cursors, {whole} answers whole, {refused} refused with the reason, 0 lost or repeated")


async def _all_lines(front: Front, kind: Search | Symbols | Explore) -> list[object]:
    """All of an answer, on pages that nothing comes between."""
    page, seen, asked = await answered(front, kind), [], kind
    while True:
        seen += _lines(page)
        if not page.next:
            return seen
        asked = type(asked)(**page.next.arguments)
        page = await answered(front, asked)


def _lines(page: object) -> list[object]:
    if isinstance(page, Exploration):
        return [*page.directories, *page.files]
    if isinstance(page, Summaries):
        return list(page.summaries)
    if hasattr(page, "total_files"):
        return [(file.path, line) for file in page.files for line in file.hits]
    return [(file.path, symbol.name, tuple(symbol.lines)) for file in page.files for symbol in file.symbols]
