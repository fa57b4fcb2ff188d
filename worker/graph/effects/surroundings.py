"""What the definitions of a project are to the effects of one file: what classes run unseen, which variables change."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from fledgling.worker.graph.columns import GraphColumns
from fledgling.worker.graph.effects.builtin_types import FileFacts, Place, RowTarget
from fledgling.worker.graph.effects.replaced import patched, replaced, with_unseen_names
from fledgling.worker.graph.tables import NONE, Binding, Flag, Op, ScopeKind, Site, Use
from fledgling.worker.graph.unit import LINE, Target
from fledgling.worker.languages.python import effects as known

MAX_ABOVE = 50  # classes above one that are looked at
OWN = frozenset(("__init__", "__post_init__"))  # methods that may set the fields of the object they make
CALLED = (Op.CALL, Op.NEW)
NAMING = (Op.NAME, Op.GET, Op.REACH)
MAKING = frozenset(  # methods of a class that run when one is made, is looked up among those of an Enum, or goes
    ("__new__", "__call__", "__del__", "_missing_", "_generate_next_value_")
)
CONSTANT = (Op.MADE, Op.TEXT, Op.FILLED, Op.NUMBER, Op.TUPLE)
KINDS_RUN = {  # by the name of a method
    name: [kind for kind, names in known.UNSEEN.items() if name in names]
    for name in frozenset[str]().union(*known.UNSEEN.values())
}
MUTATING = frozenset[str]().union(*known.MUTATING.values())

NOT_ALL_KNOWN = "whose base classes are not all known"

Rows = Mapping[Place, Sequence[RowTarget]]
Above = Mapping[Target, Sequence[tuple[str, Target | None]]]  # the names of the bases of a class, and where they stand


class Class(NamedTuple):
    """A class: its members by name, and what runs unseen when one is made, if anything."""

    members: Mapping[str, Target]
    unseen: str | None
    is_plain: bool = True  # whether all its bases are known
    names: Set[str] = frozenset()  # that it and its bases bind


class Surroundings(NamedTuple):
    """The definitions of a project that the effects of one file may lead to."""

    functions: set[Target]
    classes: Mapping[Target, Class]
    properties: Mapping[str, list[Target]]  # by name
    changed: Mapping[Target, int]  # variables of modules that a function changes, and the line where
    changed_anywhere: Mapping[Target, int]  # those and variables of classes
    doubted: Set[Target]  # those of a name that a function gives a value in what is not known, and what tests patch
    held: Set[str]  # names of variables of classes that may be objects with methods of their own
    made: Mapping[str, Set[Target]]  # variables of classes that are made by what is not known, by name
    has_setter: bool  # whether a class of the project has a `__set__`
    run: Mapping[Target, Set[str]]  # functions that are run unseen, by kinds of known.UNSEEN
    not_known: Mapping[str, str]  # kinds of which something is run that nobody knows, and its name


def surroundings(files: Mapping[int, FileFacts], rows: Mapping[int, Rows], graph: GraphColumns) -> Surroundings:
    """Return what surrounds all files, given the rows of each; files are told what is derived from built-in types."""
    found = _Definitions(files)
    above = _above(graph, found)
    names = _names_of_classes(files)
    classes = {target: _class(target, found, above, names) for target in found.members}
    of_classes = _VariablesOfClasses(files, rows, classes)
    for name, targets in of_classes.properties.items():
        found.properties[name] += targets
    derived, instead = _derived(names, above), replaced(files)
    unseen = with_unseen_names(files, {number: file.path for number, file in files.items()})
    unseen |= {number for number, file in files.items() if not known.GLOBALS.isdisjoint(file.facts.names)}
    for number, file in files.items():
        file.told(derived, instead, gets_unseen_names=number in unseen)
    changed = {
        target: line
        for number, file in files.items()
        for target, line in changed_variables(file, rows.get(number, {}))
        if target not in found.functions and target not in classes
    }
    given = {name for number, file in files.items() for name in changed_names(file, rows.get(number, {}))} | instead
    variables, in_classes = _variables(files, is_of_class=False), _variables(files, is_of_class=True)
    doubted = {target for target, name in variables.items() if name in given or target[0] in unseen}
    return Surroundings(
        {*found.functions},
        classes,
        found.properties,
        {target: line for target, line in changed.items() if target in variables},
        {target: line for target, line in changed.items() if target in variables or target in in_classes},
        doubted | found.named(patched(files)),
        of_classes.held,
        of_classes.made,
        any("__set__" in of_class for of_class in found.members.values()),
        of_classes.run,
        of_classes.not_known,
    )


class _Definitions:
    """The functions and classes of all files: `members` by class and name, `properties` by name."""

    def __init__(self, files: Mapping[int, FileFacts]) -> None:
        self.functions: dict[Target, str] = {}
        self.members: dict[Target, dict[str, Target]] = {}
        self.properties: dict[str, list[Target]] = defaultdict(list)
        self.decorated: dict[Target, str | None] = {}
        self.bases: dict[Target, int] = {}
        for file in files.values():
            scopes = file.facts.scopes
            for at, scope in enumerate(scopes):
                name, target = file.name(scope.name), file.target(at)
                if scope.kind == ScopeKind.CLASS:
                    self.members.setdefault(target, {})
                    self.decorated[target] = _unseen_decorator(file, at)
                    self.bases[target] = len(scope.bases)
                elif scope.kind == ScopeKind.FUNCTION:
                    self.functions[target] = name
                    if is_property(file, at):
                        self.properties[name].append(target)
                    if scopes[scope.parent].kind == ScopeKind.CLASS:
                        self.members.setdefault(file.target(scope.parent), {})[name] = target

    def named(self, names: Set[str]) -> set[Target]:
        """The functions that have one of some names."""
        return {target for target, name in self.functions.items() if name in names}


def _above(graph: GraphColumns, found: _Definitions) -> Above:
    """Return the bases of each class; one that has no row, `class A(outside.B[T])`, is noted as not seen."""
    above: dict[Target, list[tuple[str, Target | None]]] = defaultdict(list)
    for own, line, name, to, to_line, _ in graph.bases:
        above[own, line & LINE].append((name, None if to < 0 else (to, to_line & LINE)))
    for target, count in found.bases.items():
        if count > len(above.get(target, ())):
            found.decorated[target] = NOT_ALL_KNOWN
    return above


def _variables(files: Mapping[int, FileFacts], *, is_of_class: bool) -> dict[Target, str]:
    """Return where the variables of modules, or of classes, get a value, with their names."""
    return {
        (number, binding.line): file.name(binding.name)
        for number, file in files.items()
        for binding in file.facts.bindings
        if (file.is_in_class(binding) if is_of_class else binding.scope == 0)
    }


class _VariablesOfClasses:
    """What stands in classes under a name and is not, or not only, a method: `a = b()`, `__str__ = __repr__`.

    `held` are names of what may be an object with methods of its own, `made` those of what nobody knows. `run` are the
    functions that are run unseen, with their kinds; of `not_known` kinds nobody knows what is run.
    """

    def __init__(
        self, files: Mapping[int, FileFacts], rows: Mapping[int, Rows], classes: Mapping[Target, Class]
    ) -> None:
        self.held: set[str] = set()
        self.made: dict[str, set[Target]] = defaultdict(set)
        self.properties: dict[str, list[Target]] = defaultdict(list)
        self.run: dict[Target, set[str]] = defaultdict(set)
        self.not_known: dict[str, str] = {}
        self._classes = classes
        for number, file in files.items():
            meant = {
                site.at: rows.get(number, {}).get(file.place(site), ()) for site in file.sites if site.use == Use.CALL
            }
            for binding in file.facts.bindings:
                if file.is_in_class(binding):
                    self._read(file, binding, meant)
            self._read_writes(file)

    def _read(self, file: FileFacts, binding: Binding, meant: Mapping[int, Sequence[RowTarget]]) -> None:
        name = file.name(binding.name)
        expressions = file.facts.expressions
        value = max(binding.value, 0)
        if expressions[value][0] == Op.DECLARED:
            value = max(expressions[value][2], 0)
        values = file.values(expressions[value]) if expressions[value][0] == Op.NAME else [value]
        for each in values or [0]:
            op, *parts = expressions[max(each, 0)]
            function = parts[0] if op == Op.DECORATED else each
            if expressions[max(function, 0)][0] == Op.FUNCTION:
                self._method(file, name, expressions[function][1])
                continue
            if op in CONSTANT:
                continue
            self.held.add(name)
            if op in CALLED and not self._is_known(file, parts[0], meant.get(each, ())):
                self.made[name].add((file.number, binding.line))
            if name.startswith("__") and not (file.dotted(value) or "").startswith(known.BUILTIN):
                self._doubt(name)

    def _method(self, file: FileFacts, name: str, scope: int) -> None:
        target = file.target(scope)
        if file.facts.scopes[scope].kind != ScopeKind.FUNCTION:
            self._doubt(name)
        elif name in KINDS_RUN:
            self.run[target].update(KINDS_RUN[name])
        if is_property(file, scope):
            self.run[target].add("property")
            if file.name(file.facts.scopes[scope].name) != name:
                self.properties[name].append(target)

    def _doubt(self, name: str) -> None:
        for kind in KINDS_RUN.get(name, ()):
            self.not_known.setdefault(kind, name)

    def _is_known(self, file: FileFacts, called: int, rows: Sequence[RowTarget]) -> bool:
        """Whether a call makes an object of the project, or one of Python's own that is only kept."""
        return file.dotted(called) in known.PURE or (bool(rows) and all(row.target in self._classes for row in rows))

    def _read_writes(self, file: FileFacts) -> None:
        """`A.__str__ = b`, `A.b = property(c)`, and `def __getattr__` of a module."""
        for write in file.facts.writes:
            name = file.name(write.name)
            if name.startswith("__") and name != "__class__":  # that of an object changes what it is, and runs nothing
                self._doubt(name)
            op, *parts = file.facts.expressions[max(write.value, 0)]
            if op == Op.CALL and file.dotted(parts[0]) in known.DESCRIPTORS:
                self.made[name].add((file.number, write.line))
        for number, _ in file.facts.replaced:
            self._doubt(file.name(number))
        for at, scope in enumerate(file.facts.scopes):
            name = file.name(scope.name)
            if scope.kind == ScopeKind.FUNCTION and scope.parent == 0 and name == "__getattr__":
                self.run[file.target(at)].add("module")


