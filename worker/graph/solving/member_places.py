"""Where the member of something stands: the cells that hold it, how sure each is, and the object that it is of."""

import posixpath
from collections.abc import Sequence

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.class_members import (
    by_classes,
    handed_on,
    has_body,
    has_it_from_outside,
    is_of_implementing,
    mixed_in_class,
    of_many,
    over_in_class,
    put_over,
)
from fledgling.worker.graph.solving.globs import modules_of, of_globs
from fledgling.worker.graph.solving.prototypes import exported_objects, has_prototype, prototypes_of
from fledgling.worker.graph.solving.replaceable import is_another, may_be_another, may_be_put_over
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Op, ScopeKind
from fledgling.worker.graph.unit import Unit
from fledgling.worker.graph.values import (
    CLASS,
    CONTAINER,
    EXTERNAL,
    FUNCTION,
    MODULE,
    OBJECT,
    SHARED,
    SPACE,
    SUPER,
    Cell,
    Place,
    Value,
)


def places(solver: Solver, value: Value, name: int, sure: int) -> list[Place]:
    """The cells that a member of a value may be."""
    kind = value[0]
    if kind in SHARED and may_be_another(solver, value[1], name):
        sure = min(sure, Reason.REPLACED)
    if kind == OBJECT:
        found = _of_object(solver, value, name, sure) or _of_prototypes(solver, value, name, sure)
        own = NONE if found else solver.project.own_of(name)  # what seems to be an object may be the class
        return found if own == NONE else _of_object(solver, value, own, min(sure, Reason.SEVERAL))
    if kind == EXTERNAL:
        known = solver.classes.extensions.in_unknown(value[1], name)
        return [(("name", *known), sure, None)] if known else solver.global_names.members(value[1], name)
    if kind == CLASS:
        return _of_class(solver, value, name, sure)
    if kind == MODULE:
        return _of_module(solver, value[1], name, sure)
    if kind == SUPER:
        return _of_above(solver, value, name, sure)
    if kind == CONTAINER and solver.has_key(value, ("text", name)):
        return [(("element", value, ("text", name)), min(sure, Reason.ATTRIBUTE), None)]
    if kind == SPACE:
        found = of_space(solver, value[1], name, sure) or _of_globs(solver, value, name, sure)
        return found or _of_directives(solver, value[1], name, sure)
    return _of_function(solver, value, name, sure) if kind == FUNCTION else []


def _of_function(solver: Solver, value: Value, name: int, sure: int) -> list[Place]:
    """The members of a function itself, and of what `Object.setPrototypeOf(a, b)` puts behind it."""
    found: list[Place] = [(("own", value[1], name), min(sure, Reason.ATTRIBUTE), None)]
    behind = ("prototype of function", value[1])
    for held in list(solver.value(behind)) if has_prototype(solver, value[1]) else ():
        if held[0] == FUNCTION:
            found.append((("own", held[1], name), min(sure, Reason.ATTRIBUTE), None))
        elif held[0] in (CONTAINER, OBJECT):
            found += places(solver, held, name, min(sure, Reason.ATTRIBUTE))
    return found


def _of_above(solver: Solver, value: Value, name: int, sure: int) -> list[Place]:
    """The members of `super()`."""
    own, receiver, *traits = value[1:]
    parent = None if traits else solver.classes.parent(own)
    if receiver[0] == CLASS:
        name = _of_itself(solver, receiver[1], name, own)
    asked = (parent, name) if parent is not None else (receiver[1], name, own)
    owner, may_be_outside = solver.classes.of_class(*asked)
    if traits:
        return [] if owner is None else [(("name", owner, name), min(sure, Reason.SUPER), owner)]
    return _of_super(solver, own, name, owner, min(sure, Reason.EXTERNAL_BASE) if may_be_outside else sure)


