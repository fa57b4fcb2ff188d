"""What a fleet of so many repositories costs: to build, to hold, and to ask. Each repository has text of its own.

    .venv/bin/python benchmarks/fleet.py 40 400 --keep /var/tmp/fleet

Repositories are generated from a number, so that two runs have the same, and no two repositories share a file. Names
come from a vocabulary of the repository's own and one of all; `rare` is in one repository of 20, `common` in each.
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
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import psutil
from msgspec.structs import replace

from fledgling.broker.fleet.fleet import Fleet
from fledgling.broker.fleet.pack import PackIndex, packed
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
ROUNDS = 15  # of each question

QUESTIONS: dict[str, AnyQuestion] = {
    "absent literal": Search("zzqxjv_nowhere"),
    "rare literal": Search("rare_needle_of_few"),
    "common literal, a page": Search("common_needle"),
    "regex": Search(r"rare_needle_\w+few", regex=True),
    "symbol by name": Read(symbol="only_of_7"),
    "name, absent": Read(symbol="only_of_nobody"),
    "names that hold a text": Search("only_of_7", kind="function"),
    "classes, a page": Symbols(kind="class"),
    "by meaning": Search("where rows are merged", mode="meaning"),
    "map of all": Explore(),
    "one file": Read("r00003/src/m0.py"),
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


def measured(count: int, above: Path, workers: int) -> Iterator[tuple[str, str]]:
    """Build a fleet and ask it; yield what was measured, and the figure."""
    sources, out = above / "sources", above / f"shards{count}"
    out.mkdir(mode=0o700, parents=True, exist_ok=True)
    for number in range(count):
        if not (sources / f"r{number:05}").exists():
            write_repository(sources / f"r{number:05}", number)
    listed = above / f"list{count}"
    listed.write_text("".join(f"{sources / f'r{number:05}'}\n" for number in range(count)))
    text = sum(path.stat().st_size for number in range(count) for path in (sources / f"r{number:05}").rglob("*.py"))
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
    yield from asyncio.run(_asked(out, text))


async def _asked(out: Path, text: int) -> list[tuple[str, str]]:
    found = []
    profile = replace(profiles.load("fledgling-core"), memory_limit=MEMORY)
    begun = time.perf_counter()
    pack = packed(str(out), profile)
    size = os.fstat(pack.fd).st_blocks * 512
    found.append(("shards in memory", f"{size / 1e6:,.0f} MB, {size / text:.2f} of the text"))
    found.append(("verify and copy", f"{time.perf_counter() - begun:.2f} s"))
    fleet = Fleet(PackIndex(pack, profile, CONFINED, lambda _: None))
    try:
        begun = time.perf_counter()
        first = pack.manifests[0].repository
        await _seconds(lambda: fleet.ask(Read(f"{first}/only.py")))
        found.append(("worker ready", f"{time.perf_counter() - begun:.2f} s"))
        [worker] = psutil.Process().children()
        for name, question in QUESTIONS.items():
            first = await _seconds(lambda question=question: fleet.ask(question))
            took = [await _seconds(lambda question=question: fleet.ask(question)) for _ in range(ROUNDS)]
            worst = max(took)
            found.append(
                (
                    name,
                    f"p50 {1e3 * statistics.median(took):,.1f} ms, worst {1e3 * worst:,.1f}, first {1e3 * first:,.1f}",
                )
            )
        held = held_bytes(worker.pid, size)
        found.append(("worker", f"{held / 1e6:,.0f} MB of its own beside the shards, {worker.num_fds()} descriptors"))
    finally:
        await fleet.close()
    return found


async def _seconds(ask: Callable[[], Awaitable[object]]) -> float:
    begun = time.perf_counter()
    answer = await ask()
    took = time.perf_counter() - begun
    assert not isinstance(answer, Refusal) or answer.kind in ("not_found", "ambiguous"), answer
    return took


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure fleets of the sizes that are asked for, and print a table of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", type=int, nargs="+", metavar="N", help="repositories")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="repositories that are built at once")
    parser.add_argument("--keep", type=Path, help="a directory for sources and shards, which are used again")
    given = parser.parse_args()
    above = given.keep or Path(tempfile.mkdtemp(prefix="fleet-"))
    try:
        for count in given.counts:
            print(f"\n{count} repositories, load {os.getloadavg()[0]:.1f}")  # noqa: T201
            for what, figure in measured(count, above, given.workers):
                print(f"  {what:26}{figure}", flush=True)  # noqa: T201
    finally:
        if not given.keep:
            shutil.rmtree(above)


if __name__ == "__main__":
    main()
