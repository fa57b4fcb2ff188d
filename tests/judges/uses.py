"""Who uses what in a project as Fledgling resolves it, to be compared with a compiler or with a run."""

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple

from graph_reading import LANGUAGES, read

from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.reasons import Confidence, confidence
from fledgling.worker.graph.resolve import resolved, solved
from fledgling.worker.graph.rows.callees import callees, run_by
from fledgling.worker.graph.solving.budget import GraphBudget
from fledgling.worker.graph.tables import NONE, GraphFile, ScopeKind, Site, Use, sites_of
from fledgling.worker.graph.unit import Unit
from fledgling.worker.graph.values import EXTERNAL

MAX_BYTES = 1 << 20
OCCURRENCES = (Use.CALL, Use.DECORATOR, Use.READ, Use.WRITE)
SURE = (Confidence.CERTAIN, Confidence.LIKELY)


class Call(NamedTuple):
    """Where the name of what is called stands: a column in bytes, lines from 1."""

    path: str
    line: int
    column: int
    name: str


Target = tuple[str, int]  # a file and the first line of a definition
Calls = dict[Call, dict[Target, Confidence]]


class Tally(NamedTuple):
    """How calls compare: sites the judge knows, those of them found, targets that are right and wrong.

    Of those that are likely, some run though the judge does not name them: they are `further`, neither right nor wrong.
    """

    sites: int
    certain: int
    found: int
    right: dict[Confidence, int]
    wrong: dict[Confidence, list[tuple[Call, Target]]]
    further: int = 0

    def precision(self, *of: Confidence) -> float:
        right = sum(self.right.get(each, 0) for each in of)
        return right / max(1, right + sum(len(self.wrong.get(each, ())) for each in of))


def files(root: Path, *languages: str) -> list[GraphFile]:
    """The facts and resolved imports of a project's files in some languages."""
    paths = [path for path in sorted(root.rglob("*")) if path.is_file() and ".git" not in path.parts]
    known = {str(path.relative_to(root)): LANGUAGES.detect(path.name, b"") for path in paths}
    manifests = {path: (root / path).read_text(errors="replace") for path in known if LANGUAGES.is_manifest(path)}
    texts = {
        path: (root / path).read_bytes()
        for path, language in known.items()
        if language in languages and (root / path).stat().st_size < MAX_BYTES
    }
    return read(texts, known, manifests)


def calls(root: Path, *languages: str) -> Calls:
    """The calls of a project, with what each runs."""
    return uses(root, *languages, of=(Use.CALL, Use.DECORATOR))


def uses(root: Path, *languages: str, of: Container[int] = OCCURRENCES) -> Calls:
    """The occurrences of names in a project that are no definitions, with what each means."""
    parts = files(root, *languages)
    graph = resolved(parts, budget=GraphBudget(), languages=LANGUAGES.rows)
    found: Calls = defaultdict(dict)
    for at, kind in enumerate(graph.kind):
        if kind in of and graph.target_file[at] >= 0:
            place = Call(parts[graph.file[at]].path, graph.line[at], graph.column[at], graph.names[graph.name[at]])
            target = parts[graph.target_file[at]].path, graph.target_line[at]
            found[place][target] = Confidence(graph.confidence[at])
    return found


def tally(
    ours: Calls,
    theirs: dict[Call, set[Target]],
    outside: Set[Call] = frozenset(),
    further: Mapping[Call, Container[Target]] = {},
) -> Tally:
    """Compare calls where the judge speaks: of what is `outside` it says that nothing in the project is meant.

    `further` are targets of which it says that they may run besides.
    """
    others = 0
    certain = found = 0
    right: dict[Confidence, int] = defaultdict(int)
    wrong: dict[Confidence, list[tuple[Call, Target]]] = defaultdict(list)
    for call, targets in theirs.items():
        mine = ours.get(call, {})
        hits = [sure for target, sure in mine.items() if target in targets]
        certain += Confidence.CERTAIN in hits
        found += any(sure in SURE for sure in hits)
    for call in theirs.keys() | outside:
        for target, sure in ours.get(call, {}).items():
            if target in theirs.get(call, ()):
                right[sure] += 1
            elif sure == Confidence.LIKELY and target in further.get(call, ()):
                others += 1
            else:
                wrong[sure].append((call, target))
    return Tally(len(theirs), certain, found, right, wrong, others)


