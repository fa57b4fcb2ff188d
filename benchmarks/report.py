"""The report: which goals are met, and the figures behind that."""

import math
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import linear_regression

import msgspec
import peers
from figures import OURS, Figures

HERE = Path(__file__).parent
WIDEST = 90  # characters of a reason


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


def goals() -> list[Goal]:
    """Return every row of goals.toml."""
    return msgspec.convert(tomllib.loads((HERE / "goals.toml").read_text("utf-8"))["goal"], list[Goal])


def lines(figures: Figures) -> Iterator[str]:
    """Yield the goals, all figures, and what is not equal about them, as text."""
    yield from _table(
        [("goal", "what", "measured", "goal", "stretch", "met"), *(_judged(goal, figures) for goal in goals())]
    )
    yield ""
    yield from _table([_INDEX, *_indexing(figures)])
    yield from (f"{name}: {_short(reason)}" for name, reason in sorted(figures.missing.items()))
    yield ""
    yield from _table([_ANSWERS, *_answering(figures)])
    yield ""
    yield "Commands, and what is not equal about them:"
    for name, row in peers.load().items():
        yield f"  {' '.join((*row.via, name, *(row.index or row.search)))}"
        yield f"    {' '.join(row.differs.split())}"
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
        return exponent(goal.figure, goal.growth, figures)
    figure = figures.get(goal.figure)
    against = figures.get(goal.against) if goal.against else 1.0
    return (figure - goal.less) / against if figure is not None and against else None


def exponent(measured: str, growth: Growth, figures: Figures) -> float | None:
    """Return the slope of log(measured) over log(size); 1 is linear. None where one of the corpora was not measured."""
    points = [
        (math.log(size), math.log(value))
        for name in growth.over
        if (size := figures.get(f"{name}/source/{growth.of}")) and (value := figures.get(f"{name}/{OURS}/{measured}"))
    ]
    return linear_regression(*zip(*points, strict=True)).slope if len(points) == len(growth.over) else None


def _reason(goal: Goal, figures: Figures) -> str:
    prefixes = [key.rsplit("/", 1)[0] for key in (goal.figure, goal.against) if key]
    return next((_short(figures.missing[prefix]) for prefix in prefixes if prefix in figures.missing), "not measured")


def _short(reason: str) -> str:
    """Return the part of a reason that fits a table, without addresses."""
    return re.sub(r"\w+://\S+", "...", reason)[:WIDEST]


_INDEX = ("corpus", "tool", "wall s", "CPU s", "MiB", "generation 1", "MiB serving", "Fledgling / tool")


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
_KINDS = ("search", "client_search", "inside_search", "meaning", "lookup", "client_lookup", "inside_lookup")
_ONCE = ("explore", "explore_client", "first_search", "pipe", "respawn", "layers")


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


def record(report: str) -> None:
    """Write a report to the end of README.md."""
    readme = HERE / "README.md"
    before, mark, _ = readme.read_text("utf-8").partition("## Measured\n")
    readme.write_text(f"{before}{mark}\n```\n{report}\n```\n", "utf-8")
