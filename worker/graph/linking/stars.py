"""Modules that hand on all names of others: `export * from a`, `from a import *`."""

import posixpath
from functools import cached_property
from typing import NamedTuple

from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.tables import (
    AT,
    BINDING,
    EXPORT,
    IN_BRANCH,
    NAME,
    NONE,
    SCOPE,
    SITE_LINE,
    Expression,
    Op,
    ScopeKind,
    site_columns,
)
from fledgling.worker.graph.unit import Unit

LISTS = (Op.LIST, Op.TUPLE)
NEVER, PERHAPS, SURELY = 0, 1, 2  # whether a module hands on a name
MAX_STARS = 500  # files that hand on all their names to one, also through others: each is looked through for a name
MAX_STARRED = 1_000_000  # steps from one such file to the next, for all names together: two seconds


class Starring(NamedTuple):
    """The modules that may hand on a name, and whether they surely do; `is_cut` where more are not looked at."""

    modules: list[tuple[int, bool]]
    is_cut: bool


NOT_HANDED_ON, NOT_LOOKED_FOR = Starring([], is_cut=False), Starring([], is_cut=True)


class Stars:
    """Which modules hand on which names. A module is the number of its file, a name that of the project."""

    def __init__(self, project: GraphProject) -> None:
        """Let what modules of the project bind stand for what the names they take may put over it, too."""
        self._project = project
        self._stars: dict[int, list[tuple[int, bool]]] = {}
        self._starring: dict[tuple[int, int], Starring] = {}
        self._leading: dict[int, set[int]] = {}
        self._giving: dict[int, set[int]] = {}  # by name, those of them that `gives` says to have it
        self.steps = 0  # of MAX_STARRED
        self._packages: dict[int, list[int]] = {}
        self._exported: dict[int, set[int] | None] = {}  # the names of a module that `*` means, where it says them
        self._early: dict[int, set[int]] = {}  # of a module, the names that it uses before it takes the last ones
        for unit in project.units:
            if unit.dialect.exported and unit.facts.scopes[0].stars:
                self._put_over(unit)

    def starring(self, number: int, name: int) -> Starring:
        """The modules that may have a name of which one hands on all names, in the order in which they count."""
        found = self._starring.get((number, name))
        if found is not None:
            return found
        if not self._starred(number):
            return NOT_HANDED_ON
        leading = self._leading_to(name)
        if self.steps > MAX_STARRED:
            return NOT_LOOKED_FOR
        if number not in leading:
            return NOT_HANDED_ON
        found = self._starring[number, name] = self._found_starring(number, name, leading)
        return found

    def gives(self, number: int, name: int) -> bool:
        """Whether a module binds a name for others, or may have it in an object that is all that it exports."""
        scope = self._project.units[number].base
        table = self._project.table(scope)
        if not self._project.units[number].dialect.prototypes:
            return name in table
        own = [self._project.value_of(at) for at in table.get(name, ())]
        is_own = any(self._project.expression(at)[0] != Op.IMPORT for at in own)
        return is_own or self._project.export_of(name) in table or self._project.number(EXPORT + "default") in table

    def hands_on(self, number: int, name: int) -> int:
        """Whether a module hands on a name with all others: of Python what `__all__` says, or all without `_`."""
        dialect = self._project.units[number].dialect
        if not dialect.exported:
            return NEVER if dialect.prototypes and self._project.text(name) == "default" else SURELY
        listed = self.lists(number, name)
        if listed is None:
            return NEVER if self._project.text(name).startswith("_") else SURELY
        return listed

    def lists(self, number: int, name: int) -> int | None:
        """Whether `__all__` of a module says a name; None if there is none."""
        if number not in self._exported:
            self._exported[number] = self._names_of_all(self._project.units[number])
        names = self._exported[number]
        if names is None:
            return None
        return SURELY if name in names else PERHAPS if NONE in names else NEVER

    def packages(self, unit: Unit) -> list[int]:
        """The imports of all names of a file that name a package: its modules may be among them."""
        found = self._packages.get(unit.number)
        if found is None:
            modules = [(which, self._project.imports.target(unit, which)[1]) for which in unit.facts.scopes[0].stars]
            paths = [(which, self._project.units[module].path) for which, module in modules if module is not None]
            found = [which for which, path in paths if posixpath.basename(path).startswith("__init__.")]
            self._packages[unit.number] = found
        return found

    def _starred(self, number: int) -> list[tuple[int, bool]]:
        """The modules of which one hands on all names, in the order in which they count: `export * from a`.

        And whether such a name stands for nothing else that the next ones have: the last of Python does, in no branch.
        """
        found = self._stars.get(number)
        if found is None:
            unit = self._project.units[number]
            imports = [self._project.imports.target(unit, which) for which in unit.facts.scopes[0].stars]
            modules = {module: not said.conditional for said, module, *_ in imports if module is not None}
            found = [*reversed(modules.items())] if unit.dialect.exported else [(module, False) for module in modules]
            self._stars[number] = found = [] if unit.dialect.shared else found
        return found

    def _leading_to(self, name: int) -> set[int]:
        """The modules that may have a name, and those that take all names of one that does, also through others."""
        found = self._leading.get(name)
        if found is None:
            names = (name, self._project.export_of(name), self._project.number(EXPORT + "default"))
            binding = set[int]().union(*(self._handing.get(each, ()) for each in names))
            self._giving[name] = {module for module in binding if self.gives(module, name)}
            found = self._leading[name] = binding
            todo = [*found]
            while todo and self.steps <= MAX_STARRED:
                self.steps += 1
                news = self._taking.get(todo.pop(), set()) - found
                found |= news
                todo += news
        return found

    @cached_property
    def _taking(self) -> dict[int, set[int]]:
        """By module, those that take all names of it."""
        found: dict[int, set[int]] = {}
        for unit in self._project.units:
            for module, _ in self._starred(unit.number) if unit.facts.scopes[0].stars else ():
                found.setdefault(module, set()).add(unit.number)
        return found

    @cached_property
    def _handing(self) -> dict[int, list[int]]:
        """By name or export, the modules of `_taking` that bind it."""
        found: dict[int, list[int]] = {}
        for module in self._taking:
            for name in self._project.table(self._project.units[module].base):
                found.setdefault(name, []).append(module)
        return found

    def _found_starring(self, number: int, name: int, leading: set[int]) -> Starring:
        modules: list[tuple[int, bool]] = []
        todo, seen, left, is_cut = [(number, True, True)], {number}, MAX_STARS - 1, False
        giving = self._giving[name]
        while todo:
            at, is_last, is_sure = todo.pop()
            if at != number and at in giving:
                modules.append((at, is_sure))
                if is_last and is_sure:
                    break
                if not self._project.units[at].dialect.prototypes:  # all that one of CommonJS exports may lack it
                    continue
            starred = self._starred(at)
            is_cut = is_cut or len(starred) > left
            looked_at = starred[:left]
            left -= len(looked_at)
            self.steps += len(looked_at)
            is_early = name in self._early.get(at, ())
            news = [
                (module, is_over and not is_early)
                for module, is_over in looked_at
                if module in leading and module not in seen
            ]
            handed = [(module, is_over, self.hands_on(module, name)) for module, is_over in news]
            seen.update(module for module, *_ in handed)
            todo += [
                (module, is_last and is_over, is_sure and how == SURELY)
                for module, is_over, how in reversed(handed)
                if how
            ]
        return Starring(modules, is_cut)

    def _names_of_all(self, unit: Unit) -> set[int] | None:
        """The names that `__all__ = ["a"]` says; NONE is any, where more is done with it; None if there is none."""
        own = self._project.numbers.get(unit.dialect.exported, NONE)
        bindings = self._project.bindings_of(unit.base, own)
        if not bindings:
            return None
        found: set[int] = set()
        gets = (expression[1] for expression in unit.expressions if expression[0] == Op.GET)
        is_known = not any(self._project.last_name(unit.base | of) == unit.dialect.exported for of in gets)
        for place, at in enumerate(bindings):
            op, *parts = unit.expressions[self._project.binding(at).value]
            if place and op == Op.CHOICE:  # __all__ += ["b"]
                op, *parts = unit.expressions[parts[0][-1]]
            elif place:
                is_known = False
            places = parts[0] if op in LISTS else []
            items: list[Expression] = [unit.expressions[max(item, 0)] for item in places]  # 0: of a spread
            is_written = op in LISTS and all(item[0] == Op.TEXT for item in items)
            is_known = is_known and is_written and self._project.binding(at).how != IN_BRANCH
            found.update(unit.names[item[1]] for item in items if item[0] == Op.TEXT)
        return found if is_known else {NONE}

    def _put_over(self, unit: Unit) -> None:
        """Let a name of a module stand for what `from a import *` may put over it, too, behind it or in a branch.

        And where it is used before the module binds it, since it then stands for what the star has brought.
        """
        stars = [unit.facts.imports[which] for which in unit.facts.scopes[0].stars]
        last = max(star.line for star in stars)
        in_branch = any(star.conditional for star in stars)
        put: set[int] = set()
        first_used = _first_used(unit)
        self._early[unit.number] = {unit.names[own] for own, line in first_used.items() if line < last}
        for own, bindings in unit.facts.scopes[0].every.items():
            rows = [unit.bindings[at] for at in bindings]
            bound = min(row.line for row in rows)
            is_early = first_used.get(own, bound) < bound
            if in_branch or is_early or any(row.line < last or row.how == IN_BRANCH for row in rows):
                name = unit.names[own]
                found = self.starring(unit.number, name)
                if found.modules or found.is_cut:
                    put.add(own)
                    self._project.widen(unit.base, name, [self._project.units[at].base for at, _ in found.modules])
        if put:
            unit.forget_reach(put)


