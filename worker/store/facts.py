"""What files say of their names, from one build to the next: what has not changed is not read again. No worker maps it.

Its sections are the keys of texts, where the facts of each end, and the facts, packed (worker/graph/tables.py).
"""

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from itertools import accumulate, pairwise

from fledgling.security import memory_file
from fledgling.worker.store.sections import PLACE, FormatError, Sections, SectionWriter

KEY_BYTES = 16


def key_of(language: str, blocks: Iterable[bytes]) -> bytes:
    """Return what a text in a language is known by.

    >>> key_of("python", [b"a", b"b"]) == key_of("python", [b"a\\nb"]) != key_of("c", [b"a\\nb"])
    True
    """
    known = blake2b(language.encode(), digest_size=KEY_BYTES)
    for block in blocks:
        known.update(b"\n")
        known.update(block)
    return known.digest()


def write(fd: int, facts: Mapping[bytes, bytes | memoryview]) -> None:
    """Write the facts of texts by their keys to an empty file, which the caller closes."""
    with SectionWriter(fd, "facts") as writer:
        writer.begin("keys")
        writer.write(facts)
        writer.begin("facts")
        writer.write(facts.values())
        writer.column("facts_ends", PLACE, accumulate(map(len, facts.values()), initial=0))


def read(fd: int) -> dict[bytes, memoryview]:
    """Return the facts of texts by their keys, where they are mapped; none of a file whose writer was ended."""
    try:
        sections = Sections(memory_file.mapped(fd), "facts")
    except (FormatError, ValueError):  # the latter: it is empty
        return {}
    keys, facts = bytes(sections.column("keys")), memoryview(sections.column("facts"))
    each = enumerate(pairwise(sections.column("facts_ends")))
    return {keys[at * KEY_BYTES : (at + 1) * KEY_BYTES]: facts[begin:end] for at, (begin, end) in each}
