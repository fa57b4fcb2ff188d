"""What a name means that no scope of its file binds: what the files beside it have, and imports of all names bring."""

from typing import Any

from fledgling.worker import systems
from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.linking.stars import NOT_LOOKED_FOR, SURELY
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.member_places import of_stars, places
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import CLASSES, NONE, OF_OBJECTS, OF_PACKAGE, PRIVATE, Flag, Op, ScopeKind
from fledgling.worker.graph.unit import MASK, Unit
from fledgling.worker.graph.values import CLASS, MODULE, Cell


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
    project, unit = solver.project, solver.project.units[module]
    scopes = [unit.base] if unit.dialect.shared == "package" else []
    for name in behind_package(unit, path).split(".") if scopes else ():
        bindings = [at for scope in scopes for at in project.table(scope).get(project.numbers.get(name, NONE), ())]
        defined = [project.defined(at)[1] for at in bindings]
        scopes = [at for at in defined if at >= 0 and project.scope(at).kind in CLASSES]
    return [solver.classes.whole(at) for at in scopes if at != unit.base]


def behind_package(unit: Unit, path: str) -> str:
    """What of a path names classes of a file: `B.C` of `a.B.C`, where the file is of the package a."""
    package = unit.facts.package
    is_within = bool(package) and path.startswith(f"{package}.")
    return path[len(package) + 1 :] if is_within else path if not package else path.rpartition(".")[2]


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
    if scope < 0 and project.binding(binding).how in (OF_OBJECTS, PRIVATE):
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
