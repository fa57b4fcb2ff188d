"""The graph of a family in the build before, where it is of the same: files say what they said, and imports lead where
they led.

A graph is worked out from that, and from what of its names other families define. So an edit of a document, or of a
comment that keeps its lines, makes no other.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

import msgspec

from fledgling.digests import blake2b
from fledgling.worker.graph.columns import Bytes, GraphColumns, packed, unpacked
from fledgling.worker.graph.solving.budget import GraphBudget
from fledgling.worker.graph.tables import GraphFile
from fledgling.worker.store.facts import KEY_BYTES, key_of


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
    """Yield the fields of a graph, packed, each with a key of its own."""
    return ((key_of(name, [of]), said) for name, said in packed(graph))


def known(of: bytes, kept: Mapping[bytes, Bytes]) -> GraphColumns | None:
    """Return a graph from its parts; None where they were not kept."""
    keys = {field.name: key_of(field.name, [of]) for field in fields(GraphColumns)}
    return unpacked({name: kept[key] for name, key in keys.items()}) if kept.keys() >= {*keys.values()} else None
