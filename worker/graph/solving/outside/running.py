"""What something outside gives that runs the functions it gets: `map(f, a)`, `Reflect.apply(f, a, b)`."""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.arguments import MadeCall
from fledgling.worker.graph.solving.containers import called_member, iterated
from fledgling.worker.graph.solving.member_places import places
from fledgling.worker.graph.solving.members import member
from fledgling.worker.graph.solving.outside.called_outside import called_outside
from fledgling.worker.graph.solving.outside.collecting import iterable, of_these
from fledgling.worker.graph.solving.receivers import method_of_function
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.values import BUILTIN, EXTERNAL, GENERATOR, OBJECT, Cell, Values, add, capped


def wraps(solver: Solver, _made: MadeCall, first: Cell, sure: int) -> Values:
    """useCallback(a): what runs a, among other things."""
    return capped(solver.value(first), min(sure, Reason.DECORATOR))


def loads(solver: Solver, made: MadeCall, first: Cell | None, sure: int) -> Values:
    """lazy(() => import("a")): what runs the default export of the module that the function gives."""
    found: Values = {}
    held = {} if first is None else solver.value(first)
    given = called_outside(solver, held, MadeCall(made.node, [], []))
    for value, own in list(given.items()):
        for cell, reason, _ in places(solver, value, solver.project.number("default"), own):
            add(found, solver.value(cell), min(sure, reason, Reason.DECORATOR))
    return found


def promised(solver: Solver, _made: MadeCall, first: Cell, sure: int) -> Values:
    """Promise.resolve(a): something outside, which `await` makes a."""
    return add({(EXTERNAL, "Promise#"): sure}, solver.value(first), min(sure, Reason.CONTAINER))


