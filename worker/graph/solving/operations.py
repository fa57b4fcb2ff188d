"""What choices, definitions, checks of a class and declared types stand for."""

from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.containers import called_member, element_of, iterated
from fledgling.worker.graph.solving.declared_beside import agrees, converted, says_more
from fledgling.worker.graph.solving.expected import called_as
from fledgling.worker.graph.solving.made_names import added
from fledgling.worker.graph.solving.members import member
from fledgling.worker.graph.solving.numbers import number_or
from fledgling.worker.graph.solving.pointers import is_pointer
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.traits import run_by_trait
from fledgling.worker.graph.solving.type_arguments import arguments_of
from fledgling.worker.graph.tables import NONE, Expression, Op
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import (
    BOUND,
    CLASS,
    CONSTANT,
    CONTAINER,
    EXTERNAL,
    FUNCTION,
    OBJECT,
    UNKNOWN,
    Value,
    Values,
    add,
    capped,
    told,
)

KNOWN = (
    Op.MADE,
    Op.TEXT,
    Op.FILLED,
    Op.NUMBER,
)  # which hold nothing of the project; what else has no value may be anything


def joined(solver: Solver, nodes: list[int], reason: int) -> Values:
    """What any of some expressions stands for; where several do, that is a reason to doubt."""
    found: Values = {}
    is_open, ways = False, 0
    for node in nodes:
        values = solver.value(node)
        ways += bool(values)
        is_open = is_open or _is_open(solver, node)
        add(found, values)
    return capped(found, reason) if is_open or (ways > 1 and differ(found)) else found


def _is_open(solver: Solver, node: int) -> bool:
    """Whether an expression may also be something of which nothing is known."""
    if solver.op(node) == Op.CHOICE:
        _, parts, *operator = solver.project.expression(node)
        if operator:
            return any(solver.op(solver.child(node, part)) not in KNOWN for part in parts)
        return any(_is_open(solver, solver.child(node, part)) for part in parts)
    return not solver.value(node) and solver.op(node) not in KNOWN


def differ(values: Values) -> bool:
    """Whether values are of more than one thing: two objects of one class are not, but for what it is applied to."""
    return len({(*value[:2], *value[3:]) if value[0] == OBJECT else value[:2] for value in values}) > 1


def function(solver: Solver, node: int, expression: Expression) -> Values:
    """FUNCTION"""
    return {(FUNCTION, solver.child(node, expression[1])): Reason.BOUND}


def class_(solver: Solver, node: int, expression: Expression) -> Values:
    """CLASS"""
    return {(CLASS, solver.classes.whole(solver.child(node, expression[1])), False): Reason.BOUND}


def alias(solver: Solver, node: int, expression: Expression) -> Values:
    """ALIAS, RENAMED: what the other name stands for; QUALIFIED: the type."""
    return dict(solver.value(solver.child(node, expression[1])))


def unsure(solver: Solver, node: int, expression: Expression) -> Values:
    """UNSURE"""
    return capped(solver.value(solver.child(node, expression[1])), Reason.REPLACED)


def every(solver: Solver, node: int, expression: Expression) -> Values:
    """EVERY"""
    found: Values = {}
    for part in expression[1]:
        add(found, solver.value(solver.child(node, part)))
    return found


def choice(solver: Solver, node: int, expression: Expression) -> Values:
    """CHOICE"""
    ways = [solver.child(node, part) for part in expression[1]]
    if len(expression) > 2:
        return _by_operator(solver, ways, expression[2], node, in_place=len(expression) > 3)
    return number_or(solver, node, ways) or joined(solver, ways, Reason.SEVERAL)


def _in_place(solver: Solver, values: Values, method: str) -> Values:
    """What `a += b` of Kotlin leaves in a: what `plus` of its objects gives, if they have no `plusAssign`."""
    found: Values = {}
    for value, sure in list(values.items()):
        is_given = value[0] == OBJECT and not _has(solver, value, f"{method}Assign") and _has(solver, value, method)
        add(found, called_member(solver, value, method, sure) if is_given else {value: sure})
    return found


def is_reflected(method: str) -> bool:
    """Whether an operator asks what stands behind it where what stands before it has no such method."""
    return method.startswith("__")


