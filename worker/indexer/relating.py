"""The last stage of a build: what the names in all files mean is resolved, when the index is served.

The graph has a share of its own of memory_limit.
"""

from typing import NamedTuple

import numpy as np

from fledgling.security import memory_file
from fledgling.worker.indexer.index import Index
from fledgling.worker.store import graph_writer
from fledgling.worker.store.graph import NO_GRAPH
from fledgling.worker.store.graph_writer import Links, Occurrences

NO_LINKS = Links((), (), (), (), ())


class Related(NamedTuple):
    """The languages in which uses are resolved, and what is lacking of that, as a sentence."""

    languages: tuple[str, ...] = ()
    lacks: str | None = None


def relate(fd: int, index: Index) -> Related:
    """Write and seal the graph of an index: none of its languages has one."""
    column = np.empty(0, np.uint32)
    rows = Occurrences(*[column] * len(Occurrences._fields))
    graph_writer.write(fd, bytes([NO_GRAPH] * len(index.numbers())), rows, NO_LINKS, NO_LINKS)
    memory_file.seal(fd)
    return Related(lacks=index.why_unrelated())
