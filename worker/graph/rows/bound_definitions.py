"""What a name is bound to: the definitions of that name that an expression may be, through imports and aliases."""

from typing import Any

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.rows.asked import EITHER, is_of, receivers_of
from fledgling.worker.graph.solving.applied_outside import asked_behind
from fledgling.worker.graph.solving.bound_members import hides
from fledgling.worker.graph.solving.class_members import as_annotation
from fledgling.worker.graph.solving.imports import import_places
from fledgling.worker.graph.solving.lookup import bare_places, means_type
from fledgling.worker.graph.solving.member_places import of_space, places
from fledgling.worker.graph.solving.members import led_to
from fledgling.worker.graph.solving.names import are_types_apart, takes_types
from fledgling.worker.graph.solving.operations import is_read_by_function
from fledgling.worker.graph.solving.replaceable import is_another
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.starred_names import starred
from fledgling.worker.graph.solving.traits import qualified
from fledgling.worker.graph.tables import (
    CLASSES,
    EXPORT,
    HOLDING,
    NONE,
    WHOLE,
    Binding,
    Expression,
    Flag,
    Op,
    ScopeKind,
)
from fledgling.worker.graph.unit import MASK, Target, Unit
from fledgling.worker.graph.values import BOUND, CLASS, DESCRIPTOR, EXTERNAL, FUNCTION, MODULE, OBJECT, SPACE, Value
from fledgling.worker.rows import MAX_TARGETS

MANY_BINDINGS = 2 * MAX_TARGETS  # of a name: of more, what its uses mean is found once, and cut
MAX_IMPORTS = 8  # files that hand on a name, one after the other
CLASSES_NAMED = {Op.CLASS, Op.ALIAS}
DOUBTED = {Op.TOKEN: Reason.MACRO, Op.UNSURE: Reason.REPLACED}
Targets = dict[Target, int]  # with a Reason each


def put(found: Targets, target: Target, sure: int) -> None:
    """Add a target; of two reasons the better counts."""
    if found.get(target, 0) < sure:
        found[target] = sure


