"""The dependencies tool: what a file imports, and what imports it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import groupby
from typing import Literal, NamedTuple

from fledgling.messages.answers import DependencyGraph, FileImports, Import, Importer
from fledgling.messages.control import Modules
from fledgling.messages.questions import Dependencies
from fledgling.worker.store.package_root import root
from fledgling.worker.store.symbols import CODES
from fledgling.worker.store.text import File
from fledgling.worker.tools import paths
from fledgling.worker.tools.request import Request, continuing, cut_page

_DIRECTORY = "directory"  # the word for packages that are directories, and not declared


class _Row(NamedTuple):
    path: str
    line_number: int
    module: str
    imported_names: list[str]
    resolved_path: str | None
    is_stdlib: bool
    is_relative: bool


class _Root(NamedTuple):
    root: str


class _Imported(NamedTuple):
    resolved_path: str
    path: str
    line_number: int


class _Declared(NamedTuple):
    """A package that the file `declaring` declares, and the first file that does."""

    declaring: str
    first: str
    packages: str


class _Edge(NamedTuple):
    """One line of the adjacency lists: an import of `path`, or a place that imports `path`."""

    path: str
    distance: int
    edge: Import | Importer


def dependencies(request: Request, question: Dependencies) -> DependencyGraph:
    """Answer with the adjacency list of one file, and of the files reached from it up to `depth` steps."""
    file = paths.find_file(request, question.path)
    edges = _edges(request, file.path, question)
    offset = int(question.cursor or 0)
    page = cut_page(edges[offset:], request)
    nodes = {edge.path: FileImports(edge.path, edge.distance, [], []) for edge in page}
    for edge in page:
        _adjacency(nodes[edge.path], edge.edge)
    start = nodes.pop(file.path, FileImports(file.path, 0))
    return DependencyGraph(
        path=file.path,
        imports=start.imports,
        imported_by=start.imported_by,
        further=list(nodes.values()),
        next=continuing(question, offset + len(page), len(edges)),
        note=_note(request, file, edges),
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
        reached = sorted(set(_neighbours(found)) - seen)
        seen.update(reached)
    return edges


def _imports(request: Request, reached: Sequence[str], distance: int) -> list[_Edge]:
    """Return an edge for each statement and file that it leads to."""
    rows = request.rows("imports_of", _Row, paths=list(reached))
    rows.sort(key=lambda row: (*_statement(row), row.imported_names))
    languages = {file.path: file.language for file in map(request.blocks.find, reached) if file}
    modules = request.opened.generation.modules
    known = {path: modules.get(language or "") for path, language in languages.items()}
    roots = {root(row.module, known.get(row.path)) for row in rows if row.resolved_path is None}
    ours = {row.root for row in request.rows("roots_of", _Root, roots=list(roots))} if roots else set()
    edges = []
    for (path, line, module, *_), group in groupby(rows, key=_statement):
        same = list(group)
        names = [name for row in same for name in row.imported_names]
        why = _unresolved(same, root(module, known.get(path)), ours)
        edges.append(_Edge(path, distance, Import(line, module, names, same[0].resolved_path, why)))
    return edges


def _statement(row: _Row) -> tuple[str, int, str, bool, str]:
    """Return what one line of an answer stands for, to be sorted by: a module that leads nowhere comes last."""
    return row.path, row.line_number, row.module, row.resolved_path is None, row.resolved_path or ""


def _unresolved(rows: Sequence[_Row], root: str, ours: Set[str]) -> Literal["stdlib", "external", "not found"] | None:
    if rows[0].resolved_path is not None:
        return None
    if any(row.is_stdlib for row in rows):
        return "stdlib"
    is_missing = root in ours or root == "crate" or any(row.is_relative for row in rows)
    return "not found" if is_missing else "external"


def _importers(request: Request, reached: Sequence[str], distance: int) -> list[_Edge]:
    files = [file for file in map(request.blocks.find, reached) if file]
    modules = request.opened.generation.modules
    packages = {name: known.packages for name, known in modules.items() if known.packages}
    if packages.keys().isdisjoint(file.language for file in files):
        found = request.rows("importers_of", _Imported, paths=list(reached))
    else:
        members = [file.path for file in files if _is_member(file, modules.get(file.language or ""))]
        declared = [*_declared(request, files, packages)]
        columns = {name: [getattr(row, name) for row in declared] for name in _Declared._fields}
        found = request.rows("package_importers_of", _Imported, paths=list(reached), members=members, **columns)
    return [_Edge(row.resolved_path, distance, Importer(row.path, row.line_number)) for row in found]


def _is_member(file: File, modules: Modules | None) -> bool:
    """Tell whether a file belongs to the package that its directory is: a test of Go does not."""
    if modules is None or modules.packages != _DIRECTORY:
        return False
    return not (modules.apart and file.path.endswith(modules.apart))


def _declared(request: Request, files: Sequence[File], packages: Mapping[str, str]) -> Iterator[_Declared]:
    """Yield the packages that files declare, each with the first file that does."""
    outlines = request.outlines
    for shared in sorted({*packages.values()} - {_DIRECTORY}):
        languages = [name for name, word in packages.items() if word == shared]
        some = [file for file in files if file.language in languages]
        if not outlines or not some:
            continue
        first: dict[str, str] = {}
        for number in request.rows("modules", int, code=CODES["module"], languages=languages):
            path = request.blocks.file(outlines.file_of(number)).path
            first.setdefault(outlines.row(number).qualified_name, path)
        for file in some:
            names = {row.qualified_name for row in outlines.definitions(file) if row.kind == "module"}
            yield from (_Declared(file.path, first[name], name) for name in names)


def _neighbours(edges: Iterable[_Edge]) -> Iterable[str]:
    for edge in edges:
        path = edge.edge.resolved if isinstance(edge.edge, Import) else edge.edge.path
        if path:
            yield path


def _note(request: Request, file: File, edges: Sequence[_Edge]) -> str | None:
    if edges:
        return request.partial
    if file.skip_reason:
        return f"The content of {file.path} is not in the index ({file.skip_reason}), so its imports are not known."
    return f"No import was found in {file.path} ({file.language or 'unknown language'}), and none that leads to it."
