"""What a name means that no function around binds: members, namespaces, all names of a module.

Each of the places is a cell, how sure it is meant, and the object that it is a member of.
"""

from typing import Any

from fledgling.worker import systems
from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.linking.stars import NOT_LOOKED_FOR, SURELY
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.globs import of_globs
from fledgling.worker.graph.solving.members import of_space, of_stars, places
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import (
    A_FUNCTION,
    A_TYPE,
    COMPONENT,
    NONE,
    OF_OBJECTS,
    OF_PACKAGE,
    Expression,
    Flag,
    Op,
    ScopeKind,
)
from fledgling.worker.graph.unit import MASK, Unit
from fledgling.worker.graph.values import CLASS, MANY, MODULE, OBJECT, SPACE, Cell, Value, Values, add

CLASSES = (ScopeKind.CLASS, ScopeKind.INTERFACE)
SPACES = (ScopeKind.MODULE, ScopeKind.NAMESPACE)


def bare_places(solver: Solver, node: int, expression: Expression) -> list[tuple[Cell, int, Value | None]]:
    """The cells that a name may mean which no function around binds, and the object that it is a member of."""
    if not solver.is_over:
        return places_in(solver, node, expression)
    first = solver.project.first_bare(node)
    found = solver.bare.get(first)
    if found is None:
        found = solver.bare[first] = places_in(solver, node, expression)
    return found


def places_in(solver: Solver, node: int, expression: Expression) -> list[tuple[Cell, int, Value | None]]:
    """The same, asked for anew."""
    project = solver.project
    base = node & ~MASK
    unit = project.unit(node)
    own = unit.names[expression[1]]
    scope = base | expression[2]
    surest, is_of_class, in_method = int(Reason.BOUND), unit.dialect.bare_calls, False
    extended, is_of_outside = solver.classes.extensions.types, False  # whether the object is, which may have it then
    may_run_on_another = unit.dialect.scope_functions or (is_of_class and own in project.vocabulary.definitions)
    is_apart = False  # there is no object of the classes further out
    below: list[tuple[Cell, int, Value | None]] = []  # what only classes below one have: self may lack it
    while scope >= 0:
        outer = project.outer(scope)
        row = project.scope(scope)
        is_method = row.kind == ScopeKind.FUNCTION and unit.dialect.bare_calls
        if is_method and not in_method:  # outside of methods, self is the class
            is_of_class, in_method = bool(row.flags & Flag.STATIC), True
        is_implicit = row.kind == ScopeKind.LAMBDA or row.flags & Flag.IMPLICIT
        if is_implicit and (unit.dialect.implicit_parameter or (is_of_class and not in_method)):
            is_of_class = False
            surest = Reason.BOUND if project.text(own)[:1].isupper() else Reason.IMPLICIT
        elif is_implicit and _may_be_before(project, outer, unit, expression):
            surest = Reason.NAME_ONLY
        found = of_receiver(solver, scope, own) if row.kind == ScopeKind.LAMBDA and may_run_on_another else []
        if (
            row.kind == ScopeKind.LAMBDA
            and row.flags & (Flag.RUNS_ON | Flag.IMPLICIT)
            and not solver.is_settled
            and not solver.value(("receiver", scope))
        ):
            solver.wait()  # what it runs on may become known, and goes before what is around
            return []
        if found and not all(_extends(project, cell) for cell, _, _ in found):
            return below + found
        below += found  # what extends its type goes before what is nearer only if it fits
        is_of_outside = is_of_outside or (scope in extended and not row.flags & Flag.RECEIVES)
        found = of_scope(solver, unit, scope, own, is_of_class=is_of_class)
        most = Reason.SEVERAL if is_of_outside and row.kind in CLASSES and not means_type(expression) else surest
        found = [(cell, min(sure, surest, most), receiver) for cell, sure, receiver in found]
        found = _meant(project, expression, found)
        found = [place for place in found if not (is_apart and _needs_object(project, scope, place[0]))]
        is_apart = is_apart or (unit.dialect.says_inner and _is_apart(project, scope))
        if found and unit.dialect.bare_calls and all(sure <= Reason.OVERRIDE for _, sure, _ in found):
            below, surest = [*below, *found], min(surest, Reason.SEVERAL)
        elif found:
            return below + found
        surest = min(surest, _most_around(solver, scope, own, expression))
        scope = outer
    if expression[3] != NONE:
        return [*below, (("name", base | expression[3], own), surest, None)]
    return [*below, *((cell, min(sure, surest), None) for cell, sure, _ in starred(solver, node, own))]