class BoundDefinitions:
    """Finds the definitions by the cells of a solver that has run, and keeps what is asked for again."""

    def __init__(self, solver: Solver) -> None:
        self.solver = solver
        self.project = solver.project
        self._places: dict[tuple[Value, int, int], list[tuple[Any, int]]] = {}
        self._named: dict[tuple[Any, int], Targets] = {}  # of what a cell holds that has a name
        # what a name of many bindings means, to those that ask alike
        self._crowded: dict[tuple[Any, ...], Targets] = {}
        self._many: dict[tuple[int, int], list[int]] = {}  # the bindings of such a name

    def forget(self) -> None:
        """Forget what was asked in a file: there the same members of the same objects are asked for again and again."""
        self._places.clear()
        self._named.clear()

    def add_expression(self, node: int, name: int, found: Targets) -> None:
        """Add what an expression is, as far as that has the name."""
        self._of_expression(node, name, found, Reason.BOUND, 0)

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
        elif op in (Op.GET, Op.IMPORT, Op.BARE, Op.PART):
            self._of_member(node, expression, name, found, sure, depth)

    def _of_reach(self, node: int, expression: Expression, name: int, found: Targets, sure: int, depth: int) -> None:
        base = node & ~MASK
        if expression[2] != NONE:
            self._of_expression(base | expression[2], name, found, sure, depth + 1)
            return
        dialect = self.project.unit(node).dialect
        if dialect.plain_fields:
            self._of_expression(base | expression[3], name, found, sure, depth + 1)
            return
        if dialect.typed and not dialect.prototypes:  # where a field is one, whatever was put there before
            self._of_expression(base | expression[3], name, found, sure, depth + 1)
        elif is_read_by_function(self.project, base | expression[3]):
            self._of_expression(base | expression[3], name, found, min(sure, Reason.ATTRIBUTE), depth + 1)
        elif self.solver.op(base | expression[3]) == Op.GET:
            self._of_fields(base | expression[3], name, found, min(sure, Reason.ATTRIBUTE), depth)
        for at in expression[1]:
            given = self.project.value_of(base | at)
            if self.solver.op(given) == Op.NARROWED:  # of which a check says more
                of = self.solver.child(given, self.project.expression(given)[1])
                self._of_expression(of, name, found, sure, depth + 1)
            for value, own in self.solver.value(given).items():
                self._of_value(value, name, found, min(own, Reason.ATTRIBUTE))

    def _of_fields(self, node: int, name: int, found: Targets, sure: int, depth: int) -> None:
        """Add what a class says of a field that something was put into; a function was replaced by that."""
        for cell, reason in self.cells(node):
            held = self._holding(cell[1], cell[2]) if cell[0] == "name" else []
            fields = [at for at in held if self.project.defined(at)[1] < 0]
            self._of_bindings(fields, name, found, min(reason, sure), depth, node)

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
                self.add_binding(binding, name, named, Reason.BOUND, depth)
            if reach is None:
                named = self._named[cell, name] = self._cut(name, named)
        for target, own_sure in named.items():
            put(found, target, min(sure, own_sure))

    def _of_definition(self, scope: int, name: int, found: Targets, sure: int, depth: int) -> None:
        row = self.project.scope(scope)
        if row.name == NONE and row.bases:
            self._of_expression((scope & ~MASK) | row.bases[0], name, found, sure, depth + 1)
        self._put_named(scope, name, found, sure)

    def _of_member(self, node: int, expression: Expression, name: int, found: Targets, sure: int, depth: int) -> None:
        if expression[0] == Op.PART or qualified(self.solver, node) != NONE:
            for value, own in self.solver.value(node).items():
                self._of_value(value, name, found, min(sure, own))
            return
        cells = self.cells(node)
        sure = min(sure, Reason.SEVERAL) if self._is_of_one_class(node, cells) else sure
        for cell, reason in cells:
            self._of_cell(cell, name, found, min(reason, sure), depth, node)
        if name in self.solver.classes.extensions.by_name:
            self._of_extension(node, name, found, sure)

    def _is_of_one_class(self, node: int, cells: list[tuple[Any, int]]) -> bool:
        """Whether one of several classes is meant that a namespace of PHP has by one name: one alone is loaded."""
        if len(cells) < 2 or self.project.unit(node).dialect.spaces != "global":
            return False
        named = [cell for cell, _ in cells if cell[0] == "name"]
        return sum(bool(CLASSES_NAMED & self.solver.spaces.says(cell[1], cell[2])[1]) for cell in named) > 1

    def _of_extension(self, node: int, name: int, found: Targets, sure: int) -> None:
        """Add what extends a type outside, where a member names it without a call: `String::a` in Kotlin."""
        for value, own in self.solver.value(node).items():
            if value[0] == BOUND and not self.project.scope(value[1]).flags & Flag.RECEIVES and own > Reason.NAME_ONLY:
                self._of_value(value, name, found, min(sure, own))

    def cells(self, node: int) -> list[tuple[Any, int]]:
        """The cells of what a name, or a member, is bound to."""
        expression = self.project.expression(node)
        if expression[0] == Op.IMPORT:
            return [(cell, reason) for cell, reason, _ in import_places(self.solver, node, expression[1])]
        if expression[0] == Op.BARE:
            found = bare_places(self.solver, node, expression)
            return [(cell, reason) for cell, reason, _ in self._with_types(node, expression, found)]
        unit = self.project.unit(node)
        own = unit.names[expression[2]]
        held = list(self.solver.value((node & ~MASK) | expression[1]).items())
        for value in [value for value, _ in held if value[0] == EXTERNAL and len(value) > 2]:
            behind = asked_behind(self.solver, value, own).items()
            held += [(of, min(sure, Reason.CONTAINER)) for of, sure in behind if of[0] == OBJECT]
        return [place for value, sure in held for place in self._places_for(unit, value, own, sure)]

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

    def _places_for(self, unit: Unit, value: Value, name: int, sure: int) -> list[tuple[Any, int]]:
        """The same for a file, which may keep some of a namespace for itself."""
        if value[0] == SPACE and self.solver.spaces.kept(unit, value[1], name):
            return [(cell, reason) for cell, reason, _ in of_space(self.solver, value[1], name, sure, unit)]
        return self._places_of(value, name, sure)

    def _places_of(self, value: Value, name: int, sure: int) -> list[tuple[Any, int]]:
        """The cells that a member of a value may be; nothing changes any more, so they are the same each time."""
        found = self._places.get((value, name, sure))
        if found is None:
            found = [(cell, reason) for cell, reason, _ in places(self.solver, value, name, sure)]
            for held, own in {} if found else led_to(self.solver, value, name).items():
                least = min(sure, own, Reason.EXTERNAL_BASE)
                found += [(cell, reason) for cell, reason, _ in places(self.solver, held, name, least)]
            self._places[value, name, sure] = found
        return found

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
                if not named and cell[0] == "element":
                    self._of_variables(cell, name, named, depth)
            for target, own in named.items():
                put(found, target, min(sure, own))

    def _of_variables(self, cell: Any, name: int, found: Targets, depth: int) -> None:
        """Add the variables that an object which is written out takes its members from: `{ a }`, `{ ...{ a } }`."""
        for of, own in self.solver.sources.get(cell, {}).items() if depth < MAX_IMPORTS else ():
            if type(of) is not int:
                self._of_cell(of, name, found, min(own, Reason.ATTRIBUTE), depth + 1)
            elif self.solver.op(of) == Op.NAME:
                self._of_expression(of, name, found, min(own, Reason.ATTRIBUTE), depth + 1)

    def _of_bindings(self, bindings: list[int], name: int, found: Targets, sure: int, depth: int, asked: int) -> None:
        bindings = self._types_or_variables(bindings, asked)
        sure = min(sure, Reason.SEVERAL) if self._is_one_meant(bindings) else sure
        for binding in bindings:
            if not self._is_hidden(binding, asked):
                self.add_binding(binding, name, found, sure, depth)

    def _holding(self, scope: int, name: int) -> list[int]:
        """The bindings of a name in a scope that define it."""
        bindings = self.project.table(scope).get(name, [])
        if len(bindings) <= MANY_BINDINGS:
            return self.project.holding(bindings)
        found = self._many.get((scope, name))
        if found is None:
            found = self._many[scope, name] = self.project.holding(bindings)
        return found

    def _types_or_variables(self, bindings: list[int], asked: int) -> list[int]:
        """Of the bindings of a name those of types, where an expression means a type; in Java those of none, else."""
        if len(bindings) < 2 or asked == NONE or self.project.expression(asked)[0] != Op.BARE:
            return bindings
        types = [at for at in bindings if self.solver.op(self.project.value_of(at)) == Op.CLASS]
        if not types or (len(types) == len(bindings) and not means_type(self.project.expression(asked))):
            return bindings
        expression = self.project.expression(asked)
        if means_type(expression):
            is_apart = are_types_apart(self.project, asked, expression)
            fitting = [at for at in types if takes_types(self.project, self.project.defined(at)[1], expression)]
            return (fitting if is_apart else []) or types
        is_hidden = self.project.unit(asked).dialect.members_of_packages
        return [at for at in bindings if at not in types] if is_hidden else bindings

    def _is_one_meant(self, bindings: list[int]) -> bool:
        """Whether one of some bindings is: of definitions by a condition, of classes by their type parameters."""
        if len(bindings) < 2:
            return False
        dialect = self.project.unit(bindings[0]).dialect
        scopes = [self.project.defined(at)[1] for at in bindings]
        if not (dialect.overloads or dialect.declared) or (dialect.structural and min(scopes) >= 0):
            return True
        if dialect.spaces == "global" and sum(at >= 0 and self.project.scope(at).kind in CLASSES for at in scopes) > 1:
            return True
        classes = [at for at in scopes if at >= 0 and self.project.scope(at).kind == ScopeKind.CLASS]
        return len({self.project.scope(at).generic for at in classes}) > 1

    def _is_hidden(self, binding: int, asked: int) -> bool:
        """Whether a binding is seen through an interface alone, and an expression asks something else: `int I.A {}`."""
        _, scope = self.project.defined(binding)
        if asked == NONE or scope < 0 or not self.project.scope(scope).flags & Flag.EXPLICIT:
            return False
        receivers = [of for of in receivers_of(self.solver, asked) if of]
        return all(hides(self.solver, scope, of[1]) for of in receivers if of[0] == OBJECT)

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

    def add_binding(self, binding: int, name: int, found: Targets, sure: int, depth: int) -> None:
        """Add what a binding gives a name, after so many imports that led to it."""
        row = self.project.binding(binding)
        unit = self.project.unit(binding)
        is_export = row.name != NONE and unit.facts.names[row.name].startswith(EXPORT)
        if is_export or unit.facts.expressions[row.value][0] in (Op.IMPORT, Op.ALIAS):
            self._of_expression(unit.base | row.value, name, found, sure, depth + 1)
            if is_export or not _holds_module(unit, row):
                return
        target, scope = self.project.defined(binding)
        holds = row.scope != NONE and unit.facts.scopes[row.scope].kind in HOLDING
        if (scope >= 0 or holds) and row.name != NONE and unit.names[row.name] == name:
            put(found, target, min(sure, Reason.ONLY_DECLARED) if self.project.only_declared(scope) else sure)
            if unit.facts.expressions[row.value][0] == Op.CALL and unit.dialect.super_function:  # a = classmethod(a)
                for value, own in self.solver.value(unit.base | row.value).items():
                    if value[0] == DESCRIPTOR:
                        self._put_named(value[2], name, found, min(sure, own))

    def add_member(self, scope: int, name: int, found: Targets, sure: int) -> None:
        """Add what a class, or one above it, has by a name."""
        owner, _ = self.solver.classes.of_class(scope, name)
        if owner is not None:
            self._of_cell(("name", owner, name), name, found, sure, 0)

    def add_field_of_variant(self, scope: int, variant: str, name: int, found: Targets, sure: int) -> None:
        """Add what a variant of an enumeration has by a name: `A::B { c }`."""
        named = self.project.number(f"{variant}.{self.project.text(name)}")
        for binding in self.project.table(scope).get(named, ()):
            put(found, self.project.defined(binding - 1)[0], sure)  # which the field itself is bound before

    def _of_value(self, value: Value, name: int, found: Targets, sure: int) -> None:
        """Add the function or class that a value is, if that has the name."""
        if value[0] in (FUNCTION, BOUND, CLASS):
            self._put_named(value[1], name, found, sure)

    def _put_named(self, scope: int, name: int, found: Targets, sure: int) -> None:
        """Add a function or class if it has a name: its own, or another that it is put under."""
        own = self.project.scope(scope).name
        if own != NONE and self.project.unit(scope).names[own] == name:
            put(found, self.project.place_of(scope), sure)
        elif other := self.project.vocabulary.other_names.get((scope, name)):
            put(found, other, sure)


def _holds_module(unit: Unit, row: Binding) -> bool:
    """Whether a binding is of a variable that holds a module: `const a = require("b")`."""
    op, *parts = unit.facts.expressions[row.value]
    return unit.dialect.prototypes and op == Op.IMPORT and unit.facts.imports[parts[0]].name == WHOLE
