"""What a call gives, and what it hands to the function that is called."""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving import applied_outside, container_methods
from fledgling.worker.graph.solving.arguments import MadeCall, hand_over, substituted
from fledgling.worker.graph.solving.bound_members import of_any, returned, surely_given
from fledgling.worker.graph.solving.containers import element_of, iterated
from fledgling.worker.graph.solving.declared_beside import says_more
from fledgling.worker.graph.solving.expected import called_as
from fledgling.worker.graph.solving.generated import hand_to_fields
from fledgling.worker.graph.solving.inferred_types import MAX_ARGUMENTS, called_with, given_by
from fledgling.worker.graph.solving.made_names import changed, note_called
from fledgling.worker.graph.solving.members import NEW, member
from fledgling.worker.graph.solving.named_callables import named_callables
from fledgling.worker.graph.solving.outside.called_outside import called_outside
from fledgling.worker.graph.solving.outside.calls import external
from fledgling.worker.graph.solving.overloading.overloads import called, fitting
from fledgling.worker.graph.solving.prototypes import makes_objects
from fledgling.worker.graph.solving.receivers import FUNCTIONS, called_on
from fledgling.worker.graph.solving.scopes_of_queries import by_scope
from fledgling.worker.graph.solving.sent import sent
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.this import this
from fledgling.worker.graph.tables import NONE, Expression, Flag, Op, ScopeKind
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import (
    BOUND,
    CLASS,
    CONTAINER,
    EXTERNAL,
    FUNCTION,
    GIVEN,
    METHOD_OF,
    OBJECT,
    SUPER,
    Cell,
    Value,
    Values,
    add,
    capped,
)


def call(solver: Solver, node: int, expression: Expression) -> Values:
    """CALL, NEW"""
    base = node & ~MASK
    made = made_of(solver, node, expression)
    found: Values = {}
    callees = held = solver.value(base | expression[1])
    dialect = solver.project.unit(node).dialect
    if dialect.overloads:
        callees = made_by(solver, node, called(solver, held, made))
        solver.chosen[node] = held, callees
    if dialect.scope_functions and not any(value[0] in (FUNCTION, BOUND) for value in callees):
        scoped = in_its_scope(solver, node, expression)
        if scoped is not None:
            return scoped
    note_called(solver, node, callees)
    if dialect.absent_methods:
        add(found, _in_place_of_absent(solver, made, base | expression[1]))
    if dialect.made_names and not callees:
        add(found, changed(solver, base | expression[1]))
    if dialect.sending and not callees:
        return add(found, sent(solver, made, base | expression[1]))
    for value, sure in callees.items():
        if value[0] == EXTERNAL and dialect.selects and (made_there := _made_outside(solver, node, value, sure)):
            add(found, made_there)
            continue
        is_held = dialect.calls_methods and expression[0] == Op.CALL and value[0] in (OBJECT, CONTAINER)
        add(found, {value: sure} if is_held else invoked(solver, value, made, sure))
        if expression[0] == Op.NEW and value[0] == FUNCTION and makes_objects(solver, value[1]):
            found[OBJECT, value[1], False] = min(sure, Reason.ATTRIBUTE)
    return found


def _made_outside(solver: Solver, node: int, value: Value, sure: int) -> Values:
    """What something outside makes: an object, or a container that says what it holds, `new List<A>()`, `listOf<A>()`.

    Empty where it need not make any.
    """
    op, *parts = solver.project.expression(node)
    if value[1][:1] == "?":
        return {}
    made: Value = (EXTERNAL, value[1].removesuffix("#") + "#")
    if len(parts) <= 3:
        return {made: sure} if op == Op.NEW else {}
    type_ = solver.child(node, parts[3])
    containers = {each: sure for each in solver.value(("type", type_, None)) if each[0] == CONTAINER}
    return containers or ({applied_outside.applied(solver, made, type_): sure} if op == Op.NEW else {})


def _of_type_outside(solver: Solver, value: Value) -> str:
    """The full name of what a type outside has itself, where a function that extends it does not take the arguments."""
    if value[2][0] != EXTERNAL or value[1] not in solver.classes.extensions.types:
        return ""
    return f"{value[2][1]}.{solver.project.unit(value[1]).facts.names[solver.project.scope(value[1]).name]}"