def applies(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
    """Reflect.apply(a, b, c)"""
    found: Values = {}
    apply = solver.project.number("apply")
    for value, own in list(solver.value(first).items()):
        for held, reason in method_of_function(solver, value, apply, min(own, sure)).items():
            add(found, solver.invoke(solver, held, MadeCall(made.node, made.arguments[1:], []), reason))
    return found


def maps(solver: Solver, made: MadeCall, _first: Cell, _sure: int) -> Values:
    """map(f, a)"""
    elements: list[tuple[Cell, bool]] = [(("elements of", cell), False) for cell, _ in made.arguments[1:]]
    given: Values = {}
    for cell, _ in made.arguments:
        add(given, called_outside(solver, solver.value(cell), MadeCall(made.node, elements, [])))
    return of_these(solver, made, given)


def reduces(solver: Solver, made: MadeCall, first: Cell, _sure: int) -> Values:
    """reduce(f, a, b): b or an element of a, or what f gives, which gets that and an element."""
    found: Values = {}
    cells: list[Cell] = [("elements of", cell) for cell, _ in made.arguments[1:2]]
    for cell in (*cells, *(cell for cell, _ in made.arguments[2:3])):
        add(found, solver.value(cell), Reason.SEVERAL)
    before = ("these", made.node)
    given = MadeCall(made.node, [(cell, False) for cell in (before, *cells)], [])
    add(found, called_outside(solver, solver.value(first), given))
    solver.grow(before, found)
    return found


def folds(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
    """array_reduce(a, f, b)"""
    function, *others = made.arguments[1:] or made.arguments
    return reduces(solver, made._replace(arguments=[function, (first, False), *others]), function[0], sure)


def hooks(solver: Solver, made: MadeCall, _first: Cell, _sure: int) -> Values:
    """add_action("a", f): f runs some time later."""
    for cell, _ in made.arguments[1:2]:
        called_outside(solver, solver.value(cell), MadeCall(made.node, [], []), Reason.NAMED)
    return {}


def handles(solver: Solver, made: MadeCall, first: Cell, _sure: int) -> Values:
    """dispatch(a): what handles a, a method of it, runs some time later."""
    for value, sure in list(solver.value(first).items()):
        held = member(solver, value, solver.project.number("handle"), sure) if value[0] == OBJECT else {}
        called_outside(solver, held, MadeCall(made.node, [], []), Reason.EXTERNAL_BASE)
    return {}


def calls(solver: Solver, made: MadeCall, first: Cell, _sure: int) -> Values:
    """call_user_func(f, a)"""
    return called_outside(solver, solver.value(first), made._replace(arguments=made.arguments[1:]))


def depends(solver: Solver, made: MadeCall, first: Cell, _sure: int) -> Values:
    """Depends(f): what f returns or, where it yields, the first of that."""
    found: Values = {}
    for value, sure in called_outside(solver, solver.value(first), MadeCall(made.node, [], [])).items():
        is_generator = value[0] == GENERATOR
        add(found, solver.value(("yielded", value[1])) if is_generator else {value: sure}, min(sure, Reason.FLOW))
    return capped(found, Reason.FLOW)


def spreads(solver: Solver, made: MadeCall, first: Cell, _sure: int) -> Values:
    """call_user_func_array(f, a)"""
    spread = [(cell, True) for cell, _ in made.arguments[1:2]]
    return called_outside(solver, solver.value(first), made._replace(arguments=spread))


def runs(solver: Solver, made: MadeCall, _first: Cell, _sure: int) -> Values:
    """Lazy { a }: what the function gives that is the last argument."""
    return called_outside(solver, solver.value(made.arguments[-1][0]), MadeCall(made.node, [], []))


def filters(solver: Solver, made: MadeCall, first: Cell, _sure: int) -> Values:
    """filter(f, a)"""
    elements: list[tuple[Cell, bool]] = [(("elements of", cell), False) for cell, _ in made.arguments[1:]]
    called_outside(solver, solver.value(first), MadeCall(made.node, elements, []))
    return iterable(solver, made, made.arguments[1][0]) if len(made.arguments) > 1 else {}


def sifts(solver: Solver, made: MadeCall, first: Cell, _sure: int, takes: int = 1) -> Values:
    """array_filter(a, f)"""
    elements: list[tuple[Cell, bool]] = [(("elements of", first), False)] * takes
    for cell, _ in made.arguments[1:]:
        called_outside(solver, solver.value(cell), MadeCall(made.node, elements, []))
    return iterable(solver, made, first)


def sorts(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
    """usort(a, f)"""
    return sifts(solver, made, first, sure, 2)


def keyed(solver: Solver, made: MadeCall, first: Cell, _sure: int) -> Values:
    """max(a, key=f, default=b): an element, or b; or of several arguments one."""
    found: Values = {}
    for word, cell in made.words:
        if word == solver.project.number("default"):
            add(found, solver.value(cell), Reason.SEVERAL)
        else:
            called_outside(solver, solver.value(cell), MadeCall(made.node, [(("elements of", first), False)], []))
    if len(made.arguments) == 1:
        return add(found, iterated(solver, solver.value(first)))
    for cell, spread in made.arguments:
        add(found, solver.value(("elements of", cell) if spread else cell), Reason.SEVERAL)
    return found


def next_element(solver: Solver, _made: MadeCall, first: Cell, _sure: int) -> Values:
    """next(a): an element, or what `__next__` of a gives."""
    found: Values = {}
    for value, sure in list(solver.value(first).items()):
        if value[0] == OBJECT:
            add(found, called_member(solver, value, "__next__", sure))
        else:
            add(found, iterated(solver, {value: sure}))
    return found


def replaces(solver: Solver, made: MadeCall, _first: Cell, sure: int) -> Values:
    """re.sub(a, f, b), re.compile(a).sub(f, b): a text, of what f gives"""
    for cell, _ in made.arguments[:2]:
        called_outside(solver, solver.value(cell), MadeCall(made.node, [], []))
    return {(EXTERNAL, f"{BUILTIN}str#"): sure}


def container(solver: Solver, made: MadeCall, first: Cell, _sure: int) -> Values:
    """sorted(a, key=f)"""
    keyed(solver, made, first, _sure)
    return iterable(solver, made, first)
