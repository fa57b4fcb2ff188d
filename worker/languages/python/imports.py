"""Python: modules and packages, relative and absolute, namespace packages, source roots."""

import posixpath
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from msgspec.structs import replace

from fledgling.worker.language import word_list
from fledgling.worker.languages.python.compiled import compiled
from fledgling.worker.languages.python.source_roots import source_roots
from fledgling.worker.resolving.project import (
    MAX_PLACES,
    Project,
    Resolver,
    ancestors,
    by_parts,
    holding,
    nearest,
)
from fledgling.worker.rows import ImportRow

STDLIB = word_list("python/stdlib.txt")
CYTHON = ".pyx"  # what a module is compiled from
ENDS = ("/__init__.py", ".py", CYTHON, "/__init__.pyi", ".pyi")  # a package comes before a module; stubs come last
PROJECT_FILES = frozenset({"pyproject.toml", "setup.py", "setup.cfg"})  # an installed project's directory is a root
SOURCE_FOLDERS = frozenset({"src", "lib"})  # and so are these
FEWEST_ASKED = 3  # modules that files take from a name before it may be that of the root
MOST_THERE = 0.9  # of these, how many the root has at least: others may be made or compiled


class _Modules:
    """The modules of a project, and the directories that their names may start from."""

    def __init__(self, project: Project) -> None:
        files = project.files
        self.paths = frozenset([*project.written_in("python"), *(path for path in files if path.endswith(CYTHON))])
        self._compiled = compiled(project)
        self.packages = frozenset(
            posixpath.dirname(path) for path in self.paths if path.endswith(("/__init__.py", "/__init__.pyi"))
        )
        self._installed = {posixpath.dirname(path) for path in files if posixpath.basename(path) in PROJECT_FILES}
        said = [*source_roots(project)]
        self._said = {folder for package, folder in said if not package}
        self._packages_at = defaultdict[str, list[str]](list)  # a package -> folders of another name
        for package, folder in said:
            if package:
                self._packages_at[package.replace(".", "/")].append(folder)
        for folders in self._packages_at.values():
            folders.sort(key=by_parts)
        self._starts = defaultdict[str, set[str]](set)  # first part of a dotted name -> directories that hold it
        self._rooted = defaultdict[str, list[str]](list)  # place below a root -> the places in the project
        for path in sorted(self.paths, key=by_parts):
            below, place = path, place_of(path)
            for directory in ancestors(path):
                if directory not in self.packages:
                    self._starts[posixpath.basename(below).partition(".")[0]].add(directory)
                    if self._is_root(directory):
                        self._add(place[len(directory) :].lstrip("/"), place)
                below = directory
        if project.is_package("python"):
            self._packages_at |= {name: [""] for name in self._names_of_root(project) if name not in self._packages_at}

    def _names_of_root(self, project: Project) -> list[str]:
        """The name by which files import the root, if that is a package: what they ask of it stands below the root."""
        asked = defaultdict[str, set[str]](set)
        for row in project.imports_of("python"):
            name, _, place = row.module.replace(".", "/").partition("/")
            if name and place and name not in STDLIB and name not in self._starts:
                asked[name].add(place)
        proven = []
        for name, places in asked.items():
            there = sum(any(at + end in self.paths for end in ENDS) for at in places)
            is_deep = any("/" in at for at in places)
            if is_deep and there >= FEWEST_ASKED and there >= MOST_THERE * len(places):
                proven.append(name)
        return proven if len(proven) == 1 else []

    def places(self, place: str, directory: str) -> Iterator[str]:
        """Where Python code in `directory` may find the absolute `a/b`, the likeliest place first.

        That is in the directories above that are no packages; else where an installation would look: the root, `src`,
        `lib`, beside project files, and where these say. A standard name means the project's only beside the own
        package or in the root.
        """
        name = place.partition("/")[0]
        starts = self._starts.get(name)
        above = [up for up in ancestors(directory + "/") if up in starts] if starts else []
        if above and name in STDLIB:
            own = next(up for up in ancestors(directory + "/") if up not in self.packages)
            above = [up for up in above if up in (own, "")]
        yield from (f"{start}/{place}" if start else place for start in above)
        if name not in STDLIB:
            yield from nearest(self._rooted.get(place, ()), directory)[:1]
        for package in [place, *ancestors(place)] if self._packages_at else ():
            folders = nearest(self._packages_at.get(package, ()), directory)
            inner = place[len(package) + 1 :]
            yield from (posixpath.join(folder, inner).rstrip("/") or "__init__" for folder in folders[:MAX_PLACES])

    def may_hold(self, name: str) -> bool:
        """Whether an absolute name that starts like this may lead anywhere: most of what a project imports does not."""
        return name in self._starts or bool(self._packages_at or self._compiled)

    def file(self, place: str) -> str | None:
        """The module or package at a place: `a/b` is `a/b/__init__.py` or `a/b.py`."""
        for end in ENDS:
            if place + end in self.paths:
                return place + end
        return self.compiled(place, posixpath.dirname(place)) if self._compiled else None

    def compiled(self, place: str, directory: str) -> str | None:
        """The file that the module at a place is compiled from: `_native`, or `a/_native` in any folder.

        Of several, that is the one of the nearest settings above `directory`.
        """
        while place not in self._compiled and place.count("/") > 1:
            place = place.partition("/")[2]
        known = self._compiled.get(place, {})
        above = holding(f"{directory}/", known) if len(known) > 1 else next(iter(known), None)
        return None if above is None else known[above]

    def _add(self, suffix: str, place: str) -> None:
        places = self._rooted[suffix]
        if not places or places[-1] != place:  # a package and its stub stand at one place
            places.append(place)

    def _is_root(self, directory: str) -> bool:
        return (
            not directory
            or directory in self._installed
            or directory in self._said
            or posixpath.basename(directory) in SOURCE_FOLDERS
        )


