"""Measure Fledgling against its peers, side by side, and say which goals are met: `make bench`, or with options

    .venv/bin/python benchmarks/bench.py --corpora django,poly10k --only fledgling,ctags --rounds 5

Corpora, peers, indexes and figures are kept in the cache directory. Nothing outside it is changed.
"""

import asyncio
import json
import os
import platform
import signal
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

import ask
import changes
import corpora
import measure
import peers
import report
from figures import BARE, OURS, Figures

HERE = Path(__file__).parent
SMALL = "fledgling-core"
LARGE = str(HERE / "large.sql")


def main() -> None:
    """Measure what was asked for, then print the tables; with --record, write them to README.md too."""
    options = _options()
    cache = options.cache.expanduser().resolve()
    cache.mkdir(parents=True, exist_ok=True)
    figures = Figures(cache / "figures.json", resume=options.resume)
    measure.adopt()
    if not options.report:
        measure.compile_modules()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends what is being measured too
    for name in [] if options.report else options.corpora:
        try:
            _measure(name, options, cache, figures)
        except corpora.FetchError as problem:
            figures.miss(f"{name}/{OURS}", f"no corpus: {problem}")
            _say(f"{name}: {problem}")
    text = "\n".join(report.lines(figures))
    sys.stdout.write(f"{text}\n")
    if options.record:
        report.record(text)


def _options() -> Namespace:
    known = corpora.load()
    parser = ArgumentParser(description=__doc__.partition(":")[0] if __doc__ else None)
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/fledgling-bench"), help="default: %(default)s")
    parser.add_argument("--corpora", default="flask,django,poly10k", help=f"of {','.join(known)}, or all")
    parser.add_argument("--only", default="", help="tools to measure, fledgling among them; default: all light ones")
    parser.add_argument("--heavy", action="store_true", help="measure heavy peers too, but not on big corpora")
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
    figures.about["machine"] = _machine()
    tools = list(_tools(name, options, cache, figures))
    if OURS in {tool.name for tool in tools}:
        commit = corpora.git(HERE, "describe", "--always", "--dirty").strip()
        at = f"{time.strftime('%Y-%m-%d %H:%M')}, load {os.getloadavg()[0]:.1f}"
        figures.about[f"fledgling on {name}"] = f"{commit}, {at} before it began"
    _index(name, corpus, tools, options.rounds, figures)
    if not options.no_questions:
        _questions(name, corpus, tools, figures)


def _tools(name: str, options: Namespace, cache: Path, figures: Figures) -> Iterator[peers.InstalledPeer]:
    """Yield Fledgling and the peers that are wanted and there."""
    profile, is_big = _profile(name), corpora.load()[name].big
    own = {
        OURS: ["-m", OURS, "index", "--json", "--max-files=1000000", f"--profile={profile}", "--root={corpus}"],
        BARE: [str(HERE / "bare.py"), "{corpus}", profile],
    }
    for tool, index in own.items():
        if not options.only or tool in options.only:
            row = peers.Peer(program=sys.executable, version=[], differs="", index=["-I", *index])
            yield peers.InstalledPeer(tool, row, Path(sys.executable), cache / "peers" / tool / "home")
    for tool, row in peers.load().items():
        if tool in options.only or (not options.only and (not row.heavy or (options.heavy and not is_big))):
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


def _index(name: str, corpus: Path, tools: Sequence[peers.InstalledPeer], rounds: int, figures: Figures) -> None:
    """Index with every tool, round after round: A B A B. The round before the first is no measure but of memory.

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
            corpora.warm(corpus)
            try:
                cost = tool.run(corpus, watch=at < 0)
            except measure.CommandError as problem:
                _miss(prefix, f"failed: {problem}", figures)
                continue
            _say(f"{prefix}: {cost.wall:.2f} s, {cost.cpu:.2f} CPU s, {cost.memory / 2**20:.0f} MiB")
            found = {"memory": float(cost.memory)} if at < 0 else {}
            if at >= 0 or tool.row.heavy:
                found |= {"wall": cost.wall, "cpu": cost.cpu} | (_generations(tool, cost) if tool.name == OURS else {})
            figures.add(prefix, found)


def _generations(tool: peers.InstalledPeer, cost: measure.RunCost) -> dict[str, float]:
    """Return when each generation was sealed, from exec: so long after as an empty project takes beside its build."""
    with tempfile.TemporaryDirectory() as empty:
        nothing = tool.run(Path(empty))
    start = nothing.wall - _seconds(nothing)["total"]
    seconds = _seconds(cost)
    told = {name: start + seconds.get(name, seconds["total"]) for name in ("text", "definitions")}
    return {"generation1": told["text"], "generation2": told["definitions"]}


def _seconds(cost: measure.RunCost) -> dict[str, float]:
    """Return what the statistics say of each stage. Nothing else here knows their form."""
    found: dict[str, float] = json.loads(cost.output)["seconds"]
    return found


def _questions(name: str, corpus: Path, tools: Sequence[peers.InstalledPeer], figures: Figures) -> None:
    """Ask Fledgling and rg the same literals, and every server the same names."""
    figures.begin(f"{name}/questions")
    there = {tool.name: tool for tool in tools if f"{name}/{tool.name}" not in figures.missing}
    try:
        questions = ask.CorpusQuestions(corpus)
        if OURS in there and not figures.count(f"{name}/{OURS}/pipe"):
            _say(f"{name}: questions")
            rg = [str(there["rg"].program), *there["rg"].row.search] if "rg" in there else []
            serve = [sys.executable, "-I", "-m", OURS, "serve", "--max-files=1000000"]
            serve += [f"--profile={_profile(name)}", f"--root={corpus}"]
            seen, peer = asyncio.run(ask.through_client(serve, corpus, questions, rg))
            figures.add(f"{name}/{OURS}", seen)
            figures.add(f"{name}/rg", peer)
            figures.add(f"{name}/{OURS}", asyncio.run(ask.through_pipe(corpus, _profile(name), questions)))
            figures.add(f"{name}/{OURS}", asyncio.run(changes.figures(corpus, _profile(name), questions)))
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


def _say(line: str) -> None:
    sys.stderr.write(f"{line}  [load {os.getloadavg()[0]:.1f}]\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