def reflected(method: str) -> str:
    """The method that an operator calls of what stands behind it: `__radd__` of `__add__`."""
    return method.replace("__", "__r", 1)


def changing(method: str) -> str:
    """The method that an operator calls which assigns, too: `__iadd__` of `__add__`."""
    return method.replace("__", "__i", 1)


def _by_operator(solver: Solver, ways: list[int], method: int, node: int, *, in_place: bool) -> Values:
    """What `a + b` gives: what the method of an object returns, or what stands there, as of lists and types.

    An object of the project whose class has `__iadd__` answers `a += b` by that.
    """
    name = "" if method == NONE else solver.project.unit(node).facts.names[method]
    dialect = solver.project.unit(node).dialect
    if dialect.selects:
        return _in_place(solver, solver.value(ways[0]), name)
    found = added(solver, ways) if name == "__add__" and dialect.made_names else {}
    for way, own in zip(ways, (name, reflected(name)), strict=False):
        for value, sure in list(solver.value(way).items()):
            if value[0] == OBJECT and name:
                changes = changing(name)
                is_changed = in_place and own == name and _has(solver, value, changes)
                add(found, called_member(solver, value, changes if is_changed else own, sure), Reason.SEVERAL)
            elif value[0] in (CONTAINER, CLASS, EXTERNAL):
                add(found, {value: sure}, Reason.SEVERAL)
    return found


def operated(solver: Solver, node: int, expression: Expression) -> Values:
    """OPERATED: what the method of an object gives, of the second operand where the first is none.

    A number or a text with a sign before it stays one.
    """
    name = solver.project.unit(node).facts.names[expression[2]]
    found: Values = {}
    if len(expression[1]) == 1:
        values = solver.value(solver.child(node, expression[1][0]))
        found = {value: sure for value, sure in values.items() if value[0] in (EXTERNAL, CONSTANT)}
    names = (name, reflected(name)) if is_reflected(name) else (name,)
    for part, own in zip(expression[1], names, strict=False):
        objects = [pair for pair in solver.value(solver.child(node, part)).items() if pair[0][0] == OBJECT]
        for value, sure in objects:
            is_trait = solver.project.unit(node).dialect.crates
            if asked := run_by_trait(solver, value, own) if is_trait else own:
                add(found, called_member(solver, value, asked, sure), Reason.SEVERAL)
        if objects:
            break
    return found


def delegated(solver: Solver, node: int, expression: Expression) -> Values:
    """DELEGATED: what the method of an object gives; what has none may be what another one keeps, `lazy { a }`."""
    name = solver.project.unit(node).facts.names[expression[2]]
    found: Values = {}
    for value, sure in list(solver.value(solver.child(node, expression[1])).items()):
        if value[0] != OBJECT:
            add(found, {value: sure})
        elif _has(solver, value, name) or value[1] in solver.classes.has_external_base:
            add(found, called_member(solver, value, name, sure))
        elif not _has(solver, value, "provideDelegate"):
            found[value] = min(sure, Reason.FLOW)
    return found


def _has(solver: Solver, value: Value, method: str) -> bool:
    """Whether an object has a method that the language calls."""
    return bool(member(solver, value, solver.project.number(method), Reason.BOUND))


def reach(solver: Solver, node: int, expression: Expression) -> Values:
    """REACH: what was put there just before, and what it is otherwise if that may not have happened."""
    base = node & ~MASK
    found = joined(solver, [solver.project.value_of(base | at) for at in expression[1]], Reason.SEVERAL)
    if expression[2] != NONE or is_read_by_function(solver.project, base | expression[3]):
        found = add(dict(found), solver.value(base | expression[3]))
    return capped(found, Reason.ATTRIBUTE)


def is_read_by_function(project: GraphProject, node: int) -> bool:
    """Whether an expression is a member of a name that some class gives by a function: a property, which may be it."""
    expression = project.expression(node)
    return expression[0] == Op.GET and project.unit(node).names[expression[2]] in project.vocabulary.properties