def _may_be_before(project: GraphProject, outer: int, unit: Unit, expression: Expression) -> bool:
    """Whether the class that a macro makes a function of may have a name, before what is declared in other files."""
    own = unit.names[expression[1]]
    if not unit.dialect.declared or means_type(expression) or project.scope(outer).kind not in SPACES:
        return False
    scopes = unit.facts.scopes
    at = outer - unit.base if own in project.vocabulary.members else NONE
    while at > 0 and expression[1] not in scopes[at].every:
        at = scopes[at].parent
    return at == 0 and expression[1] not in scopes[0].every


def may_be_of_macro(project: GraphProject, node: int, expression: Expression) -> bool:
    """Whether a BARE may mean a member of the class that a macro makes a function of: `TEST_F(A, b) { c(); }`."""
    unit = project.unit(node)
    if not unit.dialect.declared or unit.names[expression[1]] not in project.vocabulary.definitions:
        return False
    scope = (node & ~MASK) | expression[2]
    while scope >= 0 and not project.scope(scope).flags & Flag.IMPLICIT:
        scope = project.outer(scope)
    return scope >= 0 and project.scope(project.outer(scope)).kind in SPACES


def _is_apart(project: GraphProject, scope: int) -> bool:
    """Whether what stands in a scope has no object of the class around: in `class A { class B { } }` B has none."""
    row, outer = project.scope(scope), project.outer(scope)
    if outer < 0 or project.scope(outer).kind not in CLASSES:
        return False
    is_nested = row.kind in CLASSES and row.name != NONE and not row.flags & Flag.INNER
    return is_nested or bool(row.flags & Flag.SINGLE)


def _needs_object(project: GraphProject, scope: int, cell: Cell) -> bool:
    """Whether what a class has of a name, or inherits, is there for an object of it alone."""
    bindings = project.table(cell[1]).get(cell[2], ()) if cell[0] == "name" else ()
    is_given = cell[1] != scope and project.scope(scope).flags & Flag.SINGLE
    return bool(bindings) and not is_given and all(_is_of_objects(project, at) for at in bindings)


def _is_of_objects(project: GraphProject, binding: int) -> bool:
    """Whether a member of a class is a function or field of its objects: none of a companion, and no class."""
    at = project.defined(binding)[1]
    if at < 0:
        return project.binding(binding).how == OF_OBJECTS
    row = project.scope(at)
    return row.kind == ScopeKind.FUNCTION and not row.flags & (Flag.STATIC | Flag.SINGLE)


def _most_around(solver: Solver, scope: int, own: int, expression: Expression) -> int:
    """How sure what stands around a class is at most, which may have a method from outside with a common name."""
    classes, dialect = solver.classes, solver.project.unit(scope).dialect
    is_common = dialect.bare_members and dialect.typed and solver.project.text(own) in dialect.common
    may_have = is_common and not means_type(expression) and classes.whole(scope) in classes.has_external_base
    return Reason.EXTERNAL_BASE if may_have else Reason.BOUND


def _extends(project: GraphProject, cell: Cell) -> bool:
    """Whether a name is that of functions that extend a type from outside."""
    scopes = [project.defined(at)[1] for at in project.table(cell[1]).get(cell[2], ())]
    return all(at >= 0 and project.scope(at).flags & Flag.EXTENSION for at in scopes)


def of_receiver(solver: Solver, scope: int, own: int) -> list[tuple[Cell, int, Value | None]]:
    """The cells of a name that the object has which a lambda runs on: `a.apply { b() }`."""
    held = solver.value(("receiver", scope))
    return [
        (cell, reason, value)
        for value, sure in held.items()
        if value[0] in (OBJECT, CLASS)
        for cell, reason, _ in places(solver, value, own, min(sure, Reason.FLOW))
        if cell[0] == "name"
    ]