def _of_super(solver: Solver, own: int, name: int, owner: int | None, sure: int) -> list[Place]:
    """The members above a class, also of what a class below puts between: C is above B for `class D(B, C)`."""
    classes, is_of_order = solver.classes, bool(solver.project.unit(own).dialect.super_function)
    mixing = [at for at in classes.below(own) if len(classes.bases.get(at, ())) > 1] if is_of_order else []
    if solver.project.unit(own).dialect.bare_calls and solver.project.scope(own).kind == ScopeKind.INTERFACE:
        mixing = classes.below(own)  # what is behind a module of Ruby, `super`, each class that has it says
    between = [classes.of_class(at, name, own)[0] for at in mixing]
    others = [at for at in dict.fromkeys(between) if at not in (None, owner)]
    is_unknown = any(at in classes.has_unknown_base for at in (own, *classes.below(own)))
    is_open = is_of_order and (solver.project.is_partial or classes.has_more_below(own) or is_unknown)
    has_one = len(classes.bases.get(own, ())) <= 1 or classes.parent(own) is not None
    single = has_one and not others and not is_open
    first: list[Place] = []
    if owner is not None:
        most, instead = classes.instead(own, name, owner, own)
        most = min(most, Reason.SUPER if single or instead else Reason.OVERRIDDEN)
        first = [(("name", at, name), min(sure, most), at) for at in (owner, *instead)]
    reason = of_many(solver, own, others)
    return [*first, *((("name", at, name), min(sure, reason), at) for at in others)]


def is_only_type(solver: Solver, scope: int) -> bool:
    """Whether a class is an interface of TypeScript, which is nothing to ask."""
    if solver.project.scope(scope).kind != ScopeKind.INTERFACE:
        return False
    dialect = solver.project.unit(scope).dialect
    return dialect.prototypes and dialect.typed


def _of_class(solver: Solver, value: Value, name: int, sure: int) -> list[Place]:
    """The members of a class itself; what a module of Rust has is none of its own alone."""
    if is_only_type(solver, value[1]):  # beside `interface A`, `A.b` asks a variable
        return []
    order = solver.classes.order(value[1]) if name in solver.project.vocabulary.written else ()
    fields: list[Cell] = [("field", at, name) for at in order]
    is_of_ruby = solver.project.unit(value[1]).dialect.bare_calls
    owners, by_extend = solver.classes.mixins.of_itself(value[1], name) if is_of_ruby else ([], 0)
    owner = owners[0] if owners else None
    mixed_in = mixed_in_class(solver, value, name, owner) if is_of_ruby else []
    if owner is not None and by_extend:
        over = [at for at in [*over_in_class(solver, value, name, owner), *mixed_in] if at not in owners]
        own = min(sure, Reason.OVERRIDDEN if over else by_extend)
        surely: list[Place] = [(("name", at, name), min(own, by_extend), at) for at in owners]
        return [*surely, *((("name", at, name), min(sure, Reason.OVERRIDE), at) for at in over)]
    name = _of_itself(solver, value[1], name)
    if owner is None:
        owner, may_be_outside = solver.classes.of_class(value[1], name)
        sure = min(sure, Reason.EXTERNAL_BASE) if may_be_outside and owner is not None else sure
    if owner is not None:
        is_set = not keeps_members(solver, value[1], name) and any(
            solver.value(field) or field in solver.sources for field in fields
        )
        is_of_any = value[2] or is_of_implementing(solver, value[1], owner, name)
        over = [*over_in_class(solver, (CLASS, value[1], is_of_any), name, owner), *mixed_in]
        handed = handed_on(solver, value[1], owner, name)
        over += [at for at in handed if at not in over]
        is_open = is_of_any and (solver.project.is_partial or solver.classes.has_more_below(value[1]))
        own = min(sure, Reason.OVERRIDDEN) if over or is_open else sure
        most, instead = solver.classes.instead(value[1], name, owner)
        own = min(own, most)
        own = min(own, Reason.ATTRIBUTE) if is_set else own
        first: list[Place] = [(("name", at, name), own, at) for at in (owner, *instead)]
        runs = (handed or (is_of_any and not value[2])) and has_body(solver, owner, name)
        reason = of_many(solver, value[1], over, runs=runs)
        return [*first, *((("name", at, name), min(sure, reason), at) for at in over)]
    is_module = solver.project.scope(value[1]).kind == ScopeKind.NAMESPACE
    taken = _of_globs(solver, value, name, sure) if is_module else []
    return taken or [(field, min(sure, Reason.ATTRIBUTE), None) for field in fields]