def instance(solver: Solver, node: int, expression: Expression) -> Values:
    """INSTANCE: an object of a class, or of one of several."""
    found: Values = {}
    for value, sure in classes_in(solver, solver.child(node, expression[1])).items():
        found[OBJECT, value[1], True] = min(sure, Reason.DECLARED)
    dialect = solver.project.unit(node).dialect
    if dialect.selects or dialect.converts:  # which overload takes it is told by a class outside, too
        held = solver.value(solver.child(node, expression[1]))
        found.update({(EXTERNAL, value[1] + "#"): sure for value, sure in held.items() if value[0] == EXTERNAL})
    return capped(found, Reason.SEVERAL) if len(found) > 1 else found


def classes_in(solver: Solver, node: int) -> Values:
    """The classes that an expression names, also those of a tuple."""
    found: Values = {}
    for value, sure in list(solver.value(node).items()):
        if value[0] == CLASS:
            found[value] = sure
        elif value[0] == CONTAINER:
            add(found, {held: own for held, own in element_of(solver, value).items() if held[0] == CLASS})
    return found


def checked(solver: Solver, node: int, expression: Expression) -> Values:
    """CHECKED: the classes that a function says it checks an argument for, `(a): a is B`."""
    found: Values = {}
    for value, sure in list(solver.value(solver.child(node, expression[1])).items()):
        returns = solver.project.scope(value[1]).returns if value[0] in (FUNCTION, BOUND) else NONE
        of = solver.child(value[1], returns) if returns != NONE else NONE
        if of != NONE and solver.op(of) == Op.PREDICATE:
            type_ = solver.child(of, solver.project.expression(of)[1])
            types = solver.value(("type", type_, None))
            add(found, {(CLASS, held[1], held[2]): own for held, own in types.items() if held[0] == OBJECT}, sure)
    return found


def narrowed(solver: Solver, node: int, expression: Expression) -> Values:
    """NARROWED: what is left of a value where it is known to be of a class."""
    wanted = classes_in(solver, solver.child(node, expression[2]))
    held = solver.value(solver.child(node, expression[1]))
    if not wanted:
        dialect = solver.project.unit(node).dialect  # where overloads are chosen, that would say what an argument is
        is_told = dialect.typed and (dialect.smart_casts or not dialect.selects)
        named = solver.value(solver.child(node, expression[2])) if is_told else {}
        outside = {(EXTERNAL, value[1] + "#"): Reason.NARROWED for value in named if value[0] == EXTERNAL}
        if outside and dialect.smart_casts:
            held = {
                value: min(sure, Reason.NARROWED) for value, sure in held.items() if value[0] != EXTERNAL
            } or outside
            return dict(held)
        return add(dict(held), outside)
    kept = {
        value: min(sure, Reason.NARROWED)
        for value, sure in held.items()
        if value[0] == OBJECT and any(at[1] in solver.classes.order(value[1]) for at in wanted)
    }
    return kept or {(OBJECT, value[1], True): Reason.NARROWED for value in wanted}


def declared(solver: Solver, node: int, expression: Expression) -> Values:
    """DECLARED: what a value is, and where that says nothing, what its type is."""
    value = dict(solver.value(solver.child(node, expression[2]))) if expression[2] != NONE else {}
    type_ = solver.value(("type", solver.child(node, expression[1]), None))
    is_typed = solver.project.unit(node).dialect.typed
    value = converted(solver, solver.child(node, expression[1]), value)
    if type_ and solver.op(solver.child(node, expression[1])) == Op.TOLD:
        return add(told(value), type_)
    if solver.project.unit(node).dialect.selects and any(held[0] == EXTERNAL for held in type_):
        value = {held: min(sure, Reason.ATTRIBUTE) for held, sure in value.items() if held[0] != EXTERNAL}
    is_settled = is_typed and any(held[0] == OBJECT or is_pointer(solver, held) for held in type_)
    if not is_settled and any(held[0] in (OBJECT, FUNCTION, CLASS, BOUND, CONTAINER) for held in value):
        is_told = solver.project.unit(node).dialect.selects and any(held[0] not in (FUNCTION, BOUND) for held in value)
        # `a: A[] = []` holds what is put there later.
        is_filled = is_typed and any(held[0] == CONTAINER for held in type_)
        if is_filled:  # `A[] a = b`, of objects of what is declared, whatever b is declared to hold
            value = {held: min(sure, Reason.FLOW) if held[0] == CONTAINER else sure for held, sure in value.items()}
        if not is_typed and (agrees(type_, value) or says_more(solver, type_, value)):
            return add(value, type_)
        invoking = solver.project.unit(node).dialect.invoking  # `Function<A, B>` says what it gives
        says_result = bool(invoking) and any(len(held) > 2 for held in type_ if held[0] == EXTERNAL)
        return add(value, type_) if is_told or is_filled or says_result else value  # the type alone tells overloads
    if is_settled and solver.project.unit(node).dialect.selects and any(_is_delegate(solver, held) for held in type_):
        functions = {held: min(sure, Reason.ATTRIBUTE) for held, sure in value.items() if held[0] in (FUNCTION, BOUND)}
        return {**type_, **functions}
    if is_settled or (solver.project.unit(node).dialect.overloads and any(_is_plain(solver, node, at) for at in type_)):
        return dict(type_)
    return add(value, type_)


