"""What a search takes while a project changes, beside what it takes where nothing does: `changes.py ROOT`.

Two copies of a git repository are served by one process and asked the same literals in turns, so that a busy machine
hits both alike: read the ratios. One copy is left alone; in the other, files are edited or moved before each round.
Before that both are left to themselves for a minute, and single files are edited, each with a call behind it that must
show the edit, and one behind none.
"""

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import islice
from pathlib import Path

import ask
import corpora
import measure

from fledgling.broker.front import Front
from fledgling.broker.indexing.indexing import Indexing
from fledgling.messages.answers import Hits, Refusal
from fledgling.messages.questions import Mode, Search
from fledgling.security import profile as profiles
from fledgling.settings import Settings

EDITED, MOST_EDITED, MOVED = 100, 500, 3_000  # files; past 500 that differ, an index is built anew
SINGLE = 30  # files that are edited one by one
REPEATED = 9  # edits of the largest
LARGEST = 2**19  # bytes of the largest source that is edited; parsing it is what an edit costs
SOURCES = (".c", ".go", ".java", ".py", ".rs", ".ts")
PAUSE_SECONDS = 1.0  # before a call: an agent thinks, and no look is shared any more
IDLE_SECONDS = 60.0
FOLLOWED_SECONDS = 600  # until changes are in the index, which may be built anew for them
MAX_FILES = 1_000_000  # of an index
OLDER = "changed since this was indexed"  # what an answer says of which that is not so yet


async def figures(corpus: Path, profile: str, questions: ask.CorpusQuestions) -> ask.Figures:
    """Return p50 and p95 of a search in either copy: `overlay_...` after edits, `moved_...` after moves and edits.

    Those of the copy that is left alone begin with `still_`; what single edits cost is said in `one_by_one`. `idle_cpu`
    is the processor time of all processes of both in IDLE_SECONDS without a call. There are none of a corpus with fewer
    than MOST_EDITED + MOVED files: the same ones would be edited and moved.
    """
    found: ask.Figures = {}
    if len(corpora.listed(corpus)) < MOST_EDITED + MOVED:
        return found
    with tempfile.TemporaryDirectory(prefix="fledgling-bench-") as place:
        still, changing = Path(place, "still"), Path(place, "changing")
        for copy in (still, changing):
            shutil.copytree(corpus, copy, symlinks=True)
        paths = corpora.listed(changing)
        steps: dict[str, Callable[[], None]] = {
            "unchanged": lambda: None,
            f"overlay_{EDITED}": lambda: edit(changing, paths[:EDITED]),
            f"overlay_{MOST_EDITED}": lambda: edit(changing, paths[:MOST_EDITED]),
            "moved": lambda: move(changing, paths[-MOVED:]),
            f"moved_overlay_{EDITED}": lambda: edit(changing, paths[:EDITED]),
        }
        async with AsyncExitStack() as stack:
            fronts = [await stack.enter_async_context(followed(copy, profile)) for copy in (still, changing)]
            found["idle_cpu"] = await idle()
            largest = max(paths, key=lambda path: _size(changing / path))
            texts = (path for path in paths[MOST_EDITED:] if b"\0" not in (changing / path).read_bytes())
            for name, some in {
                "edit": list(islice(texts, SINGLE)),
                "edit_largest": [largest] * REPEATED,
            }.items():
                found |= await one_by_one(fronts[1], changing, some, name)
            for name, step in steps.items():
                step()
                one, two = await in_turns(fronts, questions)
                found |= ask.spread(f"still_{name}", one) | ask.spread(name, two)
    return found


def _size(path: Path) -> int:
    size = path.stat().st_size
    return size if size <= LARGEST and path.suffix in SOURCES else 0


async def idle() -> float:
    """Return the seconds of processor time that all processes take while nobody asks and nothing changes."""
    await measure.rest(os.getpid())
    before = measure.spent(os.getpid())
    await asyncio.sleep(IDLE_SECONDS)
    return measure.since(before, os.getpid())