def _of_itself(solver: Solver, scope: int, name: int, after: int | None = None) -> int:
    """The name by which a class knows what it has itself, where it or one above has that: its objects lack it."""
    own = solver.project.own_of(name)
    return own if own != NONE and solver.classes.of_class(scope, own, after)[0] is not None else name


def places_for(solver: Solver, unit: Unit, value: Value, name: int, sure: int) -> list[Place]:
    """The places of a member for a file, which may keep some of a namespace for itself: a static function of C++."""
    if value[0] == SPACE and solver.spaces.kept(unit, value[1], name):
        return of_space(solver, value[1], name, sure, unit)
    return places(solver, value, name, sure)


def of_space(solver: Solver, space: str, name: int, sure: int, unit: Unit | None = None) -> list[Place]:
    """The places of a name in a namespace, which may be a namespace itself, for a file or for all."""
    spaces = solver.spaces
    inner = spaces.inner(space, solver.project.text(name))
    namespace: list[Place] = [(("space", inner), sure, None)] if inner is not None else []
    if namespace and not spaces.are_beside_names:
        return namespace
    found, reason = spaces.visible(unit, space, name) if unit else (spaces.binding(space, name), Reason.BOUND)
    if not unit and len(found) > 1:
        reason = Reason.SEVERAL
    return [*((("name", at, name), min(sure, reason), None) for at in found), *namespace]


def _of_object(solver: Solver, value: Value, name: int, sure: int) -> list[Place]:
    known = solver.members.get((value, name))
    if known is None:
        known = by_classes(solver, value, name)
        if solver.classes.is_settled and (solver.is_over or value[1] not in solver.classes.below_replaced):
            solver.members[value, name] = known
    found, every, of_class = known
    fields = [field for field in every if solver.value(field) or field in solver.sources]
    may_differ = not (found and keeps_members(solver, value[1], name))
    is_early = may_differ and bool(every) and sure > Reason.ATTRIBUTE and not solver.is_settled
    if is_early:  # one may yet be assigned, or again
        solver.wait()
    if not fields and not is_early:
        return found if sure >= Reason.BOUND else [(cell, min(sure, reason), owner) for cell, reason, owner in found]
    most = [min(sure, Reason.ATTRIBUTE) if may_differ and at < of_class else sure for at in range(len(found))]
    places = [(cell, min(own, reason), owner) for own, (cell, reason, owner) in zip(most, found, strict=True)]
    single = not found and len(fields) == 1 and len(solver.sources.get(fields[0], ())) == 1 and not is_early
    if single and has_it_from_outside(solver, value[1]):
        sure = min(sure, Reason.EXTERNAL_BASE)
    over = put_over(solver, found[0][0][1], name) if of_class else int(Reason.ATTRIBUTE)
    return places + [(field, sure if single else min(sure, over), None) for field in fields]


def keeps_members(solver: Solver, scope: int, name: int) -> bool:
    """Whether what a class declares stays its member, whatever a field of that name gets.

    Where that is the field itself, and a class above has a function of its name, a call means that one.
    """
    dialect = solver.project.unit(scope).dialect
    if not dialect.typed or dialect.prototypes:
        return False
    owner = solver.classes.of_class(scope, name)[0] if dialect.functions_apart else None
    if owner is None or any(_is_function(solver, at) for at in solver.project.table(owner).get(name, ())):
        return True
    return solver.classes.of_class(scope, name, owner)[0] is None


def _is_function(solver: Solver, binding: int) -> bool:
    """Whether a name is bound to a function."""
    return solver.op(solver.project.value_of(binding)) in (Op.FUNCTION, Op.DECORATED)


def _of_prototypes(solver: Solver, value: Value, name: int, sure: int) -> list[Place]:
    """The members of what stands in the place of a function's prototype: `A.prototype = { b() {} }`."""
    for held in prototypes_of(solver, value):
        if found := places(solver, held, name, sure) if held[0] == CONTAINER else _of_object(solver, held, name, sure):
            return found
    return []


