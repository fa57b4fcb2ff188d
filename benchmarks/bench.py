"""Measure Fledgling against its peers, side by side, and say which goals are met: `make bench`, or with options

    .venv/bin/python benchmarks/bench.py --corpora django,poly10k --only fledgling,ctags --rounds 5

Corpora, peers, indexes and figures are kept in the cache directory. Nothing outside it is changed.
"""

import asyncio
import json
import math
import os
import platform
import re
import signal
import subprocess
import sys
import time
import tomllib
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import linear_regression, median

import ask
import corpora
import measure
import msgspec
import peers

HERE = Path(__file__).parent
OURS = "fledgling"
BARE = "bare"
SMALL = "fledgling-core"
WIDEST = 90  # characters of a cell
LARGE = str(HERE / "large.sql")


class Growth(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An exponent over `of` of these corpora."""

    of: str
    over: list[str]


class Goal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of goals.toml."""

    name: str
    says: str
    figure: str
    stretch: float
    against: str | None = None
    at_most: float | None = None
    at_least: float | None = None
    less: float = 0.0
    growth: Growth | None = None

    @property
    def limit(self) -> float:
        """What is to be reached: the one of the two that is set."""
        limits = [limit for limit in (self.at_most, self.at_least) if limit is not None]
        (limit,) = limits
        return limit

    def reaches(self, value: float, limit: float) -> bool:
        """Return whether a value is as good as a limit."""
        return value >= limit if self.at_most is None else value <= limit


class Figures:
    """All that was measured, by `corpus/tool/measure`; kept in a file, so that a run can go on where it stopped.

    A figure has as many values as it was measured times. Why one is missing is kept beside it, by `corpus/tool`.
    """

    def __init__(self, file: Path, *, resume: bool) -> None:
        self._file = file
        kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
        self._resume = resume
        self._values: dict[str, list[float]] = kept.get("values", {})
        self.missing: dict[str, str] = kept.get("missing", {})
        self.about: dict[str, str] = kept.get("about", {})

    def begin(self, prefix: str) -> None:
        """Forget what is known of `corpus/tool`, unless this run goes on with another one."""
        self.missing.pop(prefix, None)
        if not self._resume:
            self._values = {key: value for key, value in self._values.items() if not key.startswith(f"{prefix}/")}

    def count(self, key: str) -> int:
        """Return how often a figure was measured."""
        return len(self._values.get(key, ()))

    def add(self, prefix: str, values: dict[str, float]) -> None:
        """Add what one round found."""
        for name, value in values.items():
            self._values.setdefault(f"{prefix}/{name}", []).append(value)
        self.save()

    def miss(self, prefix: str, reason: str) -> None:
        """Say why there is no figure."""
        self.missing[prefix] = reason
        self.save()

    def save(self) -> None:
        """Write everything to the file."""
        kept = {"values": self._values, "missing": self.missing, "about": self.about}
        new = self._file.with_suffix(".new")
        new.write_text(json.dumps(kept, indent=1), "utf-8")
        new.replace(self._file)

    def get(self, key: str) -> float | None:
        """Return the median of a figure."""
        return median(self._values[key]) if self._values.get(key) else None

    def rows(self) -> list[tuple[str, str]]:
        """Return every corpus and tool that has figures, in the order of the tables."""
        known = {(corpus, tool) for corpus, tool, _ in (key.split("/") for key in self._values)}
        corpus_order, tool_order = list(corpora.load()), [OURS, BARE, "source", *peers.load()]
        return sorted(known, key=lambda row: (corpus_order.index(row[0]), tool_order.index(row[1])))


# ---- measuring ------------------------------------------------------------------------------------------------------


def main() -> None:
    """Measure what was asked for, then print the tables; with --record, write them to README.md too."""
    options = _options()
    cache = options.cache.expanduser().resolve()
    cache.mkdir(parents=True, exist_ok=True)
    figures = Figures(cache / "figures.json", resume=options.resume)
    measure.adopt()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends what is being measured too
    for name in [] if options.report else options.corpora:
        try:
            _measure(name, options, cache, figures)
        except corpora.FetchError as problem:
            figures.miss(f"{name}/{OURS}", f"no corpus: {problem}")
            _say(f"{name}: {problem}")
    report = "\n".join(_report(figures))
    sys.stdout.write(f"{report}\n")
    if options.record:
        _record(report)


def _options() -> Namespace:
    known = corpora.load()
    parser = ArgumentParser(description=__doc__.partition(":")[0] if __doc__ else None)
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/fledgling-bench"), help="default: %(default)s")
    parser.add_argument("--corpora", default="flask,django,poly10k", help=f"of {','.join(known)}, or all")
    parser.add_argument("--only", default="", help="tools to measure, fledgling among them; default: all light ones")
    parser.add_argument("--heavy", action="store_true", help="measure heavy peers too")
    parser.add_argument("--rounds", type=int, default=3, help="medians of so many runs (default: %(default)s)")
    parser.add_argument("--no-questions", action="store_true", help="leave search and lookup out")
    parser.add_argument("--resume", action="store_true", help="keep what was measured before, measure what is missing")
    parser.add_argument("--report", action="store_true", help="measure nothing, print what is known")
    parser.add_argument("--record", action="store_true", help="write the tables to benchmarks/README.md")
    options = parser.parse_args()
    options.corpora = list(known) if options.corpora == "all" else options.corpora.split(",")
    if unknown := [name for name in options.corpora if name not in known]:
        parser.error(f"no such corpus: {', '.join(unknown)}")
    options.only = options.only.split(",") if options.only else []
    if unknown := [name for name in options.only if name not in (OURS, BARE, *peers.load())]:
        parser.error(f"no such tool: {', '.join(unknown)}")
    return options


def _measure(name: str, options: Namespace, cache: Path, figures: Figures) -> None:
    _say(f"{name}: preparing")
    corpus = corpora.prepare(name, cache)
    files, size = corpora.size(corpus)
    figures.begin(f"{name}/source")
    if not figures.count(f"{name}/source/files"):
        figures.add(f"{name}/source", {"files": files, "bytes": size})
    figures.about[f"corpus {name}"] = f"{files} files, {size / 1e6:.1f} MB, from {corpora.origin(corpus)}"
    figures.about["fledgling"] = f"{_said('git', 'describe', '--always', '--dirty')}, {time.strftime('%Y-%m-%d')}"
    figures.about["machine"] = _machine()
    tools = list(_tools(name, options, cache, figures))
    _index(name, corpus, tools, options.rounds, figures)
    if not options.no_questions:
        _questions(name, corpus, tools, figures)


def _tools(name: str, options: Namespace, cache: Path, figures: Figures) -> Iterator[peers.Tool]:
    """Yield Fledgling and the peers that are wanted and there."""
    profile = _profile(name)
    own = {
        OURS: ["-m", OURS, "index", "--json", "--max-files=1000000", f"--profile={profile}", "--root={corpus}"],
        BARE: [str(HERE / "bare.py"), "{corpus}", profile],
    }
    for tool, index in own.items():
        if not options.only or tool in options.only:
            row = peers.Peer(program=sys.executable, version=[], differs="", index=["-I", *index])
            yield peers.Tool(tool, row, Path(sys.executable), cache / "peers" / tool / "home")
    for tool, row in peers.load().items():
        if tool in options.only or (not options.only and (options.heavy or not row.heavy)):
            try:
                found = peers.prepare(tool, cache)
            except peers.MissingError as problem:
                _miss(f"{name}/{tool}", f"not available: {problem}", figures)
            else:
                figures.about[tool] = found.version
                yield found


def _miss(prefix: str, reason: str, figures: Figures) -> None:
    figures.miss(prefix, reason)
    _say(f"{prefix}: {reason}")


def _profile(name: str) -> str:
    return LARGE if corpora.load()[name].big else SMALL


def _index(name: str, corpus: Path, tools: Sequence[peers.Tool], rounds: int, figures: Figures) -> None:
    """Index with every tool, round after round: A B A B. The round before the first warms up and watches memory.

    A heavy peer has that round only.
    """
    for tool in tools:
        figures.begin(f"{name}/{tool.name}")
    indexing = [tool for tool in tools if tool.row.index]
    for at in range(-1, rounds):
        for tool in indexing:
            prefix = f"{name}/{tool.name}"
            is_done = figures.count(f"{prefix}/memory") if at < 0 else figures.count(f"{prefix}/wall") > at
            if is_done or prefix in figures.missing or (tool.row.heavy and at >= 0):
                continue
            try:
                cost = tool.run(corpus, watch=at < 0)
            except measure.CommandError as problem:
                _miss(prefix, f"failed: {problem}", figures)
                continue
            _say(f"{prefix}: {cost.wall:.2f} s, {cost.cpu:.2f} CPU s, {cost.memory / 2**20:.0f} MiB")
            found = {"memory": float(cost.memory)} if at < 0 else {}
            if at >= 0 or tool.row.heavy:
                found |= {"wall": cost.wall, "cpu": cost.cpu} | (_fledgling(cost) if tool.name == OURS else {})
            figures.add(prefix, found)


def _fledgling(cost: measure.Cost) -> dict[str, float]:
    """Return when each generation was sealed, from exec. Everything that knows the form of the statistics is here."""
    seconds = json.loads(cost.output)["seconds"]
    start = cost.wall - seconds["total"]
    return {"generation1": start + seconds.get("text", seconds["total"]), "generation2": cost.wall}


def _questions(name: str, corpus: Path, tools: Sequence[peers.Tool], figures: Figures) -> None:
    """Ask Fledgling and rg the same literals, and every server the same names."""
    figures.begin(f"{name}/questions")
    there = {tool.name: tool for tool in tools if f"{name}/{tool.name}" not in figures.missing}
    try:
        questions = ask.Questions(corpus)
        if OURS in there and not figures.count(f"{name}/{OURS}/pipe"):
            _say(f"{name}: questions")
            rg = [str(there["rg"].program), *there["rg"].row.search] if "rg" in there else []
            serve = [sys.executable, "-I", "-m", OURS, "serve", "--max-files=1000000"]
            serve += [f"--profile={_profile(name)}", f"--root={corpus}"]
            seen, peer = asyncio.run(ask.through_client(serve, corpus, questions, rg))
            figures.add(f"{name}/rg", peer)
            figures.add(f"{name}/{OURS}", seen | asyncio.run(ask.through_pipe(corpus, _profile(name), questions)))
        for tool in there.values():
            if tool.row.lookup and not figures.count(f"{name}/{tool.name}/lookup_p50"):
                _say(f"{name}/{tool.name}: questions")
                tool.run(corpus, keep=True)
                asked = (tool.row.lookup.tool, tool.row.lookup.argument)
                lookups = ask.peer_lookups(tool.serve(corpus), corpus, tool.environment, asked, questions.names)
                figures.add(f"{name}/{tool.name}", asyncio.run(lookups))
                tool.clean(corpus)
    except (ask.AskError, ExceptionGroup, measure.CommandError) as problem:
        while isinstance(problem, ExceptionGroup):
            problem = problem.exceptions[0]
        _miss(f"{name}/questions", f"failed: {problem!r}", figures)


def _machine() -> str:
    model = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0))
    processor = model[0].partition(": ")[2] if model else platform.machine()
    system = f"Linux {platform.release()}, Python {platform.python_version()}"
    return f"{cores} cores of {processor}, {memory:.0f} GiB, {system}"