def _first_used(unit: Unit) -> dict[int, int]:
    """The lines on which a module may first use names as it runs, by their numbers in the file.

    A function may run where its name, or that of a class around it, is first used; a lambda where it stands.
    """
    holders: list[int] = []  # the innermost function of each scope, NONE where it runs with the module
    named: dict[int, list[int]] = {}
    for at, row in enumerate(unit.facts.scopes):  # those around come first
        around = NONE if row.parent == NONE else holders[row.parent]
        holders.append(at if row.kind == ScopeKind.FUNCTION else around)
        if row.kind == ScopeKind.FUNCTION:
            outer = row.parent
            named.setdefault(row.name, []).append(at)
            if unit.facts.scopes[outer].kind == ScopeKind.CLASS:
                named.setdefault(unit.facts.scopes[outer].name, []).append(at)
    sites = site_columns(unit.facts)
    columns = sites[[NAME, SITE_LINE, SCOPE]][:, (sites[BINDING] == NONE) & (sites[AT] > 1)]
    uses: dict[int, list[tuple[int, int]]] = {}
    for name, line, scope in zip(*columns.tolist(), strict=True):
        uses.setdefault(holders[scope], []).append((line, name))
    found: dict[int, int] = {}
    for line, name in sorted(uses.get(NONE, ())):
        todo = [name]
        while todo:
            used = todo.pop()
            if used not in found:
                found[used] = line
                todo += [inner for function in named.pop(used, ()) for _, inner in uses.get(function, ())]
    return found
