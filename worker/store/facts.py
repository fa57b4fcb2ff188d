"""What was found in texts, from one build to the next: what has not changed is not parsed again. No worker maps it.

Its sections are what was found in each, packed, the keys of the texts, and where each of the former ends. There are two
such files: one has what names mean is made of (worker/graph/tables.py), and the graph made of it, in columns with keys
of their own (worker/indexer/same_graph.py); one has all else (worker/indexer/findings.py).
"""

from array import array
from collections.abc import Iterable
from itertools import pairwise
from typing import Self

from fledgling.digests import blake2b
from fledgling.security import memory_file
from fledgling.worker.store.sections import PLACE, FormatError, Sections, SectionWriter

KEY_BYTES = 16


def key_of(kind: str, blocks: Iterable[bytes]) -> bytes:
    """Return what a text of a kind is known by: what it is parsed as, and whatever else tells two equal texts apart.

    >>> key_of("python", [b"a", b"b"]) == key_of("python", [b"a\\nb"]) != key_of("c", [b"a\\nb"])
    True
    """
    known = blake2b(kind.encode(), digest_size=KEY_BYTES)
    for block in blocks:
        known.update(b"\n")
        known.update(block)
    return known.digest()


class FactsWriter:
    """Writes what was found in texts, in any order.

    >>> with FactsWriter(fd) as writer:
    ...     writer.add(key_of("python", [b"import os"]), facts)
    """

    def __init__(self, fd: int) -> None:
        """Write to an empty file, which the caller closes."""
        self._sections = SectionWriter(fd, "facts")
        self._sections.begin("facts")
        self._keys: list[bytes] = []
        self._ends = array(PLACE, [0])

    @property
    def size(self) -> int:
        """The bytes that were written."""
        return self._ends[-1] + len(self._keys) * KEY_BYTES

    def add(self, key: bytes, facts: bytes | memoryview) -> None:
        """Write what was found in the text of a key."""
        self._sections.write([facts])
        self._keys.append(key)
        self._ends.append(self._ends[-1] + len(facts))

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Write where everything is, unless an error ends the block: nobody can read a file without that."""
        if kind is None:
            with self._sections as sections:
                sections.begin("keys")
                sections.write(self._keys)
                sections.column("facts_ends", PLACE, memoryview(self._ends))


def read(fd: int) -> dict[bytes, memoryview]:
    """Return what was found in texts by their keys, where it is mapped; nothing of a file whose writer was ended."""
    try:
        sections = Sections(memory_file.mapped(fd), "facts")
    except (FormatError, ValueError):  # the latter: it is empty
        return {}
    keys, facts = bytes(sections.column("keys")), memoryview(sections.column("facts"))
    each = enumerate(pairwise(sections.column("facts_ends")))
    return {keys[at * KEY_BYTES : (at + 1) * KEY_BYTES]: facts[begin:end] for at, (begin, end) in each}
