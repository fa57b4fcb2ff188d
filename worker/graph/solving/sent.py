"""Methods of the language that call others, or give what objects and classes are made of: `a.send(:b)`, `f.call(a)`."""

from fledgling.worker.graph.linking.hierarchy import MAX_BELOW
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.arguments import MadeCall
from fledgling.worker.graph.solving.class_members import MAX_UNTYPED
from fledgling.worker.graph.solving.containers import constants
from fledgling.worker.graph.solving.made_names import made_members, note_called
from fledgling.worker.graph.solving.members import member
from fledgling.worker.graph.solving.outside.called_outside import called_outside
from fledgling.worker.graph.solving.outside.calls import external
from fledgling.worker.graph.solving.outside.collecting import of_these
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.this import this
from fledgling.worker.graph.tables import NONE, Expression, Op, ScopeKind
from fledgling.worker.graph.unit import in_camels
from fledgling.worker.graph.values import BOUND, CLASS, EXTERNAL, FUNCTION, OBJECT, Values, add, capped

FUNCTIONS = (FUNCTION, BOUND)


def sent(solver: Solver, made: MadeCall, callee: int) -> Values:
    """What a call gives whose callee is nothing of the project: one of the language may call another function."""
    project = solver.project
    op, *parts = project.expression(callee)
    unit = project.unit(callee)
    how = unit.dialect.sending.get(unit.facts.names[parts[1 if op == Op.GET else 0]]) if op in (Op.GET, Op.BARE) else ""
    if not how:
        return (_of_base(solver, made, callee) or _by_factory(solver, made, callee)) if op == Op.BARE else {}
    held = solver.value(solver.child(callee, parts[0])) if op == Op.GET else this(solver, callee, (Op.THIS, parts[1]))
    if how == "class":
        return _classes_of(solver, held)
    if how in ("children", "below"):
        return _classes_below(solver, made, held, how)
    if how == "above":
        return _classes_above(solver, held)
    if how in ("same", "taps", "yields"):
        return _itself(solver, made, held, how)
    if how == "evaluates":
        return _evaluated(solver, made, held)
    if how in ("runs", "starts") or how.startswith("."):
        return _run(solver, made, held, how)
    if not made.arguments or made.arguments[0][1]:
        return {}
    found = _named(solver, made, held)
    note_called(solver, made.node, found if how == "calls" else {})
    if how == "gives":
        return found
    return called_outside(solver, found, made._replace(arguments=made.arguments[1:]), Reason.MADE_NAME)


def _of_base(solver: Solver, made: MadeCall, callee: int) -> Values:
    """What a class outside gives that a class calls without a receiver: `where(b)` in a method that A has itself."""
    _, name, scope, *_ = solver.project.expression(callee)
    named = f"?.{solver.project.unit(callee).facts.names[name]}"
    if named not in solver.project.unit(callee).dialect.functions:
        return {}
    classes = [value[1] for value in this(solver, callee, (Op.THIS, scope)) if value[0] == CLASS]
    is_below = any(at in solver.classes.has_external_base for at in classes)
    return external(solver, (EXTERNAL, named), made, Reason.EXTERNAL_BASE) if is_below else {}


def _by_factory(solver: Solver, made: MadeCall, callee: int) -> Values:
    """What a function of a library of factories gives: `create(:line_item)` a LineItem."""
    dialect = solver.project.unit(callee).dialect
    how = dialect.factories.get(solver.project.unit(callee).facts.names[solver.project.expression(callee)[1]])
    found: Values = {}
    for key in constants(solver, made.arguments[0][0]) if how and made.arguments else ():
        if isinstance(key, tuple) and key[0] == "text":
            name = solver.project.numbers.get(in_camels(solver.project.text(key[1])), NONE)
            scopes = solver.spaces.binding("", name) if name != NONE else ()
            classes = [value for at in scopes for value in solver.value(("name", at, name)) if value[0] == CLASS]
            found.update({(OBJECT, value[1], True): int(Reason.NAMED) for value in classes})
    return of_these(solver, made, found) if found and how == "many" else found


def _run(solver: Solver, made: MadeCall, held: Values, how: str) -> Values:
    """What `f.call(a)` gives; nothing of what is known where that runs elsewhere or later, `f.delay(a)`."""
    functions = {value: sure for value, sure in held.items() if value[0] in FUNCTIONS}
    if how.startswith("."):  # `A.perform_async(b)`
        for value, sure in [pair for pair in held.items() if pair[0][0] == CLASS]:
            add(functions, member(solver, (OBJECT, *value[1:3]), solver.project.number(how[1:]), sure), Reason.NAMED)
        functions = {value: sure for value, sure in functions.items() if value[0] in FUNCTIONS}
    if how == "runs":
        return called_outside(solver, functions, made)
    reason = Reason.DECORATOR if how == "starts" else Reason.EXTERNAL_BASE
    called_outside(solver, functions, MadeCall(made.node, [], []), reason)
    return {}


