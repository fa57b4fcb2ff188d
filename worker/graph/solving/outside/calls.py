"""What a call of something outside gives, which hands on what it gets: `map(f, a)`, `Object.assign(a, b)`."""

from collections.abc import Callable

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving import applied_outside, delegates
from fledgling.worker.graph.solving.arguments import MadeCall
from fledgling.worker.graph.solving.expected import hand_types
from fledgling.worker.graph.solving.outside import collecting, objects, running
from fledgling.worker.graph.solving.outside.called_outside import called_outside
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.type_arguments import arguments_of
from fledgling.worker.graph.tables import Op
from fledgling.worker.graph.values import EXTERNAL, OBJECT, Value, Values, capped

CALLABLE_PAIR = 2  # an object or a class, and the name of its method
# What gives something where it gets nothing.
WITHOUT = (
    "words", "unknown", "mapped", "gathered", "collects", "defaults", "defined", "fills", "namespace", "field",
    "described", "context",
)  # fmt: skip


def handing_on(solver: Solver, node: int, full: str) -> str | None:
    """What something outside does with what a call hands over, where that is known."""
    functions = solver.project.unit(node).dialect.functions
    return functions.get(".".join(full.split(".")[-2:])) or functions.get(full.rpartition(".")[2])


def external(solver: Solver, value: Value, made: MadeCall, sure: int) -> Values:
    """What a call of something outside gives, known by its last name."""
    full = value[1]
    library = solver.project.unit(made.node).dialect.library
    is_said = ".".join(full.split(".")[-2:]) in solver.project.unit(made.node).dialect.functions
    if library is not None and not is_said and (given := library.gives(full)):
        return {(EXTERNAL, f"{given}#"): sure}
    if (result := delegates.returned(solver, value)) is not None:
        return capped(result, sure)
    how = handing_on(solver, made.node, full)
    gives = FITTING.get(how or "")
    if gives is None:
        return _handed_on(solver, value, made, sure, how)
    first = made.arguments[0][0] if made.arguments else None
    made_of = gives(solver, made, first, sure)
    return made_of or _handed_on(solver, value, made, sure, None)  # inject(TOKEN)


def _handed_on(solver: Solver, value: Value, made: MadeCall, sure: int, how: str | None) -> Values:
    """What a call gives that does this with what it gets."""
    full = value[1]
    if how is None and solver.project.unit(made.node).dialect.texts_name_classes:
        _run_named(solver, made)
    first = made.arguments[0][0] if made.arguments else None
    if how == "=":  # of the type that is asked: `a shl b`
        of = full.rpartition(".")[0]
        return {(EXTERNAL, of): sure} if of.endswith("#") else {}
    if how is not None and how.startswith("="):
        return {(EXTERNAL, f"{how[1:]}#"): sure}
    if how in ("container", "holds") and not made.arguments:  # list()
        how = "gathered"
    if how is None and value[3:] == (delegates.FIELD,):
        _hand_applied(solver, value[2], made)
    if how is None or (first is None and how not in WITHOUT):
        is_applied = len(value) > 2 and solver.project.unit(value[2]).dialect.gives_applied  # `class A : B<C>`
        return {applied_outside.called(solver, value, made): sure} if is_applied or not full.startswith("?") else {}
    return HANDING_ON[how](solver, made, first, sure)


def _run_named(solver: Solver, made: MadeCall) -> None:
    """Let something outside run the methods that two things in brackets name: `add_action("a", [$this, "b"])`."""
    lists = [cell for cell, _ in made.arguments if type(cell) is int and solver.op(cell) == Op.LIST]
    for cell in lists:
        if len(solver.project.expression(cell)[1]) == CALLABLE_PAIR:
            called_outside(solver, solver.value(cell), MadeCall(made.node, [], []), Reason.NAMED)


def _hand_applied(solver: Solver, type_: int, made: MadeCall) -> None:
    """Let a lambda that a method of something outside gets take the one type of that: `mock.Setup(a => a.b())`.

    Of several, as of a `JpaRepository<A, Long>`, it is the one of the project.
    """
    types = arguments_of(solver, type_)
    if len(types) > 1:
        types = [at for at in types if any(held[0] == OBJECT for held in list(solver.value(("type", at, None))))]
    for cell, _ in made.arguments if len(types) == 1 else ():
        if type(cell) is int and solver.op(cell) == Op.FUNCTION:
            hand_types(solver, solver.child(cell, solver.project.expression(cell)[1]), types)


# What gives nothing of its own where the first argument is something else: `inject("a")`.
FITTING: dict[str, Callable[..., Values]] = {
    "handed": objects.handed,
    "provided": objects.provided,
    "related": objects.related,
    "receiver": objects.receiver,
    "one_of": objects.one_of,
    "many_of": collecting.many_of,
    "many_given": collecting.many_given,
    "loads": running.loads,
}
HANDING_ON: dict[str, Callable[..., Values]] = {
    "defined": objects.defined,
    "unknown": objects.unknown,
    "first": objects.first,
    "either": objects.either,
    "wraps": running.wraps,
    "promised": running.promised,
    "applies": running.applies,
    "assigns": objects.assigns,
    "created": objects.created,
    "succeeds": objects.succeeds,
    "inherits": objects.inherits,
    "second": objects.second,
    "maps": running.maps,
    "reduces": running.reduces,
    "runs": running.runs,
    "folds": running.folds,
    "hooks": running.hooks,
    "handles": running.handles,
    "calls": running.calls,
    "depends": running.depends,
    "spreads": running.spreads,
    "filters": running.filters,
    "sifts": running.sifts,
    "sorts": running.sorts,
    "merged": collecting.merged,
    "pushes": collecting.pushes,
    "container": running.container,
    "keyed": running.keyed,
    "next": running.next_element,
    "numbered": collecting.numbered,
    "zipped": collecting.zipped,
    "attribute": objects.attribute,
    "class": objects.class_of,
    "repository": objects.repository,
    "instance": objects.made_by_new,
    "replaces": running.replaces,
    "namespace": collecting.namespace,
    "field": objects.given_to_objects,
    "described": objects.described,
    "words": collecting.words,
    "context": collecting.context,
    "of_context": collecting.of_context,
    "proxied": objects.proxied,
    "fills": collecting.fills,
    "mapped": collecting.mapped,
    "gathered": collecting.gathered,
    "collects": collecting.collects,
    "valued": collecting.valued,
    "paired": collecting.paired,
    "object": objects.made_object,
    "holds": collecting.holds,
    "holds_each": collecting.holds_each,
    "defaults": collecting.defaults,
}