def _names_of_classes(files: Mapping[int, FileFacts]) -> dict[Target, set[str]]:
    names: dict[Target, set[str]] = defaultdict(set)
    for file in files.values():
        for binding in file.facts.bindings:
            if file.is_in_class(binding):
                names[file.target(binding.scope)].add(file.name(binding.name))
    return names


def _derived(names: Mapping[Target, Set[str]], above: Above) -> frozenset[str]:
    """Return the built-in types of which the project derives a class that may do more than they do."""
    below: dict[Target, list[Target]] = defaultdict(list)
    of: dict[str, list[Target]] = defaultdict(list)
    for target, bases in above.items():
        for name, base in bases:
            if base:
                below[base].append(target)
            elif name in known.TYPES:
                of[known.TYPES[name]].append(target)
    found = set()
    for type_, waiting in of.items():
        changing = KINDS_RUN.keys() | known.METHODS.get(type_, frozenset()) | known.MUTATING.get(type_, frozenset())
        seen = set(waiting)
        for each in waiting:
            if names.get(each, frozenset()) & changing:
                found.add(type_)
                break
            more = [target for target in below.get(each, ()) if target not in seen]
            seen.update(more)
            waiting += more
    return frozenset(found)


def is_property(file: FileFacts, at: int) -> bool:
    """Return whether to read a member may run it: of a decorator that is not known nobody can say what it makes."""
    scopes = file.facts.scopes
    if scopes[at].flags & Flag.PROPERTY:
        return True
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


