"""What a declared type says: objects of a class, containers of them, classes."""

from typing import Any

from fledgling.worker.graph.linking.method_types import OWN_TYPES
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving import applied_outside
from fledgling.worker.graph.solving.bound_members import returned
from fledgling.worker.graph.solving.containers import element_of
from fledgling.worker.graph.solving.imports import import_places
from fledgling.worker.graph.solving.inferred_types import receiver_of, stands_for
from fledgling.worker.graph.solving.lookup import bare_places
from fledgling.worker.graph.solving.members import member
from fledgling.worker.graph.solving.pointers import is_pointer
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.type_arguments import (
    ALIAS,
    CALLED,
    applied_to,
    argument_for,
    arguments_of,
    container_of,
)
from fledgling.worker.graph.tables import MADE, NONE, Expression, Op, ScopeKind
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import (
    BOUND,
    CLASS,
    CONTAINER,
    EXTERNAL,
    FUNCTION,
    GIVEN,
    MODULE,
    OBJECT,
    SPACE,
    UNKNOWN,
    Cell,
    Value,
    Values,
    add,
    capped,
    told,
)

# What another name of a type is.
NAMING = (Op.LOOKUP, Op.INDEX, Op.ARRAY, Op.POINTEE, Op.CHOICE, Op.EVERY, Op.NAME, Op.BARE, Op.GET, Op.IMPORT, Op.ALIAS)
ANYTHING = ("unknown", "class")  # what a type says, by its name alone, of which anything of the project may be
HOLDING = ("elements", "values", "mapped", "keyed", "parts")  # types that hold what they are applied to
MAX_BINDINGS = 8  # of the name of a type
MAX_NAMING = 256  # of a class, that name one type parameter; what more of them say of it counts as not known
MAX_ALIASES = 6  # types that name another type, one after the other


def typed(solver: Solver, cell: Cell) -> Values:
    """("type", node, receiver): what a value of a type may be."""
    return of_type(solver, cell[1], cell[2], 0)


def of_type(solver: Solver, node: int, receiver: Value | None, depth: int) -> Values:
    """The values of a type."""
    expression = solver.project.expression(node)
    op = expression[0]
    base = node & ~MASK
    if depth > MAX_ALIASES:
        return {}
    if receiver and op in (Op.NAME, Op.BARE) and (found := _stood_for(solver, node, receiver, depth)) is not None:
        return found
    if op in (Op.NAME, Op.BARE, Op.GET, Op.REACH, Op.IMPORT, Op.ALIAS):
        return _named(solver, node, receiver, depth)
    if op == Op.CHOICE:
        found = union(solver, [base | part for part in expression[1]], receiver, depth)
        return capped(found, Reason.SEVERAL) if len(expression[1]) == 1 else found  # `? super A` may be what is above A
    if op == Op.EVERY:
        return every(solver, [base | part for part in expression[1]], receiver, depth)
    if op == Op.QUALIFIED:
        return of_type(solver, base | expression[1], receiver, depth + 1)
    if op == Op.INDEX:
        return _applied(solver, node, expression[1:], receiver, depth)
    if op == Op.POINTEE:
        return _pointed(solver, node, base | expression[1], receiver, depth)
    if op == Op.TOLD:
        return _told(solver, node, base | expression[1], receiver, depth)
    return _written(solver, node, expression, receiver)


def _stood_for(solver: Solver, node: int, receiver: Value, depth: int) -> Values | None:
    """What the type is for which a name stands, where that is a type parameter; None where it is not."""
    if receiver[0] == CALLED and (said := stands_for(solver, node, receiver)) is not None:
        return said[1] if said[0] == NONE else of_type(solver, said[0], None, depth + 1)
    given, around = argument_for(solver, node, receiver_of(receiver))
    return None if given == NONE else of_type(solver, given, around, depth + 1)


def _looked_up(solver: Solver, of: int, key: int, receiver: Value | None) -> Values:
    """What a type has by a key: a member of an object, `A["b"]`, or what is held, `A[number]`."""
    op, *parts = solver.project.expression(key)
    name = solver.project.unit(key).names[parts[0]] if op == Op.TEXT else NONE
    found: Values = {}
    for value, sure in list(solver.value(("type", of, receiver)).items()):
        if value[0] == CONTAINER:
            place = ("text", name) if op == Op.TEXT else ("number", parts[0]) if op == Op.NUMBER else "all"
            add(found, element_of(solver, value, place), sure)
        elif value[0] == OBJECT and op == Op.TEXT:
            add(found, member(solver, value, name, sure))
    return found