def _is_delegate(solver: Solver, value: Value) -> bool:
    """Whether a value is of a type of the project that is called: `delegate A B(C d);`."""
    return value[0] == OBJECT and bool(called_as(solver, value))


def payload(solver: Solver, node: int, expression: Expression) -> Values:
    """PAYLOAD: what the project declares that a variant or tuple holds; of one from outside, what is in the value."""
    value, of, last, place = expression[1:]
    own = [held for held in solver.value(solver.child(node, of)) if held[0] in (CLASS, OBJECT)]
    variant = solver.project.unit(node).facts.names[last]
    names = solver.project.unit(node).names
    if not own and place < 0:  # of a type that is not seen
        values = solver.value(solver.child(node, value))
        return {of: at for held in list(values) for of, at in member(solver, held, names[~place], Reason.BOUND).items()}
    if not own:
        values = solver.value(solver.child(node, value))
        argument = solver.project.unit(node).dialect.payloads.get(variant, 0)
        return _type_argument(solver, values, argument) if argument else iterated(solver, values, node)
    found: Values = {}
    for held in own:
        part = str(place) if place >= 0 else solver.project.text(names[~place])
        name = solver.project.number(part if held[0] == CLASS else f"{variant}.{part}")
        add(found, member(solver, (OBJECT, held[1], True), name, Reason.BOUND))
    return found


def _type_argument(solver: Solver, values: Values, place: int) -> Values:
    """What the type of some containers is applied to at a place; nothing where it does not say that."""
    found: Values = {}
    for value, sure in list(values.items()):
        of = arguments_of(solver, value[1]) if value[0] == CONTAINER and type(value[1]) is int else []
        add(found, solver.value(("type", of[place], None)) if place < len(of) else {}, sure)
    return found


def _is_plain(solver: Solver, node: int, type_: Value) -> bool:
    """Whether what a type declares is a number, a text or anything at all, whatever it gets: `double a = 1`."""
    last = type_[1].removesuffix("#").rpartition(".")[2] if type_[0] == EXTERNAL else ""
    return last in ("Object", "object", "Any") or solver.project.unit(node).dialect.is_plain(last)


def cast(solver: Solver, node: int, expression: Expression) -> Values:
    """CAST: what its type is, and where that says nothing, what it was."""
    type_ = solver.value(("type", solver.child(node, expression[1]), None))
    kinds = {OBJECT, FUNCTION, CLASS, CONTAINER}
    dialect = solver.project.unit(node).dialect
    if dialect.selects or dialect.converts:  # which is meant is told by types outside of the project as well
        kinds.add(EXTERNAL)
    known = any(value[0] in kinds for value in type_)
    if (known or UNKNOWN in type_) and solver.op(solver.child(node, expression[1])) == Op.TOLD:
        value = solver.value(solver.child(node, expression[2]))
        is_seen = dialect.told_in and any(held[0] in kinds for held in value)
        return dict(value) if is_seen else add(told(value), type_)
    return dict(type_ if known else solver.value(solver.child(node, expression[2])))