def _meant(
    project: GraphProject, expression: Expression, found: list[tuple[Cell, int, Value | None]]
) -> list[tuple[Cell, int, Value | None]]:
    """The places without those of variables where a type is meant, or of what is no function where one is."""
    if means_type(expression):
        return [place for place in found if not is_variable(project, place[0])]
    is_called = expression[4:] == (A_FUNCTION,)
    return [place for place in found if not is_no_function(project, place[0])] if is_called else found


def means_type(expression: Expression) -> bool:
    """Whether a BARE stands where only a type may."""
    return expression[4:5] == (A_TYPE,)


def is_no_function(project: GraphProject, cell: Cell) -> bool:
    """Whether a class has something of a name that is no function: a call of Java means one further out then."""
    bindings = project.table(cell[1]).get(cell[2], ()) if cell[0] == "name" else ()
    if any(project.binding(at).how == COMPONENT for at in bindings):
        return False
    scopes = (project.defined(at)[1] for at in bindings)
    return bool(bindings) and all(at < 0 or project.scope(at).kind in CLASSES for at in scopes)


def is_variable(project: GraphProject, cell: Cell) -> bool:
    """Whether a name is that of a field or function alone, which is no type."""
    bindings = project.holding(project.table(cell[1]).get(cell[2], [])) if cell[0] == "name" else []
    no_types = (Op.DECLARED, Op.FUNCTION)
    return bool(bindings) and all(project.expression(project.value_of(at))[0] in no_types for at in bindings)


def of_scope(
    solver: Solver, unit: Unit, scope: int, own: int, *, is_of_class: bool
) -> list[tuple[Cell, int, Value | None]]:
    """The cells of a name that is a member of a class, or of the class that a function extends, or of a namespace."""
    project, dialect = solver.project, unit.dialect
    is_class = project.scope(scope).kind in CLASSES
    if is_class and project.text(own) == dialect.self_type and own in project.table(scope):
        return [(("name", scope, own), Reason.BOUND, None)]
    if dialect.spaces and not is_class and scope in solver.spaces.paths:
        return in_space(solver, unit, scope, own)
    if (space := solver.classes.extensions.spaces.get(scope)) is not None:  # void n::f() {}
        return [(cell, sure, None) for cell, sure, _ in of_space(solver, space, own, Reason.BOUND, unit)]
    if dialect.crates and not is_class and (found := all_of(solver, unit, scope, own)):  # `use a::*` in a function
        return found
    at = solver.classes.whole(scope) if is_class else solver.classes.extensions.extended(scope)
    if not dialect.bare_members or at is None:
        return []
    receiver: Value = (CLASS if is_of_class else OBJECT, at, True)
    held = [place for place in places(solver, receiver, own, Reason.OWN_CLASS) if place[0][0] == "name"]
    if not held and is_of_class and project.text(own) == "new":
        return [(("just", receiver), Reason.OWN_CLASS, None)]
    return [(cell, sure, receiver) for cell, sure, _ in held]


def in_space(solver: Solver, unit: Unit, scope: int, own: int) -> list[tuple[Cell, int, Value | None]]:
    """What a name means in the namespace of a scope, and in those around it that no scope of the file stands for."""
    project = solver.project
    space = solver.spaces.paths[scope]
    inner = solver.spaces.inner(space, project.text(own))
    namespace: list[tuple[Cell, int, Value | None]] = (
        [(("space", inner), Reason.BOUND, None)] if inner is not None else []
    )
    if namespace and not solver.spaces.are_beside_names:
        return namespace
    defines, given = solver.spaces.says(scope, own) if own in project.table(scope) else (False, frozenset())
    if defines:
        kinds = {Op.FUNCTION, Op.CLASS} if unit.dialect.types_apart else {Op.FUNCTION}  # A and A<B> of C#
        others = solver.spaces.binding(space, own) if unit.dialect.overloads and kinds & given else []
        names = [(("name", at, own), int(Reason.BOUND), None) for at in (others if scope in others else [scope])]
        return [*names, *([] if Op.ALIAS in given else namespace)]
    outer = project.outer(scope)
    ends = None if outer < 0 else solver.spaces.paths.get(outer)
    for path in (space, "") if unit.dialect.spaces == "global" else solver.spaces.around(scope):
        if path == ends:
            break
        if found := of_space(solver, path, own, Reason.BOUND, unit):
            return [(cell, sure, None) for cell, sure, _ in found]
        if unit.dialect.spaces == "flat":
            break
    return all_of(solver, unit, scope, own)