def _in_place_of_absent(solver: Solver, made: MadeCall, function: int) -> Values:
    """What `__call` of a class gives where `a.b()` asks for a method that it lacks; the call runs that."""
    op, *parts = solver.project.expression(function)
    found = by_scope(solver, made, function) if solver.project.vocabulary.scopes_of_queries else {}
    for value in list(solver.value(solver.child(function, parts[0]))) if op == Op.GET else ():
        name = solver.project.unit(function).names[parts[1]]
        if value[0] not in (OBJECT, CLASS) or solver.classes.of_class(value[1], name)[0] is not None:
            continue
        for own in solver.project.unit(function).dialect.absent_methods[: 1 if value[0] == OBJECT else None]:
            held = member(solver, value, solver.project.number(own), Reason.ABSENT)
            methods = {at: min(sure, Reason.ABSENT) for at, sure in held.items() if at[0] in (FUNCTION, BOUND)}
            add(solver.handed.setdefault(made.node, {}), methods)
            for at, sure in methods.items():
                add(found, invoked(solver, at, MadeCall(made.node, [], []), sure))
    return found


def made_by(solver: Solver, node: int, callees: Values) -> Values:
    """What a call may call; where constructors are not inherited, what makes an object is no function: `A() : b(c)`.

    In PHP an object stands for its class: `new static`, `new $a`.
    """
    dialect = solver.project.unit(node).dialect
    if solver.op(node) != Op.NEW or not (dialect.own_constructors or dialect.texts_name_classes):
        return callees
    if dialect.texts_name_classes:
        return {(CLASS, *value[1:3]) if value[0] == OBJECT else value: sure for value, sure in callees.items()}
    return {value: sure for value, sure in callees.items() if value[0] not in FUNCTIONS}


def in_its_scope(solver: Solver, node: int, expression: Expression) -> Values | None:
    """What a function of the language gives that runs a lambda on an object: `a.let { it.b() }`; None for any other."""
    project, base = solver.project, node & ~MASK
    op, *parts = project.expression(base | expression[1])
    place = {Op.GET: 1, Op.BARE: 0, Op.NAME: 0}.get(op)
    if place is None or not expression[2] or expression[2][-1] < 0:
        return None
    takes, _, gives = (
        project.unit(node).dialect.scope_functions.get(project.unit(node).facts.names[parts[place]], "").partition(" ")
    )
    written = base | expression[2][-1]
    before = [parts[0]] if op == Op.GET else expression[2][:-1]
    if solver.op(written) != Op.FUNCTION and gives == "same" and before:  # a.apply(b)
        return dict(solver.value(base | before[0]))
    if not takes or solver.op(written) != Op.FUNCTION:
        return None
    scope = solver.child(written, project.expression(written)[1])
    for of in before[:1]:
        if takes == "this":
            solver.source(("receiver", scope), base | of, Reason.BOUND)
        elif project.scope(scope).parameters:
            solver.source(("parameter", scope, 0), base | of, Reason.BOUND)
    if gives == "same" and op == Op.BARE and not before:  # `fun a() = apply { b() }`
        return this(solver, node, (Op.THIS, parts[1]))
    if gives == "same":
        return dict(solver.value(base | before[0])) if before else {}
    arguments = [(base | of, False) for of in before[:1]]
    return substituted(solver, scope, returned(solver, scope, None), MadeCall(node, arguments, []), None)


def made_of(solver: Solver, node: int, expression: Expression) -> MadeCall:
    """The arguments of a call."""
    base = node & ~MASK
    names = solver.project.unit(node).names
    return MadeCall(
        node,
        [(base | (part if part >= 0 else ~part), part < 0) for part in expression[2][:MAX_ARGUMENTS]],
        [(NONE if word == NONE else names[word], base | part) for word, part in expression[3][:MAX_ARGUMENTS]],
    )


