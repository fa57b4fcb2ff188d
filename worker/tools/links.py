"""Which files import which; and which import a whole package, as `using Acme.Core;` does: that means no one file."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Set
from functools import cache
from typing import NamedTuple

from fledgling.messages.languages import Modules
from fledgling.worker.deferred import deferred
from fledgling.worker.store.text import File
from fledgling.worker.tools import packages
from fledgling.worker.tools.request import Request

PLATFORM = deferred(r"(?:Microsoft|System)(?:\.|$)")  # namespaces of .NET, which projects add extension methods to


class Link(NamedTuple):
    """A file, and one that it imports."""

    path: str
    resolved_path: str


class Package(NamedTuple):
    """What is imported as a whole. Two families of languages, or two directories, may each have one of a name."""

    name: str
    family: str
    directory: str = ""  # of one that is a directory with all that is below it


class PackageImport(NamedTuple):
    """A file, and a package that it imports as a whole."""

    path: str
    package: Package


class ImportLinks(NamedTuple):
    """Each pair once, in order; and the files of each package that is imported as a whole."""

    files: list[Link]
    wholes: list[PackageImport]
    members: Mapping[Package, Collection[str]]

    def among(self, known: Set[str]) -> "ImportLinks":
        """Return those from some files to some of these."""
        kept = {package: [path for path in paths if path in known] for package, paths in self.members.items()}
        members = {package: paths for package, paths in kept.items() if paths}
        files = [each for each in self.files if {each.path, each.resolved_path} <= known]
        wholes = [each for each in self.wholes if each.path in known and each.package in members]
        return ImportLinks(files, wholes, members)

    def named(self) -> dict[Package, str]:
        """Return what each package is called: `all of Core`, and of two by that name `all of Core (ios/Core/)`."""
        counts = Counter(package.name for package in self.members)
        told = {package: f" ({package.directory or package.family})" for package in self.members}
        return {each: f"all of {each.name}{told[each] if counts[each.name] > 1 else ''}" for each in self.members}


class _ResolvedImport(NamedTuple):
    path: str
    resolved_path: str
    module: str


def links(request: Request) -> ImportLinks:
    """Return what imports what: an import of a package leads to its first file alone in the index."""
    known = WholePackages(request)
    pairs, wholes, members = set[Link](), dict[PackageImport, None](), dict[Package, Collection[str]]()
    for row in request.rows("whole_imports", _ResolvedImport):
        request.check()
        package, files = known.meant(row.module, row.resolved_path)
        if files:
            pairs.add(Link(row.path, row.resolved_path))
            wholes[PackageImport(row.path, package)] = None
            members[package] = files
    others = _of_platform(members)
    return ImportLinks(
        [each for each in request.rows("resolved_imports", Link) if each not in pairs],
        [each for each in wholes if each.package not in others],
        {package: files for package, files in members.items() if package not in others},
    )


def _of_platform(members: Mapping[Package, Collection[str]]) -> Set[Package]:
    """Return the packages of .NET itself that some files declare too; none where most do, as in a part of .NET."""
    sizes = {package: len(files) for package, files in members.items() if package.family == "dotnet"}
    found = {package for package in sizes if PLATFORM.match(package.name)}
    return found if 2 * sum(sizes[each] for each in found) < sum(sizes.values()) else set()


class WholePackages:
    """The packages that imports mean, each looked for once.

    >>> WholePackages(request).meant("Core", "Sources/Core/A.swift")
    (Package(name='Core', family='tree', directory='Sources/Core/'), {'Sources/Core/A.swift': None})
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._files = cache(self._files_of)
        self._named = cache(self._modules_named)

    def meant(self, module: str, resolved_path: str) -> tuple[Package, Collection[str]]:
        """Return the package that an import means, and its files in order; no files where it means one file."""
        modules = self._modules(self._request.blocks.find(resolved_path))
        package = Package(module, modules.packages if modules else "")
        if package.family in ("", packages.DIRECTORY):
            return package, ()
        if package.family == packages.TREE:
            name = module.partition(".")[0]
            above, inside, _ = f"/{resolved_path}".rpartition(f"/{name}/")  # the last: `Core/Sources/Core/A.swift`
            package = Package(name, packages.TREE, f"{above}{inside}".removeprefix("/"))
            return package, self._files(package) if inside else ()
        files = self._files(package)
        return package, files if resolved_path in files else ()

    def _modules(self, file: File | None) -> Modules | None:
        return self._request.opened.generation.modules.get(file.language or "") if file else None

    def _files_of(self, package: Package) -> Mapping[str, None]:
        """Return the files of a package, in order, and quick to be asked for one."""
        if package.family != packages.TREE:
            return dict.fromkeys(self._declaring(package))
        files = self._request.blocks.below(package.directory)
        return {file.path: None for file in files if self._is_of(package, file)}

    def _is_of(self, package: Package, file: File) -> bool:
        modules = self._modules(file)
        return modules is not None and modules.packages == package.family and not packages.is_apart(file, modules)

    def _declaring(self, package: Package) -> Iterator[str]:
        """Yield the files that declare a package: `A.B` may be a namespace `B` within another, `A`."""
        assert self._request.outlines, "asked of the second generation"
        outlines = self._request.outlines
        names = {package.name, package.name.rpartition(".")[2]}
        for number in sorted(number for name in names for number in self._named(name).get(package.name, ())):
            file = self._request.blocks.file(outlines.file_of(number))
            if self._is_of(package, file):
                yield file.path

    def _modules_named(self, name: str) -> Mapping[str, list[int]]:
        """Return the definitions of namespaces of a name, by their names with those around: many may be a `B`."""
        assert self._request.outlines, "asked of the second generation"
        found = defaultdict[str, list[int]](list)
        for number in self._request.outlines.named(name, "module"):
            found[self._request.outlines.row(number).qualified_name].append(number)
        return found