def all_of(solver: Solver, unit: Unit, scope: int, own: int) -> list[Any]:
    """The places of a name in what a scope takes all names from, by an expression: `use a::*`, `using A;`."""
    is_module = scope in solver.spaces.paths
    names = ("*", solver.project.text(own)) if scope == unit.base else ()
    has_more = (is_module and unit.dialect.crates) or any(
        solver.project.imports.everywhere(unit, name) for name in names
    )
    if not solver.project.scope(scope).stars and not has_more:
        return []
    if unit.dialect.crates:
        return [*of_globs(solver, [scope], own, Reason.BOUND)]
    held = solver.value(("all of", scope, own))
    return [(place[1], sure, None) for place, sure in held.items() if place != MANY]


def all_cell(solver: Solver, cell: Cell) -> Values:
    """("all of", scope, name): the places of a name in what a scope takes all names from, each as a value."""
    _, scope, own = cell
    project = solver.project
    unit = project.unit(scope)
    found: Values = {}
    if scope == unit.base:
        modules = {at & ~MASK for at in project.imports.everywhere(unit, project.text(own))}
        aliases = [("name", at, own) for at in modules if own in project.table(at)]
        if aliases:  # it comes before what any namespace has
            return {("place", at): Reason.BOUND if len(aliases) == 1 else Reason.SEVERAL for at in aliases}
    for path in _paths_with(solver, unit, scope, own):
        for value, sure in list(solver.value(path).items()):
            held = places(solver, value, own, sure)
            add(found, {("place", at): reason for at, reason, _ in held if at[0] not in ("field", "own")})
    return found


def _paths_with(solver: Solver, unit: Unit, scope: int, own: int) -> list[int]:
    """What a scope takes all names from, as expressions, of that which may have a name: of many, few do."""
    taking = _taking(solver, unit, scope)
    having = (solver.spaces.having(own) | solver.taken_classes.having(own)) & taking.keys()
    return sorted(path for last in {"", *having} for path in taking.get(last, ()))


def _taking(solver: Solver, unit: Unit, scope: int) -> dict[str, list[int]]:
    """What a scope takes all names from, as expressions, by the last name of each."""
    project = solver.project
    taking = solver.taking.get(scope)
    if taking is None:
        stars = (unit.facts.imports[which] for which in project.scope(scope).stars)
        paths = [unit.base | said.path for said in stars if said.path != NONE and not said.everywhere]
        paths += project.imports.everywhere(unit, "*") if scope == unit.base else ()
        taking = solver.taking[scope] = {}
        for path in paths:
            last = project.last_name(path)
            is_own = bool(last) and project.number(last) not in project.vocabulary.renamed
            taking.setdefault(last if is_own else "", []).append(path)
    return taking


def seen_spaces(solver: Solver, unit: Unit) -> set[str]:
    """The paths of the namespaces that a file stands in or takes all names of: in C# it sees what these extend."""
    found = solver.seen_spaces.get(unit.number)
    if found is not None:
        return found
    found = {""}
    for scope in (unit.base | at for at, row in enumerate(unit.facts.scopes) if not at or row.kind in SPACES):
        found.update(solver.spaces.around(scope) if scope in solver.spaces.paths else ())
        paths = (path for each in _taking(solver, unit, scope).values() for path in each)
        found.update(value[1] for path in paths for value in solver.value(path) if value[0] == SPACE)
    if solver.classes.is_settled:
        solver.seen_spaces[unit.number] = found
    return found


