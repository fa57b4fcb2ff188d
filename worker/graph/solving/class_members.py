"""Which class has a member that an object is asked for, and which classes below have another."""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.bound_members import hides
from fledgling.worker.graph.solving.overrides import may_override
from fledgling.worker.graph.solving.records import in_place_of
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Flag, Op, ScopeKind
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import CLASS, Cell, Place, Value

MAX_OVERLOADS = 16  # of one name in a class, of which each is compared with those above; with more, any may override
MAX_OVERRIDING = 1  # likely of what has no body, where types are declared: all that may run; of more, each is possible
MAX_UNTYPED = 32  # elsewhere: of what a test-suite runs, as many of those are seen as of what is passed as an argument


def by_classes(solver: Solver, value: Value, name: int) -> tuple[list[Place], list[Cell], int]:
    """What classes say of a member: its places, the fields it may be, how many places are in the class or above."""
    classes = solver.classes
    scope = asked_of(solver, value[1], name)
    is_open = value[2] or scope != value[1]
    interface = scope if solver.project.scope(scope).kind == ScopeKind.INTERFACE else None
    owner = _owner(solver, scope, name, interface)
    lacks = owner is None and _may_be_below(solver, scope, name)
    below = classes.below(scope) if is_open or lacks else []  # beside it, too
    holding = [_owner(solver, at, name, interface) for at in below]
    over = [at for at in dict.fromkeys(holding) if at not in (None, owner) and _overrides(solver, at, owner, name)]
    handed = handed_on(solver, scope, owner, name) if owner is not None else []
    over += [at for at in handed if at not in over]
    over += [at for at in _in_extending(solver, scope, name) if at not in (owner, *over)]
    mixed_in = classes.computed_mixins.over(scope, name, owner, below, by_class=False)
    fields: list[Cell] = []
    if name in solver.project.vocabulary.written:
        fields = [("field", at, name) for at in classes.order(scope)]
        if owner is None:
            fields += [("field", at, name) for at in below]
    found: list[Place] = []
    if owner is not None:
        own = int(Reason.BOUND)
        if over or mixed_in or (is_open and classes.has_more_below(scope)):
            own = min(own, Reason.OVERRIDDEN)
            if is_abstract_member(solver, owner, name):
                own = min(own, Reason.ABSTRACT_ELSEWHERE)
        elif is_open and solver.project.is_partial:
            own = min(own, Reason.OVERRIDDEN)
        elif is_abstract_member(solver, owner, name):
            own = min(own, Reason.ABSTRACT)
        if (
            scope in classes.extensions.of_outside
            and solver.project.text(name) in solver.project.unit(scope).dialect.common
        ):
            own = min(own, Reason.EXTERNAL_BASE)
        is_hidden = _may_be_handed_on_outside(solver, scope, owner, name)
        if is_hidden or classes.of_class(scope, name)[1] or _is_said_of_outside(solver, scope, owner):
            own = min(own, Reason.EXTERNAL_BASE)
        most, instead = classes.instead(scope, name, owner)
        own = min(own, most)
        beside = _of_traits_above(solver, owner, name) if owner == scope else []
        beside += in_place_of(solver, owner, name)[1]
        own = min(own, Reason.OVERLOAD) if beside else own
        found.append((("name", owner, name), own, owner))
        found += [(("name", at, name), min(own, Reason.OVERLOAD), at) for at in beside]
        found += [(("name", at, name), own, at) for at in instead]
    reason = of_many(solver, scope, over, runs=owner is not None and has_body(solver, owner, name))
    reason = min(reason, Reason.SEVERAL) if lacks and not is_open else reason
    surely: set[int | None] = {*over} if scope in classes.mixins.classes else {*handed}
    surely |= {of for of, at in zip(holding, below, strict=True) if (scope, at) not in classes.implemented.doubted}
    found += [(("name", at, name), reason if at in surely else Reason.METHODS_OUTSIDE, at) for at in over]
    found += [(("name", at, name), of_many(solver, scope, mixed_in), at) for at in mixed_in if at not in over]
    return found, fields, int(owner is not None)


def handed_on(solver: Solver, scope: int, owner: int, name: int) -> list[int]:
    """The classes of whose objects one runs what a class of Kotlin has of an interface: `class A : B by c`."""
    classes, handing = solver.classes, _handing(solver, scope, owner)
    if handing is None:
        return []
    above = [owner]
    if solver.project.scope(owner).kind != ScopeKind.INTERFACE:  # class A : D(), B by c: what c has hides what D has
        above = [at for at in classes.order(handing) if _is_interface_with(solver, at, name)]
    beside = dict.fromkeys(of for at in above for of in (at, *classes.below(at)))
    holding = dict.fromkeys(_owner(solver, at, name, None) for at in beside)
    return [at for at in holding if at not in (None, owner) and has_body(solver, at, name)]


def _handing(solver: Solver, scope: int, owner: int) -> int | None:
    """The class below the one that has a member, in the order of a class, that hands on what it has of an interface."""
    if not solver.project.unit(scope).dialect.says_derived:
        return None
    order = solver.classes.order(scope)
    below = order[: order.index(owner)]
    return next((at for at in below if solver.project.scope(at).flags & Flag.HANDS_ON), None)


