"""What an import brings in."""

from typing import Any

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.member_places import places
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.starred_names import behind_package
from fledgling.worker.graph.tables import WHOLE, Expression
from fledgling.worker.graph.unit import SHIFT
from fledgling.worker.graph.values import CLASS, EXTERNAL, MODULE, SPACE, Value, Values, add


def import_(solver: Solver, node: int, expression: Expression) -> Values:
    """IMPORT"""
    return imported(solver, node, expression[1])


def imported(solver: Solver, node: int, which: int) -> Values:
    """What an import brings in."""
    found: Values = {}
    for cell, sure, _ in import_places(solver, node, which):
        if cell[0] == "module":
            found[MODULE, cell[1]] = sure
        else:
            add(found, solver.value(cell), sure)
    if not found:
        said, module, inner, _ = solver.project.imports.target(solver.project.unit(node), which)
        if module is None and inner is None:
            full = f"{said.module}.{said.name}" if said.name else said.module.partition(".")[0]
            return {(EXTERNAL, full[:200]): Reason.BOUND}
    return found


def import_places(solver: Solver, node: int, which: int) -> list[Any]:
    """The cells of what an import names."""
    project = solver.project
    said, module, inner, place = project.imports.target(project.unit(node), which)
    if said.name is None:
        return [] if module is None else [(("module", module), Reason.BOUND, None)]
    if said.name == "":
        folder = place.removesuffix("/__init__.py").removesuffix(".py").split("/")
        up = folder[: len(folder) - said.module.count(".")]
        top = project.imports.places.get("/".join([*up, "__init__.py"])) if place else None
        if top is None:
            return []
        return [(("module", top), Reason.BOUND, None)]
    own = project.number(said.name)
    if said.name == WHOLE and module is not None and project.export_of(own) not in project.table(module << SHIFT):
        return [(("module", module), Reason.BOUND, None)]
    if module is not None and project.units[module].dialect.shared == "package":
        return _of_class_file(solver, module, said.module, own)
    if module is not None:
        found = places(solver, (MODULE, module), own, Reason.BOUND)
        if inner is None or found[0][0][0] == "name":
            return found
    elif inner is not None:
        within = project.units[inner].path.removesuffix("/__init__.py").rpartition("/")[0]
        package = project.imports.places.get(f"{within}/__init__.py")
        is_own = package == node >> SHIFT  # `from . import a` in the package itself
        if package is not None and not is_own and own in project.table(project.units[package].base):
            return places(solver, (MODULE, package), own, Reason.BOUND)
    return solver.global_names.module(said.module, own) if inner is None else [(("module", inner), Reason.BOUND, None)]


def part(solver: Solver, node: int, expression: Expression) -> Values:
    """PART: a class of the file that an import leads to, or one in that, or else a package."""
    which, place = expression[1:]
    said, module, _, _ = solver.project.imports.target(solver.project.unit(node), which)
    names = said.module.split(".")[: place + 1]
    if module is None:
        return {(EXTERNAL, ".".join(names)[:200]): Reason.BOUND}
    classes = _classes_at(solver, module, names)
    return dict.fromkeys(classes, int(Reason.BOUND)) if classes else {(SPACE, ""): Reason.BOUND}


def _of_class_file(solver: Solver, module: int, path: str, own: int) -> list[Any]:
    """What `import a.B` or `import static a.B.C.d` names: a class of the file, or a member of one, or of one in it."""
    classes = _classes_at(solver, module, path.split("."))
    found = [place for value in classes for place in places(solver, value, own, Reason.BOUND)]
    is_alone = not found and own in solver.project.table(module << SHIFT)
    # in no class: the file may import a member's name itself
    return [(("name", module << SHIFT, own), Reason.BOUND, None)] if is_alone else found


def _classes_at(solver: Solver, module: int, path: list[str]) -> list[Value]:
    """The classes of a file that a path ends in: `a.B.C`."""
    project = solver.project
    scope = module << SHIFT
    names = [project.number(name) for name in path]
    behind = behind_package(project.units[module], ".".join(path)).count(".") + 1
    known = [at for at, name in enumerate(names) if name in project.table(scope)]
    first = len(names) - behind if len(names) - behind in known else next(reversed(known), len(names))
    held = solver.value(("name", scope, names[first])) if first < len(names) else {}
    classes = [value for value in held if value[0] == CLASS]
    for name in names[first + 1 :]:
        inner = [cell for value in classes for cell, *_ in places(solver, value, name, Reason.BOUND)]
        classes = [value for cell in inner for value in solver.value(cell) if value[0] == CLASS] or classes
    return classes
