"""The graph of a family in the build before, where it is of the same: files say what they said, and imports lead where
they led.

A graph is worked out from that, and from what of its names other families define. So an edit of a document, or of a
comment that keeps its lines, makes no other.
"""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

import msgspec

from fledgling.digests import blake2b
from fledgling.worker.graph.columns import Begun, GraphColumns, MadeName
from fledgling.worker.graph.solving.solver import GraphBudget
from fledgling.worker.graph.tables import GraphFile
from fledgling.worker.store.facts import KEY_BYTES, key_of

Bytes = bytes | memoryview
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
}  # what is no column, by field of a Graph


def key(files: Sequence[GraphFile], budget: GraphBudget, *, is_partial: bool) -> bytes:
    """Return what a graph is known by: a hash of all that it is worked out from.

    The rows of languages and the release are left out: what is kept never outlives one server, which has one of each.

    >>> key(files, GraphBudget(), is_partial=False) == key(files[:1], GraphBudget(), is_partial=False)
    False
    """
    encoder = msgspec.msgpack.Encoder()
    known = blake2b(encoder.encode((budget, is_partial)), digest_size=KEY_BYTES)
    for file in files:
        known.update(encoder.encode((file.path, file.language, len(file.facts), file.imports)))
        known.update(file.facts)
    return known.digest()


def parts(of: bytes, graph: GraphColumns) -> Iterator[tuple[bytes, Bytes]]:
    """Yield the columns of a graph as bytes, and all else of it packed, each with a key of its own."""
    for field in fields(GraphColumns):
        held = getattr(graph, field.name)
        packed = memoryview(held).cast("B") if isinstance(held, array) else msgspec.msgpack.encode(held)
        yield key_of(field.name, [of]), packed


def known(of: bytes, kept: Mapping[bytes, Bytes]) -> GraphColumns | None:
    """Return a graph from its parts; None where they were not kept."""
    graph = GraphColumns()
    for field in fields(GraphColumns):
        packed = kept.get(key_of(field.name, [of]))
        if packed is None:
            return None
        held = getattr(graph, field.name)
        if isinstance(held, array):
            held.frombytes(packed)
        else:
            setattr(graph, field.name, msgspec.msgpack.decode(packed, type=PACKED[field.name]))
    return graph