def spoken(said: Iterable[Sequence[Any]]) -> tuple[dict[Call, set[Target]], set[Call]]:
    """The calls of which a judge names places in the project, and those of which it names none."""
    every: dict[Call, set[Target]] = defaultdict(set)
    for path, line, column, name, places, *_ in said:
        every[Call(path, line, column, name)].update((to, at) for to, at in places)
    return {call: places for call, places in every.items() if places}, {call for call in every if not every[call]}


def may_run(said: Iterable[Sequence[Any]]) -> dict[Call, set[Target]]:
    """The places that a judge says a call may run besides, such as what implements the method of an interface."""
    return {Call(*where): {(to, at) for to, at in further} for *where, _, further in said if further}


def report(name: str, found: Tally) -> None:
    """Print a row of a table in docs/graph/judged.md: pytest shows it with -s."""
    wrong = len(found.wrong[Confidence.CERTAIN])
    shares = f"{found.certain / found.sites:.3f}, {found.found / found.sites:.3f}"
    certain = f"{wrong} of {wrong + found.right[Confidence.CERTAIN]}"
    print(f"{name} | {found.sites:,} calls | {shares} | {certain} | of the sure {found.precision(*SURE):.3f} are right")  # noqa: T201


# ---- calls by the names of functions, as call graphs of Python have them

OUTSIDE = re.compile(r"builtins\.\w+|(?!builtins\.)[^?]+")
RAISED = re.compile(r"builtins\.[A-Z]")  # is a call where brackets follow: not in `raise StopIteration`


class Named:
    """Qualified names of the functions of a program: `main.A.b`, `main.<lambda1>`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._project = GraphProject(files(root, "python"), {name: row.graph for name, row in LANGUAGES.rows.items()})
        self._solver = solved(self._project, GraphBudget())
        self._lambdas = {
            unit.base | at: number
            for unit in self._project.units
            for number, at in enumerate(
                (at for at, row in enumerate(unit.facts.scopes) if row.kind == ScopeKind.LAMBDA), 1
            )
        }

    def edges(self) -> dict[tuple[str, str], Confidence]:
        """Who calls whom, and how sure that is."""
        found: dict[tuple[str, str], Confidence] = {}
        for caller, callee, sure in self._each():
            found[caller, callee] = min(sure, found.get((caller, callee), sure))
        return found

    def _each(self) -> Iterator[tuple[str, str, Confidence]]:
        for unit in self._project.units:
            for site in sites_of(unit.facts):
                if site.use not in (Use.CALL, Use.DECORATOR) or site.at <= 1:
                    continue
                caller = self._name(unit.base | site.scope)
                for value, sure in callees(self._solver, unit.base | site.at).items():
                    if site.use == Use.CALL and value[0] == EXTERNAL and self._is_outside(unit, site, value[1]):
                        name = value[1].replace("()", "").replace("builtins.", "<builtin>.")
                        yield caller, name, confidence(sure)
                    for scope, own in run_by(self._solver, value, sure, unit.base | site.at):
                        if self._project.scope(scope).kind != ScopeKind.CLASS:
                            yield caller, self._name(scope), confidence(own)

    def _is_outside(self, unit: Unit, site: Site, name: str) -> bool:
        line = (self._root / unit.path).read_text().split("\n")[site.line - 1]
        behind = line[site.column + len(unit.facts.names[site.name]) :]
        return bool(OUTSIDE.fullmatch(name)) and not (RAISED.match(name) and not behind.lstrip().startswith("("))

    def _name(self, scope: int) -> str:
        parts: list[str] = []
        while scope >= 0:
            row, unit = self._project.scope(scope), self._project.unit(scope)
            if row.kind == ScopeKind.MODULE:
                parts.append(unit.path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
            elif row.kind == ScopeKind.LAMBDA:
                parts.append(f"<lambda{self._lambdas[scope]}>")
            elif row.name != NONE:
                parts.append(unit.facts.names[row.name])
            scope = self._project.outer(scope)
        return ".".join(reversed(parts))
