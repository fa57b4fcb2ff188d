"""What `a.b` is: the member b of everything that a may be."""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving import applied_outside, extension_members
from fledgling.worker.graph.solving.bound_members import bound_to, read_by_base, returned
from fledgling.worker.graph.solving.enumerations import constant
from fledgling.worker.graph.solving.globs import OUTSIDE, says
from fledgling.worker.graph.solving.member_places import _modules_of_crates, places
from fledgling.worker.graph.solving.prototypes import OWN_CLASS, prototype_of
from fledgling.worker.graph.solving.receivers import method_of_function
from fledgling.worker.graph.solving.solver import MAX_KEYS, Solver
from fledgling.worker.graph.solving.type_arguments import (
    associated,
    generic_field,
    in_applied,
    items_of,
    names_in_generic,
    with_base,
)
from fledgling.worker.graph.tables import NONE, Flag, Op
from fledgling.worker.graph.values import (
    BOUND,
    BUILTIN,
    CLASS,
    CONSTANT,
    CONTAINER,
    DESCRIPTOR,
    EXTERNAL,
    FUNCTION,
    GENERATOR,
    MANY,
    METHOD_OF,
    MODULE,
    NAMESPACE,
    OBJECT,
    SHARED,
    SPACE,
    SUPER,
    Cell,
    Place,
    Value,
    Values,
    add,
    capped,
)

NEW = "__new__"  # what any class of Python has that makes an object


TAKEN_ANEW = frozenset([FUNCTION, OBJECT, DESCRIPTOR])  # what may become something else where it is a member


def member(solver: Solver, value: Value, name: int, sure: int) -> Values:
    """What a member of a value may stand for. Whoever asks for that of a class or object asks one cell."""
    if prototype := prototype_of(solver, value, name, sure):
        return prototype
    if value[0] in SHARED:
        held = solver.value(("member", value, name))
        return held if sure >= Reason.BOUND else capped(held, sure)
    return _member(solver, value, name, sure)


def member_cell(solver: Solver, cell: Cell) -> Values:
    """("member", value, name)"""
    applied = of_applied(solver, cell[1], cell[2]) if cell[1][0] == OBJECT else {}
    return applied or _member(solver, cell[1], cell[2], Reason.BOUND)


def _member(solver: Solver, value: Value, name: int, sure: int) -> Values:
    kind = value[0]
    if kind == EXTERNAL:
        return _of_outside(solver, value, name, sure)
    if kind == GENERATOR or (kind == CONTAINER and not solver.has_key(value, ("text", name))):
        return _of_container(solver, value, name, sure)
    if kind in (FUNCTION, BOUND) and (of_function := _of_function(solver, value, name, sure)):
        return of_function
    found = constant(solver, value, name, sure)
    for cell, reason, owner in [] if found else places(solver, value, name, sure):
        if cell[0] == "module":
            found[MODULE, cell[1]] = reason
            continue
        _add_taken(solver, found, value, (cell, reason, owner))
    if kind == CLASS and (of_class := _of_class(solver, value, name, sure, found)):
        return of_class
    if kind == SPACE and not found and not _is_of_project(solver, value, name):
        return {(EXTERNAL, f"{value[1]}.{solver.project.text(name)}"[:200]): sure}
    if kind == CONSTANT:
        return extension_members.of_outside(solver, value, name)
    return found or _otherwise(solver, value, name, sure)


def _of_function(solver: Solver, value: Value, name: int, sure: int) -> Values:
    """What a function has itself, `a.apply(b)` of a lambda; of PHP, what that gives which it is read as."""
    dialect, text = solver.project.unit(value[1]).dialect, solver.project.text(name)
    if text in dialect.invoking:  # `a.Invoke(b)` is `a(b)`; in Java an object may have an `apply` of its own
        return {value: sure if text == dialect.called_by else min(sure, Reason.OVERRIDES_OUTSIDE)}
    held = read_by_base(solver, value) if value[0] == BOUND else {}
    return _of_read(solver, held, name) if held else {}


def _of_class(solver: Solver, value: Value, name: int, sure: int, found: Values) -> Values:
    """What makes objects of a class, `A.new`, or holds all of them, `A.objects`, beside what is found of that name."""
    if _holds_own(solver, value, name, found):
        return add(_objects_of(solver, value[1]), found)
    return {value: sure} if not found and _makes(solver, value, name) else {}


