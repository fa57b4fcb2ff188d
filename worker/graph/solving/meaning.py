"""Which definitions an occurrence of a name means, given what everything may stand for."""

from functools import cached_property
from typing import Any

from fledgling.worker.graph.reasons import LIKELY, Reason
from fledgling.worker.graph.solving.asked import EITHER, behind_call, is_constant, is_of, receivers_of
from fledgling.worker.graph.solving.bound_members import hides
from fledgling.worker.graph.solving.callees import callees, run_by
from fledgling.worker.graph.solving.class_members import as_annotation, asked_of
from fledgling.worker.graph.solving.declared import CAME, crowded, declared_types, made_class, weighed
from fledgling.worker.graph.solving.imports import import_places
from fledgling.worker.graph.solving.lookup import bare_places, is_variable, starred
from fledgling.worker.graph.solving.members import places
from fledgling.worker.graph.solving.names import are_types_apart, takes_types
from fledgling.worker.graph.solving.operations import is_read_by_function
from fledgling.worker.graph.solving.receivers import asks_this_of, called_on_others
from fledgling.worker.graph.solving.replaceable import is_another
from fledgling.worker.graph.solving.rewritten import Rewritten
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.traits import qualified
from fledgling.worker.graph.solving.values import (
    BOUND,
    CLASS,
    FUNCTION,
    MANY,
    MODULE,
    OBJECT,
    SPACE,
    UNKNOWN,
    Value,
)
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
from fledgling.worker.graph.unit import LINE, MASK, Target, Unit
from fledgling.worker.rows import MAX_TARGETS

MANY_BINDINGS = 2 * MAX_TARGETS  # of a name: of more, what its uses mean is found once, and cut
MAX_IMPORTS = 8  # files that hand on a name, one after the other
DOUBTED = {Op.TOKEN: Reason.MACRO, Op.UNSURE: Reason.REPLACED}
Targets = dict[Target, int]  # with a Reason each


def put(found: Targets, target: Target, sure: int) -> None:
    """Add a target; of two reasons the better counts."""
    if found.get(target, 0) < sure:
        found[target] = sure