def _said(*command: str) -> str:
    return subprocess.check_output(command, cwd=HERE, text=True).strip()


def _say(line: str) -> None:
    sys.stderr.write(f"{line}  [load {os.getloadavg()[0]:.1f}]\n")
    sys.stderr.flush()


# ---- telling --------------------------------------------------------------------------------------------------------


def goals() -> list[Goal]:
    """Return every row of goals.toml."""
    return msgspec.convert(tomllib.loads((HERE / "goals.toml").read_text("utf-8"))["goal"], list[Goal])


def _report(figures: Figures) -> Iterator[str]:
    yield from _table(
        [("goal", "what", "measured", "goal", "stretch", "met"), *(_judged(goal, figures) for goal in goals())]
    )
    yield ""
    yield from _table([_INDEX, *_indexing(figures)])
    yield from (f"{name}: {_short(reason)}" for name, reason in sorted(figures.missing.items()))
    yield ""
    yield from _table([_ANSWERS, *_answering(figures)])
    yield ""
    yield "Not equal:"
    yield from (f"  {name}: {' '.join(row.differs.split())}" for name, row in peers.load().items())
    yield ""
    yield from (f"{name}: {text}" for name, text in sorted(figures.about.items()))


def _judged(goal: Goal, figures: Figures) -> tuple[str, ...]:
    value = _value(goal, figures)
    unit = "x" if goal.against else "" if goal.growth else " s"
    wanted = f"{'<=' if goal.limit == goal.at_most else '>='} {goal.limit:g}{unit}"
    if value is None:
        return goal.name, goal.says, "-", wanted, f"{goal.stretch:g}{unit}", _reason(goal, figures)
    met = next(
        (word for word, limit in (("stretch", goal.stretch), ("yes", goal.limit)) if goal.reaches(value, limit)), "NO"
    )
    return goal.name, goal.says, f"{value:.3g}{unit}", wanted, f"{goal.stretch:g}{unit}", met


