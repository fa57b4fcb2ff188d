"""Which files import which; and which import a whole package, as `using Acme.Core;` does: that means no one file."""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from fledgling.worker.store.symbols import CODES
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
    declared = _declared(request)
    pairs, wholes, members = set[Link](), dict[PackageImport, None](), dict[str, Sequence[str]]()
    for row in request.rows("whole_imports", _Imported):
        package, files = _package(request, row, declared)
        if files:
            pairs.add(Link(row.path, row.resolved_path))
            wholes[PackageImport(row.path, package)] = None
            members[package] = files
    return ImportLinks(
        [each for each in request.rows("resolved_imports", Link) if each not in pairs], [*wholes], members
    )


def _package(request: Request, row: _Imported, declared: Mapping[str, Sequence[str]]) -> tuple[str, Sequence[str]]:
    """Return the name and the files of the package that an import means; no files where it means one file."""
    file = request.blocks.find(row.resolved_path)
    modules = request.opened.generation.modules.get(file.language or "") if file else None
    if file and modules and modules.packages == packages.TREE:
        name = row.module.partition(".")[0]
        place, inside, _ = f"/{row.resolved_path}".partition(f"/{name}/")
        below = f"{place}{inside}".removeprefix("/")
        return name, [each.path for each in request.blocks.below(below)] if inside else ()
    files = declared.get(row.module, ())
    return row.module, files if row.resolved_path in files else ()


def _declared(request: Request) -> Mapping[str, Sequence[str]]:
    """Return the files that declare each package."""
    assert request.outlines, "asked of the second generation"
    known = request.opened.generation.modules.items()
    languages = [name for name, each in known if each.packages not in ("", packages.DIRECTORY, packages.TREE)]
    found = defaultdict[str, list[str]](list)
    for number in request.rows("modules", int, code=CODES["module"], languages=languages):
        path = request.blocks.path(request.outlines.file_of(number))
        found[request.outlines.row(number).qualified_name].append(path)
    return found