def in_class(solver: Solver, node: int, module: int, path: str, own: int) -> list[Any]:
    """The places of a name that a class of a file gives to others, where a path ends in it: `import static a.B.*`."""
    project = solver.project
    held = [
        place
        for at in classes_at(solver, module, path)
        for place in places(solver, (CLASS, at, False), own, Reason.BOUND)
    ]
    most = Reason.EXTERNAL_BASE if _may_inherit(solver, node) else Reason.BOUND
    found = []
    for cell, sure, receiver in held:
        given = (
            [_is_given(project, at, project.unit(node)) for at in project.table(cell[1]).get(own, ())]
            if cell[0] == "name"
            else []
        )
        if any(given):
            found.append((cell, min(sure, most if all(given) else min(most, Reason.SEVERAL)), receiver))
    return found


def classes_at(solver: Solver, module: int, path: str) -> list[int]:
    """The classes of a file that a path ends in: `a.B`."""
    project = solver.project
    name = project.numbers.get(path.rpartition(".")[2])
    if name is None or project.units[module].dialect.shared != "package":
        return []
    scopes = [project.defined(at)[1] for at in project.table(project.units[module].base).get(name, ())]
    return [solver.classes.whole(at) for at in scopes if at >= 0 and project.scope(at).kind in CLASSES]


def stars_with(solver: Solver, unit: Unit, own: int) -> list[int]:
    """The imports of all names that may bring one into a file: of many, few do."""
    starring = solver.stars.starring(unit.number, own)
    if starring is NOT_LOOKED_FOR:
        return []
    found = solver.bringing.get((unit.number, own))
    if found is None:
        is_known = unit.dialect.exported and not starring.is_cut  # `of_stars` has found what further modules bring
        stars = solver.stars.packages(unit) if is_known else unit.starred
        found = [which for which in stars if _may_bring(solver, unit, which, own)]
        if solver.classes.is_settled:
            solver.bringing[unit.number, own] = found
    return found


def _may_bring(solver: Solver, unit: Unit, which: int, own: int) -> bool:
    project = solver.project
    said, module, _, _ = project.imports.target(unit, which)
    if solver.spaces.in_package(unit, said.module, own)[0]:
        return True
    if module is None or not solver.stars.hands_on(module, own):
        return False
    if any(solver.classes.of_class(at, own)[0] is not None for at in classes_at(solver, module, said.module)):
        return True
    if solver.spaces.beside(project.units[module], own)[0]:  # another file of the package may have it
        return True
    path, text = project.units[module].path, project.text(own)
    is_found = solver.stars.gives(module, own) or bool(solver.stars.starring(module, own).modules)
    return is_found or project.imports.beside(path, text) is not None


def _is_given(project: GraphProject, binding: int, unit: Unit) -> bool:
    """Whether a class gives what it binds to a file that takes all of it: what is static, and what the file sees."""
    _, scope = project.defined(binding)
    if scope < 0 and project.binding(binding).how == OF_OBJECTS:
        return False
    is_own = scope < 0 or project.scope(scope).kind in CLASSES or bool(project.scope(scope).flags & Flag.STATIC)
    return is_own and _sees(project, unit, binding)


def _shown(project: GraphProject, unit: Unit, cell: Cell) -> bool:
    """Whether a file sees what a cell holds, if that is what a name is bound to."""
    bindings = project.table(cell[1]).get(cell[2], ()) if cell[0] == "name" else ()
    return not bindings or any(_sees(project, unit, at) for at in bindings)


def _sees(project: GraphProject, unit: Unit, binding: int) -> bool:
    """Whether a file sees what is bound in another one: all of its own package, else what is for others."""
    own = project.unit(binding)
    is_beside = own.shares == unit.shares or not own.dialect.members_of_packages
    _, scope = project.defined(binding)
    if scope < 0:
        return is_beside or project.binding(binding).how != OF_PACKAGE
    flags = project.scope(scope).flags
    is_open = flags & Flag.OPEN or project.scope(project.outer(scope)).kind == ScopeKind.INTERFACE
    return not flags & Flag.HIDDEN and (is_beside or bool(is_open))