def _told(solver: Solver, node: int, of: int, receiver: Value | None, depth: int) -> Values:
    """What a comment says. In JavaScript it may name what the file does not: not known, if the project has that."""
    said = of_type(solver, of, receiver, depth)
    found = told(said)
    if found or not solver.project.unit(node).dialect.told_in:
        return found
    names = [value[1].removesuffix("#").rpartition(".")[2] for value in said if value[0] == EXTERNAL]
    is_unknown = of & MASK == 0 or any(
        solver.project.numbers.get(name) in solver.project.vocabulary.definitions for name in names
    )
    return {UNKNOWN: int(Reason.TOLD)} if is_unknown else {}


def _pointed(solver: Solver, node: int, of: int, receiver: Value | None, depth: int) -> Values:
    """What a pointer to a type leads to: a pointer of a library by another name is held by that."""
    found = of_type(solver, of, receiver, depth + 1)
    if not any(is_pointer(solver, value) for value in found):
        return found
    value: Value = (CONTAINER, node)
    solver.key(value, "*", ("type", of, receiver))
    return {value: Reason.DECLARED}


def _written(solver: Solver, node: int, expression: Expression, receiver: Value | None) -> Values:
    """A type that has no name: `A[]`, `{ a: A }`, `(a: A) => B`, `typeof a`, several results."""
    op, base = expression[0], node & ~MASK
    value = container_of(node, receiver)
    if op == Op.THIS:
        receiver = receiver_of(receiver)
        texts_name_classes = solver.project.unit(node).dialect.texts_name_classes
        if receiver and receiver[0] == CLASS and texts_name_classes:  # static function a(): static
            receiver = (OBJECT, receiver[1], True)
        return {receiver: Reason.DECLARED} if receiver else dict(solver.value(node))
    if op == Op.VALUE:
        return dict(solver.value(base | expression[1]))
    if op == Op.LOOKUP:
        return _looked_up(solver, base | expression[1], base | expression[2], receiver)
    if op == Op.CLASS:
        return {(OBJECT, base | expression[1], True): Reason.DECLARED}
    if op == Op.FUNCTION:
        return {(FUNCTION, base | expression[1]): Reason.DECLARED}
    if op == Op.TUPLE:
        for place, part in enumerate(expression[1]):
            solver.key(value, ("number", place), ("type", base | part, receiver))
        return {value: Reason.DECLARED}
    if op == Op.ARRAY:
        solver.key(value, "*", ("type", base | expression[1], receiver))
        return {value: Reason.DECLARED}
    return {}


def every(solver: Solver, nodes: list[int], receiver: Value | None, depth: int) -> Values:
    """The values of some types."""
    found: Values = {}
    for node in nodes:
        add(found, of_type(solver, node, receiver, depth + 1))
    return found


def union(solver: Solver, nodes: list[int], receiver: Value | None, depth: int) -> Values:
    """The values of any of some types."""
    found = every(solver, nodes, receiver, depth)
    kinds = [value[0] for value in found]
    is_any = any(kinds.count(kind) > 1 for kind in (OBJECT, FUNCTION, CONTAINER, CLASS))
    if OBJECT in kinds and not solver.project.unit(nodes[0]).dialect.prototypes:  # TypeScript says A & B so, too
        is_any |= any(_may_have_any(value) for value in found)
    return capped(found, Reason.SEVERAL) if is_any else found


def _may_have_any(value: Value) -> bool:
    """Whether a value may have whatever member is asked for: it is outside, and of no type of the language."""
    return bool(value[0] == EXTERNAL and not value[1].startswith(OWN_TYPES))


def _named(solver: Solver, node: int, receiver: Value | None, depth: int) -> Values:
    found: Values = {}
    for value, sure in list(solver.value(node).items()):
        if value[0] == CLASS:
            found[OBJECT, value[1], True] = min(sure, Reason.DECLARED)
        elif value[0] == EXTERNAL:
            how = solver.project.unit(node).dialect.types.get(value[1].rpartition(".")[2])
            if how == "receiver" and (of := receiver_of(receiver)):
                found[of] = Reason.DECLARED
            elif how not in ANYTHING:
                found[EXTERNAL, value[1] + "#"] = sure
    classes = [value for value in found if value[0] == OBJECT and not _is_namespace(solver, value)]
    if classes and len(classes) < len(found):  # class A {} namespace A {}
        return {value: sure for value, sure in found.items() if value in classes or value[0] != OBJECT}
    is_part = any(solver.project.scope(value[1]).name == NONE for value in classes)  # A & { b: C }
    is_applied = bool(classes) and solver.project.unit(node).dialect.crates  # type A = B<C>
    named = aliases(solver, node, 0) if not classes or is_part or is_applied else []
    whole = (Op.INDEX,) if is_applied else (Op.CHOICE, Op.EVERY)
    if (is_part or is_applied) and any(solver.op(alias) in whole for alias in named):
        found = {}
    elif classes:
        return found
    for alias in named:
        add(found, _aliased(solver, alias, receiver, depth))
    return found or _bounds_of_parts(solver, node, receiver, depth)


