"""From what an import says to the file of the project it means: Python modules and JavaScript paths.

Only names are looked at, never contents, and every look-up is in a table built once. What is not found stays open: it
belongs to the standard library if the language's list has it, and is external or missing otherwise.
"""

import posixpath
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from msgspec.structs import replace

from fledgling.worker.language import FOLDER
from fledgling.worker.rows import ImportRow

PYTHON_STDLIB = frozenset((FOLDER / "python_stdlib.txt").read_text().split())
PYTHON_FILES = ("/__init__.py", ".py", "/__init__.pyi", ".pyi")  # a package comes before a module; stubs come last
PROJECT_FILES = frozenset({"pyproject.toml", "setup.py", "setup.cfg"})  # an installed project's directory is a root
SOURCE_FOLDERS = frozenset({"src", "lib"})  # and so are these

NODE_BUILTINS = frozenset((FOLDER / "node_builtins.txt").read_text().split())
SCRIPTS = (".js", ".jsx", ".mjs", ".cjs")
TYPED = (".ts", ".tsx", ".d.ts", ".mts", ".cts")
PROBES = {"javascript": (*SCRIPTS, *TYPED, ".json"), "typescript": (*TYPED, *SCRIPTS, ".json")}
SOURCES = {".js": (".ts", ".tsx", ".d.ts"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}

Resolver = Callable[[str, ImportRow], Iterable[ImportRow]]


def resolve(files: Mapping[str, str | None], imports: Mapping[str, Sequence[ImportRow]]) -> dict[str, list[ImportRow]]:
    """The imports of each path with `is_stdlib` and `resolved_path`; `files` gives the language of every path.

    A row of Python may become several: `from pkg import a, b` imports the file of `pkg.a` where there is one.
    """
    resolvers: dict[str | None, Resolver] = {
        "python": python_resolver(PythonPaths((path for path, name in files.items() if name == "python"), files)),
        "javascript": script_resolver(files, PROBES["javascript"]),
        "typescript": script_resolver(files, PROBES["typescript"]),
    }
    return {path: [new for row in rows for new in resolvers[files[path]](path, row)] for path, rows in imports.items()}


def ancestors(path: str) -> Iterator[str]:
    """The directories above a path, nearest first, the project root "" last: `a/b/c.py` is in "a/b", "a", ""."""
    while path:
        path = path.rpartition("/")[0]
        yield path


# ---- Python ----------------------------------------------------------------------------------------------------------


class PythonPaths:
    """The directories that imports of a project's Python files may start from."""

    def __init__(self, modules: Iterable[str], files: Iterable[str]) -> None:
        self.modules = frozenset(modules)
        inits = (path for path in self.modules if path.endswith(("/__init__.py", "/__init__.pyi")))
        self._packages = frozenset(posixpath.dirname(path) for path in inits)
        self._installed = {posixpath.dirname(path) for path in files if posixpath.basename(path) in PROJECT_FILES}
        self._starts = defaultdict[str, set[str]](set)  # first part of a dotted name -> directories that hold it
        for path in self.modules:
            below = path
            for directory in ancestors(path):
                if directory not in self._packages:
                    self._starts[posixpath.basename(below).partition(".")[0]].add(directory)
                below = directory

    def starts(self, name: str, directory: str) -> list[str]:
        """Where Python code in `directory` may find the top-level `name`, the likeliest first.

        That is in the directories above that are no packages; else where an installation would look: the root, `src`,
        `lib`, and beside project files. A standard name means the project's only beside the own package or in the root.
        """
        above = set(ancestors(directory + "/"))
        if name in PYTHON_STDLIB:
            own = next(up for up in ancestors(directory + "/") if up not in self._packages)
            plausible = self._starts[name] & {own, ""}
        else:
            plausible = {start for start in self._starts.get(name, ()) if start in above or self._is_root(start)}
        return sorted(plausible, key=lambda start: (-len(posixpath.commonpath([start, directory])), start))

    def file(self, place: str) -> str | None:
        """The module or package at a place: `a/b` is `a/b/__init__.py` or `a/b.py`."""
        return next((place + end for end in PYTHON_FILES if place + end in self.modules), None)

    def _is_root(self, directory: str) -> bool:
        return not directory or directory in self._installed or posixpath.basename(directory) in SOURCE_FOLDERS


def python_resolver(paths: PythonPaths) -> Resolver:
    """Resolve modules, and names that are modules themselves."""

    @cache
    def locate(directory: str, module: str) -> str | None:
        name = module.lstrip(".")
        place = name.replace(".", "/")
        if module.startswith("."):
            parents = list(ancestors(directory + "/"))[len(module) - len(name) - 1 :]
            return paths.file(posixpath.join(parents[0], place or "__init__")) if parents else None
        starts = paths.starts(name.partition(".")[0], directory)
        return next((found for start in starts if (found := paths.file(posixpath.join(start, place)))), None)

    def submodule(directory: str, module: str, name: str, found: str | None) -> str | None:
        if found is None:
            return locate(directory, dotted(module, name))
        package, _, file = found.rpartition("/")
        return paths.file(posixpath.join(package, name)) if file.startswith("__init__.") else None

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        directory = posixpath.dirname(path)
        found = locate(directory, row.module)
        inner = {name: place for name in row.imported_names if (place := submodule(directory, row.module, name, found))}
        names = tuple(name for name in row.imported_names if name not in inner)
        if names or not inner:
            is_stdlib = found is None and row.module.partition(".")[0] in PYTHON_STDLIB
            yield replace(row, is_stdlib=is_stdlib, resolved_path=found, imported_names=names)
        for name, place in inner.items():
            yield replace(row, module=dotted(row.module, name), resolved_path=place, imported_names=(name,))

    return resolved


def dotted(module: str, name: str) -> str:
    """A name inside a module: `a` and `b` are `a.b`, `.` and `b` are `.b`."""
    return f"{module}{name}" if module.endswith(".") else f"{module}.{name}"


# ---- JavaScript and TypeScript ---------------------------------------------------------------------------------------


def script_resolver(files: Mapping[str, str | None], probes: Sequence[str]) -> Resolver:
    """Resolve relative paths as bundlers do: the file itself, with an extension, its source, or a directory's index."""

    def candidates(place: str) -> Iterator[str]:
        stem, extension = posixpath.splitext(place)
        yield place
        yield from (place + probe for probe in probes)
        yield from (stem + source for source in SOURCES.get(extension, ()))
        yield from (posixpath.join(place, "index" + probe) for probe in probes)

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        module = row.module.partition("?")[0]
        found = None
        if row.is_relative:
            place = posixpath.normpath(posixpath.join(posixpath.dirname(path), module))
            found = next((candidate for candidate in candidates(place) if candidate in files), None)
        is_stdlib = module.startswith("node:") or module in NODE_BUILTINS
        yield replace(row, is_stdlib=is_stdlib, resolved_path=found)

    return resolved