class Meaning:
    """Asks the cells of a solver that has run."""

    def __init__(self, solver: Solver, rewritten: Rewritten) -> None:
        self.solver = solver
        self.project = solver.project
        self._rewritten = rewritten
        self._places: dict[tuple[Value, int, int], list[tuple[Any, int]]] = {}
        self._named: dict[tuple[Any, int], Targets] = {}  # of what a cell holds that has a name
        self._crowded: dict[
            tuple[Any, ...], Targets
        ] = {}  # what a name of many bindings means, to those that ask alike
        self._many: dict[tuple[int, int], list[int]] = {}  # the bindings of such a name

    @cached_property
    def _on_others(self) -> set[int]:
        return called_on_others(self.solver)

    def forget(self) -> None:
        """Forget what was asked in a file: there the same members of the same objects are asked for again and again."""
        self._places.clear()
        self._named.clear()

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
        doubted = {at: sure for at, sure in found.items() if sure < LIKELY} if unit.dialect.typed else {}
        self._of_expression(unit.base | site.at, name, bound, Reason.BOUND, 0)
        if not is_chosen:
            found.update((at, sure) for at, sure in doubted.items() if found[at] in CAME)
            return
        functions = self.project.vocabulary.definitions.get(name, ())
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
        name, functions = unit.names[site.name], self.project.vocabulary.functions_apart
        if site.use == Use.CALL and unit.dialect.implicit_parameter and unit.dialect.says_overrides:
            defined = self.project.vocabulary.definitions.get(
                name, ()
            )  # what cannot be called leaves it to one of its name
            return {
                at: sure if at in defined or not defined else min(sure, Reason.SEVERAL) for at, sure in found.items()
            }
        if is_constant(self.solver, unit, site):
            return {target: sure for target, sure in found.items() if (name, target) not in functions}
        if site.use == Use.READ and self.project.expression(unit.base | site.at)[0] == Op.ALIAS:
            return {target: sure for target, sure in found.items() if (name, target) in functions} or found
        return found

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
        if depth > MAX_IMPORTS or (op == Op.PREFIX and is_of(self.solver, node, (SPACE, MODULE))):
            return
        if op in (Op.CALL, Op.NEW, Op.ALIAS, Op.TOKEN, Op.UNSURE, Op.PREFIX):
            sure = min(sure, DOUBTED.get(op, sure))
            self._of_expression(base | expression[1], name, found, sure, depth + 1)
        elif op == Op.ANNOTATION:
            classes = [value[1] for value in self.solver.value(node) if value[0] == CLASS]
            if own := max((as_annotation(self.solver, at) for at in classes), default=0):
                self._of_expression(base | expression[1], name, found, min(sure, own), depth + 1)
        elif op in EITHER:
            own = EITHER[op](self.solver, node, expression)
            part = expression[2] if own else expression[1]
            self._of_expression(base | part, name, found, min(sure, own or sure), depth + 1)
        elif op == Op.REACH:
            self._of_reach(node, expression, name, found, sure, depth)
        elif op == Op.NAME:
            self._of_name(node, expression, name, found, sure, depth)
        elif op in (Op.FUNCTION, Op.CLASS):
            self._of_definition(base | expression[1], name, found, sure, depth)
        elif op in (Op.GET, Op.IMPORT, Op.BARE):
            self._of_member(node, expression, name, found, sure, depth)

    def _of_member(self, node: int, expression: Expression, name: int, found: Targets, sure: int, depth: int) -> None:
        if qualified(self.solver, node) != NONE:
            for value, own in self.solver.value(node).items():
                self._of_value(value, name, found, min(sure, own))
            return
        for cell, reason in self._cells(node, expression):
            self._of_cell(cell, name, found, min(reason, sure), depth, node)
        if name in self.solver.classes.extending:
            self._of_extension(node, name, found, sure)

    def _of_definition(self, scope: int, name: int, found: Targets, sure: int, depth: int) -> None:
        row = self.project.scope(scope)
        if row.name == NONE and row.bases:
            self._of_expression((scope & ~MASK) | row.bases[0], name, found, sure, depth + 1)
        self._put_named(scope, name, found, sure)

    def _of_extension(self, node: int, name: int, found: Targets, sure: int) -> None:
        """Add what extends a type outside, where a member names it without a call: `String::a` in Kotlin."""
        for value, own in self.solver.value(node).items():
            if value[0] == BOUND and not self.project.scope(value[1]).flags & Flag.RECEIVES and own > Reason.NAME_ONLY:
                self._of_value(value, name, found, min(sure, own))

    def _put_named(self, scope: int, name: int, found: Targets, sure: int) -> None:
        """Add a function or class if it has a name: its own, or another that it is put under."""
        own = self.project.scope(scope).name
        if own != NONE and self.project.unit(scope).names[own] == name:
            put(found, self.project.place_of(scope), sure)
        elif other := self.project.vocabulary.other_names.get((scope, name)):
            put(found, other, sure)

    def _cells(self, node: int, expression: Expression) -> list[tuple[Any, int]]:
        if expression[0] == Op.IMPORT:
            return [(cell, reason) for cell, reason, _ in import_places(self.solver, node, expression[1])]
        if expression[0] == Op.BARE:
            found = bare_places(self.solver, node, expression)
            return [(cell, reason) for cell, reason, _ in self._with_types(node, expression, found)]
        own = self.project.unit(node).names[expression[2]]
        held = self.solver.value((node & ~MASK) | expression[1])
        return [place for value, sure in list(held.items()) for place in self._places_of(value, own, sure)]

    def _with_types(self, node: int, expression: Expression, found: list[Any]) -> list[Any]:
        """Of the places of a type those of a class with as many type parameters as it is given, if any has."""
        if len(found) < 2 or not are_types_apart(self.project, node, expression):
            return found
        return [place for place in found if self._takes_types(place[0], expression)] or found

    def _takes_types(self, cell: Any, expression: Expression) -> bool:
        """Whether a name is that of a class that has as many type parameters as a type is given."""
        bindings = self.project.table(cell[1]).get(cell[2], ()) if cell[0] == "name" else ()
        scopes = [self.project.defined(at)[1] for at in bindings]
        return any(at >= 0 and takes_types(self.project, at, expression) for at in scopes)

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
        if is_read_by_function(self.project, base | expression[3]):
            self._of_expression(base | expression[3], name, found, min(sure, Reason.ATTRIBUTE), depth + 1)
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
            bindings = self._holding(base | scope, number)
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
                named = self._named[cell, name] = self._cut(name, named)
        for target, own_sure in named.items():
            put(found, target, min(sure, own_sure))

    def _of_cell(self, cell: Any, name: int, found: Targets, sure: int, depth: int, asked: int = NONE) -> None:
        if cell[0] == "name":
            bindings = self._holding(cell[1], cell[2])
            if len(bindings) <= MANY_BINDINGS:
                self._of_bindings(bindings, name, found, sure, depth, asked)
                return
            key = (cell, name, *self._asked_as(asked))
            named = self._crowded.get(key)
            if named is None:
                self._of_bindings(bindings, name, named := {}, Reason.BOUND, depth, asked)
                named = self._crowded[key] = self._cut(name, named)
            for target, own in named.items():
                put(found, target, min(sure, own))
        elif cell[0] in ("field", "own", "element"):
            named = self._named.get((cell, name))
            if named is None:
                named = self._named[cell, name] = {}
                for value, own in self.solver.value(cell).items():
                    self._of_value(value, name, named, own)
            for target, own in named.items():
                put(found, target, min(sure, own))

    def _holding(self, scope: int, name: int) -> list[int]:
        """The bindings of a name in a scope that define it."""
        bindings = self.project.table(scope).get(name, [])
        if len(bindings) <= MANY_BINDINGS:
            return self.project.holding(bindings)
        found = self._many.get((scope, name))
        if found is None:
            found = self._many[scope, name] = self.project.holding(bindings)
        return found

    def _of_bindings(self, bindings: list[int], name: int, found: Targets, sure: int, depth: int, asked: int) -> None:
        bindings = self._types_or_variables(bindings, asked)
        sure = min(sure, Reason.SEVERAL) if self._are_apart(bindings) else sure
        for binding in bindings:
            if not self._is_hidden(binding, asked):
                self._of_binding(binding, name, found, sure, depth)

    def _asked_as(self, asked: int) -> tuple[Any, ...]:
        """What of an expression tells which bindings of a name it may mean."""
        if asked == NONE:
            return ()
        op, *parts = self.project.expression(asked)
        types = tuple(parts[3:]) if op == Op.BARE else None
        return self.project.unit(asked).language, types, *receivers_of(self.solver, asked)

    def _cut(self, name: int, targets: Targets) -> Targets:
        """The surest of what a name means, and one more than are listed; of functions as many as of what is none."""
        if len(targets) <= MAX_TARGETS:
            return targets
        found, counts = Targets(), [0, 0]
        for target, sure in sorted(targets.items(), key=lambda pair: (-pair[1], pair[0])):
            is_function = (name, target) in self.project.vocabulary.functions_apart
            counts[is_function] += 1
            if counts[is_function] <= MAX_TARGETS + 1:
                found[target] = sure
        return found

    def _are_apart(self, bindings: list[int]) -> bool:
        """Whether some bindings are of classes that only their type parameters tell apart."""
        scopes = [self.project.defined(at)[1] for at in bindings] if len(bindings) > 1 else []
        classes = [at for at in scopes if at >= 0 and self.project.scope(at).kind == ScopeKind.CLASS]
        return len({self.project.scope(at).generic for at in classes}) > 1

    def _types_or_variables(self, bindings: list[int], asked: int) -> list[int]:
        """Of the bindings of a name those of types, where an expression means a type; in Java those of none, else."""
        if len(bindings) < 2 or asked == NONE or self.project.expression(asked)[0] != Op.BARE:
            return bindings
        types = [at for at in bindings if self.solver.op(self.project.value_of(at)) == Op.CLASS]
        if not types or (len(types) == len(bindings) and len(self.project.expression(asked)) < 5):
            return bindings
        expression = self.project.expression(asked)
        if len(expression) > 4:
            is_apart = are_types_apart(self.project, asked, expression)
            fitting = [at for at in types if takes_types(self.project, self.project.defined(at)[1], expression)]
            return (fitting if is_apart else []) or types
        is_hidden = self.project.unit(asked).dialect.members_of_packages
        return [at for at in bindings if at not in types] if is_hidden else bindings

    def _is_of_changed(self, node: int) -> bool:
        """Whether an expression asks an object that may become one of another class, or `this` that may be another."""
        if not (self._on_others or self.solver.changing):
            return False
        plain = behind_call(self.solver, node)
        if self.project.expression(plain)[0] == Op.GET and asks_this_of(self.solver, plain, self._on_others):
            return True
        objects = [of[1] for of in receivers_of(self.solver, plain) if of and of[0] == OBJECT]
        return any(not self.solver.changing.isdisjoint(self.solver.classes.order(of)) for of in objects)

    def _is_hidden(self, binding: int, asked: int) -> bool:
        """Whether a binding is seen through an interface alone, and an expression asks something else: `int I.A {}`."""
        _, scope = self.project.defined(binding)
        if asked == NONE or scope < 0 or not self.project.scope(scope).flags & Flag.EXPLICIT:
            return False
        receivers = [of for of in receivers_of(self.solver, asked) if of]
        return all(hides(self.solver, scope, of[1]) for of in receivers if of[0] == OBJECT)

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
            put(found, target, min(sure, Reason.ONLY_DECLARED) if self.project.only_declared(scope) else sure)

    def _of_value(self, value: Value, name: int, found: Targets, sure: int) -> None:
        """Add the function or class that a value is, if that has the name."""
        if value[0] in (FUNCTION, BOUND, CLASS):
            self._put_named(value[1], name, found, sure)

    # ---- what a call runs

    def called(self, node: int, found: Targets) -> None:
        """Add the functions that a call runs: the constructor of a class, what a name was given."""
        handed = self.solver.handed.get(node, {})
        asked = behind_call(self.solver, node)
        types = declared_types(self.solver, asked)
        made = made_class(self.solver, asked)
        run = [
            (scope, weighed(self.solver, types, made, scope, own) if types or made != NONE else own)
            for value, sure in callees(self.solver, node).items()
            for scope, own in run_by(self.solver, value, sure, node)
            if not self.project.is_nobody(scope, is_handed=value in handed)
        ]
        for scope, own in crowded(self.solver, types, run):
            put(found, self.project.place_of(scope), own)

    def gives_value(self, node: int) -> bool:
        """Whether `A() : b(c)` gives a field a value, and calls no constructor of a base."""
        op, *parts = self.project.expression(node)
        of = (node & ~MASK) | parts[0] if op == Op.NEW else NONE
        if of == NONE or self.solver.op(of) != Op.BARE:
            return False
        held = bare_places(self.solver, of, self.project.expression(of))
        return bool(held) and all(is_variable(self.project, cell) for cell, _, _ in held)

    def besides(self, unit: Unit, site: Site) -> int:
        """Why what an occurrence is asked of may be more than is known; else 0."""
        if site.at <= 1:
            return 0
        receivers = receivers_of(self.solver, behind_call(self.solver, unit.base | site.at))
        return Reason.MANY if MANY in receivers else Reason.UNKNOWN_RECEIVER if UNKNOWN in receivers else 0

    def may_be_further_below(self, unit: Unit, site: Site) -> bool:
        """Whether an occurrence may mean a member of a class that is further below than is looked at."""
        if site.at <= 1 or not self.solver.classes.cut:
            return False
        receivers = receivers_of(self.solver, behind_call(self.solver, unit.base | site.at))
        name, known = unit.names[site.name], [of for of in receivers if of and of[0] in (CLASS, OBJECT)]
        asked = [(of, asked_of(self.solver, of[1], name)) for of in known]
        return any((of[2] or at != of[1]) and self.solver.classes.has_more_below(at) for of, at in asked)
