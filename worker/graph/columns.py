"""A graph by columns: who uses what, which class is derived from which, and what overrides what."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields

import msgspec
import numpy as np

from fledgling.worker.arrays import NDArray
from fledgling.worker.graph.reasons import Reason

EXTENDS, IMPLEMENTS, MAY_IMPLEMENT, FURTHER = "extends", "implements", "may implement", "further"
BASE_REASONS = {  # why a class is not surely derived so; and of one with more below than are looked at
    EXTENDS: 0,
    IMPLEMENTS: Reason.INTERFACE,
    MAY_IMPLEMENT: Reason.METHODS_OUTSIDE,
    FURTHER: Reason.FURTHER_BELOW,
}

Begun = tuple[list[str], str, int, int]  # one of several on a line: its names, that around, the line and part of that

# Where a name is made, how it begins and ends, and file and line of the class that it is asked of, 0 of a module; -1
# where not known: with neither end, such a name may be any.
MadeName = tuple[int, int, str, str, int, int]


@dataclass
class GraphColumns:
    """Columns with an entry for each row, sorted by file, line and column; `target_file` is -1 for none.

    `bases` are rows (file, line of the class, name of the base, target_file, target_line, kind), where what is no name
    is "" and the last one a key of BASE_REASONS, `overrides` rows (file, line, base_file, base_line, 0 or why that
    is not sure). `made` are names that are not wholly known, where rows do not tell what they
    mean. `broken` are files that were not parsed whole. `is_cut` where the budget ended the work. `defined` are the
    names that the files define, `elsewhere` those that files of other families do (families.py) and these may mention.
    """

    file: "array[int]" = field(default_factory=lambda: array("I"))
    line: "array[int]" = field(default_factory=lambda: array("I"))
    column: "array[int]" = field(default_factory=lambda: array("I"))
    name: "array[int]" = field(default_factory=lambda: array("I"))
    kind: "array[int]" = field(default_factory=lambda: array("B"))
    enclosing_line: "array[int]" = field(default_factory=lambda: array("I"))
    target_file: "array[int]" = field(default_factory=lambda: array("i"))
    target_line: "array[int]" = field(default_factory=lambda: array("I"))
    enclosing_part: "array[int]" = field(default_factory=lambda: array("H"))
    target_part: "array[int]" = field(default_factory=lambda: array("H"))
    confidence: "array[int]" = field(default_factory=lambda: array("B"))
    reason: "array[int]" = field(default_factory=lambda: array("B"))
    names: list[str] = field(default_factory=list)
    bases: list[tuple[int, int, str, int, int, str]] = field(default_factory=list)
    overrides: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    made: list[MadeName] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)
    together: list[tuple[int, int, list[Begun]]] = field(default_factory=list)
    is_cut: bool = False
    defined: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)


COLUMNS = [each.name for each in fields(GraphColumns) if isinstance(getattr(GraphColumns(), each.name), array)]
PACKED = {
    "names": list[str],
    "bases": list[tuple[int, int, str, int, int, str]],
    "overrides": list[tuple[int, int, int, int, int]],
    "made": list[MadeName],
    "broken": list[int],
    "together": list[tuple[int, int, list[Begun]]],
    "is_cut": bool,
    "defined": list[str],
    "elsewhere": list[str],
}  # what is no column, by its field
NAMES = ("names", "defined", "elsewhere")  # what tells whether a graph that was kept is still right
Bytes = bytes | memoryview


def packed(graph: GraphColumns) -> Iterator[tuple[str, Bytes]]:
    """Yield each field of a graph by its name: columns as they are held, all else packed.

    >>> unpacked(dict(packed(graph))) == graph
    True
    """
    for each in fields(GraphColumns):
        held = getattr(graph, each.name)
        yield each.name, memoryview(held).cast("B") if isinstance(held, array) else msgspec.msgpack.encode(held)


def unpacked(said: Mapping[str, Bytes]) -> GraphColumns:
    """Return a graph whose fields were packed; those that are not there are empty."""
    graph = GraphColumns()
    for name, held in said.items():
        if name in PACKED:
            setattr(graph, name, msgspec.msgpack.decode(held, type=PACKED[name]))
        else:
            getattr(graph, name).frombytes(held)
    return graph


def packed_names(graph: GraphColumns | None) -> bytes:
    """Return what tells whether a graph that was kept is still right, packed; b"" of none."""
    return msgspec.msgpack.encode({name: held for name, held in packed(graph) if name in NAMES}) if graph else b""


def joined(numbers: Sequence[Sequence[int]], graphs: Sequence[GraphColumns]) -> GraphColumns:
    """Return one graph of several, of which none leads into another; `numbers` are those of the files of each in it."""
    if len(graphs) <= 1:
        return graphs[0] if graphs else GraphColumns()
    found, names = GraphColumns(), dict[str, int]()
    columns: dict[str, list[NDArray[np.int64]]] = {name: [] for name in COLUMNS}
    for own, graph in zip(numbers, graphs, strict=True):
        of = [*own, -1]  # the last for no file, which is -1
        new = {
            "file": np.asarray(of),
            "target_file": np.asarray(of),
            "name": np.asarray([names.setdefault(name, len(names)) for name in graph.names], np.int64),
        }
        for name, column in columns.items():
            values = np.asarray(getattr(graph, name), np.int64)
            column.append(new[name][values] if name in new else values)
        found.bases += ((of[file], line, name, of[to], at, kind) for file, line, name, to, at, kind in graph.bases)
        found.overrides += ((of[file], line, of[to], at, sure) for file, line, to, at, sure in graph.overrides)
        found.made += ((of[file], line, begin, end, of[to], at) for file, line, begin, end, to, at in graph.made)
        found.broken += (of[file] for file in graph.broken)
        found.together += ((of[file], line, begun) for file, line, begun in graph.together)
        found.is_cut |= graph.is_cut
    by_file = np.argsort(np.concatenate(columns["file"]), kind="stable")
    for name, column in columns.items():
        held = getattr(found, name)
        held.frombytes(np.concatenate(column)[by_file].astype(held.typecode).tobytes())
    for rows in (found.bases, found.overrides, found.made, found.broken, found.together):
        rows.sort()
    found.names = [*names]
    return found
