"""Which definitions an occurrence of a name means, given what everything may stand for."""

from functools import cached_property
from typing import Any

from fledgling.worker.graph.bound_members import hides
from fledgling.worker.graph.calls import made_of
from fledgling.worker.graph.imports import import_places
from fledgling.worker.graph.lookup import CLASSES, bare_places, starred
from fledgling.worker.graph.members import MAX_UNTYPED, asked_of, places
from fledgling.worker.graph.missing import Missing
from fledgling.worker.graph.names import no_member
from fledgling.worker.graph.overloads import called, fitting
from fledgling.worker.graph.project import LINE, MASK, Target, Unit
from fledgling.worker.graph.reasons import LIKELY, Reason
from fledgling.worker.graph.receivers import asks_this_of, called_on_others
from fledgling.worker.graph.replaceable import is_another
from fledgling.worker.graph.rewritten import Rewritten
from fledgling.worker.graph.solver import Solver
from fledgling.worker.graph.tables import (
    ASSIGNED,
    EXPORT,
    HOLDING,
    NONE,
    Binding,
    Expression,
    Flag,
    Op,
    ScopeKind,
    Site,
    Use,
)
from fledgling.worker.graph.values import (
    BOUND,
    CLASS,
    CONSTANT,
    CONTAINER,
    EXTERNAL,
    FUNCTION,
    MANY,
    METHOD_OF,
    MODULE,
    OBJECT,
    SPACE,
    SUPER,
    Value,
    Values,
)

MAX_IMPORTS = 8  # files that hand on a name, one after the other
DOUBTED = {Op.TOKEN: Reason.MACRO, Op.UNSURE: Reason.REPLACED}
ITERATED = (Op.ELEMENT, Op.ENTERED)
OUTSIDE = (EXTERNAL, METHOD_OF, "container", "generator", "constant")
Targets = dict[Target, int]  # with a Reason each


def put(found: Targets, target: Target, sure: int) -> None:
    """Add a target; of two reasons the better counts."""
    if found.get(target, 0) < sure:
        found[target] = sure


