"""Rust: modules of crates, by `mod` and `use`; the longest beginning of a path that is a file.

https://doc.rust-lang.org/reference/items/modules.html, https://doc.rust-lang.org/cargo/reference/cargo-targets.html
"""

import posixpath
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from msgspec.structs import replace

from fledgling.worker.resolving.manifest import Table, parse_toml, table
from fledgling.worker.resolving.project import (
    Declared,
    InnerModules,
    Project,
    Resolver,
    ancestors,
    answer,
    by_parts,
    holding,
    join,
    nearest,
)
from fledgling.worker.rows import ImportRow

STDLIB = frozenset({"alloc", "core", "proc_macro", "std", "test"})
TARGETS = frozenset({"benches", "examples", "src/bin", "tests"})  # folders where each file is a crate of its own
DEPENDENCIES = ("dependencies", "dev-dependencies", "build-dependencies")


class _Place(NamedTuple):
    """A module: the directory of its submodules, and its file."""

    directory: str
    file: str


class Reached(NamedTuple):
    """The module that the longest beginning of a path leads to, and the name behind it, if that is not all."""

    place: _Place
    next_name: str | None = None


class Crates:
    """The packages of Cargo.toml, their crates, and the names they call each other by."""

    def __init__(self, project: Project) -> None:
        self._files = project.files
        manifests = {directory: parse_toml(text) for directory, text in project.manifests_named("Cargo.toml")}
        self.packages = {directory: raw for directory, raw in manifests.items() if isinstance(raw.get("package"), dict)}
        self._named = defaultdict[str, list[str]](list)
        self._shared = {directory: dict(shared(directory, raw)) for directory, raw in manifests.items()}
        self._renamed = {directory: dict(self._names(directory, raw)) for directory, raw in self.packages.items()}
        self._targets = dict[str, str]()  # a file that is a crate's root by its package's own words -> the package
        for directory in sorted(self.packages, key=by_parts):
            self._named[self._name(directory)].append(directory)
            self._targets.update((path, directory) for path in targets(directory, self.packages[directory]))
        self._roots = {posixpath.dirname(path): path for path in sorted(self._targets, reverse=True)}

    @cache  # noqa: B019 - lives as long as one resolution
    def root(self, path: str) -> _Place:
        """The root of the crate that a file belongs to; of several that share a directory, the library."""
        package = holding(path, self.packages)
        if package is None or path in self._targets:
            return _Place(posixpath.dirname(path), path)
        inner = path[len(package) :].lstrip("/")
        if inner == "build.rs" or inner in ("src/lib.rs", "src/main.rs"):
            return _Place(posixpath.dirname(path), path)
        for folder in TARGETS:
            if inner.startswith(f"{folder}/"):
                first = inner[len(folder) + 1 :].partition("/")[0]
                main = posixpath.join(package, folder, first, "main.rs")
                if main in self._files:
                    return _Place(posixpath.dirname(main), main)
                return _Place(posixpath.join(package, folder), path)
        above = next((up for up in ancestors(path) if up in self._roots), "")
        if len(above) > len(package) and not inner.startswith("src/"):
            return _Place(above, self._roots[above])
        library = self.library(package)
        main = posixpath.join(package, "src/main.rs")
        return library or _Place(posixpath.dirname(main), main if main in self._files else path)

    @cache  # noqa: B019 - lives as long as one resolution
    def library(self, package: str) -> _Place | None:
        """The root of a package's library."""
        explicit = table(self.packages[package].get("lib")).get("path")
        path = join(package, explicit if isinstance(explicit, str) else "src/lib.rs")
        return _Place(posixpath.dirname(path), path) if path in self._files and path else None

    @cache  # noqa: B019 - lives as long as one resolution
    def external(self, directory: str, name: str) -> _Place | None:
        """The library that files of a directory mean by a name: a dependency by path, their own, or one so called."""
        package = self._package(directory)
        if package is not None:
            if target := self._renamed[package].get(name):
                return self.library(target) if target in self.packages else None
            if name == self._name(package):
                return self.library(package)
        found = nearest(self._named.get(name, ()), directory)
        return self.library(found[0]) if len(found) == 1 else None

    def _names(self, directory: str, raw: Table) -> Iterator[tuple[str, str]]:
        """The names of a package's dependencies that are paths, also where its workspace says which."""
        above = next((up for up in ancestors(directory + "/") if self._shared.get(up)), None)
        for name, value in dependencies(raw):
            if path := path_of(directory, value):
                yield name, path
            elif above is not None and table(value).get("workspace") is True and name in self._shared[above]:
                yield name, self._shared[above][name]

    @cache  # noqa: B019 - lives as long as one resolution
    def _package(self, directory: str) -> str | None:
        return holding(f"{directory}/", self.packages)

    def _name(self, directory: str) -> str:
        raw = self.packages[directory]
        name = table(raw.get("lib")).get("name") or raw["package"].get("name")
        return name.replace("-", "_") if isinstance(name, str) else ""