def _of_read(solver: Solver, held: Values, name: int) -> Values:
    """A member of what a property of a model gives: of one object, `$post->author`, or of all, `$post->comments`."""
    found: Values = {}
    for value, sure in held.items():
        for of in solver.elements(value):
            if of[0] == OBJECT and solver.classes.of_class(of[1], name)[0] is not None:
                add(found, member(solver, of, name, sure))
        add(found, _of_container(solver, value, name, sure))
    return found


def _of_outside(solver: Solver, value: Value, name: int, sure: int) -> Values:
    """What a member of something outside may be: what extends that, what the project adds to `window`."""
    found = extension_members.of_outside(solver, value, name)
    for place in [] if found else places(solver, value, name, sure):
        _add_taken(solver, found, value, place)
    return found or (applied_outside.member_of(solver, value, name, sure) if len(value[1]) < 200 else {})


def _add_taken(solver: Solver, found: Values, value: Value, place: Place) -> None:
    """Add to what is found what a place holds, as that is where it is taken from a value."""
    cell, reason, owner = place
    for held, own in list(in_applied(solver, cell, value).items()):
        sure = min(own, reason)
        if held[0] in TAKEN_ANEW:
            add(found, bound_to(solver, value, held, sure, owner))
        elif found.get(held, 0) < sure:
            found[held] = sure


def of_applied(solver: Solver, value: Value, name: int) -> Values:
    """What a field is whose type depends on what the class of an object is applied to: `b: T[]` of an `A<B>`."""
    if name not in names_in_generic(solver):
        return {}
    owner, _ = solver.classes.of_class(value[1], name)
    type_ = NONE if owner is None else generic_field(solver, owner, name)
    found = {} if type_ == NONE else solver.value(("type", type_, with_base(solver, value)))
    return dict(found) if any(held[0] in (OBJECT, CONTAINER) for held in found) else {}


def _otherwise(solver: Solver, value: Value, name: int, sure: int) -> Values:
    """What a member of a value is that nothing declares."""
    if value[0] in (CLASS, OBJECT) and _names_class(solver, value, name):
        return {(CLASS, value[1], value[2]): min(sure, Reason.NAMED)}
    if value[0] == OBJECT and solver.project.text(name) == OWN_CLASS:
        return {(CLASS, value[1], value[2]): min(sure, Reason.SEVERAL)}
    if value[0] in (CLASS, OBJECT) and (given := _given(solver, value, name, sure)):
        return given
    if value[0] in (OBJECT, MODULE) and (promised := _of_promise(solver, value, name, sure)):
        return promised
    return method_of_function(solver, value, name, sure) or _elsewhere(solver, value, name)


def led_to(solver: Solver, value: Value, name: int) -> Values:
    """What is asked for a member of Rust that a value lacks: what is behind an object, or in a container."""
    if value[0] == OBJECT and (behind := solver.project.unit(value[1]).dialect.behind):
        return {held: at for cell in associated(solver, value, behind) for held, at in solver.value(cell).items()}
    return _in_container(solver, value, name) if value[0] == CONTAINER and type(value[1]) is int else {}


def _of_promise(solver: Solver, value: Value, name: int, sure: int) -> Values:
    """A method of what will give an object or module that has none of its name: `import("a").then(f)`."""
    unit = solver.project.units[value[1]] if value[0] == MODULE else solver.project.unit(value[1])
    if solver.project.text(name) not in unit.dialect.of_promises:
        return {}
    promise: Value = (CONTAINER, ("promise", value))
    solver.key(promise, "*", ("just", value))
    return {(METHOD_OF, promise, name): min(sure, Reason.CONTAINER)}


