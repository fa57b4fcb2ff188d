"""The dependencies tool: what a file imports, and what imports it."""

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from itertools import groupby
from typing import Literal, NamedTuple

from fledgling.messages.answers import DependencyGraph, FileImports, Import, Importer
from fledgling.messages.cursors import offset_of
from fledgling.messages.questions import Dependencies
from fledgling.worker.store.package_root import root
from fledgling.worker.store.symbols import CODES
from fledgling.worker.store.text import File
from fledgling.worker.tools import packages, paths, unknown_imports
from fledgling.worker.tools.chained_imports import Chains, ImportStatement
from fledgling.worker.tools.links import WholePackages
from fledgling.worker.tools.own_modules import OwnModules
from fledgling.worker.tools.request import Request, continuing, cut_page


class _Root(NamedTuple):
    root: str


class _ImportingLine(NamedTuple):
    resolved_path: str
    path: str
    line_number: int


class _DeclaredPackages(NamedTuple):
    """A package that the file `declaring` declares, and the first file that does."""

    declaring: str
    first: str
    packages: str


class _Edge(NamedTuple):
    """One line of the adjacency lists: an import of `path`, or a place that imports `path`."""

    path: str
    distance: int
    edge: Import | Importer
    leads: Collection[str] = ()  # an import to these files; of a package that is a directory, to its first


def dependencies(request: Request, question: Dependencies) -> DependencyGraph:
    """Answer with the adjacency list of one file, and of the files reached from it up to `depth` steps."""
    file = paths.find_file(request, question.path)
    edges = _edges(request, file.path, question)
    offset = offset_of(question.cursor)
    page = cut_page(edges[offset:], request)
    nodes = {edge.path: FileImports(edge.path, edge.distance, [], []) for edge in page}
    for edge in page:
        _adjacency(nodes[edge.path], edge.edge)
    start = nodes.pop(file.path, FileImports(file.path, 0))
    own = [edge.edge for edge in edges if edge.distance == 0]
    imports = sum(isinstance(edge, Import) for edge in own)
    return DependencyGraph(
        path=file.path,
        imports=start.imports,
        imported_by=start.imported_by,
        further=list(nodes.values()),
        next=continuing(request, question, offset + len(page), len(edges)),
        note=unknown_imports.note(request, file, question, [edge.edge for edge in edges if edge.path == file.path]),
        direction=question.direction,
        total_imports=imports if imports > len(start.imports) else None,
        total_importers=len(own) - imports if len(own) - imports > len(start.imported_by) else None,
    )


def _adjacency(node: FileImports, edge: Import | Importer) -> None:
    if isinstance(edge, Import):
        node.imports.append(edge)
    else:
        node.imported_by.append(edge)


def _edges(request: Request, path: str, question: Dependencies) -> list[_Edge]:
    """Walk the graph breadth first; each file is expanded once."""
    edges: list[_Edge] = []
    seen, reached = {path}, [path]
    for distance in range(question.depth):
        found: list[_Edge] = []
        if question.direction != "imported_by":
            found += _imports(request, reached, distance)
        if question.direction != "imports":
            found += _importers(request, reached, distance)
        edges += sorted(found, key=lambda edge: edge.path)
        reached = sorted(set(_neighbours(request, found)) - seen)
        seen.update(reached)
    return edges


def _imports(request: Request, reached: Sequence[str], distance: int) -> list[_Edge]:
    """Return an edge for each statement and file that it leads to."""
    rows = request.rows("imports_of", ImportStatement, paths=list(reached))
    rows.sort(key=lambda row: (*_statement(row), row.imported_names))
    languages = {file.path: file.language for file in map(request.blocks.find, reached) if file}
    modules = request.opened.generation.modules
    known = {path: modules.get(language or "") for path, language in languages.items()}
    roots = {root(row.module, known.get(row.path)) for row in rows if row.resolved_path is None}
    ours = {row.root for row in request.rows("roots_of", _Root, roots=list(roots))} if roots else set()
    own, edges = OwnModules(request), []
    chains = Chains(request, rows, known)
    wholes = WholePackages(request)
    for (path, line, module, *_), group in groupby(rows, key=_statement):
        same = list(group)
        if same[0].resolved_path is None and (end := chains.end(same[0])):
            same = [row._replace(resolved_path=end.resolved_path, is_stdlib=end.is_stdlib) for row in same]
        names = [name for row in same for name in row.imported_names]
        why = _unresolved(same, root(module, known.get(path)), ours)
        if why == "external" and own.has(path, known.get(path), module):
            why = "not found"
        elif why == "not found" and (
            own.is_spread(path, known.get(path), module)
            or (module.startswith(("/", "~/", "@/")) and languages.get(path) in request.opened.generation.documents)
        ):
            why = "external"
        leads = same[0].resolved_path
        files = wholes.meant(module, leads)[1] if leads and names in ([], ["*"]) else ()
        if len(files) > 1:
            imported = Import(line, module, names, f"{posixpath.commonpath(files) or '.'}/", files=len(files))
        else:
            shown = packages.directory(leads) if leads and packages.is_directory(known.get(path)) else leads
            imported, files = Import(line, module, names, shown, why), [leads] if leads else ()
        edges.append(_Edge(path, distance, imported, files))
    return edges


