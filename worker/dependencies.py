"""The dependencies tool: what a file imports, and what imports it."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from fledgling.wire import Dependencies, DependencyGraph, FileImports, Import, Importer
from fledgling.worker import paths
from fledgling.worker.blocks import File
from fledgling.worker.index import Asking, continuing, cut_page


class _Imports(NamedTuple):
    path: str
    line_number: int
    module: str
    imported_names: list[str]
    resolved_path: str | None
    unresolved: Literal["stdlib", "external", "not found"] | None


class _Imported(NamedTuple):
    resolved_path: str
    path: str
    line_number: int


class _Edge(NamedTuple):
    """One line of the adjacency lists: an import of `path`, or a place that imports `path`."""

    path: str
    distance: int
    edge: Import | Importer


def dependencies(asking: Asking, question: Dependencies) -> DependencyGraph:
    """Answer with the adjacency list of one file, and of the files reached from it up to `depth` steps."""
    file = paths.find_file(asking, question.path)
    edges = _edges(asking, file.path, question)
    offset = int(question.cursor or 0)
    page = cut_page(edges[offset:], asking)
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
        note=_note(asking, file, edges),
    )


def _adjacency(node: FileImports, edge: Import | Importer) -> None:
    if isinstance(edge, Import):
        node.imports.append(edge)
    else:
        node.imported_by.append(edge)


def _edges(asking: Asking, path: str, question: Dependencies) -> list[_Edge]:
    """Walk the graph breadth first; each file is expanded once."""
    edges: list[_Edge] = []
    seen, reached = {path}, [path]
    for distance in range(question.depth):
        found: list[_Edge] = []
        if question.direction != "imported_by":
            found += _imports(asking, reached, distance)
        if question.direction != "imports":
            found += _importers(asking, reached, distance)
        edges += sorted(found, key=lambda edge: edge.path)
        reached = sorted(set(_neighbours(found)) - seen)
        seen.update(reached)
    return edges


def _imports(asking: Asking, reached: Sequence[str], distance: int) -> list[_Edge]:
    return [
        _Edge(
            row.path,
            distance,
            Import(row.line_number, row.module, row.imported_names, row.resolved_path, row.unresolved),
        )
        for row in asking.rows("imports_of", _Imports, paths=list(reached))
    ]


def _importers(asking: Asking, reached: Sequence[str], distance: int) -> list[_Edge]:
    return [
        _Edge(row.resolved_path, distance, Importer(row.path, row.line_number))
        for row in asking.rows("importers_of", _Imported, paths=list(reached))
    ]


def _neighbours(edges: Iterable[_Edge]) -> Iterable[str]:
    for edge in edges:
        path = edge.edge.resolved if isinstance(edge.edge, Import) else edge.edge.path
        if path:
            yield path


def _note(asking: Asking, file: File, edges: Sequence[_Edge]) -> str | None:
    if edges:
        return asking.partial
    if file.skip_reason:
        return f"The content of {file.path} is not in the index ({file.skip_reason}), so its imports are not known."
    return f"No import was found in {file.path} ({file.language or 'unknown language'}), and none that leads to it."