def callback(solver: Solver, node: int, expression: Expression) -> Values:
    """CALLBACK: the method of an object of the class around that a text names, `before_action :a`."""
    own = solver.classes.around(solver.child(node, expression[2]))
    if own is None:
        return {}
    found = member(solver, (OBJECT, own, True), solver.project.unit(node).names[expression[1]], Reason.NAMED)
    return {value: min(sure, Reason.NAMED) for value, sure in found.items() if value[0] in FUNCTIONS}


def _evaluated(solver: Solver, made: MadeCall, held: Values) -> Values:
    """What blocks give that run on some objects: `a.instance_eval(&b)`, `a.class_eval { c }`."""
    objects = {value: sure for value, sure in held.items() if value[0] in (OBJECT, CLASS)}
    given: Values = {}
    for cell, _ in made.arguments:
        blocks = {value: sure for value, sure in solver.value(cell).items() if value[0] == FUNCTION}
        for _, scope in blocks if objects else ():
            for value in objects:
                solver.source(("receiver", scope), ("just", value), Reason.FLOW)
        others = [argument for argument in made.arguments if argument[0] != cell]
        add(given, called_outside(solver, blocks, made._replace(arguments=others)))
    return given


def _classes_above(solver: Solver, held: Values) -> Values:
    """The superclasses of classes: of any below one that class as well, `self.class.superclass`."""
    found: Values = {}
    for value, sure in [pair for pair in held.items() if pair[0][0] == CLASS]:
        bases = [at for at, _ in solver.classes.bases.get(value[1], ())]
        above = [at for at in bases if solver.project.scope(at).kind == ScopeKind.CLASS]
        own = [value[1]] if value[2] and solver.classes.below(value[1]) else []
        found.update({(CLASS, at, True): min(sure, Reason.OVERRIDE) for at in above[:1] or own})
    return found


def _classes_below(solver: Solver, made: MadeCall, held: Values, how: str) -> Values:
    """A container of the classes below some: `A.__subclasses__()`, of which code outside may have more."""
    known = solver.classes.below if how == "below" else lambda at: solver.classes.kids.get(at, [])
    below = {at for kind, *of in held if kind == CLASS for at in known(of[0])[:MAX_BELOW]}
    return of_these(solver, made, {(CLASS, at, False): int(Reason.OVERRIDE) for at in sorted(below)}) if below else {}


def _itself(solver: Solver, made: MadeCall, held: Values, how: str) -> Values:
    """What methods of any object give that give it, or a copy, or what a block makes of it: `a.dup`, `a.then { b }`."""
    objects = {value: sure for value, sure in held.items() if value[0] in (OBJECT, CLASS)}
    given: Values = {}
    for value, sure in objects.items() if how != "same" else ():
        taken = MadeCall(made.node, [(("just", value), False)], [])
        for cell, _ in made.arguments:
            add(given, called_outside(solver, solver.value(cell), taken, min(sure, Reason.FLOW)))
    return given if how == "yields" else objects


def _classes_of(solver: Solver, held: Values) -> Values:
    """The classes of objects; of what a module has, which is no object's class, those that include it."""
    found: Values = {}
    for value, sure in [pair for pair in held.items() if pair[0][0] == OBJECT]:
        if solver.project.scope(value[1]).kind != ScopeKind.INTERFACE:
            found[CLASS, value[1], value[2]] = sure
            continue
        below = [at for at in solver.classes.below(value[1]) if solver.project.scope(at).kind == ScopeKind.CLASS]
        classes = [(CLASS, at, True) for at in below[:MAX_UNTYPED]]
        given = [(OBJECT, at, True) for at in solver.classes.mixins.given.get(value[1], ())]  # where none is seen
        add(found, dict.fromkeys(classes or given, min(sure, Reason.OVERRIDE)))
    return found


def _named(solver: Solver, made: MadeCall, held: Values) -> Values:
    """The methods of some values that the first argument of a call names, wholly or by its ends."""
    found: Values = {}
    name = made.arguments[0][0]
    for key in constants(solver, name):
        if isinstance(key, tuple) and key[0] == "text":
            for value, sure in list(held.items()):
                methods = capped(member(solver, value, key[1], sure), Reason.NAMED)
                add(found, {at: own for at, own in methods.items() if at[0] in FUNCTIONS})
    return add(found, made_members(solver, made.node, held, solver.value(name)))