def _given(solver: Solver, value: Value, name: int, sure: int) -> Values:
    """What a class has that it does not define: what any type may have, what is behind its objects, what it derives."""
    dialect = solver.project.unit(value[1]).dialect
    found = extension_members.of_any(solver, value, name, sure)
    cells = associated(solver, value, dialect.behind)
    for cell in cells:
        for held, own in list(solver.value(cell).items()):
            add(found, member(solver, held, name, min(sure, own)), Reason.EXTERNAL_BASE)
    type_ = solver.classes.extensions.for_outside.get(value[1]) if dialect.behind and not found else None
    for held, own in [] if type_ is None else list(solver.value(("type", type_, None)).items()):
        if held[0] in (OBJECT, CONTAINER):  # self of `impl A for Arc<B>`
            add(found, member(solver, held, name, min(sure, own)), Reason.EXTERNAL_BASE)
    if not found and solver.project.text(name) in dialect.methods and value[0] == OBJECT:
        items = items_of(solver, value)
        found = {(METHOD_OF, items, name): min(sure, Reason.EXTERNAL_BASE)} if items else {}
    if _is_derived(solver, value[1], name) and (found or not cells):
        derived: Value = (METHOD_OF, (OBJECT, value[1], value[0] == OBJECT and value[2]), name)
        found[derived] = min(sure, Reason.SEVERAL) if found else sure
    return found


def _is_derived(solver: Solver, scope: int, name: int) -> bool:
    """Whether a class has a member that gives an object of it, which is not written out: `copy` of a `data class`."""
    dialect = solver.project.unit(scope).dialect
    is_said = not dialect.says_derived or solver.project.scope(scope).flags & Flag.DERIVES
    return bool(is_said) and solver.project.text(name) in dialect.derived


def _of_container(solver: Solver, value: Value, name: int, sure: int) -> Values:
    """What a container has that is no key of it: a method, or a field of a tuple by its number, `Item1`."""
    if type(value[1]) is tuple and value[1][0] == NAMESPACE:
        return {}
    first = solver.project.unit(value[1]).dialect.first_of_tuple if type(value[1]) is int else ""
    number = solver.project.text(name).removeprefix(first[:-1])
    is_field = bool(first) and number.isdecimal() and len(number) < 3
    place = ("number", int(number) - int(first[-1])) if is_field else None
    if place and place in solver.known_keys(value):
        return capped(solver.value(("element", value, place)), min(sure, Reason.CONTAINER))
    if type(value[1]) is int and (held := _behind_any_key(solver, value)):
        return capped(held, sure)
    if len(solver.known_keys(value)) >= MAX_KEYS:
        return {MANY: Reason.FLOW}
    if scoped := _of_related(solver, value, name):
        return scoped
    extending = extension_members.of_outside(solver, value, name)
    held = _of_held(solver, value, name) if type(value[1]) is int and not extending else {}
    return held or {(METHOD_OF, value, name): min(sure, Reason.EXTENSION) if extending else sure, **extending}


def _of_related(solver: Solver, value: Value, name: int) -> Values:
    """What the class of the objects in a container of Ruby has itself, handed on by one outside: `a.posts.recent`."""
    found: Values = {}
    for held, sure in solver.elements(value).items() if name in solver.classes.names_of_methods else ():
        if held[0] == OBJECT and held[1] in solver.classes.has_external_base:
            own = member(solver, (CLASS, *held[1:3]), name, sure).items()
            of_itself = {method: at for method, at in own if method[0] == BOUND and method[2][0] == CLASS}
            add(found, of_itself, Reason.EXTERNAL_BASE)
    return found


def _of_held(solver: Solver, value: Value, name: int) -> Values:
    """What an object in a container of Rust has that no container does: `a.get().b()`, of a `Cell<A>`."""
    found = dict[Value, int]()
    for held in _in_container(solver, value, name):
        add(found, member(solver, held, name, Reason.CONTAINER))
    return found


def _in_container(solver: Solver, value: Value, name: int) -> Values:
    """The objects in a container of Rust that have a member which no container does."""
    dialect, text = solver.project.unit(value[1]).dialect, solver.project.text(name)
    if not dialect.crates or text in dialect.derived or dialect.methods.get(text) == "element":
        return {}
    if (text in dialect.methods or text in dialect.common) and not _lends(solver, value):
        return {}
    objects = [held for held in solver.elements(value) if held[0] == OBJECT]
    return {at: Reason.CONTAINER for at in objects if solver.classes.of_class(at[1], name)[0] is not None}


def _lends(solver: Solver, value: Value) -> bool:
    """Whether a container is one of Rust that has what the object in it has, by `Deref`: `web::Data<A>`."""
    op, *parts = solver.project.expression(value[1])
    lends = solver.project.unit(value[1]).dialect.lends
    return bool(lends) and op == Op.INDEX and solver.project.last_name(solver.child(value[1], parts[0])) in lends


