"""What all resolvers look at: the project's paths, its manifests, what its files declare; and how they look things up.

Every look-up is in a table built once, so resolving stays linear however a project is made.
"""

import posixpath
import sys
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from fledgling.worker.language import Language
from fledgling.worker.rows import ImportRow, SymbolRow

MAX_MANIFEST = 2**20  # characters; longer ones were not written by hand, and are not read
MAX_PLACES = 20  # that one rule of a manifest, or one name, leads to; each is looked at for each import of it
MAX_NESTED = 100  # modules written inside each other in one file
MAX_SUFFIX = 16  # last parts of a path by which it can be found; bounds the table for paths of a thousand parts

Resolver = Callable[[str, ImportRow], Iterable[ImportRow]]


class Declared(Struct, frozen=True):
    """What the symbols of one file say about its place among the others.

    Java's `package a; class B` has the package `a` and the name `a.B`; the module `tests` of Rust's
    `mod tests { ... }` has lines, and an enumeration may be used by its name: `use Color::*;`. `files` are modules that
    it says are files: `mod a;`; `placed` those of which it says where: `#[path = "b.rs"] mod a;`.
    """

    packages: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    modules: tuple[tuple[str, int, int], ...] = ()
    files: tuple[str, ...] = ()
    placed: tuple[tuple[str, str], ...] = ()


class InnerModules:
    """The modules of one file, with their lines, by which of them a line is in: of two that share it, the later.

    >>> InnerModules([("a", 1, 9), ("b", 2, 3)]).around(3)
    ('a', 'b')
    """

    def __init__(self, modules: Iterable[tuple[str, int, int]]) -> None:
        """Take their names, first lines and last lines."""
        self._modules = sorted(modules, key=lambda module: module[1])
        self._outer: list[int] = []  # of each, the one that it begins in; -1 for none
        self.names = frozenset(name for name, _, _ in self._modules)
        innermost: list[tuple[int, int]] = []  # from which line on, and which module; -1 for none
        around = [-1]

        def close(first: int, last: int) -> None:
            while around[-1] >= 0 and (end := self._modules[around[-1]][2]) < last:
                around.pop()
                innermost.append((min(end + 1, first), around[-1]))

        for at, (_, first, last) in enumerate(self._modules):
            close(first, last)
            self._outer.append(around[-1])
            around.append(at)
            innermost.append((first, at))
        close(sys.maxsize, sys.maxsize)
        self._innermost = sorted(innermost, key=itemgetter(0))

    def around(self, line: int) -> tuple[str, ...]:
        """Return the modules that a line is in, the outermost first; of more than MAX_NESTED the innermost."""
        place = bisect_right(self._innermost, line, key=itemgetter(0)) - 1
        at = self._innermost[place][1] if place >= 0 else -1
        found: list[str] = []
        while at >= 0 and len(found) < MAX_NESTED:
            found.append(self._modules[at][0])
            at = self._outer[at]
        return tuple(reversed(found))


class Project(NamedTuple):
    """A project as resolvers see it: the rows of languages; by path, languages, texts of manifests, declarations.

    `imported` gives paths of files and their imports as they are written, where these wait for those of others.
    """

    rows: Mapping[str, Language]
    files: Mapping[str, str | None]
    manifests: Mapping[str, str] = {}
    declared: Mapping[str, Declared] = {}
    imported: Callable[[], Iterable[tuple[str, Sequence[ImportRow]]]] = tuple

    def manifests_named(self, *names: str) -> Iterator[tuple[str, str]]:
        """The directory and text of each manifest with one of these file names."""
        for path, text in self.manifests.items():
            directory, _, name = path.rpartition("/")
            if name in names and len(text) <= MAX_MANIFEST:
                yield directory, text

    def written_in(self, *languages: str) -> list[str]:
        """The paths of all files in these languages, sorted."""
        return sorted(path for path, language in self.files.items() if language in languages)

    def is_package(self, language: str) -> bool:
        """Whether the root is a package of a language, by the file that makes it one: `__init__.py`."""
        imports = self.rows[language].imports
        package = self.rows[imports].modules.package if imports and imports in self.rows else ""
        return bool(package) and package in self.files

    def imports_of(self, language: str) -> Iterator[ImportRow]:
        """The imports, as they are written, of the files whose imports are those of a language: of notebooks, too."""
        for path, rows in self.imported():
            written_in = self.files.get(path)
            if written_in and self.rows[written_in].imports == language:
                yield from rows

    def sharing(self, language: str) -> list[str]:
        """The languages that share declared packages with one, itself among them: Kotlin, and Java."""
        packages = self.rows[language].modules.packages
        return [name for name, row in self.rows.items() if packages and row.modules.packages == packages]