def _class(target: Target, found: _Definitions, above: Above, names: Mapping[Target, Set[str]]) -> Class:
    """Return a class with the constructors that it inherits, and what runs unseen when one is made."""
    order = [target]
    for each in order:
        order += dict.fromkeys(base for _, base in above.get(each, ()) if base and base not in order)
        if len(order) > MAX_ABOVE:
            break
    constructors: dict[str, Target] = {}
    unseen: list[str] = []
    outside: list[str] = []
    for each in order:
        own = found.members.get(each, {})
        constructors |= {name: own[name] for name in OWN & own.keys() if name not in constructors}
        unseen += [f"which has a {name} of its own" for name in sorted(MAKING & own.keys())]
        outside += [] if each in found.members and len(order) <= MAX_ABOVE else [NOT_ALL_KNOWN]
        if said := found.decorated.get(each):
            (outside if said == NOT_ALL_KNOWN else unseen).append(said)
        bases = [name for name, base in above.get(each, ()) if base is None and not _is_plain(name)]
        outside += [f"whose base class {name} is outside the project" for name in bases]
    inherited = frozenset[str]().union(*(names.get(each, ()) for each in order))
    return Class(constructors, next(iter(unseen + outside), None), not outside, inherited)


def _is_plain(base: str) -> bool:
    return base in known.BASES or f"builtins.{base}" in known.PURE


