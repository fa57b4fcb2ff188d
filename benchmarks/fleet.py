"""What a fleet of so many repositories costs: to build, to hold, and to ask, in CPU time of the broker and the worker.

    .venv/bin/python benchmarks/fleet.py 400 4000 40000 --distinct 200 --keep /var/tmp/fleet

Repositories are generated from a number, so that two runs have the same, and no two repositories share a file. Names
come from a vocabulary of the repository's own and one of all; `common` is in each. Beyond the distinct ones there are
copies of all but the last hundred, under names of their own, which take room as others do. What is kept is used again
by a run with the same `--distinct`, for as many repositories or more.
"""

import argparse
import asyncio
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import fleet_copies
import psutil
from msgspec.structs import replace

from fledgling.broker.fleet import pack
from fledgling.broker.fleet.fleet import Fleet
from fledgling.broker.fleet.pack import PackIndex
from fledgling.broker.fleet.verified import ShardPart
from fledgling.broker.memory import held_bytes
from fledgling.messages.answers import Refusal
from fledgling.messages.control import CONFINED
from fledgling.messages.questions import AnyQuestion, Explore, Read, Search, Symbols
from fledgling.security import profile as profiles

FILES, FUNCTIONS = 24, 10  # of a repository: some 100 KB of Python
OF_ALL = [
    f"{a}_{b}" for a in ("load", "parse", "send", "index", "merge", "check") for b in ("user", "file", "row", "page")
]
MEMORY = 64 * 10**9  # of the profile: what is asked is how much is held
ROUNDS, OF_EACH = 200, 10.0  # of each question at most: how often, and seconds
SECONDS = 600.0  # of the profile: what is asked is how long it takes


def questions(alone: int) -> dict[str, AnyQuestion]:
    """Return what is asked; repository number `alone` has no copies."""
    return {
        "absent literal": Search("zzqxjv_nowhere"),
        "literal in one": Search(f"only_of_{alone}("),
        "literal in one of 20": Search("rare_needle_of_few"),
        "common literal, a page": Search("common_needle"),
        "regex": Search(r"rare_needle_\w+few", regex=True),
        "symbol by name": Read(symbol=f"only_of_{alone}"),
        "name, absent": Read(symbol="only_of_nobody"),
        "names that hold a text": Search(f"only_of_{alone}", kind="function"),
        "classes, a page": Symbols(kind="class"),
        "by meaning": Search("where rows are merged", mode="meaning"),
        "map of all": Explore(),
        "one file": Read("r00000/src/m0.py"),
    }


def write_repository(root: Path, number: int) -> None:
    """Write the files of one repository."""
    chance = random.Random(number)  # noqa: S311
    own = [f"w{chance.getrandbits(40):010x}" for _ in range(300)]
    for file in range(FILES):
        lines = [f'"""What {chance.choice(own)} is for."""', "import os", ""]
        for function in range(FUNCTIONS):
            name = f"{chance.choice(OF_ALL)}_{chance.choice(own)}"
            lines += [f"class C{name}:", "    pass", ""] if function == 0 else []
            lines += [
                f"def {name}({chance.choice(own)}, timeout):",
                f'    """Do {chance.choice(own)}: common_needle."""',
            ]
            lines += [
                f"    {chance.choice(own)} = {chance.choice(own)}(timeout, {chance.random()!r})" for _ in range(6)
            ]
            lines += ["    return timeout", "", ""]
        path = root / "src" / f"m{file}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines))
    last = [f"def only_of_{number}():", "    return 1", ""]
    (root / "only.py").write_text("\n".join([*last, "# rare_needle_of_few" if number % 20 == 3 else "", ""]))