def _bounds_of_parts(solver: Solver, node: int, receiver: Value | None, depth: int) -> Values:
    """What other parts of a class say of a type parameter of which it says nothing: `impl<T: A> B<T>`."""
    op, *parts = solver.project.expression(node)
    scope = (node & ~MASK) | parts[1] if op == Op.NAME and parts[1] != NONE else NONE
    if scope == NONE or solver.project.scope(scope).kind != ScopeKind.CLASS:
        return {}
    bindings = solver.project.table(scope).get(solver.project.unit(node).names[parts[0]], ())
    values = map(solver.project.value_of, bindings) if len(bindings) <= MAX_NAMING else ()
    said = [value for value in values if value & MASK > MADE]
    return capped(every(solver, said, receiver, depth), Reason.NARROWED)


def _is_namespace(solver: Solver, value: Value) -> bool:
    return solver.project.scope(value[1]).kind == ScopeKind.NAMESPACE


def _aliased(solver: Solver, node: int, receiver: Value | None, depth: int) -> Values:
    expression = solver.project.expression(node)
    op = expression[0]
    base = node & ~MASK
    if op in (Op.INDEX, Op.CHOICE, Op.EVERY, Op.ARRAY, Op.POINTEE, Op.FUNCTION, Op.VALUE, Op.LOOKUP):
        return of_type(solver, node, receiver, depth + 1)
    if op == Op.TUPLE and solver.project.unit(node).dialect.prototypes:  # type A = [B, C]
        return of_type(solver, node, receiver, depth + 1)
    if op == Op.DECLARED and expression[2] != NONE:
        return of_type(solver, base | expression[2], receiver, depth + 1)
    if op == Op.CALL:  # TypeVar("T", bound=A)
        names = solver.project.unit(node).facts.names
        bound = [base | part for word, part in expression[3] if word != NONE and names[word] == "bound"]
        return union(solver, bound, receiver, depth + 1)
    return {}


def aliases(solver: Solver, node: int, depth: int) -> list[int]:
    """The expressions that a name is bound to, also in the file that it is imported from."""
    found = []
    for binding in bindings_of(solver, node)[:MAX_BINDINGS] if depth <= MAX_ALIASES else ():
        value = solver.project.value_of(binding)
        while solver.op(value) == Op.ALIAS:
            value = solver.child(value, solver.project.expression(value)[1])
        is_name = solver.op(value) in (Op.IMPORT, Op.NAME, Op.BARE, Op.GET)
        found += aliases(solver, value, depth + 1) if is_name else [value]
    return found


def bindings_of(solver: Solver, node: int) -> list[int]:
    """The bindings that a name, a member of a module or an import means."""
    expression = solver.project.expression(node)
    base = node & ~MASK
    unit = solver.project.unit(node)
    bindings: list[int] = []
    if expression[0] == Op.NAME:
        if expression[3] is not None:
            bindings = [base | at for at in expression[3]]
        elif expression[2] != NONE:
            bindings = solver.project.table(base | expression[2]).get(unit.names[expression[1]], [])
    elif expression[0] in (Op.BARE, Op.IMPORT):
        is_bare = expression[0] == Op.BARE
        places = bare_places(solver, node, expression) if is_bare else import_places(solver, node, expression[1])
        named = (cell for cell, _, _ in places if cell[0] == "name")
        bindings = [binding for _, scope, own in named for binding in solver.project.table(scope).get(own, ())]
        if is_bare:  # a member of the class may have the name of its type
            bindings = [at for at in bindings if solver.op(solver.project.value_of(at)) in NAMING]
    elif expression[0] == Op.GET:
        own = unit.names[expression[2]]
        for value in list(solver.value(base | expression[1])):
            if value[0] == MODULE:
                scopes = [solver.project.units[value[1]].base]
            elif value[0] == CLASS:  # A::B, a type that a trait or class declares
                scopes = [at for at in [solver.classes.of_class(value[1], own)[0]] if at is not None]
            else:
                scopes = solver.spaces.visible(unit, value[1], own)[0] if value[0] == SPACE else []
            bindings += [at for scope in scopes for at in solver.project.table(scope).get(own, [])]
    return bindings