def changed_around(file: FileFacts) -> dict[tuple[int, int], tuple[int, bool]]:
    """Return the variables of functions, by scope and name, that are more than one value: a line, and by whom.

    It is True where another function changes them: `nonlocal a`, `a.append(b)`.
    """
    facts, frames = file.facts, file.frames
    found: dict[tuple[int, int], tuple[int, bool]] = {}

    def note(variable: tuple[int, int], line: int, frame: int) -> None:
        is_other = frame != file.function(variable[0])
        if is_other or variable not in found:
            found[variable] = line, is_other

    changed = [(write.of, write.line, file.function(write.scope)) for write in facts.writes]
    changed += [(each.of, each.line, file.function(each.scope)) for each in facts.augmented]
    seen = set()
    for site in file.sites:
        frame = frames[site.scope]
        if site.binding != NONE:
            binding = facts.bindings[site.binding]
            variable = binding.scope, binding.name
            is_looped = facts.expressions[max(binding.value, 0)][0] in (Op.ELEMENT, Op.ITEM)
            if file.function(binding.scope) not in (NONE, frame) or variable in seen or is_looped:
                note(variable, site.line, frame)
            seen.add(variable)
        elif site.use in (Use.WRITE, Use.CALL):
            changed += [(of, site.line, frame) for of in _changed_by(file, site)]
    for at, line, frame in changed:
        for each in file.behind(at) if frame != NONE else ():
            op, *parts = facts.expressions[each]
            if op == Op.NAME and file.function(parts[1]) != NONE:
                note((parts[1], parts[0]), line, frame)
    return found


def changed_variables(file: FileFacts, rows: Rows) -> Iterator[tuple[Target, int]]:
    """Yield the variables of modules that a function of a file changes, each with the line where it does."""
    facts, frames = file.facts, file.frames
    changed = [(write.of, write.line) for write in facts.writes if file.function(write.scope) != NONE]
    changed += [(each.of, each.line) for each in facts.augmented if file.function(each.scope) != NONE]
    rebound: dict[tuple[int, int], int] = {}  # scope and name, and a line
    for site in file.sites:
        if site.use not in (Use.WRITE, Use.CALL) or frames[site.scope] == NONE:
            continue
        if site.use == Use.WRITE and site.binding != NONE:
            binding = facts.bindings[site.binding]
            if binding.scope != NONE and frames[binding.scope] == NONE:
                rebound.setdefault((binding.scope, binding.name), site.line)
        else:
            changed += [(of, site.line) for of in _changed_by(file, site)]
    for (scope, name), line in rebound.items():
        for other in file.bindings((Op.NAME, name, scope, None)):
            yield (file.number, facts.bindings[other].line), line
    meant = _meant(file, rows) if changed else {}
    for at, line in changed:
        for each in file.behind(at):
            yield from ((target, line) for target in meant.get(each, ()))


def _meant(file: FileFacts, rows: Rows) -> dict[int, set[Target]]:
    """Return what the names and fields of a file mean, by their expressions."""
    found: dict[int, set[Target]] = {}
    for site in file.sites:
        if not found.get(site.at) and file.facts.expressions[site.at][0] in NAMING:
            found[site.at] = {row.target for row in rows.get(file.place(site), ()) if row.target}
    return found


def changed_names(file: FileFacts, rows: Rows) -> Iterator[str]:
    """Yield the names that a function gives a value in what is not known: `b` of `a.b = c`."""
    for site in file.sites:
        is_field = site.use == Use.WRITE and site.binding == NONE and file.frames[site.scope] != NONE
        if is_field and not any(row.target for row in rows.get(file.place(site), ())):
            yield file.name(site.name)
    for name, _ in file.facts.replaced:
        yield file.name(name)


def _changed_by(file: FileFacts, site: Site) -> list[int]:
    """Return what an occurrence changes: `a` and `a.b` of `a.b = c`, `a` of `a.append(b)`."""
    op, *parts = file.facts.expressions[site.at]
    if site.use == Use.WRITE:
        return [site.at]
    if op not in CALLED or file.name(site.name) not in MUTATING:
        return []
    of, *inner = file.facts.expressions[parts[0]]
    return inner[:1] if of == Op.GET else []