def dependencies(raw: Table) -> Iterator[tuple[str, object]]:
    """The dependencies of a package by the names in its code."""
    scopes = [raw, *(table(scope) for scope in table(raw.get("target")).values())]
    for each in (table(scope.get(kind)) for scope in scopes for kind in DEPENDENCIES):
        yield from ((name.replace("-", "_"), value) for name, value in each.items())


def shared(directory: str, raw: Table) -> Iterator[tuple[str, str]]:
    """What the members of a workspace may depend on that is a path."""
    for name, value in table(table(raw.get("workspace")).get("dependencies")).items():
        if path := path_of(directory, value):
            yield name.replace("-", "_"), path


def path_of(directory: str, value: object) -> str | None:
    """The directory of a dependency that is one."""
    path = table(value).get("path")
    return join(directory, path) if isinstance(path, str) else None


def targets(directory: str, raw: Table) -> Iterator[str]:
    """The files that a Cargo.toml names as roots of crates."""
    for kind in ("bin", "example", "test", "bench"):
        for target in raw[kind] if isinstance(raw.get(kind), list) else ():
            path = table(target).get("path")
            if isinstance(path, str) and (place := join(directory, path)):
                yield place
    script = table(raw.get("package")).get("build")
    if isinstance(script, str) and (place := join(directory, script)):
        yield place


def resolver(project: Project, _language: str) -> Resolver:
    """Resolve `mod x;` and paths of `use`."""
    placed = {path: dict(said.placed) for path, said in project.declared.items() if said.placed}
    paths = Paths(project.files, Crates(project), placed)

    @cache
    def inner(path: str) -> InnerModules:
        return InnerModules(project.declared.get(path, Declared()).modules)

    @cache
    def said(path: str) -> tuple[frozenset[str], frozenset[str]]:
        """The enumerations of a file, and the modules of which it says that they are files."""
        known = project.declared.get(path, Declared())
        return frozenset(known.names), frozenset(known.files)

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        is_declared = row.is_relative and "::" not in row.module and row.module not in ("self", "super")
        first = row.module.removeprefix("::").partition("::")[0]
        if first in STDLIB and not is_declared:
            yield answer(row, None, is_stdlib=True)
            return
        inline = inner(path).around(row.line_number)
        if is_declared:
            yield answer(row, paths.declared(path, inline, row.module, *row.imported_names[:1]))
            return
        found = paths.locate(path, inline, row.module, inner(path).names)
        names = [name for name in row.imported_names if name not in ("*", "self")]
        if found and found.next_name in said(found.place.file)[1]:
            found = None  # `mod name;` there, and no such file
        parent = found.place if found and not found.next_name else None
        places = {name: place.file for name in names if parent and (place := paths.child(parent, name))}
        own = path if first in said(path)[0] else None  # use Color::*;
        yield from _by_name(row, found.place.file if found else own, places)

    return resolved


def _by_name(row: ImportRow, found: str | None, places: Mapping[str, str]) -> Iterator[ImportRow]:
    """Yield a row for the names that lead where the module does, and one for each name that leads elsewhere."""
    elsewhere = {name: place for name, place in places.items() if place != found}
    names = tuple(name for name in row.imported_names if name not in elsewhere)
    if names or not elsewhere:
        yield replace(row, resolved_path=found, is_stdlib=False, imported_names=names)
    for name, place in elsewhere.items():
        yield replace(row, module=f"{row.module}::{name}", resolved_path=place, imported_names=(name,))