def _value(goal: Goal, figures: Figures) -> float | None:
    if goal.growth:
        return _exponent(goal.figure, goal.growth, figures)
    figure = figures.get(goal.figure)
    against = figures.get(goal.against) if goal.against else 1.0
    return (figure - goal.less) / against if figure is not None and against else None


def _exponent(measured: str, growth: Growth, figures: Figures) -> float | None:
    """Return the slope of log(measured) over log(size); 1 is linear. None below two corpora."""
    points = [
        (math.log(size), math.log(value))
        for name in growth.over
        if (size := figures.get(f"{name}/source/{growth.of}")) and (value := figures.get(f"{name}/{OURS}/{measured}"))
    ]
    return linear_regression(*zip(*points, strict=True)).slope if len(points) > 1 else None


def _reason(goal: Goal, figures: Figures) -> str:
    prefixes = [key.rsplit("/", 1)[0] for key in (goal.figure, goal.against) if key]
    return next((_short(figures.missing[prefix]) for prefix in prefixes if prefix in figures.missing), "not measured")


def _short(reason: str) -> str:
    """Return the part of a reason that fits a table, without addresses."""
    return re.sub(r"\w+://\S+", "...", reason)[:WIDEST]


_INDEX = ("corpus", "tool", "wall s", "CPU s", "MiB", "generation 1", "MiB serving", "Fledgling's wall")


