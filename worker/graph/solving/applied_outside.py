"""What is outside may give what it is applied to: `useRef<A>().current`, `this.props` below a `Component<A>`.

Nothing here knows what it does with that, so that it counts only where an A has the member that is asked for. What is
outside is then more than (EXTERNAL, name): it has the expression of `useRef<A>`, and how it comes from that.
"""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.arguments import MadeCall
from fledgling.worker.graph.solving.delegates import FIELD, GIVEN, OF_TYPE, RETURNED, name_of
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.type_arguments import arguments_of
from fledgling.worker.graph.tables import Op
from fledgling.worker.graph.values import CONTAINER, EXTERNAL, METHOD_OF, OBJECT, Value, Values, add, capped

MAX_APPLIED = 4  # types that something outside is applied to, all of which are asked for each member; more say nothing


def applied(solver: Solver, value: Value, type_: int, how: int = OF_TYPE) -> Value:
    """Something outside, with the types that it is applied to, if there are any and the language counts them."""
    dialect = solver.project.unit(type_).dialect
    known = (dialect.delegates, dialect.invariant)
    is_any = dialect.applies_bases or dialect.gives_applied
    is_kept = value[0] == EXTERNAL and (is_any or any(name_of(value) in names for names in known))
    return (*value[:2], type_, how) if is_kept and 0 < len(arguments_of(solver, type_)) <= MAX_APPLIED else value


def called(solver: Solver, value: Value, made: MadeCall) -> Value:
    """What a call of something outside gives, with what that is applied to, or what its only argument is."""
    found: Value = (EXTERNAL, (value[1] + "()")[:200])
    op, *parts = solver.project.expression(made.node)
    if op in (Op.CALL, Op.NEW) and len(parts) > 3:
        return applied(solver, found, solver.child(made.node, parts[3]), GIVEN if op == Op.CALL else OF_TYPE)
    if len(value) > 2:
        return (*found, value[2], RETURNED) if value[3] == FIELD else found
    takes_types = len(made.arguments) == 1 and solver.project.unit(made.node).dialect.prototypes
    taken = solver.value(made.arguments[0][0]) if takes_types else {}
    types = {held[2] for held in taken if held[0] == EXTERNAL and len(held) > 2 and held[3] in (OF_TYPE, GIVEN)}
    return (*found, *types, GIVEN) if len(types) == 1 else found  # useContext(a)


def is_of(value: Value, name: str) -> bool:
    """Whether a value is of a type outside of some name, and of known type arguments."""
    return value[0] == EXTERNAL and value[3:] == (OF_TYPE,) and name_of(value) == name


def of_base(solver: Solver, scope: int, value: Value) -> list[Value]:
    """What a class has from outside, with each that one applies to types: `extends Component<A>`."""
    bases = [solver.child(at, base) for at in solver.classes.order(scope) for base in solver.project.scope(at).bases]
    return [held for base in bases if (held := applied(solver, value, base, FIELD)) != value] or [value]


def asked_behind(solver: Solver, value: Value, name: int) -> Values:
    """What something outside is applied to that has a member of a name, which is asked there."""
    if value[0] != EXTERNAL or len(value) == 2 or value[3] == OF_TYPE:
        return {}
    text, dialect = solver.project.text(name), solver.project.unit(value[2]).dialect
    if value[3] != FIELD and text in dialect.common:  # what a call gives may be of the language's own
        return {}
    found: Values = {}
    for type_ in arguments_of(solver, value[2]):
        for of, own in list(solver.value(("type", type_, None)).items()):
            is_asked = of[0] == OBJECT and solver.classes.of_class(of[1], name)[0] is not None
            if is_asked or (of[0] == CONTAINER and value[3] == FIELD and text in dialect.methods):
                found[of] = own
    return found


def member_of(solver: Solver, value: Value, name: int, sure: int) -> Values:
    """What a member of something outside is, and of what it is applied to where that has one of the name."""
    text = solver.project.text(name)
    found: Value = (EXTERNAL, f"{value[1]}.{text}")
    if len(value) == 2:
        return {found: sure}
    dialect = solver.project.unit(value[2]).dialect
    held: Values = {}
    for of, own in asked_behind(solver, value, name).items():
        if of[0] == OBJECT:
            add(held, solver.value(("member", of, name)), own)
        else:
            held[METHOD_OF, of, name] = own
    goes_on = value[3] in (OF_TYPE, GIVEN) or (value[3] == RETURNED and dialect.gives_applied)  # a.findById(1).get()
    further = (value[2], FIELD) if goes_on else ()
    return add({(*found, *further): sure}, held, Reason.CONTAINER)


def first_of(solver: Solver, value: Value) -> Values:
    """What stands first in what something outside gives that is applied to one type: `const [a, b] = useState<A>()`."""
    types = arguments_of(solver, value[2]) if len(value) > 2 and value[3] == GIVEN else []
    return capped(solver.value(("type", types[0], None)), Reason.CONTAINER) if len(types) == 1 else {}


def in_turn(solver: Solver, values: Values) -> Values:
    """What a loop takes of what something outside gave that is applied to types, `for (var a : b.findAll())`: likewise
    one of these, where that has what is asked.
    """
    return {
        value: min(sure, Reason.CONTAINER)
        for value, sure in values.items()
        if value[0] == EXTERNAL and value[3:] == (RETURNED,) and solver.project.unit(value[2]).dialect.gives_applied
    }