def place_of(path: str) -> str:
    """A module's path without what makes it a file: `a/b` of `a/b.py` and of `a/b/__init__.py`."""
    return path.rpartition(".")[0].removesuffix("/__init__")


def resolver(project: Project, _language: str) -> Resolver:
    """Resolve modules, and names that are modules themselves."""
    modules = _Modules(project)

    @cache
    def locate(directory: str, module: str) -> str | None:
        name = module.lstrip(".")
        place = name.replace(".", "/")
        if name == module and not modules.may_hold(name.partition(".")[0]):
            return None
        if name != module:
            parents = list(ancestors(directory + "/"))[len(module) - len(name) - 1 :]
            return modules.file(posixpath.join(parents[0], place or "__init__")) if parents else None
        found = next((found for at in modules.places(place, directory) if (found := modules.file(at))), None)
        return found or modules.compiled(place, directory)

    def submodule(directory: str, module: str, name: str, found: str | None) -> str | None:
        if found is None:
            return locate(directory, dotted(module, name))
        package, slash, file = found.rpartition("/")
        return modules.file(f"{package}{slash}{name}") if file.startswith("__init__.") else None

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        directory = path.rpartition("/")[0]
        found = locate(directory, row.module)
        inner = {name: place for name in row.imported_names if (place := submodule(directory, row.module, name, found))}
        names = tuple(name for name in row.imported_names if name not in inner)
        if names or not inner:
            is_stdlib = found is None and row.module.partition(".")[0] in STDLIB
            yield replace(row, is_stdlib=is_stdlib, resolved_path=found, imported_names=names)
        for name, place in inner.items():
            yield replace(row, module=dotted(row.module, name), resolved_path=place, imported_names=(name,))

    return resolved


def dotted(module: str, name: str) -> str:
    """A name inside a module: `a` and `b` are `a.b`, `.` and `b` are `.b`."""
    return f"{module}{name}" if module.endswith(".") else f"{module}.{name}"