def decorated(solver: Solver, node: int, expression: Expression) -> Values:
    """DECORATED: what the decorators make of a definition, the innermost first."""
    base = node & ~MASK
    cell: Cell = base | expression[1]
    found = dict(solver.value(cell))
    is_class = any(value[0] == CLASS for value in found)
    solver.decorated_unseen.discard(node)
    for place, decorator in enumerate(reversed(expression[2])):
        made: Values = {}
        is_known = False
        for value, sure in list(solver.value(base | decorator).items()):
            if value[0] in (FUNCTION, BOUND, CLASS, OBJECT):
                is_known = True
                add(made, invoked(solver, value, MadeCall(node, [(cell, False)], []), sure))
        if made:
            found = capped(made, Reason.DECORATOR)
        elif is_known and not is_class and not solver.is_settled:
            solver.pending.add(node)
            found = {}
        elif is_known:
            found = capped(found, Reason.DECORATOR)
            solver.decorated_unseen.add(node)
        if is_class:
            own = solver.value(base | expression[1])
            is_same = not is_known or (bool(made) and made.keys() <= own.keys())
            add(found, own if is_same else capped(own, Reason.DECORATOR))
        cell = ("decorated", node, place)
        solver.grow(cell, dict(found))
    return found


def invoked(solver: Solver, value: Value, made: MadeCall, sure: int) -> Values:
    """What calling a value gives."""
    kind = value[0]
    if kind == FUNCTION:
        return _run(solver, value[1], made, sure, None)
    if kind == BOUND:
        if sure == Reason.OTHER_ARGUMENTS and (full := _of_type_outside(solver, value)):
            return external(solver, (EXTERNAL, full), made, Reason.BOUND)
        return _run(solver, value[1], made, sure, value[2])
    if kind == CLASS:
        return _made(solver, value, made, sure)
    if kind == OBJECT:
        return _called_object(solver, value, made, sure)
    if kind == SUPER:
        return _constructed(solver, value[2], made, value[1])
    if kind == METHOD_OF and value[1][0] in FUNCTIONS:
        return called_on(solver, value, made, sure)
    if kind == METHOD_OF:
        return container_methods.method(solver, value, made, sure)
    if kind == EXTERNAL:
        return external(solver, value, made, sure)
    return called_outside(solver, named_callables(solver, {value: sure}, made.node), made, Reason.NAMED)


def _called_object(solver: Solver, value: Value, made: MadeCall, sure: int) -> Values:
    found: Values = {}
    for held, own in list(
        member(solver, value, solver.project.number(solver.project.unit(value[1]).dialect.called_by), sure).items()
    ):
        if held[0] in (BOUND, FUNCTION):
            add(found, invoked(solver, held, made, own))
    add(found, of_any([invoked(solver, held, made, sure) for held in called_as(solver, value)]))
    if not found and solver.project.unit(value[1]).dialect.crates:  # a variant that holds something: A::B(c)
        found[value] = sure
    return found


def _run(solver: Solver, function: int, made: MadeCall, sure: int, receiver: Value | None) -> Values:
    hand_over(solver, function, made, receiver, _most(sure))
    by_types = given_by(solver, function, called_with(solver, function, made.node, made.arguments, receiver))
    if by_types == {} and not solver.is_settled:
        solver.wait()
        return {}
    found = substituted(solver, function, returned(solver, function, receiver), made, receiver)
    if by_types:
        found = add(dict(by_types), {value: own for value, own in found.items() if value in by_types})
    elif by_types is not None and solver.project.unit(function).dialect.declares_all_types:
        found = {value: own for value, own in found.items() if own >= Reason.DECLARED}  # else what any call gets
    if receiver is not None and receiver[0] == OBJECT and _gives_itself(solver, function):
        found = {receiver: int(Reason.RETURNED)}
    return capped(found, surely_given(solver, function, sure))


def _gives_itself(solver: Solver, function: int) -> bool:
    """Whether a method of JavaScript gives what it is called on and nothing else, where no type says so."""
    row = solver.project.scope(function)
    if row.returns != NONE or not row.returned or not solver.project.unit(function).dialect.prototypes:
        return False
    is_plain = row.kind == ScopeKind.FUNCTION and not row.flags & Flag.GENERATOR
    return is_plain and all(solver.op(solver.child(function, at)) == Op.THIS for at in row.returned)


def _most(sure: int) -> int:
    """How sure what a call hands over is at most: no surer than what a guess runs."""
    return Reason.ASKED if sure == Reason.ASKED else Reason.FLOW


