"""What the names of all files are bound to, and what expressions stand for without solving anything."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from fledgling.worker.dialect import Dialect
from fledgling.worker.graph.effects.builtin_types import FileFacts
from fledgling.worker.graph.effects.replaced import may_change_names, with_unseen_names
from fledgling.worker.graph.linking.by_reference import doubt_changed
from fledgling.worker.graph.linking.compiled_modules import restrict
from fledgling.worker.graph.linking.given_names import GivenNames
from fledgling.worker.graph.linking.import_targets import ImportTargets
from fledgling.worker.graph.linking.numbered import NumberedFiles
from fledgling.worker.graph.linking.other_case import respell
from fledgling.worker.graph.linking.vocabulary import Definition, Vocabulary
from fledgling.worker.graph.tables import (
    ASSIGNED,
    AT,
    DECLARED,
    EXPORT,
    MADE,
    NONE,
    OF_HEAD,
    OWN,
    POSITIONAL,
    SCOPE,
    USE,
    Expression,
    Flag,
    GraphFile,
    Op,
    ScopeKind,
    Use,
    site_columns,
)
from fledgling.worker.graph.unit import MASK, SHIFT

MAX_DECLARED = 64  # bindings of one name that are told apart as declarations and definitions
NAME_OP, PARAMETER_OP, BARE_OP = Op.NAME, Op.PARAMETER, Op.BARE  # asked for so often that looking them up counts
CONSTANTS = frozenset([Op.UNKNOWN, Op.MADE, Op.COMPUTED, Op.TEXT, Op.FILLED, Op.NUMBER, Op.FUNCTION, Op.CLASS])
UNBINDING = (ScopeKind.BLOCK, ScopeKind.SIGNATURE)  # scopes whose names no BARE means: they have others
MAX_NAMES = 50  # that stand for each other, one after the other


class GraphProject(NumberedFiles):
    """All files, what their names are bound to, and what they import.

    It `is_partial` where there are more files, of which nothing is known.
    """

    def __init__(self, files: Sequence[GraphFile], dialects: dict[str, Dialect], *, is_partial: bool = False) -> None:
        super().__init__(files, dialects)
        self.is_partial = is_partial
        self.vocabulary = Vocabulary(self)
        self.own_names = self._respell()
        doubt_changed(self.units)
        self.imports = ImportTargets(self.units)
        self.given = GivenNames(self.units, self.numbers, self.imports)
        restrict(self.units, self.imports.places)
        self._exports: dict[int, int] = {}
        self._scopes_of_calls: dict[int, dict[int, int]] = {}
        self._tables: dict[int, dict[int, list[int]]] = {}
        self._all: dict[int, dict[int, list[int]]] = {}
        self._bare: dict[tuple[int, ...], int] = {}  # the first BARE of its kind
        self._first_bare: dict[int, int] = {}
        self.updated = self._updated(files)  # modules in which any name may get another value: `globals().update(a)`
        for unit in self.units:
            if unit.base in self.updated:
                unit.forget_reach(range(len(unit.names)))

    def _updated(self, files: Sequence[GraphFile]) -> set[int]:
        telling = {
            unit.number: FileFacts(unit.number, file)
            for unit, file in zip(self.units, files, strict=True)
            if unit.dialect.exported and may_change_names(unit.facts.names)
        }
        paths = {unit.number: unit.path for unit in self.units if unit.dialect.exported}
        return {self.units[number].base for number in with_unseen_names(telling, paths)}

    def _respell(self) -> dict[Definition, int]:
        """Let names in any case be one; return the own names of definitions by that name, where it is another."""
        units = [unit for unit in self.units if unit.dialect.in_any_case]
        found: dict[Definition, int] = {}
        for unit, own in zip(units, respell([unit.facts for unit in units]), strict=True):
            unit.names += [self.number(name) for name in unit.facts.names[len(unit.names) :]]
            for at, name in own:
                target, _ = self.defined(unit.base | at)
                found[unit.names[unit.bindings[at].name], target] = self.number(name)
        return found

    def export_of(self, name: int) -> int:
        """The number of a name as that of an export, -1 where nothing is exported under it."""
        found = self._exports.get(name)
        if found is None:
            found = self._exports[name] = self.numbers.get(EXPORT + self.text(name), NONE)
        return found

    def own_of(self, name: int) -> int:
        """The number of a name as that of what a class has itself, -1 where none has that."""
        return self.numbers.get(OWN + self.text(name), NONE)

    @cached_property
    def of_heads(self) -> dict[int, int]:
        """The numbers of names as those of what classes of C# take behind their own, by the number of each name."""
        every = ((self.numbers.get(text.removeprefix(OF_HEAD), NONE), at) for text, at in self.numbers.items())
        return {own: at for own, at in every if own not in (at, NONE)}

    @cached_property
    def positional(self) -> frozenset[int]:
        """The names of what records of C# take behind their own."""
        units = [unit for unit in self.units if unit.dialect.selects == "nearest"]
        return frozenset(unit.names[row.name] for unit in units for row in unit.bindings if row.how == POSITIONAL)

    @cached_property
    def templates(self) -> frozenset[int]:
        """The files that others are made from, which are compiled in their place: `a.in.cc` where there is `a.cc`."""
        places = self.imports.places
        return frozenset(
            unit.number for unit in self.units if ".in." in unit.path and unit.path.replace(".in.", ".") in places
        )

    def is_nobody(self, scope: int, *, is_handed: bool) -> bool:
        """Whether no definition is a function, which has no name: another begins there, or it is handed elsewhere.

        Nobody is an interface of TypeScript: what is called by its name is a value.
        """
        row = self.scope(scope)
        if row.kind == ScopeKind.INTERFACE and self.unit(scope).dialect.prototypes:
            return True
        if row.kind != ScopeKind.LAMBDA or row.name != NONE:
            return False
        unit = self.unit(scope)
        begun = unit.begun.get(unit.place_of(scope & MASK)[1])
        return is_handed if begun is None else scope & MASK not in begun

    def only_declared(self, scope: int) -> bool:
        """Whether a function, or -1, is declared and not defined."""
        return scope >= 0 and bool(self.scope(scope).flags & Flag.DECLARATION)

    def outer_namespace(self, scope: int) -> int:
        """The innermost namespace around a scope that is no module, or -1."""
        while scope >= 0 and self.scope(scope).kind != ScopeKind.NAMESPACE:
            scope = self.outer(scope)
        return scope

    def meant(self, node: int) -> tuple[Any, Expression | None]:
        """The cell that holds what an expression stands for: that of a name is what the name is bound to.

        And the expression there, where what that stands for is known at once, whatever else is: it has no cell.
        """
        unit = self.units[node >> SHIFT]
        expressions, base = unit.expressions, unit.base
        for _ in range(MAX_NAMES):
            expression = expressions[node & MASK]
            op = expression[0]
            if op == NAME_OP:
                _, name, scope, reach = expression
                if reach is None:
                    if scope == NONE:
                        return node, expression if unit.imports_all_it_names else None
                    return ("name", base | scope, unit.names[name]), None
                if len(reach) != 1:
                    return node, None
                node = base | unit.bindings[reach[0]].value
            elif op == PARAMETER_OP:
                return ("parameter", base | expression[1], expression[2]), None
            elif op == BARE_OP:
                return self.first_bare(node), None
            else:
                return node, expression if op in CONSTANTS else None
        return node, None

    def first_bare(self, node: int) -> int:
        """The first BARE asked for that means the same as another: the same name where the same scopes bind such names.

        Blocks do not, nor do functions of a class that run on its objects, nor lambdas where these run on no other one.
        """
        found = self._first_bare.get(node)
        if found is None:
            _, name, scope, *rest = self.expression(node)
            later = self.unit(node).later(name, scope)
            key = ((node & ~MASK) | self._binding_bare(node, name, scope), name, later, *rest)
            found = self._first_bare[node] = self._bare.setdefault(key, node)
        return found

    def _binding_bare(self, node: int, name: int, scope: int) -> int:
        unit = self.unit(node)
        scopes, dialect = unit.facts.scopes, unit.dialect
        is_apart = dialect.bare_calls or unit.names[name] in self.of_heads or unit.names[name] in self.positional
        passed = UNBINDING if is_apart else (*UNBINDING, ScopeKind.FUNCTION)
        if not (dialect.bare_calls or dialect.implicit_parameter or dialect.scope_functions):
            passed = (*passed, ScopeKind.LAMBDA)
        row = scopes[scope]
        while row.kind in passed and not (row.flags & (Flag.EXTENSION | Flag.IMPLICIT | Flag.SINGLE) or row.stars):
            scope = row.parent
            row = scopes[scope]
        return scope

    def table(self, scope: int) -> dict[int, list[int]]:
        """What the names of a scope are bound to where it ends."""
        found = self._tables.get(scope)
        if found is None:
            unit, row, base = self.unit(scope), self.scope(scope), scope & ~MASK
            found = {unit.names[name]: [base | at for at in bindings] for name, bindings in row.every.items()}
            if len(found) < len(row.every):  # of C, what is joined has two
                found = {name: [] for name in found}
                for name, bindings in row.every.items():
                    found[unit.names[name]] += [base | at for at in bindings]
            for name, bindings in row.last.items():
                found[unit.names[name]] = [base | at for at in bindings]
                if not bindings:  # `del a`
                    del found[unit.names[name]]
            if unit.dialect.declared:
                found = {name: self.defining(bindings) for name, bindings in found.items()}
            self._tables[scope] = found
        return found

    def attach(self, scope: int, name: int, binding: int) -> None:
        """Add a member that stands outside its class."""
        for table in (self.table(scope), self._every(scope)):
            bindings = table.setdefault(name, [])
            bindings.append(binding)
            if self.unit(scope).dialect.declared:
                table[name] = self.defining(bindings)

    def link(self, scope: int, name: int, others: list[int]) -> None:
        """Let a name of a scope stand for what others bind it to."""
        bindings = [at for other in others for at in self.table(other)[name]]
        if self.unit(scope).dialect.overloads and len(self.table(scope)[name]) > len(bindings):  # some are not defined
            self.define(scope, name, bindings)
            return
        bindings += [at for at in self.table(scope)[name] if self.binding(at).how == ASSIGNED]
        self._every(scope)[name] = self.table(scope)[name] = bindings

    def define(self, scope: int, name: int, bindings: list[int]) -> None:
        """Let a name of a scope stand for some bindings, too, in the place of those of its declarations."""
        found = self.defining([*dict.fromkeys([*self.table(scope)[name], *bindings])])
        self._every(scope)[name] = self.table(scope)[name] = found

    def widen(self, scope: int, name: int, others: list[int]) -> None:
        """Let a name of a scope stand for what others bind it to, too.

        Uses of it in the file still mean what reaches them alone, until `Unit.forget_reach` is called for the name.
        """
        bindings = [at for other in others for at in self.table(other).get(name, ())]
        own = self.table(scope)[name]
        self.table(scope)[name] = [*dict.fromkeys([*own, *bindings])]
        self._every(scope)[name] = [*own, *(bindings or own)]  # bound twice, also where it is not seen by what

    def defining(self, bindings: list[int]) -> list[int]:
        """The bindings that are no mere declarations; all of them where there is nothing else."""
        if not 1 < len(bindings) <= MAX_DECLARED:
            return bindings
        defined = self._without_renaming([at for at in bindings if not self.only_declares(at)])
        if not defined:
            return bindings
        if not self.unit(bindings[0]).dialect.overloads:
            return defined + [at for at in bindings if at not in defined and self._is_instead(at, defined)]
        taken = {self._taken(at) for at in defined}
        return [at for at in bindings if at in defined or self._taken(at) not in taken]

    def _is_instead(self, declaration: int, definitions: list[int]) -> bool:
        """Whether a file of C only declares what it defines in another branch: `#ifdef A`, `int f();`, `#else`."""
        unit, line = self.unit(declaration), self.binding(declaration).line
        if unit.condition_around(line) is None or any(self.unit(at) is not unit for at in definitions):
            return False
        return all(unit.are_apart(line, self.binding(at).line) for at in definitions)

    @cached_property
    def defaulted(self) -> dict[tuple[int, int, int], list[int]]:
        """The declarations of C++ that say what an argument is if none is given: `void f(int a = 1);`.

        By the class, -1 for none, the name and the number of parameters; a definition elsewhere does not repeat it.
        """
        found: dict[tuple[int, int, int], list[int]] = {}
        for unit in self.units:
            scopes = unit.facts.scopes if unit.dialect.declared and unit.dialect.overloads else ()
            for at, row in enumerate(scopes):
                if row.flags & Flag.DECLARATION and any(each.default != NONE for each in row.parameters):
                    is_member = row.parent != NONE and scopes[row.parent].kind == ScopeKind.CLASS
                    key = (unit.base | row.parent if is_member else NONE, unit.names[row.name], len(row.parameters))
                    found.setdefault(key, []).append(unit.base | at)
        return found

    def _taken(self, binding: int) -> tuple[Any, ...]:
        """What the function takes that a binding gives, by what its types are called: `n::A` is `A`, and so is `A *`.

        A file that has the class A itself has no more for `A *` (worker/graph/reading/expressions.py).
        """
        unit = self.unit(binding)
        op, *of = unit.facts.expressions[self.binding(binding).value]
        row = unit.facts.scopes[of[0]] if op == Op.FUNCTION else None
        types = tuple(self._type_called(binding, each.type) for each in row.parameters) if row else ()
        return bool(row and row.flags & Flag.KEEPS), *types

    def _type_called(self, binding: int, type_: int) -> Any:
        unit = self.unit(binding)
        op, *parts = unit.facts.expressions[type_] if type_ != NONE else (NONE,)
        if op in (Op.NAME, Op.BARE):
            return unit.names[parts[0]]
        if op == Op.GET:
            return unit.names[parts[1]]
        if op == Op.POINTEE:
            of = self._type_called(binding, parts[0])
            return (op, of) if isinstance(of, int) and unit.dialect.is_plain(self.text(of)) else of
        within = {Op.ARRAY: 1, Op.INDEX: 2}.get(op, 0)
        return op, *(self._type_called(binding, part) for part in parts[:within])

    def only_declares(self, binding: int) -> bool:
        """Whether a binding says of a function or variable only that it is there."""
        unit = self.unit(binding)
        if unit.bindings[binding & MASK].how == DECLARED:
            return True
        expression = unit.facts.expressions[self.binding(binding).value]
        return expression[0] == Op.FUNCTION and bool(unit.facts.scopes[expression[1]].flags & Flag.DECLARATION)

    def lacks_value(self, binding: int) -> bool:
        """Whether a binding is of a variable that gets no value there: `A b;`."""
        op, *parts = self.expression(self.value_of(binding))
        return bool(op == Op.DECLARED and parts[1] == NONE)

    def renames(self, binding: int) -> bool:
        """Whether a binding is a macro that stands for another name."""
        unit = self.unit(binding)
        op, *parts = unit.facts.expressions[self.binding(binding).value]
        return op == Op.FUNCTION and bool(unit.facts.scopes[parts[0]].flags & Flag.RENAMES)

    def _without_renaming(self, bindings: list[int]) -> list[int]:
        """The definitions of a file without macros before them that stand for another name: what defines it has that.

        A macro behind one, or that may have ended before, stays.
        """
        renaming = {at for at in bindings if self.renames(at)}
        others = [at for at in bindings if at not in renaming]
        if not renaming or not others:
            return bindings
        unit, last = self.unit(others[0]), max(self.binding(at).line for at in renaming)
        is_before = last < min(self.binding(at).line for at in others)
        is_undefined = unit.names[self.binding(others[0]).name] in unit.undefined
        return others if is_before and not is_undefined else bindings

    def holding(self, bindings: list[int]) -> list[int]:
        """The bindings that define a name, without what functions assign to it, if there are any."""
        if len(bindings) < 2:
            return bindings
        return [at for at in bindings if self.binding(at).how != ASSIGNED] or bindings

    def defines_nothing(self, binding: int) -> bool:
        """Whether a binding only declares a name, gives a value to one declared elsewhere, or is a Ruby variable."""
        return self.binding(binding).how == ASSIGNED or self.only_declares(binding) or self.is_variable(binding)

    def is_variable(self, binding: int) -> bool:
        """Whether a binding is of a variable of Ruby, which no method sees: `a = 1`, and not `A = 1`."""
        unit, row = self.unit(binding), self.binding(binding)
        word = unit.facts.names[row.name] if unit.dialect.bare_calls else ""
        return word[:1].islower() and unit.facts.expressions[row.value][0] not in (Op.FUNCTION, Op.DECORATED)

    def bound_once(self, scope: int, name: int) -> bool:
        """Whether a name has one binding in a scope."""
        return len(self.bindings_of(scope, name)) == 1

    def bindings_of(self, scope: int, name: int) -> list[int]:
        """All that a name of a scope is bound to, from scopes within as well."""
        return self._every(scope).get(name, [])

    def _every(self, scope: int) -> dict[int, list[int]]:
        found = self._all.get(scope)
        if found is None:
            unit = self.unit(scope)
            every, base = self.scope(scope).every.items(), scope & ~MASK
            found = {unit.names[name]: [base | at for at in bindings] for name, bindings in every}
            if unit.dialect.declared:
                found = {name: self.defining(bindings) for name, bindings in found.items()}
            self._all[scope] = found
        return found

    def scope_of_call(self, node: int) -> int:
        """The scope that a call stands in, by its expression; -1 where none has its name."""
        base = node & ~MASK
        found = self._scopes_of_calls.get(base)
        if found is None:
            sites = site_columns(self.unit(node).facts)
            called = (sites[USE] == Use.CALL) & (sites[AT] > MADE)
            pairs = zip(sites[AT][called].tolist(), sites[SCOPE][called].tolist(), strict=True)
            found = self._scopes_of_calls[base] = dict(pairs)
        scope = found.get(node & MASK, NONE)
        return scope if scope == NONE else base | scope

    @cached_property
    def given_by_classes(self) -> set[int]:
        """The names of what classes have themselves, which a file may take of one by its name: `using static A;`."""
        return {
            unit.names[scope.name]
            for unit in self.units
            if unit.dialect.takes_unseen
            for scope in unit.facts.scopes
            if scope.flags & Flag.STATIC and not scope.flags & Flag.HIDDEN and scope.name != NONE
        }