def _may_be_handed_on_outside(solver: Solver, scope: int, owner: int, name: int) -> bool:
    """Whether an interface outside, which a class hands on, may have what a class above it overrides."""
    handing = _handing(solver, scope, owner)
    if handing is None or handing not in solver.classes.has_external_base:
        return False
    return any(solver.project.scope(at).flags & Flag.OVERRIDES for at in _functions(solver, owner, name))


def _is_interface_with(solver: Solver, scope: int, name: int) -> bool:
    return solver.project.scope(scope).kind == ScopeKind.INTERFACE and solver.classes.has(scope, name)


def _is_said_of_outside(solver: Solver, scope: int, owner: int) -> bool:
    """Whether an interface of TypeScript only says what a class may have from outside: `extends Out implements B`."""
    project = solver.project
    kinds = project.scope(owner).kind, project.scope(scope).kind
    is_said = project.unit(scope).dialect.prototypes and kinds == (ScopeKind.INTERFACE, ScopeKind.CLASS)
    return is_said and scope in solver.classes.has_external_base


def _may_be_below(solver: Solver, scope: int, name: int) -> bool:
    """Whether what is seen to be of a class that lacks a member may be of one below, where no type is declared."""
    return solver.project.unit(scope).dialect.receiver_parameter and not solver.project.text(name).startswith("__")


def _in_extending(solver: Solver, scope: int, name: int) -> list[int]:
    """The classes and modules from which those have a method themselves that extend themselves by a module of Ruby."""
    classes = solver.classes
    extending = [at for of in classes.mixins.classes.get(scope, ())[:MAX_UNTYPED] for at in (of, *classes.below(of))]
    return [*dict.fromkeys(owner for at in dict.fromkeys(extending) for owner in classes.mixins.of_itself(at, name)[0])]


def of_many(solver: Solver, scope: int, over: list[int], *, runs: bool = False) -> int:
    """How sure each of some overrides is of a member of a class, which has a body of its own where that `runs`."""
    is_typed = solver.project.unit(scope).dialect.typed
    if is_typed and runs:
        return Reason.MAY_OVERRIDE
    most = MAX_OVERRIDING if is_typed else MAX_UNTYPED
    return Reason.OVERRIDE if len(over) <= most else Reason.MANY_IMPLEMENTATIONS


def _overrides(solver: Solver, scope: int, owner: int | None, name: int) -> bool:
    """Whether what a class has of a name may be in the place of what one above it has; a field may.

    What is of a struct of Go is never of one that embeds it.
    """
    is_of_struct = owner is not None and solver.project.unit(owner).dialect.structural
    if owner is not None and is_of_struct and solver.project.scope(owner).kind != ScopeKind.INTERFACE:
        return False
    functions = [_functions(solver, at, name) for at in (scope, owner) if at is not None]
    if owner is not None and not functions[-1] and _hides_fields(solver, owner):
        return False
    if is_of_struct and not functions[0]:  # a field hides the method of what is embedded beside it
        return False
    if owner is not None and not functions[0] and _only_takes(solver, scope, name):
        return False
    if len(functions) < 2 or not all(0 < len(each) <= MAX_OVERLOADS for each in functions):
        return True
    return any(may_override(solver, own, above) for own in functions[0] for above in functions[1])


def _hides_fields(solver: Solver, owner: int) -> bool:
    """Whether a field of a class, and of no interface, is another one than what has its name below."""
    return solver.project.unit(owner).dialect.hides_fields and solver.project.scope(owner).kind == ScopeKind.CLASS


def _only_takes(solver: Solver, scope: int, name: int) -> bool:
    """Whether a class of C++ has a name only by taking it from one above: `using A::a;`."""
    bindings = solver.project.table(scope).get(name, ()) if solver.project.unit(scope).dialect.says_virtual else ()
    return bool(bindings) and all(solver.op(solver.project.value_of(at)) == Op.ALIAS for at in bindings)


def taken_as(solver: Solver, function: int) -> int:
    """How a function of Rust takes the object that it is called on: `self`, `&self` or `&mut self`; 0 for none."""
    return solver.project.scope(function).flags & (Flag.BORROWS | Flag.MUTATES | Flag.CONSUMES)


def _of_traits_above(solver: Solver, scope: int, name: int) -> list[int]:
    """The traits of a class of Rust whose own method of a name takes the object otherwise than the class's does."""
    if not solver.project.unit(scope).dialect.crates or not solver.classes.bases.get(scope):
        return []
    having = [at for at in solver.classes.order(scope)[1:] if solver.classes.has(at, name)]
    own = _functions(solver, scope, name) if having else []
    if any(solver.project.scope(solver.project.outer(at)).bases for at in own):  # it says what the trait's does
        return []
    taking = {taken_as(solver, at) for at in own}
    return [
        at
        for at in having
        if own and any(taken_as(solver, each) not in taking for each in _functions(solver, at, name))
    ]


