"""Swift: a module is a target of a package, a directory with all that is below it, and an import names its first file.

https://docs.swift.org/package-manager/PackageDescription: without a path, a target stands below one of some folders. In
other projects a directory with the name of a module is taken for it, unless that is a module of the toolchain.
"""

import posixpath
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from fledgling.worker.deferred import deferred
from fledgling.worker.language import word_list
from fledgling.worker.resolving.project import Project, Resolver, ancestors, answer, by_parts, join, nearest
from fledgling.worker.rows import ImportRow

MANIFEST = "Package.swift"
STDLIB = word_list("swift/stdlib.txt")
FOLDERS = ("Sources", "Source", "src", "srcs", "Tests", "Plugins")
TARGET = deferred(r"\.(?:\w*[tT]arget|macro|plugin)\(\s*+name:\s*+\"(?P<name>[^\"\n]++)\"(?P<more>[^()]{0,4000}+)")
PATH = deferred(r"\bpath:\s*+\"(?P<path>[^\"\n]*+)\"")


class PackageTargets:
    """The targets of a project: the directory, or directories, that each name may mean, and the first file of those."""

    def __init__(self, project: Project) -> None:
        self._first = dict[str, str]()  # a directory -> the first file in or below it
        self._named = defaultdict[str, list[str]](list)  # a name -> directories
        for path in project.written_in("swift"):
            for directory in ancestors(path) if posixpath.basename(path) != MANIFEST else ():
                if directory in self._first:
                    break
                self._first[directory] = path
                self._named[posixpath.basename(directory)].append(directory)
        self._said = defaultdict[str, list[str]](list)  # the same by the packages' own words
        for directory, text in project.manifests_named(MANIFEST):
            for name, place in targets(text):
                places = [join(directory, place)] if place else [join(directory, f"{up}/{name}") for up in FOLDERS]
                self._said[name] += [known for known in places if known in self._first][:1]
        for directories in (*self._named.values(), *self._said.values()):
            directories.sort(key=by_parts)

    def first(self, name: str, directory: str) -> str | None:
        """The first file of the nearest target, else of the nearest directory that has that name."""
        found = nearest(self._said.get(name, ()), directory)
        if not found and name not in STDLIB:
            found = nearest(self._named.get(name, ()), directory)
        return self._first[found[0]] if found else None


def targets(text: str) -> Iterator[tuple[str, str | None]]:
    """The targets of a Package.swift, each with the path it names: `.target(name: "A", path: "Source")`."""
    for target in TARGET.finditer(text):
        path = PATH.search(target["more"])
        yield target["name"], path["path"] if path else None


def resolver(project: Project, _language: str) -> Resolver:
    """Resolve modules of the project."""
    known = PackageTargets(project)
    first = cache(known.first)

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        name = row.module.partition(".")[0]
        yield answer(row, first(name, posixpath.dirname(path)), is_stdlib=name in STDLIB)

    return resolved