def _may_inherit(solver: Solver, node: int) -> bool:
    """Whether a name may be that of a member which a class around has from outside of the project."""
    op, *parts = solver.project.expression(node)
    scope = (node & ~MASK) | parts[1] if op == Op.BARE else NONE
    while scope >= 0:
        if solver.classes.whole(scope) in solver.classes.has_external_base:
            return True
        scope = solver.project.outer(scope)
    return False


def _on_other_systems(project: GraphProject, unit: Unit, scopes: list[int]) -> set[int]:
    """Those of some modules that are not compiled on the system on which a file is, if any of them is."""
    here = systems.taken_on(unit.compiled_on)
    found = {scope for scope in scopes if not project.unit(scope).compiled_on & here}
    return found if unit.compiled_on and len(found) < len(scopes) else set()


def starred(solver: Solver, node: int, own: int) -> list[Any]:
    """The places of a name that no scope of its file binds: modules of which all names are imported."""
    unit = solver.project.unit(node)
    beside, reason = solver.spaces.beside(unit, own)
    if beside:
        elsewhere = _on_other_systems(solver.project, unit, beside) if len(beside) > 1 else ()
        capped = min(reason, Reason.OTHER_SYSTEM)
        return [(("name", at, own), capped if at in elsewhere else reason, None) for at in beside]
    if (
        unit.dialect.shared == "directory"
        and (module := solver.project.imports.by_package(unit, solver.project.text(own))) is not None
    ):
        return [(("module", module), Reason.BOUND, None)]
    if unit.dialect.prototypes:  # `export * from a` binds no name here
        return solver.global_names.places(unit, own)
    if handed_on := of_stars(solver, unit.number, own, Reason.BOUND):
        return handed_on
    unlisted: list[Any] = []
    for which in stars_with(solver, unit, own):
        said, module, _, _ = solver.project.imports.target(unit, which)
        inside, reason = solver.spaces.in_package(unit, said.module, own)
        inside = [at for at in inside if _shown(solver.project, unit, ("name", at, own))]
        if inside:
            return [(("name", at, own), reason, None) for at in inside]
        if module is not None and solver.stars.hands_on(module, own):
            most = Reason.SEVERAL if solver.stars.starring(unit.number, own).is_cut else Reason.BOUND
            found = [
                place for place in places(solver, (MODULE, module), own, most) if place[0][0] in ("name", "module")
            ]
            found = [place for place in found if _shown(solver.project, unit, place[0])]
            if unit.dialect.exported:
                every, found = found, _loaded(found, solver.stars.lists(module, own))
                # the package has it if some file has loaded it, and nothing else is seen to bring that name
                unlisted += [(cell, Reason.SEVERAL, at) for cell, _, at in every if not found and cell[0] == "module"]
            if found := found or in_class(solver, node, module, said.module, own):
                return found
    return unlisted or _of_crate(solver, unit, own)


def _of_crate(solver: Solver, unit: Unit, own: int) -> list[Any]:
    """The place of a name that is a crate's, or a module's where the crate begins, or one of a macro of any."""
    if not unit.dialect.crates:
        return []
    name = solver.project.text(own)
    if name in solver.crates:
        return [(("module", solver.crates[name]), Reason.BOUND, None)]
    if (root := solver.from_root.get((unit.number, name))) is not None:
        return places(solver, (MODULE, root), own, Reason.BOUND)
    macros = solver.spaces.binding("", own)
    return [(("name", at, own), Reason.UNDECLARED, None) for at in macros]


def _loaded(found: list[Any], listed: int | None) -> list[Any]:
    """What `from a import *` of Python brings: no module of a package but what its `__all__` says, or may say."""
    most = Reason.BOUND if listed == SURELY else Reason.SEVERAL
    return [
        (cell, min(sure, most) if cell[0] == "module" else sure, receiver)
        for cell, sure, receiver in found
        if listed or cell[0] != "module"
    ]