def _made(solver: Solver, value: Value, made: MadeCall, sure: int) -> Values:
    """An object of a class; its constructor gets the arguments."""
    _constructed(solver, (OBJECT, value[1], value[2]), made, None, _most(sure))
    found: Values = {(OBJECT, value[1], value[2], *_applied_to(solver, value, made)): min(sure, Reason.INSTANCE)}
    if solver.classes.makes_another(value[1]):
        owner, _ = solver.classes.of_class(value[1], new := solver.project.number(NEW))
        above = solver.classes.order(value[1])
        for held in list(solver.value(("name", owner, new))) if owner is not None else ():
            if held[0] == FUNCTION:
                given = returned(solver, held[1], (CLASS, value[1], value[2]))
                others = {at: own for at, own in given.items() if at[0] == OBJECT and not (at[2] and at[1] in above)}
                add(found, others, Reason.SEVERAL)
        found = capped(found, Reason.SEVERAL)
    return found


def _applied_to(solver: Solver, value: Value, made: MadeCall) -> list[int]:
    """The type that a class of TypeScript is made an object of, where it says what it is applied to: `new A<B>()`."""
    expression = solver.project.expression(made.node)
    is_said = expression[0] == Op.NEW and len(expression) > 4 and solver.project.unit(value[1]).dialect.applies_bases
    return [solver.child(made.node, expression[4])] if is_said else []


def _constructed(solver: Solver, value: Value, made: MadeCall, after: int | None, most: int = Reason.FLOW) -> Values:
    """Hand the arguments to the constructor of an object's class, or of the one after another."""
    is_written = after is not None
    for own in solver.project.unit(value[1]).dialect.constructors:
        name = solver.project.number(own)
        owner, _ = solver.classes.of_class(value[1], name, after)
        if owner is None:
            continue
        is_written = True
        for at in (owner, *solver.classes.instead(value[1], name, owner, after)[1]):
            for held in list(fitting(solver, solver.value(("name", at, name)), made)):
                if held[0] == FUNCTION:
                    hand_over(solver, held[1], made, value, most)
    if not is_written and solver.project.unit(value[1]).dialect.receiver_parameter:
        hand_to_fields(solver, value[1], made, most)
    return {}


# ---- what several places write


def returned_cell(solver: Solver, cell: Cell) -> Values:
    """("returned", function): an argument that is returned as it came stands for itself."""
    function = cell[1]
    found: Values = {}
    for node in solver.project.scope(function).returned:
        at = solver.child(function, node)
        place = given_back(solver, function, at)
        if place is None:
            add(found, solver.value(at))
        else:
            found[GIVEN, function, place] = Reason.BOUND
    return found


def given_back(solver: Solver, function: int, node: int) -> int | None:
    """The place of a parameter that an expression is, unchanged."""
    op, *parts = solver.project.expression(node)
    if op != Op.NAME or parts[2] is None or len(parts[2]) != 1:
        return None
    binding = (node & ~MASK) | parts[2][0]
    value, *of = solver.project.expression(solver.project.value_of(binding))
    if value != Op.PARAMETER or solver.child(node, of[0]) != function:
        return None
    return None if solver.project.scope(function).parameters[of[1]].rest else int(of[1])


def yielded_cell(solver: Solver, cell: Cell) -> Values:
    """("yielded", function)"""
    found: Values = {}
    row = solver.project.scope(cell[1])
    for node in row.yielded:
        add(found, solver.value(solver.child(cell[1], node)))
    declared = solver.value(("type", solver.child(cell[1], row.returns), None)) if row.returns != NONE else {}
    return add(found, iterated(solver, declared)) if says_more(solver, declared, found) else found


def elements_cell(solver: Solver, cell: Cell) -> Values:
    """("elements of", cell)"""
    return iterated(solver, solver.value(cell[1]))


def element_at_cell(solver: Solver, cell: Cell) -> Values:
    """("element at", cell, place)"""
    found: Values = {}
    for value, sure in list(solver.value(cell[1]).items()):
        if value[0] == CONTAINER:
            add(found, element_of(solver, value, ("number", cell[2])), min(sure, Reason.CONTAINER))
        else:
            add(found, iterated(solver, {value: sure}))
    return found


def held_cell(solver: Solver, cell: Cell) -> Values:
    """("held", container): any of its elements"""
    return element_of(solver, cell[1])


def just_cell(_solver: Solver, cell: Cell) -> Values:
    """("just", value)"""
    return {cell[1]: Reason.BOUND}