# ---- declarations ----------------------------------------------------------------------------------------------------


def declared(language: Language, symbols: Iterable[SymbolRow], imports: Iterable[ImportRow]) -> Declared | None:
    """What a file declares that resolution can use; None where the language's imports go by path alone."""
    if language.inner_modules:
        modules = tuple((row.name, row.line_start, row.line_end) for row in symbols if row.kind == "module")
        enums = tuple(row.name for row in symbols if row.kind == "enum")
        rows = [row for row in imports if row.is_relative and row.module.isidentifier()]
        files = tuple(row.module for row in rows)
        within = InnerModules(modules)
        outer = (row for row in rows if not within.around(row.line_number))
        placed = tuple((row.module, row.imported_names[0]) for row in outer if row.imported_names)
        return Declared((), enums, modules, files, placed) if enums or modules or files else None
    separator = language.separator
    if not separator:
        return None
    packages: dict[str, None] = {}
    names: dict[str, None] = {}
    package, inner = "", ""
    for row in symbols:
        if row.kind == "module":
            package, inner = row.qualified_name, row.name
            packages[package] = None
        elif row.kind not in ("import", "export") and row.parent_name in (None, inner):
            names[package + separator + row.name if package else row.name] = None
    return Declared(tuple(packages), tuple(names))


# ---- paths -----------------------------------------------------------------------------------------------------------


def ancestors(path: str) -> Iterator[str]:
    """The directories above a path, nearest first, the project root "" last: `a/b/c.py` is in "a/b", "a", ""."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def join(directory: str, path: str) -> str | None:
    """A path from a directory, without `.` and `..`; None above the project: `join("a/b", "../c") == "a/c"`."""
    place = posixpath.normpath(posixpath.join(directory, path)) if path else directory
    if place == ".":
        return ""
    return None if place.startswith(("../", "/")) or place == ".." else place


def holding(path: str, directories: Collection[str]) -> str | None:
    """The nearest of some directories that holds a path."""
    return next((up for up in ancestors(path) if up in directories), None)


def by_parts(path: str) -> str:
    """A sort key under which everything below a directory stands together."""
    return path.replace("/", "\0")


def nearest(paths: Sequence[str], directory: str) -> Sequence[str]:
    """Those of some paths, sorted `by_parts`, that share the most leading directories with a directory.

    Of many the first MAX_PLACES: each import looks at all of them.
    """
    if len(paths) < 2:
        return paths
    here = by_parts(directory + "/")
    at = bisect_left(paths, here, key=by_parts)
    up = max((common(path, directory) for path in paths[max(at - 1, 0) : at + 1]), key=len)
    if not up:
        return paths[:MAX_PLACES]
    first = bisect_left(paths, by_parts(up + "/"), key=by_parts)
    last = bisect_left(paths, by_parts(up) + "\1", key=by_parts)
    return paths[first : min(last, first + MAX_PLACES)]


def common(path: str, directory: str) -> str:
    """The deepest directory that holds a path and is, or holds, a directory."""
    shared = 0
    parts = path.split("/")[:-1]
    for part, other in zip(parts, directory.split("/"), strict=False):
        if part != other:
            break
        shared += 1
    return "/".join(parts[:shared])


class Suffixes:
    """Paths by what they end in: `Suffixes(["x/a/b.h"]).nearest("a/b.h", "y") == ["x/a/b.h"]`."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._unasked = defaultdict[str, list[str]](list)  # by their last part, until one of that name is asked for
        self._paths = defaultdict[str, list[str]](list)
        for path in sorted(paths, key=by_parts):
            self._unasked[path.rpartition("/")[2]].append(path)

    def nearest(self, suffix: str, directory: str) -> Sequence[str]:
        """The paths with this end that are nearest to a directory; several where they are equally near."""
        for path in self._unasked.pop(suffix.rpartition("/")[2], ()):
            self._add(path)
        return nearest(self._paths.get(suffix, ()), directory)

    def _add(self, path: str) -> None:
        suffix, above = "", path
        for _ in range(MAX_SUFFIX):
            above, _, part = above.rpartition("/")
            suffix = f"{part}/{suffix}" if suffix else part
            self._paths[suffix].append(path)
            if not above:
                break


def only(paths: Sequence[str]) -> str | None:
    """The one path, or None where there is none or a choice."""
    return paths[0] if len(paths) == 1 else None


# ---- rows ------------------------------------------------------------------------------------------------------------


def answer(row: ImportRow, found: str | None, *, is_stdlib: bool = False) -> ImportRow:
    """The row with where it leads; what leads to a file of the project is not the standard library's."""
    return replace(row, resolved_path=found, is_stdlib=is_stdlib and found is None)
