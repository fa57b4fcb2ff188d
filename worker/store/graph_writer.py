"""Writes the graph, column by column, when all uses are resolved: store/graph.py reads it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from fledgling.worker.arrays import ArrayLike, NDArray
from fledgling.worker.store.graph import COLUMN_BIT, CONFIDENCE_BIT, NAMES, NONE, USE_BIT
from fledgling.worker.store.sections import NUMBER, SectionWriter

ROW_BYTES = 20  # of one row, at most: three columns, and its place among those that lead to its target

Numbers = NDArray[np.uint32]


class Occurrences(NamedTuple):
    """Rows to be written, as columns, in the order of files, lines and columns. `NONE` is no target."""

    files: Numbers
    lines: Numbers
    columns: Numbers
    uses: Numbers
    confidences: Numbers
    reasons: Numbers
    target_files: Numbers
    target_lines: Numbers  # with places (store/graph.py)


class Inside(NamedTuple):
    """Rows whose line does not tell what they are in, in order, and the lines with places of the definitions around."""

    within: ArrayLike
    around: ArrayLike


class Links(NamedTuple):
    """Pairs of definitions to be written: one is derived from the other, or takes its place.

    `reasons` are codes of why that is not sure, 0 where it is.
    """

    files: ArrayLike
    lines: ArrayLike
    to_files: ArrayLike
    to_lines: ArrayLike
    reasons: ArrayLike


def write(
    fd: int,
    how_far: bytes,
    rows: Occurrences,
    inside: Inside,
    bases: Links,
    overrides: Links,
    names: Mapping[str, Sequence[str]],
    made: Sequence[tuple[int, int, str, str, int, int]] = (),
) -> None:
    """Write a whole file to an empty one, which the caller closes; `how_far` says of each file how far it is known.

    `names` are the words of reasons by their codes, and those of bases outside the project. `made` are
    files, lines and both ends of names that are made, and the classes that they are asked of.

    >>> write(fd, bytes([RESOLVED]), Occurrences(...), Inside([], []), Links(...), Links(...), {"reasons": [...]})
    """
    with SectionWriter(fd, "graph") as writer:
        writer.begin("how_far")
        writer.write([how_far])
        for name, column in _columns(rows, inside, len(how_far)).items():
            writer.column(name, NUMBER, np.ascontiguousarray(column, np.uint32).data)
        for name in NAMES:
            writer.begin(name)
            writer.write([msgspec.msgpack.encode(names[name])])
        writer.begin("made")
        writer.write([msgspec.msgpack.encode(made)])
        _write_links(writer, "bases", bases)
        _write_links(writer, "overrides", overrides)


def _columns(rows: Occurrences, inside: Inside, files: int) -> dict[str, ArrayLike]:
    """Return the columns of rows of so many files, and what leads back from their targets."""
    packed = rows.columns << COLUMN_BIT | rows.uses << USE_BIT | rows.confidences << CONFIDENCE_BIT | rows.reasons
    keys = rows.target_files.astype(np.uint64) << 32 | rows.target_lines
    has_target = rows.target_files != NONE
    targets, places = np.unique(keys[has_target], return_inverse=True)
    of_rows = np.full(len(keys), NONE, np.uint32)
    of_rows[has_target] = places
    leading = np.flatnonzero(has_target)[np.argsort(places, kind="stable")].astype(np.uint32)
    firsts = np.searchsorted(rows.files, np.arange(files + 1, dtype=np.uint32)).astype(np.uint32)
    ends = np.searchsorted(np.sort(places), np.arange(len(targets) + 1)).astype(np.uint32)
    return {
        "first_rows": firsts,
        "lines": rows.lines,
        "sites": packed,
        "targets": of_rows,
        "target_files": (targets >> np.uint64(32)).astype(np.uint32),
        "target_lines": targets.astype(np.uint32),
        "first_leading": ends,
        "leading": leading,
        "within": np.asarray(inside.within, np.uint32),
        "around": np.asarray(inside.around, np.uint32),
    }


def _write_links(writer: SectionWriter, name: str, links: Links) -> None:
    columns = [np.asarray(column, np.uint32) for column in links]
    files, lines, to_files, to_lines, reasons = (column[np.lexsort(columns[3::-1])] for column in columns)
    for of, column in (("files", files), ("lines", lines), ("to_files", to_files), ("to_lines", to_lines)):
        writer.column(f"{name}_{of}", NUMBER, column.data)
    writer.column(f"{name}_reasons", NUMBER, reasons.data)
    writer.column(f"{name}_back", NUMBER, np.lexsort((lines, files, to_lines, to_files)).astype(np.uint32).data)
