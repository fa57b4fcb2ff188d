"""Go: packages by the module paths of go.mod.

A package is a directory, and an import names its first file in path order; `sql/importers_of.sql`
gives its importers to every file of the package. https://go.dev/ref/mod
"""

import posixpath
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from msgspec.structs import replace

from fledgling.worker.language import word_list
from fledgling.worker.resolving.project import (
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

STDLIB = word_list("go/stdlib.txt")
OWN_MODULES = frozenset({"std", "cmd"})  # Go's own source: packages of `std` have no path before their names


class Packages:
    """The packages of a project by directory, and its modules."""

    def __init__(self, project: Project) -> None:
        self.first = dict[str, str]()  # a package's directory -> its first file that is no test
        for path in project.written_in("go"):
            directory, _, name = path.rpartition("/")
            if not name.startswith(("_", ".")) and not name.endswith("_test.go"):
                self.first.setdefault(directory, path)
        self.modules = dict[str, str]()  # a module's directory -> its path
        self._named = defaultdict[str, list[str]](list)  # its path -> directories
        self._required = defaultdict[str, set[str]](set)  # directory of go.mod -> paths of modules
        self._replaced = defaultdict[str, dict[str, str]](dict)  # directory of go.mod or go.work -> path -> directory
        for directory, text in project.manifests_named("go.mod", "go.work"):
            for words in parse_go(text):
                self._direct(directory, words)
        for directory in sorted(self.modules, key=by_parts):
            self._named[self.modules[directory]].append(directory)

    def locate(self, directory: str, module: str) -> str | None:
        """The first file of the package that a path means in a directory, by the module with the longest path."""
        home = holding(posixpath.join(directory, "x"), self.modules)
        if home is not None and self.modules[home] == "std" and (found := self._package(home, module)):
            return found
        for prefix in (module, *ancestors(module)):
            if not prefix:
                break
            rest = module[len(prefix) + 1 :]
            for base in self._bases(home, prefix, directory):
                if found := self._package(base, rest):
                    return found
        vendors = [] if home is None else [posixpath.join(home, "vendor", module)]
        return next((found for place in vendors if (found := self.first.get(place))), None)

    def is_own(self, directory: str, module: str) -> bool:
        """Whether a path is below that of the module around a directory, or further out, and of none it requires."""
        above = (module, *ancestors(module))
        for around in (directory, *ancestors(directory)):
            if around in self.modules:
                named = {self.modules[around], *self._required[around]}
                if next((path for path in above if path in named), None) == self.modules[around]:
                    return True
        return False

    def _direct(self, directory: str, words: list[str]) -> None:
        if words[0] == "module" and len(words) == 2:
            self.modules[directory] = words[1]
        elif words[0] == "require" and len(words) > 1:
            self._required[directory].add(words[1])
        elif words[0] == "replace" and "=>" in words[2:-1]:
            target = words[words.index("=>") + 1]
            place = join(directory, target) if target.startswith(".") else None
            if place is not None:
                self._replaced[directory][words[1]] = place

    def _bases(self, home: str | None, path: str, directory: str) -> Iterator[str]:
        """The directories that a module path may stand for in the code of a module."""
        if home is not None:
            if self.modules[home] == path:
                yield home
            for up in (home, *ancestors(home)):
                if up in self._replaced and path in self._replaced[up]:
                    yield self._replaced[up][path]
        if path not in OWN_MODULES:
            yield from nearest(self._named.get(path, ()), directory)[:1]

    def _package(self, base: str, rest: str) -> str | None:
        """A package below a module's directory, unless it belongs to a module further down."""
        place = posixpath.join(base, rest) if rest else base
        found = self.first.get(place)
        return found if found and holding(found, self.modules) in (base, None) else None


def resolver(project: Project, _language: str) -> Resolver:
    """Resolve packages."""
    packages = Packages(project)

    @cache
    def locate(directory: str, module: str) -> str | None:
        if module.startswith("."):
            place = join(directory, module)
            return None if place is None else packages.first.get(place)
        return packages.locate(directory, module)

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        directory, is_stdlib = posixpath.dirname(path), row.module in STDLIB
        found = locate(directory, row.module)
        is_missing = not (found or is_stdlib) and packages.is_own(directory, row.module)
        yield answer(replace(row, is_relative=row.is_relative or is_missing), found, is_stdlib=is_stdlib)

    return resolved


def parse_go(text: str) -> Iterator[list[str]]:
    """The directives of a go.mod or go.work as words: `["module", "a.com/b"]`, `["replace", "c", "=>", "./c"]`."""
    block = ""
    for line in text.splitlines():
        words = line.partition("//")[0].replace('"', "").replace("`", "").split()
        if words == [")"]:
            block = ""
        elif words[1:] == ["("]:
            block = words[0]
        elif words:
            yield [block, *words] if block else words