class Paths:
    """Paths of modules as one file writes them; `placed` are modules by name, of which a file says where they are."""

    def __init__(self, files: Collection[str], crates: Crates, placed: Mapping[str, Mapping[str, str]]) -> None:
        self._placed = placed
        self._crates = crates
        self._files = files
        self._modules = {path.removesuffix("/mod.rs"): path for path in files if path.endswith("/mod.rs")}
        self._modules |= {path.removesuffix(".rs"): path for path in files if path.endswith(".rs")}  # rather, if both

    def declared(self, path: str, inline: tuple[str, ...], name: str, said: str | None = None) -> str | None:
        """The file of `mod name;`, which may be `said`: `#[path = "other.rs"]`."""
        if said is not None:
            directory = self._here(path, inline).directory if inline else posixpath.dirname(path)
            place = join(directory, said)
            return place if place in self._files else None
        found = self.child(self._here(path, inline), name)
        return found.file if found else None

    def locate(self, path: str, inline: tuple[str, ...], module: str, own: frozenset[str]) -> Reached | None:
        """Where the longest beginning of a path leads, written in a file inside modules that have no file.

        The file's `own` modules have none either: `mod support { mod a; }`.
        """
        parts = [part for part in module.split("::") if part]
        if not parts:
            return None
        root = self._crates.root(path)
        if parts[0] == "crate":
            return self._descend(root, parts[1:])
        here = self._here(path, inline)
        if parts[0] in ("self", "super"):
            return self._from_here(here, len(inline), root, parts)
        if not module.startswith("::") and self.child(here, parts[0]):
            return self._descend(here, parts)
        if not module.startswith("::") and parts[0] in own:
            return self._descend(_Place(posixpath.join(here.directory, parts[0]), path), parts[1:])
        if library := self._crates.external(posixpath.dirname(path), parts[0].removeprefix("r#")):
            return self._descend(library, parts[1:])
        return self._descend(root, parts) if self.child(root, parts[0]) else None  # the 2015 edition

    def child(self, at: _Place, name: str) -> _Place | None:
        """The module of a name in another."""
        name = name.removeprefix("r#")
        said = self._placed.get(at.file, {}).get(name)
        if said is not None and at.directory == self._here(at.file, ()).directory:
            place = join(posixpath.dirname(at.file), said)
            return _Place(posixpath.dirname(place), place) if place in self._files and place else None
        return self._module(f"{at.directory}/{name}" if at.directory else name)

    @cache  # noqa: B019 - lives as long as one resolution
    def _here(self, path: str, inline: tuple[str, ...]) -> _Place:
        return _Place(posixpath.join(submodules(path, self._crates.root(path)), *inline), path)

    def _from_here(self, here: _Place, inline: int, root: _Place, parts: list[str]) -> Reached | None:
        count = next((at for at, part in enumerate(parts) if part not in ("self", "super")), len(parts))
        at: _Place | None = here
        for part in parts[:count]:
            if at is not None and part == "super":
                at = _Place(posixpath.dirname(at.directory), at.file) if inline > 0 else self._above(at, root)
                inline -= 1
        return None if at is None else self._descend(at, parts[count:])

    def _above(self, at: _Place, root: _Place) -> _Place | None:
        directory = posixpath.dirname(at.directory)
        if at.directory == root.directory:
            return None
        return root if directory == root.directory else self._module(directory)

    def _descend(self, at: _Place, parts: Sequence[str]) -> Reached:
        for part in parts:
            deeper = self.child(at, part)
            if deeper is None:
                return Reached(at, part)
            at = deeper
        return Reached(at)

    def _module(self, place: str) -> _Place | None:
        file = self._modules.get(place)
        return _Place(place, file) if file else None


def submodules(path: str, root: _Place) -> str:
    """The directory of a file's submodules: its own for roots and `mod.rs`, else one of its name."""
    directory, _, name = path.rpartition("/")
    return directory if path == root.file or name == "mod.rs" else path.removesuffix(".rs")