def _indexing(figures: Figures) -> Iterator[tuple[str, ...]]:
    for corpus, tool in figures.rows():
        known = {
            name: figures.get(f"{corpus}/{tool}/{name}")
            for name in ("wall", "cpu", "memory", "generation1", "serve_memory")
        }
        ours = figures.get(f"{corpus}/{OURS}/wall")
        if wall := known["wall"]:
            for name in ("memory", "serve_memory"):
                known[name] = (known[name] or 0) / 2**20 or None
            cells = ["" if value is None else f"{value:.3g}" for value in known.values()]
            yield corpus, tool, *cells, f"{ours / wall:.2f}x" if ours else ""


_ANSWERS = ("corpus", "tool", "measure", "p50 ms", "p95 ms")
_KINDS = ("search", "client_search", "inside_search", "lookup", "client_lookup", "inside_lookup")
_ONCE = ("explore", "explore_client", "first_search", "pipe")


def _answering(figures: Figures) -> Iterator[tuple[str, ...]]:
    for corpus, tool in figures.rows():
        for kind in _KINDS:
            p50, p95 = (figures.get(f"{corpus}/{tool}/{kind}_{share}") for share in ("p50", "p95"))
            if p50 is not None and p95 is not None:
                yield corpus, tool, kind.replace("_", " "), f"{p50 * 1000:.2f}", f"{p95 * 1000:.2f}"
        for kind in _ONCE:
            if (value := figures.get(f"{corpus}/{tool}/{kind}")) is not None:
                yield corpus, tool, kind.replace("_", " "), f"{value * 1000:.2f}", ""


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _record(report: str) -> None:
    readme = HERE / "README.md"
    before, mark, _ = readme.read_text("utf-8").partition("## Measured\n")
    readme.write_text(f"{before}{mark}\n```\n{report}\n```\n", "utf-8")


if __name__ == "__main__":
    main()