def _functions(solver: Solver, scope: int, name: int) -> list[int]:
    """The functions of a name in a class, none where it has anything else of that name."""
    found = solver.functions.get((scope, name))
    if found is None:
        found = [solver.project.defined(at)[1] for at in solver.project.table(scope).get(name, ())]
        found = found if min(found, default=NONE) >= 0 else []
        if solver.classes.is_settled:
            solver.functions[scope, name] = found
    return found


def _owner(solver: Solver, scope: int, name: int, interface: int | None) -> int | None:
    """The class that has a member, in the order of one; what an interface alone shows only where that is asked."""
    field = solver.classes.with_field(scope, name)
    owner = field if field is not None else solver.classes.of_class(scope, name)[0]
    if owner is not None and solver.project.unit(owner).dialect.selects == "nearest":
        owner = in_place_of(solver, owner, name)[0]
    while owner is not None and _is_explicit(solver, owner, name, interface):
        owner, _ = solver.classes.of_class(scope, name, owner)
    return owner


def _is_explicit(solver: Solver, scope: int, name: int, interface: int | None) -> bool:
    """Whether a class has a member for interfaces alone, none of which is asked."""
    functions = _functions(solver, scope, name)
    return bool(functions) and all(hides(solver, function, interface) for function in functions)


def asked_of(solver: Solver, scope: int, name: int) -> int:
    """The class that a member is asked of: an interface that a struct embeds, which may hold anything that has it."""
    project = solver.project
    if not project.unit(scope).dialect.structural or project.scope(scope).kind == ScopeKind.INTERFACE:
        return scope
    owner, _ = solver.classes.of_class(scope, name)
    return scope if owner is None or project.scope(owner).kind != ScopeKind.INTERFACE else owner


def over_in_class(solver: Solver, value: Value, name: int, owner: int) -> list[int]:
    """The classes below one with another member, where it is asked for of any of them: `def self.a; b; end`."""
    if not value[2]:
        return []
    classes, project = solver.classes, solver.project
    below = classes.below(value[1])
    if project.unit(owner).dialect.bare_calls:
        holding: list[int | None] = [owner for at in below for owner in classes.mixins.of_itself(at, name)[0]]
    else:
        holding = [classes.of_class(at, name)[0] for at in below]
    return [at for at in dict.fromkeys(holding) if at not in (None, owner)]


def mixed_in_class(solver: Solver, value: Value, name: int, owner: int | None) -> list[int]:
    """The modules by which a class of Ruby, or one below, may have extended itself that come before what it has."""
    below = solver.classes.below(value[1]) if value[2] else []
    return solver.classes.computed_mixins.over(value[1], name, owner, below, by_class=True)


def is_of_implementing(solver: Solver, scope: int, owner: int, name: int) -> bool:
    """Whether a path through a trait, `A::b(c)`, means the function of what implements it, whichever c is."""
    is_trait = solver.project.scope(scope).kind == ScopeKind.INTERFACE and solver.project.unit(scope).dialect.crates
    return is_trait and bool(_functions(solver, owner, name))


def put_over(solver: Solver, scope: int, name: int) -> int:
    """How sure a member is what is put over it in an object, which is that object's alone where types are declared."""
    is_declared = solver.project.unit(scope).dialect.typed and bool(_functions(solver, scope, name))
    return Reason.MAY_BE_PUT_OVER if is_declared else Reason.ATTRIBUTE


def has_it_from_outside(solver: Solver, scope: int) -> bool:
    """Whether a class or interface of TypeScript has what it gets and does not declare from outside."""
    dialect = solver.project.unit(scope).dialect
    return dialect.typed and dialect.prototypes and scope in solver.classes.has_external_base


def has_body(solver: Solver, owner: int, name: int) -> bool:
    """Whether what a class says of a member may run itself: a property of an interface has none that does."""
    if solver.project.scope(owner).kind != ScopeKind.INTERFACE:
        return not is_abstract_member(solver, owner, name)
    functions = _functions(solver, owner, name)
    return any(not solver.project.scope(at).flags & (Flag.ABSTRACT | Flag.PROPERTY) for at in functions)


def is_abstract_member(solver: Solver, owner: int, name: int) -> bool:
    """Whether what a class says of a member is a declaration only."""
    project = solver.project
    for binding in project.table(owner).get(name, ()):
        expression = project.expression(project.value_of(binding))
        if expression[0] == Op.DECORATED:
            expression = project.expression((binding & ~MASK) | expression[1])
        if expression[0] == Op.FUNCTION and solver.classes.is_abstract((binding & ~MASK) | expression[1]):
            return True
    return False


def as_annotation(solver: Solver, scope: int) -> int:
    """How sure it is that a class is an attribute of C#, which has one above it, `Attribute`: a Reason, or 0."""
    project = solver.project
    parts = [part for above in solver.classes.order(scope) for part in solver.classes.parts(above)]
    bases = [(part & ~MASK) | base for part in parts for base in project.scope(part).bases]
    outside = [base for base in bases if all(value[0] != CLASS for value in solver.value(base))]
    if any(project.last_name(base).endswith(project.unit(scope).dialect.attribute_ends) for base in outside):
        return Reason.BOUND
    return Reason.EXTERNAL_BASE if outside else 0