def _statement(row: ImportStatement) -> tuple[str, int, str, bool, str]:
    """Return what one line of an answer stands for, to be sorted by: a module that leads nowhere comes last."""
    return row.path, row.line_number, row.module, row.resolved_path is None, row.resolved_path or ""


def _unresolved(
    rows: Sequence[ImportStatement], root: str, ours: Set[str]
) -> Literal["stdlib", "external", "not found"] | None:
    if rows[0].resolved_path is not None:
        return None
    if any(row.is_stdlib for row in rows):
        return "stdlib"
    is_missing = root in ours or root == "crate" or any(row.is_relative for row in rows)
    return "not found" if is_missing else "external"


def _importers(request: Request, reached: Sequence[str], distance: int) -> list[_Edge]:
    files = [file for file in map(request.blocks.find, reached) if file]
    modules = request.opened.generation.modules
    words = {name: known.packages for name, known in modules.items() if known.packages}
    if words.keys().isdisjoint(file.language for file in files):
        found = request.rows("importers_of", _ImportingLine, paths=list(reached))
    else:
        firsts = filter(None, map(request.blocks.find, packages.apart(request, reached)))
        members = [file.path for file in firsts if packages.is_member(file, modules.get(file.language or ""))]
        declared = [*_declared(request, files, words), *_above(request, files, words)]
        columns = {name: [getattr(row, name) for row in declared] for name in _DeclaredPackages._fields}
        documents = list(request.opened.generation.documents)
        found = request.rows(
            "package_importers_of", _ImportingLine, paths=list(reached), members=members, documents=documents, **columns
        )
    return [_Edge(row.resolved_path, distance, Importer(row.path, row.line_number)) for row in found]


def _declared(request: Request, files: Sequence[File], words: Mapping[str, str]) -> Iterator[_DeclaredPackages]:
    """Yield the packages that files declare, each with the first file that does."""
    outlines, modules = request.outlines, request.opened.generation.modules
    files = [file for file in files if not packages.is_apart(file, modules.get(file.language or ""))]
    for shared in sorted({*words.values()} - {packages.DIRECTORY, packages.TREE}):
        languages = [name for name, word in words.items() if word == shared]
        some = [file for file in files if file.language in languages]
        if not outlines or not some:
            continue
        first: dict[str, str] = {}
        for number in request.rows("modules", int, code=CODES["module"], languages=languages):
            file = request.blocks.file(outlines.file_of(number))
            if not packages.is_apart(file, modules.get(file.language or "")):
                first.setdefault(outlines.row(number).qualified_name, file.path)
        for file in some:
            names = {row.qualified_name for row in outlines.definitions(file) if row.kind == "module"}
            yield from (_DeclaredPackages(file.path, first[name], name) for name in names)


def _above(request: Request, files: Sequence[File], words: Mapping[str, str]) -> Iterator[_DeclaredPackages]:
    """Yield the directories above files that may be packages with all below them, each with its first file."""
    for file in files:
        if words.get(file.language or "") == packages.TREE:
            firsts = packages.above(request, file)
            yield from (_DeclaredPackages(file.path, first.path, name) for name, first in firsts)


def _neighbours(request: Request, edges: Iterable[_Edge]) -> Iterator[str]:
    for edge in edges:
        if isinstance(edge.edge, Importer):
            yield edge.edge.path
        elif packages.is_linked(request, edge.path):
            yield from edge.leads
        else:
            for path in edge.leads:
                yield from packages.members(request, path)
