"""Which functions have no effect: `pure`, `pure-ish` (it only logs), `impure` or `unknown`, each with its evidence.

A function is impure where it, or one that it surely calls, writes what it did not make or asks the world. It is pure
only if all that it calls is seen and pure; where anything is not, it is unknown. docs/graph/effects.md has the rules.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Literal, NamedTuple

from fledgling.worker.graph.columns import GraphColumns
from fledgling.worker.graph.effects.builtin_types import FileFacts, Place, RowTarget
from fledgling.worker.graph.effects.effects import EffectReader
from fledgling.worker.graph.effects.function import Effect, Function
from fledgling.worker.graph.effects.surroundings import surroundings
from fledgling.worker.graph.tables import GraphFile
from fledgling.worker.graph.telling import Tell, unheard
from fledgling.worker.graph.unit import Target

LANGUAGE = "python"  # the one whose effects are read

Purity = Literal["pure", "pure-ish", "impure", "unknown"]


class Judged(NamedTuple):
    """A function, by its file and first line, and what it is: `Judged(0, 320, "impure", "line 326: writes a.b")`."""

    file: int
    line: int
    purity: Purity
    purity_reason: str


def judged(files: Sequence[GraphFile], graph: GraphColumns, tell: Tell = unheard) -> Iterator[Judged]:
    """Yield the functions of all files whose effects are read, in order. Takes time in proportion to facts and rows.

    `tell` hears of each file when it is unpacked and when its effects are read, and between steps about all of them.
    """
    read: dict[int, FileFacts] = {}
    for number, file in enumerate(files):
        if file.language == LANGUAGE:
            read[number] = FileFacts(number, file)
            tell(0)
    rows = _rows(graph, read.keys())
    tell(0)
    defined = surroundings(read, rows, graph)
    tell(0)
    functions: dict[Target, Function] = {}
    names: dict[Target, str] = {}
    for done, (number, facts) in enumerate(read.items(), 1):
        for scope, function in EffectReader(facts, rows.get(number, {}), defined).read().items():
            target = facts.target(scope)
            names[target] = facts.name(facts.facts.scopes[scope].name)
            functions[target] = _together(functions[target], function) if target in functions else function
        tell(done)
    yield from Settling(functions, names, defined.run, defined.not_known).run()


def _rows(graph: GraphColumns, files: Iterable[int]) -> dict[int, dict[Place, Sequence[RowTarget]]]:
    """Return the rows of some files by line and column: most are alone there, and those that say the same are one."""
    found: dict[int, dict[Place, Sequence[RowTarget]]] = {number: {} for number in files}
    alone: dict[tuple[int, int, int], tuple[RowTarget]] = {}
    columns = zip(
        graph.file,
        graph.line,
        graph.column,
        graph.name,
        graph.target_file,
        graph.target_line,
        graph.confidence,
        strict=True,
    )
    for file, line, column, name, target, target_line, confidence in columns:
        rows = found.get(file)
        if rows is None:
            continue
        said = target, target_line, confidence
        row = alone.get(said)
        if row is None:
            row = alone[said] = (RowTarget(None if target < 0 else (target, target_line), confidence),)
        at = line, column, bool(graph.names[name])
        known = rows.get(at)
        if known is None:
            rows[at] = row
        elif isinstance(known, list):
            known += row
        else:
            rows[at] = [*known, *row]
    return found


def _together(one: Function, other: Function) -> Function:
    """Two functions that begin in one line count as one: the graph does not tell them apart."""
    one.impure += other.impure
    one.unseen += other.unseen
    one.logged += other.logged
    one.calls_outside += other.calls_outside
    one.calls = other.calls | one.calls
    one.unseen_kinds = other.unseen_kinds | one.unseen_kinds
    one.may_call = other.may_call | one.may_call
    return one


# ---- what functions are by what they call


class Settling:
    """Functions while they are settled: the worst of what each does and of what it calls. Nothing gets better again."""

    def __init__(
        self,
        functions: Mapping[Target, Function],
        names: Mapping[Target, str],
        kinds: Mapping[Target, Set[str]],
        not_known: Mapping[str, str],
    ) -> None:
        """`kinds` are those of the functions that are run unseen; of some kinds what is run is `not_known`."""
        self._functions, self._names, self._kinds, self._not_known = functions, names, kinds, not_known
        self._found: dict[Target, tuple[Purity, str]] = {}
        self._callers: dict[Target, list[Target]] = defaultdict(list)
        self._perhaps: dict[Target, list[Target]] = defaultdict(list)  # those that may call it
        self._runners: dict[str, list[Target]] = defaultdict(list)  # those that may run methods of a kind
        for target, function in functions.items():
            for callee in function.calls:
                self._callers[callee].append(target)
            for callee in function.may_call:
                self._perhaps[callee].append(target)
            for kind in function.unseen_kinds:
                self._runners[kind].append(target)

    def run(self) -> Iterator[Judged]:
        """Yield all functions in order."""
        self._spread("impure", self._having("impure", lambda function: function.impure), ())
        impure = [*self._found]
        unseen = self._having("unknown", lambda function: function.unseen)
        for kind, name in self._not_known.items():
            unseen += self._of_kind("unknown", kind, f"{name}, which is not known")
        self._spread("unknown", unseen, impure)
        logging = self._having("pure-ish", lambda function: function.logged)
        self._spread("pure-ish", logging, ())
        for target in sorted(self._functions):
            yield Judged(*target, *self._found.get(target, ("pure", _nothing(self._functions[target]))))

    def _having(self, what: Purity, effects: Callable[[Function], Sequence[Effect]]) -> list[Target]:
        """Note the functions that have an effect of their own, unless they are known to have a worse one."""
        found = [
            target for target, function in self._functions.items() if effects(function) and target not in self._found
        ]
        for target in found:
            line, said = effects(self._functions[target])[0]
            self._found[target] = what, f"line {line}: {said}"
        return found

    def _spread(self, what: Purity, begin: Sequence[Target], before: Sequence[Target]) -> None:
        """Hand on what functions are to those that call them, and what they and those `before` are to who may."""
        waiting = [*begin]
        for callee in before:
            waiting += self._of_perhaps(what, callee)
        for callee in waiting:
            for caller in self._callers.get(callee, ()):
                if caller not in self._found:
                    line = self._functions[caller].calls[callee]
                    self._found[caller] = what, f"line {line}: calls {self._names[callee]}, which is {what}"
                    waiting.append(caller)
            if what != "impure":
                waiting += self._of_perhaps(what, callee)

    def _of_perhaps(self, what: Purity, callee: Target) -> list[Target]:
        """Note what may call something that is not pure, or run it without a call."""
        found = [caller for caller in self._perhaps.get(callee, ()) if caller not in self._found]
        for caller in found:
            line = self._functions[caller].may_call[callee]
            self._found[caller] = what, f"line {line}: may run {self._names[callee]}"
        for kind in self._kinds.get(callee, ()):
            found += self._of_kind(what, kind, f"{self._names[callee]}, which is {self._found[callee][0]}")
        return found

    def _of_kind(self, what: Purity, kind: str, said: str) -> list[Target]:
        """Note what may run methods of a kind; asked again, nobody is left."""
        found = [target for target in self._runners.pop(kind, ()) if target not in self._found]
        for target in found:
            line = self._functions[target].unseen_kinds[kind]
            self._found[target] = what, f"line {line}: may run {said}"
        return found


def _nothing(function: Function) -> str:
    """Say what speaks for it that a function has no effect."""
    if calls := len(function.calls) + function.calls_outside:
        return f"no effect, and all that it calls is pure ({calls:,} called)"
    return "no effect, and it calls nothing"