def _of_module(solver: Solver, number: int, name: int, sure: int) -> list[Place]:
    """What a module binds, or one of those that it hands on all names of; or what it may have."""
    unit = solver.project.units[number]
    own = _in_module(solver, unit, name, sure) or of_stars(solver, number, name, sure)
    own = own or _of_globs(solver, (MODULE, number), name, sure)
    return own or _of_whole_module(solver, unit, name, sure)


def _of_directives(solver: Solver, space: str, name: int, sure: int) -> list[Place]:
    """What a namespace of C++ has only by taking all names of others: `namespace a { using namespace b; }`."""
    return [
        (held[1], min(sure, how), None)
        for at in solver.spaces.directing(space)
        for held, how in solver.value(("all of", at, name)).items()
        if held[0] == "place"
    ]


def _of_globs(solver: Solver, value: Value, name: int, sure: int) -> list[Place]:
    """What a module of Rust has, or those of which it takes all names; nothing of what is no such module."""
    return [*of_globs(solver, _modules_of_crates(solver, value), name, sure)]


def _modules_of_crates(solver: Solver, value: Value) -> Sequence[int]:
    """The scopes of a module of Rust: all that make up a namespace are of one family of languages."""
    scopes = modules_of(solver, value)
    return scopes if scopes and solver.project.unit(scopes[0]).dialect.crates else ()


def of_stars(solver: Solver, number: int, name: int, sure: int) -> list[Place]:
    """What the modules have of which one hands on all names. In ECMAScript none counts before another: none is sure."""
    found: list[Place] = []
    if solver.project.units[number].base in solver.project.updated:
        sure = min(sure, Reason.REPLACED)
    modules, is_cut = solver.stars.starring(number, name)
    for at, is_sure in modules:
        own = _in_module(solver, solver.project.units[at], name, sure if is_sure else min(sure, Reason.SEVERAL))
        found += [place for place in own if place not in found]
    if len({cell for cell, *_ in found}) < 2 and not is_cut:
        return found
    return [(cell, min(own, Reason.SEVERAL), owner) for cell, own, owner in found]


def _in_module(solver: Solver, unit: Unit, name: int, sure: int) -> list[Place]:
    """What a module itself binds or exports."""
    scope, exported = unit.base, solver.project.export_of(name)
    table = solver.project.table(scope)
    if exported in table:
        return _bound(solver, scope, name, exported, sure)
    is_import = unit.dialect.prototypes and all(  # which a module of JavaScript does not hand on
        solver.op(solver.project.value_of(at)) == Op.IMPORT for at in table.get(name, ())
    )
    beside, reason = solver.spaces.beside(unit, name)
    is_package = unit.dialect.shared == "directory"  # what it imports is all files, and not the first alone
    if name in table and not is_import and not (is_package and len(beside) > 1):
        return _bound(solver, scope, name, name, sure)
    if beside:
        return [(("name", at, name), min(sure, reason), None) for at in beside]
    objects = exported_objects(solver, unit.number) if unit.dialect.prototypes else []  # module.exports = a
    return [place for value in objects for place in places(solver, value, name, sure)]


def _bound(solver: Solver, scope: int, name: int, bound: int, sure: int) -> list[Place]:
    """What a module binds a name to, which it may bind as another one, and what is put over that from outside."""
    project = solver.project
    dialect = project.unit(scope).dialect
    once = project.bound_once(scope, bound) or dialect.overloads
    places: list[Place] = [(("name", scope, bound), sure if once else min(sure, Reason.SEVERAL), None)]
    if not (may_be_put_over if bound != name else is_another)(solver, scope, name):
        return places
    over: list[Place] = [(("field", scope, name), Reason.ATTRIBUTE, None)] if dialect.prototypes else []
    return [(cell, min(own, sure, Reason.REPLACED), at) for cell, own, at in [*places, *over]]


def _of_whole_module(solver: Solver, unit: Unit, name: int, sure: int) -> list[Place]:
    """What a module has that none of its names says: modules beside it, fields."""
    if posixpath.basename(unit.path).startswith("__init__."):
        inner = solver.project.imports.beside(unit.path, solver.project.text(name))
        if inner is not None:
            return [(("module", inner), sure, None)]
    return [(("field", unit.base, name), min(sure, Reason.ATTRIBUTE), None)]
