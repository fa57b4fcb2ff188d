"""Signatures with an overlay: those of each part are a small matrix of their own."""

from collections.abc import Iterator, Sequence

from fledgling.worker.store.ngrams import Needed, Signatures, numbers, rows_of, with_all
from fledgling.worker.store.overlay.text import OverlaidBlocks
from fledgling.worker.store.parts import Part

_BLOCKS_OF_BYTE = 8


class OverlaidSignatures(Signatures):
    """Candidates of the base and of parts, as a new build would find them.

    >>> signatures = OverlaidSignatures(base, blocks, order.parts)
    >>> list(signatures.holding([[b"timeout"]]))
    [3, 4711, 17]
    """

    def __init__(self, base: Signatures, blocks: OverlaidBlocks, parts: Sequence[Part]) -> None:
        """Lay the signatures of parts over those of the base."""
        self._base, self._overlaid = base, blocks
        firsts = (blocks.own_block(number) for number in range(len(parts)))
        widths = (-(-len(part.blocks) // _BLOCKS_OF_BYTE) for part in parts)
        self._parts = [*zip(firsts, widths, (part.signatures for part in parts), strict=True)]

    def holding(self, needed: Needed) -> Iterator[int]:
        """Yield the blocks that may hold all texts of one group, in order."""
        return self._overlaid.merged(self._base.holding(needed), self._own(needed))

    def marked(self, needed: Needed) -> bytes:
        """Return the same blocks as bits; those of the base that are hidden as they were."""
        count = self._overlaid.base_count
        own = sum(1 << (block - count) for block in self._own(needed))
        base = int.from_bytes(self._base.marked(needed), "little") & ((1 << count) - 1)
        return (base | own << count).to_bytes(-(-self._overlaid.count // _BLOCKS_OF_BYTE), "little")

    def _own(self, needed: Needed) -> Iterator[int]:
        groups = rows_of(needed)
        for first, width, matrix in self._parts:
            found = 0
            for rows in groups if width else ():
                found |= _byte_with_all(matrix, rows) if width == 1 else with_all(matrix, 0, width, rows)
            if found:
                yield from numbers(found, first)


def _byte_with_all(matrix: bytes, rows: Sequence[int]) -> int:
    """Return what `with_all` does of eight blocks, in a fourth of its time: most files have no more."""
    found = 0xFF
    for row in rows:
        found &= matrix[row]
        if not found:
            break
    return found