def measured(count: int, distinct: int, above: Path, workers: int) -> Iterator[tuple[str, str]]:
    """Build a fleet and ask it; yield what was measured, and the figure."""
    out = above / f"shards-{distinct}"
    out.mkdir(mode=0o700, parents=True, exist_ok=True)
    built, there = min(count, distinct), len(list(out.glob("*.shard")))
    if there > count:
        raise SystemExit(f"{out} has {there} repositories already")
    if there < count:
        yield from _built(built, above, out, workers)
        if count > built:
            fleet_copies.fill(out, distinct, count)
    yield from asyncio.run(_asked(out, questions(max(built - 50, built // 2))))


def _built(count: int, above: Path, out: Path, workers: int) -> Iterator[tuple[str, str]]:
    sources = [above / "sources" / fleet_copies.name_of(number) for number in range(count)]
    for number, root in enumerate(sources):
        if not root.exists():
            write_repository(root, number)
    listed = above / "list"
    listed.write_text("".join(f"{root}\n" for root in sources))
    text = sum(path.stat().st_size for root in sources for path in root.rglob("*.py"))
    yield "text", f"{text / 1e6:,.0f} MB"
    command = [sys.executable, "-I", "-B", "-m", "fledgling", "fleet", "build", str(listed), "--out", str(out)]
    for what in ("build", "build again, unchanged"):
        wall, spent = time.perf_counter(), _spent()
        subprocess.run([*command, "--workers", str(workers)], check=True, stdout=subprocess.DEVNULL)
        wall, spent = time.perf_counter() - wall, _spent() - spent
        yield (
            what,
            f"{spent:,.0f} CPU-s ({text / 1e6 / spent:.2f} MB a CPU-s, {spent / count:.2f} s each), {wall:,.0f} s",
        )


class _CopyingPacking(pack._Packing):
    """Copies parts that several shards have in common for each of them: they stand for others."""

    def _copied(self, fd: int, parts: Sequence[ShardPart]) -> dict[str, tuple[int, int]]:
        self._copies.clear()
        return super()._copied(fd, parts)


async def _asked(out: Path, asked: Mapping[str, AnyQuestion]) -> list[tuple[str, str]]:
    found = []
    profile = replace(profiles.load("fledgling-core"), memory_limit=MEMORY, query_timeout=SECONDS)
    wall, spent = time.perf_counter(), time.process_time()
    pack._Packing = _CopyingPacking  # type: ignore[misc]
    held = pack.packed(str(out), profile)
    size, count = os.fstat(held.fd).st_blocks * 512, len(held.manifests)
    found.append(("repositories", f"{count:,}, {held.bundles:,} bundles"))
    found.append(("shards in memory", f"{size / 1e6:,.0f} MB, {size / count / 1e3:,.0f} KB each"))
    found.append(("verify and copy", _of(time.process_time() - spent, time.perf_counter() - wall)))
    fleet = Fleet(PackIndex(held, profile, CONFINED, lambda _: None))
    try:
        wall = time.perf_counter()
        problem = await fleet.started()
        assert problem is None, problem
        [worker] = psutil.Process().children()
        found.append(("worker ready", _of(_cpu(worker.pid), time.perf_counter() - wall)))
        for name, question in asked.items():
            first = sum(await _seconds(fleet, question, worker.pid))
            took: list[tuple[float, float]] = []
            end = time.perf_counter() + OF_EACH
            while len(took) < ROUNDS and (len(took) < 3 or time.perf_counter() < end):
                took.append(await _seconds(fleet, question, worker.pid))
            own, its = ([1e3 * each for each in some] for some in zip(*took, strict=True))
            both = sorted(map(sum, zip(own, its, strict=True)))
            found.append(
                (
                    name,
                    f"p50 {statistics.median(both):,.1f} ms (broker {statistics.median(own):,.1f}, "
                    f"worker {statistics.median(its):,.1f}), p99 {both[99 * len(both) // 100]:,.1f}, "
                    f"first {1e3 * first:,.1f}, of {len(both)}",
                )
            )
        beside = held_bytes(worker.pid, size) / 1e6
        found.append(("worker", f"{beside:,.0f} MB of its own beside the shards, {worker.num_fds()} descriptors"))
        found.append(("broker", f"{psutil.Process().memory_full_info().uss / 1e6:,.0f} MB"))
    finally:
        await fleet.close()
    return found


async def _seconds(fleet: Fleet, question: AnyQuestion, worker: int) -> tuple[float, float]:
    """Return the seconds of CPU that a question takes of this process, and of the worker."""
    own, its = time.process_time(), _cpu(worker)
    answer = await fleet.ask(question)
    assert not isinstance(answer, Refusal) or answer.kind in ("not_found", "ambiguous"), answer
    return time.process_time() - own, _cpu(worker) - its


def _cpu(process: int) -> float:
    """Return the seconds of CPU that all threads of a process have had, to the nanosecond."""
    threads = Path(f"/proc/{process}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def _of(spent: float, wall: float) -> str:
    return f"{spent:,.2f} CPU-s, {wall:,.2f} s by the clock"


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure fleets of the sizes that are asked for, and print a table of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", type=int, nargs="+", metavar="N", help="repositories")
    parser.add_argument("--distinct", type=int, help="how many of them are built; all, unless it is said")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="repositories that are built at once")
    parser.add_argument("--keep", type=Path, help="a directory for sources and shards, which are used again")
    given = parser.parse_args()
    counts = sorted(given.counts)
    distinct = min(given.distinct or counts[-1], counts[-1])
    if counts[0] < 1:
        parser.error("a fleet has a repository at least")
    for count in counts:
        if count > distinct and not fleet_copies.can_fill(distinct, count):
            parser.error(
                f"{count} cannot be made out of {distinct}: both must be hundreds, and this two of them at least"
            )
    above = given.keep or Path(tempfile.mkdtemp(prefix="fleet-"))
    try:
        for count in counts:
            print(f"\n{count} repositories, load {os.getloadavg()[0]:.1f}")  # noqa: T201
            for what, figure in measured(count, distinct, above, given.workers):
                print(f"  {what:26}{figure}", flush=True)  # noqa: T201
    finally:
        if not given.keep:
            shutil.rmtree(above)


if __name__ == "__main__":
    main()
