"""Which functions have no effect: `pure`, `pure-ish` (it only logs), `impure` or `unknown`, each with its evidence.

A function is impure where it, or one that it surely calls, writes what it did not make or asks the world. It is pure
only if all that it calls is seen and pure; where anything is not, it is unknown. docs/graph.md has the rules.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from fledgling.worker.graph.builtin_types import FileFacts, Place, Target
from fledgling.worker.graph.effects import (
    OWN,
    Class,
    Effect,
    EffectReader,
    Function,
    Rows,
    RowTarget,
    Surroundings,
    changed_names,
    changed_variables,
)
from fledgling.worker.graph.project import GraphFile
from fledgling.worker.graph.rows import Graph
from fledgling.worker.graph.tables import Flag, Op, ScopeKind
from fledgling.worker.languages.python import effects as known

LANGUAGE = "python"  # the one whose effects are read
MAX_ABOVE = 50  # classes above one that are looked at

Purity = Literal["pure", "pure-ish", "impure", "unknown"]


class Judged(NamedTuple):
    """A function, by its file and first line, and what it is: `Judged(0, 320, "impure", "line 326: writes a.b")`."""

    file: int
    line: int
    purity: Purity
    purity_reason: str


def judged(files: Sequence[GraphFile], graph: Graph) -> Iterator[Judged]:
    """Yield the functions of all files whose effects are read, in order. Takes time in proportion to facts and rows."""
    read = {number: FileFacts(number, file) for number, file in enumerate(files) if file.language == LANGUAGE}
    rows = _rows(graph, read.keys())
    defined = _defined(read, rows, graph)
    functions: dict[Target, Function] = {}
    names: dict[Target, str] = {}
    for number, file in read.items():
        for scope, function in EffectReader(file, rows.get(number, {}), defined).read().items():
            target = file.target(scope)
            names[target] = file.name(file.facts.scopes[scope].name)
            functions[target] = _together(functions[target], function) if target in functions else function
    methods = [
        file.target(at)
        for file in read.values()
        for at, scope in enumerate(file.facts.scopes)
        if scope.kind == ScopeKind.FUNCTION and file.facts.scopes[scope.parent].kind == ScopeKind.CLASS
    ]
    unseen = {kind: [each for each in methods if names[each] in run] for kind, run in known.UNSEEN.items()}
    yield from Settling(functions, names, unseen).run()


def _rows(graph: Graph, files: Iterable[int]) -> dict[int, dict[Place, list[RowTarget]]]:
    """Return the rows of some files by line and column."""
    wanted = frozenset(files)
    found: dict[int, dict[Place, list[RowTarget]]] = {number: defaultdict(list) for number in wanted}
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
        if file in wanted:
            found[file][line, column, bool(graph.names[name])].append(
                RowTarget(None if target < 0 else (target, target_line), confidence)
            )
    return found


def _defined(files: Mapping[int, FileFacts], rows: Mapping[int, Rows], graph: Graph) -> Surroundings:
    functions: set[Target] = set()
    members: dict[Target, dict[str, Target]] = {}
    properties: dict[str, list[Target]] = defaultdict(list)
    decorated: dict[Target, str | None] = {}
    bases: dict[Target, int] = {}
    for file in files.values():
        scopes = file.facts.scopes
        for at, scope in enumerate(scopes):
            name, target = file.name(scope.name), file.target(at)
            if scope.kind == ScopeKind.CLASS:
                members.setdefault(target, {})
                decorated[target] = _unseen_decorator(file, at)
                bases[target] = len(scope.bases)
            elif scope.kind == ScopeKind.FUNCTION:
                functions.add(target)
                if scope.flags & Flag.PROPERTY or _is_descriptor(file, at):
                    properties[name].append(target)
                if scopes[scope.parent].kind == ScopeKind.CLASS:
                    members.setdefault(file.target(scope.parent), {})[name] = target
    above: dict[Target, list[tuple[str, Target | None]]] = defaultdict(list)
    for own, line, name, to, to_line, _ in graph.bases:
        above[own, line].append((name, None if to < 0 else (to, to_line)))
    for target, count in bases.items():
        if count > len(above.get(target, ())):  # `class A(outside.B[T])` has no row
            decorated[target] = "whose base classes are not all known"
    classes = {target: _class(target, members, above, decorated) for target in members}
    variables = {  # of modules: fields of objects are read and changed all the time
        (number, binding.line): file.name(binding.name)
        for number, file in files.items()
        for binding in file.facts.bindings
        if binding.scope == 0
    }
    changed = {
        target: line
        for number, file in files.items()
        for target, line in changed_variables(file, rows.get(number, {}))
        if target in variables and target not in functions and target not in classes
    }
    names = {name for number, file in files.items() for name in changed_names(file, rows.get(number, {}))}
    doubted = {target for target, name in variables.items() if name in names}
    held = frozenset(
        file.name(binding.name)
        for file in files.values()
        for binding in file.facts.bindings
        if binding.scope >= 0 and file.facts.scopes[binding.scope].kind == ScopeKind.CLASS
        if file.facts.expressions[max(binding.value, 0)][0] not in (Op.FUNCTION, Op.MADE, Op.TEXT, Op.NUMBER)
    )
    methods = frozenset(name for of_class in members.values() for name in of_class)
    return Surroundings(functions, classes, dict(properties), changed, doubted, held, methods)


def _is_descriptor(file: FileFacts, at: int) -> bool:
    """Whether to read a member may run it: of a decorator that is not known nobody can say what it makes."""
    scopes = file.facts.scopes
    if scopes[scopes[at].parent].kind != ScopeKind.CLASS:
        return False
    full = [file.dotted(decorator) for decorator in file.decorated.get(at, ())]
    return any(each not in known.DECORATORS or each == "functools.cached_property" for each in full)


def _unseen_decorator(file: FileFacts, at: int) -> str | None:
    """Say which decorator or metaclass of a class may run something when one is made."""
    if at in file.with_metaclass:
        return "which has a metaclass"
    for decorator in file.decorated.get(at, ()):
        op, *parts = file.facts.expressions[decorator]
        full = file.dotted(parts[0] if op == Op.CALL else decorator)
        if full not in known.CLASS_DECORATORS:
            return f"which is decorated by {file.shown(decorator)}"
        if full == "dataclasses.dataclass" and "default_factory" in file.facts.names:
            return "whose fields may be made by functions"
    return None


def _class(
    target: Target,
    members: Mapping[Target, Mapping[str, Target]],
    above: Mapping[Target, Sequence[tuple[str, Target | None]]],
    decorated: Mapping[Target, str | None],
) -> Class:
    """Return a class with the constructors that it inherits, and what runs unseen when one is made."""
    order, found = [target], dict[str, Target]()
    for each in order:
        if len(order) > MAX_ABOVE or each not in members:
            return Class(found, "whose base classes are not all known")
        for name in OWN & members[each].keys():
            found.setdefault(name, members[each][name])
        if "__new__" in members[each] or "__call__" in members[each]:
            return Class(found, "which has a __new__ or __call__ of its own")
        if unseen := decorated.get(each):
            return Class(found, unseen)
        for name, base in above.get(each, ()):
            if base is None and not _is_plain(name):
                return Class(found, f"whose base class {name} is outside the project")
            if base is not None and base not in order:
                order.append(base)
    return Class(found, None)


def _is_plain(base: str) -> bool:
    return base in known.BASES or f"builtins.{base}" in known.PURE


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
        unseen: Mapping[str, Sequence[Target]],
    ) -> None:
        """`unseen` are the methods that are run without a call, by what runs them."""
        self._functions, self._names, self._unseen = functions, names, unseen
        self._found: dict[Target, tuple[Purity, str]] = {}
        self._callers: dict[Target, list[Target]] = defaultdict(list)
        self._perhaps: dict[Target, list[Target]] = defaultdict(list)  # those that may call it
        for target, function in functions.items():
            for callee in function.calls:
                self._callers[callee].append(target)
            for callee in function.may_call:
                self._perhaps[callee].append(target)

    def run(self) -> Iterator[Judged]:
        """Yield all functions in order."""
        self._spread("impure", self._having("impure", lambda function: function.impure))
        unseen = self._having("unknown", lambda function: function.unseen)
        unseen += self._of_unseen()
        for callee in [*self._found]:
            unseen += self._of_perhaps(callee)
        self._spread("unknown", unseen)
        self._spread("pure-ish", self._having("pure-ish", lambda function: function.logged))
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

    def _spread(self, what: Purity, begin: Sequence[Target]) -> None:
        """Hand on what functions are to those that call them."""
        waiting = [*begin]
        for callee in waiting:
            for caller in self._callers.get(callee, ()):
                if caller not in self._found:
                    line = self._functions[caller].calls[callee]
                    self._found[caller] = what, f"line {line}: calls {self._names[callee]}, which is {what}"
                    waiting.append(caller)
            if what == "unknown":
                waiting += self._of_perhaps(callee)

    def _of_unseen(self) -> list[Target]:
        """Note as unknown what may run a method with an effect without a call."""
        effects = {
            kind: self._names[first]
            for kind, methods in self._unseen.items()
            for first in [target for target in methods if self._found.get(target, ("",))[0] == "impure"][:1]
        }
        found = []
        for target, function in self._functions.items():
            kind = next((kind for kind in effects if kind in function.unseen_kinds), None)
            if kind and target not in self._found:
                line = function.unseen_kinds[kind]
                self._found[target] = "unknown", f"line {line}: may run {effects[kind]}, which is impure"
                found.append(target)
        return found

    def _of_perhaps(self, callee: Target) -> list[Target]:
        """Note as unknown what may call something that is not pure."""
        found = [caller for caller in self._perhaps.get(callee, ()) if caller not in self._found]
        for caller in found:
            line = self._functions[caller].may_call[callee]
            self._found[caller] = "unknown", f"line {line}: may run {self._names[callee]}"
        return found


def _nothing(function: Function) -> str:
    """Say what speaks for it that a function has no effect."""
    if calls := len(function.calls) + function.calls_outside:
        return f"no effect, and all that it calls is pure ({calls:,} called)"
    return "no effect, and it calls nothing"
