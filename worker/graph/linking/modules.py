"""Modules of Rust by their place: `crate`, `super`, and the crates of a workspace by their names.

https://doc.rust-lang.org/reference/items/modules.html
"""

import posixpath

from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.unit import MASK, SHIFT, Unit

ROOTS = ("lib.rs", "main.rs")
ALONE = ("tests", "examples", "benches", "bin")  # folders where each file is a crate of its own
RELATIVE = ("crate", "super", "self")


def crate(project: GraphProject, unit: Unit) -> int | None:
    """The file where the crate of a file begins: that of the file which declares its module, or by its folder."""
    top, seen = unit, {unit.number}
    while (scope := above(project, top)) is not None and scope >> SHIFT not in seen:
        top = project.unit(scope)
        seen.add(top.number)
    found = _crate_by_folder(project, top)
    return top.number if found is None else found


def _crate_by_folder(project: GraphProject, unit: Unit) -> int | None:
    folder, name = posixpath.split(unit.path)
    if name in ROOTS or is_alone(project, folder):
        return unit.number
    while True:
        for root in ROOTS:
            found = project.imports.places.get(posixpath.join(folder, root))
            if found is not None:
                return found
        if not folder:
            return None
        folder = posixpath.dirname(folder)


def is_alone(project: GraphProject, folder: str) -> bool:
    """Whether each file of a folder is a crate: `tests` is a module where it stands in a crate, `src/bin` never is."""
    above, name = posixpath.split(folder)
    is_module = name != "bin" and any(posixpath.join(above, root) in project.imports.places for root in ROOTS)
    return name in ALONE and not is_module


def above(project: GraphProject, unit: Unit) -> int | None:
    """The scope that a file's module is declared in, `mod a;`; where none or several say that, by its folder.

    `lib.rs` and `main.rs` of one folder begin a crate each.
    """
    declaring = project.imports.declaring.get(unit.number, ())
    if len(declaring) == 1:
        return next(iter(declaring))
    folder, name = posixpath.split(unit.path)
    if name in ROOTS:
        return None
    if name == "mod.rs":
        folder = posixpath.dirname(folder)
    for path in (*(posixpath.join(folder, end) for end in ("mod.rs", *ROOTS)), f"{folder}.rs"):
        found = project.imports.places.get(path)
        if found is not None and found != unit.number:
            return project.units[found].base
    return None


def around(project: GraphProject, scope: int) -> int | None:
    """The module around one, which is a file or stands in its text: `super`."""
    if scope & MASK == 0:
        return above(project, project.unit(scope))
    outer = project.outer_namespace(project.outer(scope))
    return outer if outer >= 0 else project.unit(scope).base


def is_within(project: GraphProject, scope: int, module: int) -> bool:
    """Whether a scope stands in a module, in its text or in a file below it."""
    at: int | None = scope
    seen = set[int]()
    while at is not None and at != module and at not in seen:
        seen.add(at)
        outer = project.outer(at)
        at = outer if outer >= 0 else above(project, project.unit(at))
    return at == module


def crates(project: GraphProject) -> dict[str, int]:
    """The crates that imports lead to, by name; not where two have the same."""
    found: dict[str, int | None] = {}
    for unit in project.units:
        for row in unit.rows if unit.dialect.crates else ():
            name = row.module.partition("::")[0]
            place = project.imports.places.get(row.resolved_path or "")
            if place is None or name in RELATIVE or row.is_relative:
                continue
            root = crate(project, project.units[place])
            if root is not None and root != crate(project, unit):
                found[name] = root if found.get(name, root) == root else None
    return {name: root for name, root in found.items() if root is not None}


def from_root(project: GraphProject) -> dict[tuple[int, str], int]:
    """Where the crate of a file begins, by the names of modules there with which its paths begin: Rust of 2015."""
    found: dict[tuple[int, str], int] = {}
    for unit in project.units:
        for row in unit.rows if unit.dialect.crates else ():
            name = row.module.partition("::")[0]
            place = project.imports.places.get(row.resolved_path or "")
            if place is None or name in RELATIVE or row.is_relative or (unit.number, name) in found:
                continue
            root = crate(project, unit)
            if root not in (None, unit.number) and root == crate(project, project.units[place]):
                found[unit.number, name] = root
    return found