class Meaning:
    """Asks the cells of a solver that has run."""

    def __init__(self, solver: Solver) -> None:
        self.solver = solver
        self.project = solver.project
        self._rewritten = Rewritten(solver)
        self._missing = Missing(solver)
        self._places: dict[tuple[Value, int, int], list[tuple[Any, int]]] = {}
        self._named: dict[tuple[Any, int], Targets] = {}  # of what a cell holds that has a name

    @cached_property
    def _on_others(self) -> set[int]:
        return called_on_others(self.solver)

    def forget(self) -> None:
        """Forget what was asked in a file: there the same members of the same objects are asked for again and again."""
        self._places.clear()
        self._named.clear()

    def _only_declares(self, scope: int) -> bool:
        """Whether a function, or -1, is declared and not defined."""
        return scope >= 0 and bool(self.project.scope(scope).flags & Flag.DECLARATION)

    def begin(self, scope: int) -> Target:
        """Where a function or class begins."""
        return self.project.unit(scope).place_of(scope & MASK)

    def targets(self, unit: Unit, site: Site) -> Targets:
        """The definitions that an occurrence means, and why."""
        if site.binding != NONE and site.use in (Use.DEFINITION, Use.WRITE):
            row = unit.bindings[site.binding]
            if row.how == ASSIGNED and (assigned := self._assigned(unit, row)):
                return assigned
            target, scope = self.project.defined(unit.base | site.binding)
            holds = unit.facts.scopes[site.scope].kind in HOLDING
            return {target: Reason.BOUND} if scope >= 0 or holds else {}
        found: Targets = {}
        if site.at > 1:
            is_call = site.use in (Use.CALL, Use.DECORATOR)
            if is_call:
                self.called(unit.base | site.at, found)
            is_settled = is_call and (found or unit.dialect.bare_calls)
            is_chosen = is_settled and unit.dialect.overloads  # of overloads, the arguments have chosen
            if not is_chosen or unit.dialect.bare_calls:
                self._add_bound(unit, site, found, is_chosen=is_chosen)
        if unit.dialect.functions_apart and found:
            found = self._apart(unit, site, found)
        if found and self._is_of_changed(unit.base | site.at):
            found = {target: min(sure, Reason.REPLACED) for target, sure in found.items()}
        if unit.dialect.overloads and site.use == Use.READ and len(found) > 1:  # `::a` means one of them
            found = {target: min(sure, Reason.OVERLOAD) for target, sure in found.items()}
        if unit.dialect.prototypes and not self._rewritten.members.isdisjoint(found):
            doubted = self._rewritten.members.intersection(found)
            found.update((target, min(found[target], Reason.REPLACED)) for target in doubted)
        return {target: self._where_compiled(unit, site.line, target, sure) for target, sure in found.items()}

    def _add_bound(self, unit: Unit, site: Site, found: Targets, *, is_chosen: bool) -> None:
        """Add what a name is bound to; where what a call runs `is_chosen`, but other names of that: `alias a b`."""
        name = unit.names[site.name]
        bound: Targets = {} if is_chosen else found
        self._of_expression(unit.base | site.at, name, bound, Reason.BOUND, 0)
        if not is_chosen:
            return
        functions = self.project.definitions.get(name, ())
        aliases = {target: sure for target, sure in bound.items() if target not in functions}
        found.update((target, sure) for target, sure in aliases.items() if target not in found)
        if aliases and len(bound) > 1:
            found.update((target, min(sure, Reason.SEVERAL)) for target, sure in [*found.items()])

    def _assigned(self, unit: Unit, row: Binding) -> Targets:
        """The variable or field of a scope further out that a function gives a value."""
        bindings = self.project.table(unit.base | row.scope).get(unit.names[row.name], [])
        defining = [at for at in bindings if self.project.binding(at).how != ASSIGNED]
        if unit.dialect.functions_apart:
            defining = [at for at in defining if self.solver.op(self.project.value_of(at)) != Op.FUNCTION]
        found: Targets = {}
        for at in defining:
            sure = Reason.BOUND if len(defining) == 1 else Reason.SEVERAL
            self._of_binding(at, unit.names[row.name], found, sure, 0)
        return found

    def _apart(self, unit: Unit, site: Site, found: Targets) -> Targets:
        """The targets, without functions where a name means none, and without others where it means one: `a::b`."""
        name, functions = unit.names[site.name], self.project.functions_apart
        if site.use == Use.CALL and unit.dialect.implicit_parameter and unit.dialect.says_overrides:
            defined = self.project.definitions.get(name, ())  # what cannot be called leaves it to one of its name
            return {
                at: sure if at in defined or not defined else min(sure, Reason.SEVERAL) for at, sure in found.items()
            }
        if self._is_constant(unit, site):
            return {target: sure for target, sure in found.items() if (name, target) not in functions}
        if site.use == Use.READ and self.project.expression(unit.base | site.at)[0] == Op.ALIAS:
            return {target: sure for target, sure in found.items() if (name, target) in functions} or found
        return found

    def _is_constant(self, unit: Unit, site: Site) -> bool:
        """Whether a name is only read, where such a name is that of a constant, of a field or of a class."""
        if not unit.dialect.functions_apart or site.use not in (Use.READ, Use.WRITE):
            return False
        op = self.project.expression(unit.base | site.at)[0]
        in_class = unit.facts.scopes[site.scope].kind in CLASSES
        is_of_trait = in_class and unit.dialect.in_any_case  # `use A { b as c; }` in PHP names methods
        return bool(op == Op.BARE or (op == Op.GET and not is_of_trait))

    def _where_compiled(self, unit: Unit, line: int, target: Target, sure: int) -> int:
        """How sure a target is, of a line: what a condition leaves out may be defined elsewhere as well."""
        file, at = target[0], target[1] & LINE
        conditions = self.project.units[file].facts.conditions
        around = [span for span in conditions if span[0] <= at <= span[1]] if conditions else ()
        if around and not (file == unit.number and around[-1][0] <= line <= around[-1][1]):
            return min(sure, Reason.CONDITIONAL)
        return sure

    # ---- what a name is bound to

    def _of_expression(self, node: int, name: int, found: Targets, sure: int, depth: int) -> None:
        expression = self.project.expression(node)
        op, base = expression[0], node & ~MASK
        if depth > MAX_IMPORTS or (op == Op.PREFIX and self._is_of(node, (SPACE, MODULE))):
            return
        if op in (Op.CALL, Op.NEW, Op.ALIAS, Op.TOKEN, Op.UNSURE, Op.PREFIX):
            sure = min(sure, DOUBTED.get(op, sure))
            self._of_expression(base | expression[1], name, found, sure, depth + 1)
        elif op == Op.CASE:
            self._of_case(node, expression, name, found, sure, depth)
        elif op == Op.REACH:
            self._of_reach(node, expression, name, found, sure, depth)
        elif op == Op.NAME:
            self._of_name(node, expression, name, found, sure, depth)
        elif op in (Op.FUNCTION, Op.CLASS):
            self._of_definition(base | expression[1], name, found, sure, depth)
        elif op in (Op.GET, Op.IMPORT, Op.BARE):
            for cell, reason in self._cells(node, expression):
                self._of_cell(cell, name, found, min(reason, sure), depth, node)
            if name in self.solver.classes.extending:
                self._of_extension(node, name, found, sure)

    def _of_case(self, node: int, expression: Expression, name: int, found: Targets, sure: int, depth: int) -> None:
        own = no_member(self.solver, node, expression)
        part = expression[2] if own else expression[1]
        self._of_expression((node & ~MASK) | part, name, found, min(sure, own or sure), depth + 1)

    def _of_definition(self, scope: int, name: int, found: Targets, sure: int, depth: int) -> None:
        row = self.project.scope(scope)
        if row.name == NONE and row.bases:
            self._of_expression((scope & ~MASK) | row.bases[0], name, found, sure, depth + 1)
        self._put_named(scope, name, found, sure)

    def _of_extension(self, node: int, name: int, found: Targets, sure: int) -> None:
        """Add what extends a type outside, where a member names it without a call: `String::a` in Kotlin."""
        for value, own in self.solver.value(node).items():
            if value[0] == BOUND and not self.project.scope(value[1]).flags & Flag.RECEIVES and own >= LIKELY:
                self._of_value(value, name, found, min(sure, own))

    def _put_named(self, scope: int, name: int, found: Targets, sure: int) -> None:
        """Add a function or class if it has a name: its own, or another that it is put under."""
        own = self.project.scope(scope).name
        if own != NONE and self.project.unit(scope).names[own] == name:
            put(found, self.begin(scope), sure)
        elif other := self.project.other_names.get((scope, name)):
            put(found, other, sure)

    def _is_of(self, node: int, kinds: tuple[str, ...]) -> bool:
        return any(value[0] in kinds for value in self.solver.value(node))

    def _cells(self, node: int, expression: Expression) -> list[tuple[Any, int]]:
        if expression[0] == Op.IMPORT:
            return [(cell, reason) for cell, reason, _ in import_places(self.solver, node, expression[1])]
        if expression[0] == Op.BARE:
            return [(cell, reason) for cell, reason, _ in bare_places(self.solver, node, expression)]
        own = self.project.unit(node).names[expression[2]]
        held = self.solver.value((node & ~MASK) | expression[1])
        return [place for value, sure in list(held.items()) for place in self._places_of(value, own, sure)]

    def _places_of(self, value: Value, name: int, sure: int) -> list[tuple[Any, int]]:
        """The cells that a member of a value may be; nothing changes any more, so they are the same each time."""
        found = self._places.get((value, name, sure))
        if found is None:
            found = [(cell, reason) for cell, reason, _ in places(self.solver, value, name, sure)]
            self._places[value, name, sure] = found
        return found

    def _of_reach(self, node: int, expression: Expression, name: int, found: Targets, sure: int, depth: int) -> None:
        base = node & ~MASK
        if expression[2] != NONE:
            self._of_expression(base | expression[2], name, found, sure, depth + 1)
            return
        for at in expression[1]:
            for value, own in self.solver.value(self.project.value_of(base | at)).items():
                self._of_value(value, name, found, min(own, Reason.ATTRIBUTE))

    def _of_name(self, node: int, expression: Expression, name: int, found: Targets, sure: int, depth: int) -> None:
        _, own, scope, reach = expression
        base = node & ~MASK
        number = self.project.unit(node).names[own]
        if reach is not None:
            sure = sure if len(reach) == 1 else min(sure, Reason.SEVERAL)
            bindings = [base | at for at in reach]
        elif scope != NONE:
            bindings = self.project.holding(self.project.table(base | scope).get(number, []))
            is_variable = len(bindings) == 1 and self.project.defined(bindings[0])[1] < 0
            if not is_variable and not self.project.bound_once(base | scope, number):
                sure = min(sure, Reason.SEVERAL)
            if not self.project.unit(node).dialect.prototypes and is_another(self.solver, base | scope, number):
                sure = min(sure, Reason.REPLACED)
        else:
            bindings = []
            for cell, reason, _ in starred(self.solver, node, number):
                self._of_cell(cell, name, found, min(reason, sure), depth)
        cell = ("bound", base | scope, number)
        named = self._named.get((cell, name)) if reach is None else None
        if named is None:  # many uses may mean many bindings
            named = {}
            for binding in bindings:
                self._of_binding(binding, name, named, Reason.BOUND, depth)
            if reach is None:
                self._named[cell, name] = named
        for target, own_sure in named.items():
            put(found, target, min(sure, own_sure))

    def _of_cell(self, cell: Any, name: int, found: Targets, sure: int, depth: int, asked: int = NONE) -> None:
        if cell[0] == "name":
            bindings = self.project.holding(self.project.table(cell[1]).get(cell[2], []))
            for binding in self._types_or_variables(bindings, asked):
                if not self._is_hidden(binding, asked):
                    self._of_binding(binding, name, found, sure, depth)
        elif cell[0] in ("field", "own", "element"):
            named = self._named.get((cell, name))
            if named is None:
                named = self._named[cell, name] = {}
                for value, own in self.solver.value(cell).items():
                    self._of_value(value, name, named, own)
            for target, own in named.items():
                put(found, target, min(sure, own))

    def _types_or_variables(self, bindings: list[int], asked: int) -> list[int]:
        """Of the bindings of a name those of types, where an expression means a type; in Java those of none, else."""
        if len(bindings) < 2 or asked == NONE or self.project.expression(asked)[0] != Op.BARE:
            return bindings
        types = [at for at in bindings if self.solver.op(self.project.value_of(at)) == Op.CLASS]
        if not types or len(types) == len(bindings):
            return bindings
        if len(self.project.expression(asked)) > 4:
            return types
        is_hidden = self.project.unit(asked).dialect.members_of_packages
        return [at for at in bindings if at not in types] if is_hidden else bindings

    def _is_of_changed(self, node: int) -> bool:
        """Whether an expression asks an object that may become one of another class, or `this` that may be another."""
        if not (self._on_others or self.solver.changing):
            return False
        plain = self._plain(node)
        if self.project.expression(plain)[0] == Op.GET and asks_this_of(self.solver, plain, self._on_others):
            return True
        objects = [of[1] for of in self._receivers(plain) if of and of[0] == OBJECT]
        return any(not self.solver.changing.isdisjoint(self.solver.classes.order(of)) for of in objects)

    def _is_hidden(self, binding: int, asked: int) -> bool:
        """Whether a binding is seen through an interface alone, and an expression asks something else: `int I.A {}`."""
        _, scope = self.project.defined(binding)
        if asked == NONE or scope < 0 or not self.project.scope(scope).flags & Flag.EXPLICIT:
            return False
        receivers = [of for of in self._receivers(asked) if of]
        return all(hides(self.solver, scope, of[1]) for of in receivers if of[0] == OBJECT)

    def _receivers(self, node: int) -> list[Value | None]:
        """The objects that a name is asked of."""
        expression = self.project.expression(node)
        if expression[0] == Op.GET:
            return [*self.solver.value((node & ~MASK) | expression[1])]
        if expression[0] == Op.BARE:
            return [receiver for _, _, receiver in bare_places(self.solver, node, expression)]
        return []

    def _of_binding(self, binding: int, name: int, found: Targets, sure: int, depth: int) -> None:
        row = self.project.binding(binding)
        unit = self.project.unit(binding)
        is_export = row.name != NONE and unit.facts.names[row.name].startswith(EXPORT)
        if is_export or unit.facts.expressions[row.value][0] in (Op.IMPORT, Op.ALIAS):
            self._of_expression(unit.base | row.value, name, found, sure, depth + 1)
            return
        target, scope = self.project.defined(binding)
        holds = row.scope != NONE and unit.facts.scopes[row.scope].kind in HOLDING
        if (scope >= 0 or holds) and row.name != NONE and unit.names[row.name] == name:
            put(found, target, min(sure, Reason.ONLY_DECLARED) if self._only_declares(scope) else sure)

    def _of_value(self, value: Value, name: int, found: Targets, sure: int) -> None:
        """Add the function or class that a value is, if that has the name."""
        if value[0] in (FUNCTION, BOUND, CLASS):
            self._put_named(value[1], name, found, sure)

    # ---- what a call runs

    def called(self, node: int, found: Targets) -> None:
        """Add the functions that a call runs: the constructor of a class, what a name was given."""
        for value, sure in self.callees(node).items():
            for scope, own in self.run_by(value, sure, node):
                put(found, self.begin(scope), own)

    def callees(self, node: int) -> Values:
        """What a call calls, also through a function outside the project."""
        expression = self.project.expression(node)
        if expression[0] in ITERATED:  # of what a loop gives, nothing is called
            return dict(self.solver.handed.get(node, {}))
        is_call = expression[0] in (Op.CALL, Op.NEW)
        values = self.solver.value((node & ~MASK) | expression[1] if is_call else node)
        if is_call and self.project.unit(node).dialect.overloads:
            values = called(self.solver, values, made_of(self.solver, node, expression))
        if is_call and self.project.unit(node).dialect.sigil:
            values = self._of_variable(node, expression, values)
        return {**self.solver.handed.get(node, {}), **values}

    def _of_variable(self, node: int, expression: Expression, values: Values) -> Values:
        """The values without methods where a variable or field is called: `$a()`, `($a->b)()`; a field holds none."""
        if self.solver.op((node & ~MASK) | expression[1]) in (Op.GET, Op.SUPER):
            return values
        return {value: sure for value, sure in values.items() if not self._is_method(value)}

    def _is_method(self, value: Value) -> bool:
        """Whether a value is a function with a name of a class."""
        if value[0] not in (BOUND, FUNCTION) or self.project.scope(value[1]).name == NONE:
            return False
        return self.solver.classes.owner(value[1]) is not None

    def run_by(self, value: Value, sure: int, node: int = NONE) -> list[tuple[int, int]]:
        """The scopes of the functions that calling a value runs, and of the class that it makes an object of."""
        kind = value[0]
        if kind in (FUNCTION, BOUND):
            if self.project.scope(value[1]).kind == ScopeKind.SIGNATURE:
                return []
            if self._only_declares(value[1]):
                sure = min(sure, Reason.ONLY_DECLARED)
            return [(value[1], min(sure, Reason.ABSTRACT) if self.solver.classes.is_abstract(value[1]) else sure)]
        if kind == SUPER:
            return self._constructors(value[2][1], sure, value[1], node)
        if kind not in (CLASS, OBJECT) or self.project.scope(value[1]).kind == ScopeKind.NAMESPACE:
            return []
        is_nameless = kind == CLASS and self.project.scope(value[1]).name == NONE
        if is_nameless and not self.project.unit(value[1]).dialect.prototypes:  # new A() { ... }
            bases = self.solver.classes.bases.get(value[1], [])
            return [pair for base, own in bases for pair in self.run_by((CLASS, base, False), min(sure, own), node)]
        below = self.solver.classes.below(value[1])[:MAX_UNTYPED] if kind == CLASS and value[2] else []  # `new this()`
        found = [(value[1], min(sure, Reason.OVERRIDDEN) if below else sure)] if kind == CLASS else []
        found += [(at, min(sure, Reason.OVERRIDE)) for at in below]
        reason = min(sure, Reason.SEVERAL) if value[2] else sure
        if kind == CLASS:
            reason = min(reason, Reason.SEVERAL) if self.solver.classes.makes_another(value[1]) else reason
            return found + self._constructors(value[1], reason, None, node)
        return self._methods(value[1], ("__call__",), reason, None, node)

    def _constructors(self, scope: int, sure: int, after: int | None, node: int) -> list[tuple[int, int]]:
        return self._methods(scope, self.project.unit(scope).dialect.constructors, sure, after, node)

    def _methods(
        self, scope: int, names: tuple[str, ...], sure: int, after: int | None, node: int
    ) -> list[tuple[int, int]]:
        found = []
        for own in names:
            owner, _ = self.solver.classes.of_class(scope, self.project.number(own), after)
            if owner is not None and self.solver.classes.gives_constructor(scope, owner, after):
                held = self.solver.value(("name", owner, self.project.number(own)))
                if node != NONE and self.project.expression(node)[0] in (Op.CALL, Op.NEW):
                    held = fitting(self.solver, held, made_of(self.solver, node, self.project.expression(node)))
                found += [(at[1], min(sure, own_sure)) for at, own_sure in held.items() if at[0] == FUNCTION]
        return found

    def is_one_of_many(self, unit: Unit, site: Site) -> bool:
        """Whether what an occurrence is asked of may be more than is kept."""
        return site.at > 1 and MANY in self._receivers(self._plain(unit.base | site.at))

    def may_be_further_below(self, unit: Unit, site: Site) -> bool:
        """Whether an occurrence may mean a member of a class that is further below than is looked at."""
        if site.at <= 1 or not self.solver.classes.cut:
            return False
        receivers = self._receivers(self._plain(unit.base | site.at))
        name, known = unit.names[site.name], [of for of in receivers if of and of[0] in (CLASS, OBJECT)]
        asked = [(of, asked_of(self.solver, of[1], name)) for of in known]
        return any((of[2] or at != of[1]) and self.solver.classes.has_more_below(at) for of, at in asked)

    # ---- what has no definition

    def unresolved(self, unit: Unit, site: Site) -> int:
        """Why an occurrence has no definition."""
        reason = self._unresolved(unit, site)
        if reason != Reason.OUTSIDE or site.use == Use.IMPORT:
            return reason
        if unseen := self._missing.reason(unit.base | site.at):
            return unseen
        if not unit.dialect.prototypes:
            return reason
        of = unit.expressions[site.at]
        of = unit.expressions[of[1]] if of[0] in (Op.CALL, Op.NEW) else of
        is_global = of[0] == Op.NAME and of[2] == NONE
        is_there = of[0] == Op.UNSURE or self._rewritten.may_be_outside(unit.names[site.name], is_global=is_global)
        return Reason.UNKNOWN_RECEIVER if is_there else reason

    def _unresolved(self, unit: Unit, site: Site) -> int:
        if site.use == Use.KEYWORD:
            return Reason.WORD
        if site.binding != NONE and site.use in (Use.DEFINITION, Use.WRITE):
            return Reason.VARIABLE
        if site.at <= 1:
            return Reason.OUTSIDE if site.use == Use.IMPORT else Reason.NOT_PARSED
        if self.project.expression(unit.base | site.at)[0] == Op.TOKEN:
            return Reason.IN_MACRO
        node = self._plain(unit.base | site.at)
        expression = self.project.expression(node)
        if self._is_of(node, (SPACE, MODULE) if expression[0] == Op.PREFIX else (SPACE,)):
            return Reason.NAMESPACE
        node, expression = self._behind_prefix(node, expression)
        if expression[0] == Op.GET:
            return self._unresolved_member(node, expression, site)
        if expression[0] == Op.IMPORT or (expression[0] == Op.NAME and expression[2] == NONE):
            return Reason.OUTSIDE
        is_open = unit.dialect.bare_calls or (unit.dialect.implicit_parameter and not self.solver.value(node))
        if expression[0] == Op.BARE and is_open:  # what self has, or a receiver, is known only when it runs
            return Reason.UNKNOWN_RECEIVER
        others = (EXTERNAL, FUNCTION) if self._is_constant(unit, site) else (EXTERNAL,)
        if expression[0] == Op.BARE and all(value[0] in others for value in self.solver.value(node)):
            is_constant = (unit.dialect.family, unit.names[expression[1]]) in self.project.constants  # `case A:`
            is_constant = is_constant and site.use == Use.READ
            return Reason.UNKNOWN_RECEIVER if is_constant else Reason.OUTSIDE
        return Reason.OUTSIDE if self._is_imported(node, expression) else Reason.VARIABLE

    def _behind_prefix(self, node: int, expression: Expression) -> tuple[int, Expression]:
        """What a name before `::` is, where it is no namespace."""
        if expression[0] != Op.PREFIX:
            return node, expression
        node = (node & ~MASK) | expression[1]
        return node, self.project.expression(node)

    def _is_imported(self, node: int, expression: Expression) -> bool:
        """Whether a name, or what it is bound to, is an import."""
        bindings = [node & ~MASK | at for at in expression[3] or ()] if expression[0] == Op.NAME else []
        if expression[0] == Op.NAME and not bindings:
            own = self.project.unit(node).names[expression[1]]
            bindings = self.project.table(node & ~MASK | expression[2]).get(own, [])
        values = [self.solver.op(self.project.value_of(at)) for at in bindings]
        return expression[0] == Op.ALIAS or (bool(values) and all(op in (Op.IMPORT, Op.ALIAS) for op in values))

    def _plain(self, node: int) -> int:
        """The callee of a call, and what stands behind what was put there before."""
        expression = self.project.expression(node)
        if expression[0] in (Op.CALL, Op.NEW):
            node = (node & ~MASK) | expression[1]
            expression = self.project.expression(node)
        while expression[0] in (Op.UNSURE, Op.CASE) or (expression[0] == Op.REACH and expression[2] != NONE):
            is_member = expression[0] == Op.CASE and not no_member(self.solver, node, expression)
            node = (node & ~MASK) | expression[1 if is_member else -1]
            expression = self.project.expression(node)
        return node

    def _unresolved_member(self, node: int, expression: Expression, site: Site) -> int:
        receivers = self.solver.value((node & ~MASK) | expression[1])
        values = self.solver.value(node)
        held = [value for value in values if value[0] != METHOD_OF or not self._is_written_out(value[1])]
        if MANY in receivers:
            return Reason.MANY
        may_name = self.project.unit(node).dialect.texts_name_classes and site.use != Use.WRITE
        if any(self._is_kept(value) or (may_name and self._is_text(value)) for value in receivers):
            return Reason.UNKNOWN_RECEIVER
        is_closed = not any(self._may_have_more(value) for value in receivers)
        if held and (is_closed or any(value[0] not in OUTSIDE for value in held)):
            return Reason.OUTSIDE if all(value[0] in OUTSIDE for value in held) else Reason.FIELD
        if site.use == Use.WRITE:
            return Reason.FIELD
        is_outside = any(value[0] in OUTSIDE and not self._is_written_out(value) for value in receivers)
        return Reason.OUTSIDE if is_outside and is_closed else Reason.UNKNOWN_RECEIVER

    def _is_kept(self, value: Value) -> bool:
        """Whether a value is a field of a tuple that is named: what that is need not be seen."""
        of = value[1]
        return value[0] == METHOD_OF and of[0] == CONTAINER and type(of[1]) is int and self.solver.op(of[1]) == Op.TUPLE

    def _is_text(self, value: Value) -> bool:
        """Whether a value is a text: in PHP `$a::b()` is of the class that it names."""
        return value[:2] == (CONSTANT, "text") or (value[0] == EXTERNAL and value[1].endswith("string#"))

    def _may_have_more(self, value: Value) -> bool:
        """Whether a value is a function, or an object that one makes: what is put into it need not be seen."""
        if value[0] not in (FUNCTION, OBJECT) or not self.project.unit(value[1]).dialect.prototypes:
            return False
        return self.project.scope(value[1]).kind in (ScopeKind.FUNCTION, ScopeKind.LAMBDA)

    def _is_written_out(self, value: Value) -> bool:
        """Whether a value is an object that is written out, and so may have members that are not seen: `{ a: b }`."""
        return value[0] == CONTAINER and self.solver.keyed_members(value) and self.solver.op(value[1]) == Op.DICT
