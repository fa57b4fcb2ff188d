"""Names in the packages that files declare, as in Java and C#; in some languages a file's path says the same.

An import of a whole package (`import a.*;`, `using A;`) names its first file in path order; `sql/importers_of.sql`
gives its importers to every file of the package.
"""

import posixpath
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache

from msgspec.structs import replace

from fledgling.worker.resolving.project import (
    Project,
    Resolver,
    Suffixes,
    ancestors,
    answer,
    by_parts,
    nearest,
)
from fledgling.worker.rows import ImportRow


class Names:
    """What the files of some languages declare: packages, and the names in them."""

    def __init__(self, project: Project, languages: Iterable[str]) -> None:
        self._packages = defaultdict[str, list[str]](list)
        self._names = defaultdict[str, list[str]](list)
        for path in sorted(project.written_in(*languages), key=by_parts):
            if path in project.declared:
                for package in project.declared[path].packages:
                    self._packages[package].append(path)
                for name in project.declared[path].names:
                    self._names[name].append(path)

    def name(self, qualified: str, directory: str) -> Sequence[str]:
        """The files that define a name, the nearest of them."""
        return nearest(self._names.get(qualified, ()), directory)

    def package(self, name: str, directory: str) -> Sequence[str]:
        """The files that declare a package, the nearest of them."""
        return nearest(self._packages.get(name, ()), directory)

    def holds(self, name: str) -> bool:
        """Whether some file declares a package or a name."""
        return name in self._packages or name in self._names

    @cache  # noqa: B019 - lives as long as one resolution
    def first(self, package: str) -> str | None:
        """The first file of a package in path order."""
        return min(self._packages.get(package, ()), default=None)


def package_resolver(project: Project, language: str, stdlib: Collection[str], *, has_paths: bool = False) -> Resolver:
    """Resolve names in packages, and members by the longest part of their name that is one: `a.B.c` is in `a.B`.

    Where packages are paths, a file that declares nothing known is found by the name that its path says.
    """
    sharing = project.sharing(language)
    endings = [ending for name in sharing for ending in project.rows[name].extensions] if has_paths else []
    names = Names(project, sharing)
    undeclared = Suffixes(path for path in project.written_in(*sharing) if path not in project.declared)
    separator = project.rows[language].separator

    def by_path(qualified: str, directory: str) -> Sequence[str]:
        places = (qualified.replace(".", "/") + ending for ending in endings)
        return next((found for place in places if (found := undeclared.nearest(place, directory))), ())

    @cache
    def locate(directory: str, qualified: str) -> str | None:
        for name in prefixes(qualified):
            if found := names.name(name, directory) or by_path(name, directory):
                return found[0]
            if names.first(name):
                return None  # a package of the project, and it does not have that name
        return None

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        directory = posixpath.dirname(path)
        is_stdlib = any(part in stdlib for part in prefixes(row.module))
        if not row.imported_names or row.imported_names == ("*",):
            first = names.first(row.module)
            if first and is_stdlib and not is_placed(first, row.module):
                first = None  # what adds to a package of the standard library is not what an import of that means
            yield answer(row, first or locate(directory, row.module), is_stdlib=is_stdlib)
            return
        places = {
            name: names.first(row.module) if name == "*" else locate(directory, f"{row.module}{separator}{name}")
            for name in row.imported_names
        }
        for found in dict.fromkeys(places.values()):
            imported = tuple(name for name in row.imported_names if places[name] == found)
            yield answer(replace(row, imported_names=imported), found, is_stdlib=is_stdlib)

    return resolved


def is_placed(path: str, package: str) -> bool:
    """Whether a file is in a directory that is called as its package, or its last part: `a/System.Text/B.cs`."""
    above = f"/{posixpath.dirname(path)}/"
    return any(f"/{name}/" in above for name in (package, package.rpartition(".")[2]))


def prefixes(qualified: str) -> Iterator[str]:
    """A name and what it stands in: `a.b.C`, `a.b`, `a`."""
    yield qualified
    yield from (above.replace("/", ".") for above in ancestors(qualified.replace(".", "/")) if above)