async def one_by_one(front: Front, root: Path, paths: list[str], name: str) -> ask.Figures:
    """Edit files; return what it takes, in seconds, until a call behind an edit shows it: `edit_p50`, `edit_p95`.

    `edit_cpu` is the processor time of all processes in such a call, on average, more than in the same one again,
    behind no edit.
    """
    await measure.rest(os.getpid())
    seconds: list[float] = []
    cpu = {"behind": 0.0, "again": 0.0}
    for number, path in enumerate(paths):
        word = f"fledgling_{name}_{number}"
        for which in cpu:
            await asyncio.sleep(PAUSE_SECONDS)
            before, begun = measure.spent(os.getpid()), time.perf_counter()
            if which == "behind":
                with (root / path).open("ab") as file:
                    file.write(f"\n# {word}\n".encode())
            found = await asked(front, word, "text")
            if which == "behind":
                seconds.append(time.perf_counter() - begun)
            await asyncio.sleep(PAUSE_SECONDS)  # an extractor that ends is still of that call
            cpu[which] += measure.since(before, os.getpid())
            if not isinstance(found, Hits) or found.total != 1:
                raise ask.AskError(f"{word} was not found in {path}")
    return {f"{name}_cpu": (cpu["behind"] - cpu["again"]) / len(paths), **ask.spread(name, seconds)}


def edit(root: Path, paths: list[str]) -> None:
    """Add a line to files."""
    for path in paths:
        with (root / path).open("ab") as file:
            file.write(b"\n# one line more\n")


def move(root: Path, paths: list[str]) -> None:
    """Give files other names, as a checkout may."""
    for path in paths:
        (root / path).rename((root / path).with_name(f"moved_{Path(path).name}"))


@asynccontextmanager
async def followed(root: Path, profile: str) -> AsyncIterator[Front]:
    """Serve a project as it is now, and as it becomes."""
    indexing = Indexing(Settings(root=str(root), max_files=MAX_FILES), profiles.load(profile), is_followed=True)
    front = Front(indexing.profile, indexing, "burst")
    try:
        await indexing.built()
        yield front
    finally:
        await front.close()


async def in_turns(fronts: list[Front], questions: ask.CorpusQuestions) -> list[list[float]]:
    """Return the seconds of each search at each front; all are asked once before, when nothing is built any more."""
    for front in fronts:
        until = time.monotonic() + FOLLOWED_SECONDS
        while OLDER in str(await asked(front, questions.literals[0])):
            if time.monotonic() > until:
                raise ask.AskError(f"what has changed is not indexed after {FOLLOWED_SECONDS} seconds")
            await front.indexing.built()
    await measure.rest(os.getpid())
    for front in fronts:
        for literal in questions.literals:
            await asked(front, literal)
    seconds: list[list[float]] = [[] for _ in fronts]
    for literal in questions.literals:
        for front, taken in zip(fronts, seconds, strict=True):
            taken.append(await ask.timed(asked(front, literal)))
    return seconds


async def asked(front: Front, literal: str, mode: Mode = "auto") -> object:
    """Search for a literal."""
    if isinstance(found := await front.ask(Search(query=literal, mode=mode)), Refusal):
        raise ask.AskError(f"{literal}: {found.reason}")
    return found


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--profile", default="fledgling-core")
    options = parser.parse_args()
    found = asyncio.run(figures(options.root, options.profile, ask.CorpusQuestions(options.root)))
    if not found:
        parser.error(f"{options.root} has fewer than {MOST_EDITED + MOVED:,} files")
    for name in [name for name in found if name.startswith(("idle_", "edit_"))]:
        sys.stdout.write(f"{name:24} {1000 * found[name]:8.2f} ms\n")
    for name in [name for name in found if f"still_{name}" in found]:
        still, now = found[f"still_{name}"], found[name]
        sys.stdout.write(f"{name:24} {1000 * now:8.2f} ms, still {1000 * still:8.2f} ms  {now / still:6.2f}x\n")


if __name__ == "__main__":
    main()
