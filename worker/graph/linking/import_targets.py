"""Where the imports of files lead: to a file, to what a file takes for others, to one that another includes."""

import posixpath
from collections.abc import Sequence
from functools import cached_property

from fledgling.worker.graph.tables import NONE, Imported, Op, Use, sites_of
from fledgling.worker.graph.unit import Unit


class ImportTargets:
    """The imports of all files."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self.units = units
        self.places = {unit.path: unit.number for unit in units}
        self._by_package: dict[int, dict[str, int]] = {}

    def target(self, unit: Unit, which: int) -> tuple[Imported, int | None, int | None, str]:
        """An import; the file of its module, the file that is the name itself, and the directory of a package."""
        said = unit.facts.imports[which]
        rows = unit.by_line.get(said.line, [])
        if not any(row.module == said.module for row in rows):  # the statement begins further up
            rows = rows + unit.by_module.get(said.module, [])
        module = inner = None
        place = ""
        for row in rows:
            if row.module == said.module and row.resolved_path:
                module = self.places.get(row.resolved_path)
                place = row.resolved_path
            elif (
                said.name
                and row.resolved_path
                and row.module
                in (
                    f"{said.module}.{said.name}",
                    f"{said.module}{said.name}",
                )
            ):
                inner = self.places.get(row.resolved_path)
        if not rows and said.line == 0 and said.module.startswith("."):  # only a comment names it
            module = self._told(unit, said.module)
        return said, module, inner, place

    def _told(self, unit: Unit, module: str) -> int | None:
        """The file that a comment of JavaScript means by a path from its own: `import("./a").B`."""
        place = posixpath.normpath(posixpath.join(posixpath.dirname(unit.path), module))
        ends = unit.dialect.told_ends
        found = (self.places.get(start + end) for start in (place, posixpath.splitext(place)[0]) for end in ends)
        return next((at for at in found if at is not None), None)

    @cached_property
    def declaring(self) -> dict[int, dict[int, None]]:
        """By file of Rust, the scopes that declare it to be their module: `mod a;`."""
        found: dict[int, dict[int, None]] = {}
        for unit in self.units:
            relative = [row for row in unit.rows if row.is_relative] if unit.dialect.crates else []
            files = {(row.line_number, row.module): self.places.get(row.resolved_path or "") for row in relative}
            for row in unit.bindings if files else ():
                op, *parts = unit.expressions[row.value]
                said = unit.facts.imports[parts[0]] if op == Op.IMPORT else None
                file = files.get((said.line, said.module)) if said else None
                if file not in (None, unit.number):
                    found.setdefault(file, {})[unit.base | row.scope] = None
        return found

    def by_package(self, unit: Unit, name: str) -> int | None:
        """A file of the package that a file of Go imports whose own name is that, whatever its folder is called.

        What is imported by another name, `import a "x/y"`, goes by that alone.
        """
        found = self._by_package.get(unit.number)
        if found is None:
            renamed = {unit.expressions[site.at][1] for site in sites_of(unit.facts) if site.use == Use.IMPORT}
            imports = enumerate(unit.facts.imports)
            whole = [which for which, said in imports if said.name is None and which not in renamed]
            modules = [module for which in whole if (module := self.target(unit, which)[1]) is not None]
            found = {self.units[module].facts.package.removesuffix("_test"): module for module in modules}
            self._by_package[unit.number] = found
        return found.get(name)

    def everywhere(self, unit: Unit, name: str) -> list[int]:
        """The expressions of what files take under a name, or "*", for all others below their folder."""
        if not self._everywhere:
            return []
        folder = posixpath.dirname(unit.path)
        found = [*self._everywhere.get((folder, name), ())]
        while folder:
            folder = posixpath.dirname(folder)
            found += self._everywhere.get((folder, name), ())
        return found

    @cached_property
    def _everywhere(self) -> dict[tuple[str, str], list[int]]:
        found: dict[tuple[str, str], list[int]] = {}
        for unit in self.units:
            for said in unit.facts.imports:
                if said.everywhere and said.name:
                    folder = posixpath.dirname(unit.path)
                    above, inner = posixpath.split(folder)
                    place = above if inner in unit.dialect.inner_folders else folder
                    found.setdefault((place, said.name), []).append(unit.base | said.path)
        return found

    @cached_property
    def taken_everywhere(self) -> set[str]:
        """The names that a file takes for others, wherever these are."""
        return {name for _, name in self._everywhere}

    @cached_property
    def including(self) -> dict[int, list[int]]:
        """The scopes that the text of a file stands in as well, by the file's own: `include!("a.rs")`."""
        found: dict[int, list[int]] = {}
        for unit in self.units:
            for at, row in enumerate(unit.facts.scopes if unit.dialect.crates else ()):
                for said in (unit.facts.imports[which] for which in row.stars):
                    inner = self.included(unit, said.module) if said.path == NONE else None
                    if inner is not None:
                        found.setdefault(inner, []).append(unit.base | at)
        return found

    def included(self, unit: Unit, path: str) -> int | None:
        """The scope of the file that a file of Rust includes by a path from its own folder."""
        place = posixpath.normpath(posixpath.join(posixpath.dirname(unit.path), path))
        found = self.places.get(place)
        return None if found is None else self.units[found].base

    def beside(self, path: str, name: str) -> int | None:
        """The module of a name in the package that a file is of: `a/__init__.py` and `b` are `a/b.py`."""
        folder = posixpath.dirname(path)
        for end in ("/__init__.py", ".py", ".pyi"):
            found = self.places.get(posixpath.join(folder, name) + end)
            if found is not None:
                return found
        return None
