"""Which files import which; and which import a whole package, as `using Acme.Core;` does: that means no one file."""

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from typing import NamedTuple

from fledgling.messages.control import Modules
from fledgling.worker.tools import packages
from fledgling.worker.tools.request import Request


class Link(NamedTuple):
    """A file, and one that it imports."""

    path: str
    resolved_path: str


class PackageImport(NamedTuple):
    """A file, and a package that it imports as a whole, by its name."""

    path: str
    package: str


class ImportLinks(NamedTuple):
    """Each pair once, in order; and the files of each package that is imported as a whole."""

    files: list[Link]
    wholes: list[PackageImport]
    members: Mapping[str, Sequence[str]]

    def among(self, known: Set[str]) -> "ImportLinks":
        """Return those from some files to some of these."""
        members = {name: [path for path in paths if path in known] for name, paths in self.members.items()}
        files = [each for each in self.files if {each.path, each.resolved_path} <= known]
        wholes = [each for each in self.wholes if each.path in known and members[each.package]]
        return ImportLinks(files, wholes, members)


class _Imported(NamedTuple):
    path: str
    resolved_path: str
    module: str


def links(request: Request) -> ImportLinks:
    """Return what imports what: an import of a package leads to its first file alone in the index."""
    meant = cache(lambda module, path: package(request, module, path))
    pairs, wholes, members = set[Link](), dict[PackageImport, None](), dict[str, Sequence[str]]()
    for row in request.rows("whole_imports", _Imported):
        name, files = meant(row.module, row.resolved_path)
        if files:
            pairs.add(Link(row.path, row.resolved_path))
            wholes[PackageImport(row.path, name)] = None
            members[name] = files
    return ImportLinks(
        [each for each in request.rows("resolved_imports", Link) if each not in pairs], [*wholes], members
    )


def package(request: Request, module: str, resolved_path: str) -> tuple[str, Sequence[str]]:
    """Return the name and the files of the package that an import means; no files where it means one file."""
    file = request.blocks.find(resolved_path)
    modules = request.opened.generation.modules.get(file.language or "") if file else None
    if file is None or modules is None or modules.packages in ("", packages.DIRECTORY):
        return module, ()
    if modules.packages == packages.TREE:
        name = module.partition(".")[0]
        place, inside, _ = f"/{resolved_path}".partition(f"/{name}/")
        below = f"{place}{inside}".removeprefix("/")
        files = [each.path for each in request.blocks.below(below) if each.language == file.language] if inside else ()
        return name, files
    files = [*_declaring(request, module, modules)]
    return module, files if resolved_path in files else ()


def _declaring(request: Request, module: str, modules: Modules) -> Iterator[str]:
    """Yield the files that declare a package, each once: `A.B` may be a namespace `B` within another, `A`."""
    assert request.outlines, "asked of the second generation"
    outlines, known, last = request.outlines, request.opened.generation.modules, None
    names = {module, module.rpartition(".")[2]}
    for number in sorted(number for name in names for number in outlines.named(name, "module")):
        if outlines.row(number).qualified_name != module or (found := outlines.file_of(number)) == last:
            continue
        file, last = request.blocks.file(found), found
        theirs = known.get(file.language or "")
        if theirs and theirs.packages == modules.packages and not packages.is_apart(file, theirs):
            yield file.path