def _behind_any_key(solver: Solver, value: Value) -> Values:
    """What a member is of what is declared to hold the same behind each key: `a.b`, of a `Record<string, C>`."""
    op, *parts = solver.project.expression(value[1])
    if op != Op.INDEX or not solver.keyed_members(value):
        return {}
    of = solver.child(value[1], parts[0])
    is_keyed = solver.project.unit(of).dialect.types.get(solver.project.last_name(of)) == "keyed"
    return dict(solver.value(("element", value, "*"))) if is_keyed else {}


def _is_of_project(solver: Solver, value: Value, name: int) -> bool:
    """Whether what a module of Rust is not seen to have is none of those that it takes from outside."""
    scopes = _modules_of_crates(solver, value)
    return bool(scopes) and not says(solver, OUTSIDE, scopes, name)


def _makes(solver: Solver, value: Value, name: int) -> bool:
    """Whether a member of a class is what makes its objects: `A.new`."""
    return solver.project.unit(value[1]).dialect.bare_calls and solver.project.text(name) == "new"


def _names_class(solver: Solver, value: Value, name: int) -> bool:
    """Whether a member of a class or object of PHP is its name, which stands for it: `A::class`."""
    return solver.project.unit(value[1]).dialect.texts_name_classes and solver.project.text(name) == "class"


def _of_other_side(solver: Solver, value: Value, name: int) -> Values:
    """What an object has by the relations of other classes to its own: `a.b_set`."""
    found: Values = {}
    for scope, call, is_single in solver.classes.related_names.relations.get(name, ()):
        objects = list(solver.value(call))
        objects += [of for each in objects if each[0] == CONTAINER for of in solver.elements(each)]
        if any(of[0] == OBJECT and of[1] in solver.classes.order(value[1]) for of in objects):
            found.update({(OBJECT, scope, True): int(Reason.NAMED)} if is_single else _objects_of(solver, scope))
    return found


def _holds_own(solver: Solver, value: Value, name: int, found: Values) -> bool:
    """Whether a member of a class holds its objects, since a class outside says so: `A.objects`."""
    if solver.project.text(name) not in solver.project.unit(value[1]).dialect.holding_own:
        return False
    is_below = value[1] in solver.classes.has_external_base
    return is_below and all(of[0] == EXTERNAL or _may_hold(solver, of) for of in found)


def _may_hold(solver: Solver, value: Value) -> bool:
    """Whether a value is an object of a class below one outside, which may give objects of a class that has it."""
    return value[0] == OBJECT and value[1] in solver.classes.has_external_base


def _objects_of(solver: Solver, scope: int) -> Values:
    """What holds objects of a class, or of one below."""
    held: Value = (CONTAINER, ("objects", scope))
    solver.key(held, "*", ("just", (OBJECT, scope, True)))
    return {held: Reason.EXTERNAL_BASE}


def _elsewhere(solver: Solver, value: Value, name: int) -> Values:
    """A member that no class of the project has: what `__getattr__` gives, or a class outside."""
    found: Values = {}
    if value[0] == SUPER:
        value = value[2]
    elif value[0] == OBJECT:
        computed = solver.project.number("__getattr__")
        owner, _ = solver.classes.of_class(value[1], computed)
        if owner is not None:
            for held in list(solver.value(("name", owner, computed))):
                if held[0] == FUNCTION:
                    add(found, returned(solver, held[1], value), Reason.MANY_IMPLEMENTATIONS)
            return found
    if value[0] == OBJECT and (related := _of_other_side(solver, value, name)):
        return related
    if value[0] in (OBJECT, CLASS) and solver.project.text(name) == NEW:
        return {(EXTERNAL, f"{BUILTIN}object.{NEW}"): int(Reason.EXTERNAL_BASE)}
    is_inherited = value[0] in (OBJECT, CLASS) and value[1] in solver.classes.has_external_base
    if is_inherited and solver.project.text(name) not in solver.project.unit(value[1]).dialect.sending:
        inherited = (EXTERNAL, f"?.{solver.project.text(name)}")
        found = dict.fromkeys(applied_outside.of_base(solver, value[1], inherited), int(Reason.EXTERNAL_BASE))
        found.update(extension_members.perhaps(solver, value, name))
    return found