def _applied(solver: Solver, node: int, parts: tuple[int, int], receiver: Value | None, depth: int) -> Values:
    project, of, arguments = solver.project, solver.child(node, parts[0]), arguments_of(solver, node)
    how = project.unit(node).dialect.types.get(project.last_name(of), "") if arguments else ""  # tuple[()]
    if how and not _is_outside(solver, of):
        return applied_to(solver, node, of_type(solver, of, receiver, depth + 1), receiver)
    if how == "same":
        return of_type(solver, arguments[0], receiver, depth + 1)
    if how == "part":
        return capped(of_type(solver, arguments[0], receiver, depth + 1), Reason.SEVERAL)
    if how == "last":
        return of_type(solver, arguments[-1], receiver, depth + 1)
    if how == "any":
        return union(solver, arguments, receiver, depth)
    if how == "class":
        inner = of_type(solver, arguments[0], receiver, depth + 1)
        return {
            (CLASS, value[1], True): min(sure, Reason.SEVERAL) for value, sure in inner.items() if value[0] == OBJECT
        }
    if how in GIVING:
        return capped(GIVING[how](solver, of_type(solver, arguments[0], receiver, depth + 1), node), Reason.SEVERAL)
    if how in HOLDING:
        return _holding(solver, node, arguments, how, receiver)
    if project.unit(node).dialect.crates and (named := _by_another_name(solver, of)):
        value, scope = named
        return of_type(solver, value, (ALIAS, scope, True, node, *([receiver[:4]] if receiver else [])), depth + 1)
    found = applied_to(solver, node, of_type(solver, of, receiver, depth + 1), receiver)
    return {applied_outside.applied(solver, value, node): sure for value, sure in found.items()}


def _by_another_name(solver: Solver, node: int) -> tuple[int, int] | None:
    """The type that one with type parameters is another name of, and the scope of these: `type A<T> = B<T>`."""
    found = aliases(solver, node, 0)
    expression = solver.project.expression(found[0]) if len(found) == 1 else ()
    is_generic = expression[:1] == (Op.EVERY,) and len(expression) > 2
    return (solver.child(found[0], expression[1][0]), solver.child(found[0], expression[2])) if is_generic else None


def _holding(solver: Solver, node: int, arguments: list[int], how: str, receiver: Value | None) -> Values:
    """A container of what a type says that it holds: `A[]`, `Map<A, B>`, `tuple[A, B]`."""
    value = container_of(node, receiver)
    if how == "parts" and len(arguments) > 1 and solver.op(arguments[-1]) != Op.MADE:
        for place, argument in enumerate(arguments[:32]):
            solver.key(value, ("number", place), ("type", argument, receiver))
    else:
        wanted = arguments[0] if how in ("elements", "parts") else arguments[-1]
        solver.key(value, "*", ("type", wanted, receiver))
    return {value: Reason.DECLARED}


def _returned(solver: Solver, values: Values, _node: int) -> Values:
    """ReturnType<typeof a>"""
    found: Values = {}
    for value, sure in values.items():
        if value[0] in (FUNCTION, BOUND):
            given = returned(solver, value[1], None)
            add(found, {held: own for held, own in given.items() if held[0] != GIVEN}, sure)
    return found


def _objects(_solver: Solver, values: Values, _node: int) -> Values:
    """InstanceType<typeof A>"""
    return {(OBJECT, value[1], True): sure for value, sure in values.items() if value[0] == CLASS}


def _taken(solver: Solver, values: Values, node: int) -> Values:
    """Parameters<typeof a>"""
    taken: Value = (CONTAINER, node)
    for value in values:
        if value[0] in (FUNCTION, BOUND):
            for place, given in enumerate(solver.project.scope(value[1]).parameters):
                if given.type != NONE and not given.rest:
                    solver.key(taken, ("number", place), ("type", solver.child(value[1], given.type), None))
    return {taken: int(Reason.DECLARED)}


GIVING: dict[str, Any] = {"returned": _returned, "objects": _objects, "taken": _taken}


def _is_outside(solver: Solver, node: int) -> bool:
    """Whether a type that has the name of one outside the project is that, and no class of the project."""
    values = solver.value(node)
    if not values and not solver.is_settled:
        solver.wait()
        return False
    return not any(value[0] == CLASS for value in values)
