"""Trigram signatures as the indexer makes them, from the text of blocks in their order. See signatures.py."""

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from fledgling.worker.signatures import ROW_BITS, ROWS, WEIGHTS, folded

_GROUP = 8  # blocks that share a byte of each row
_STRIPE = 64  # rows written at once: what a cache line holds of one group
_A, _B, _C = (np.uint16(weight) for weight in WEIGHTS)
_PLACES = np.arange(_GROUP, dtype=np.uint8)[:, np.newaxis]

Bytes = npt.NDArray[np.uint8]


class Signer:
    """Signs blocks as they come; holds an eighth of ROWS bytes for each.

    >>> signer = Signer()
    >>> signer.add(["import os", "x = 1"])
    >>> signer.write(fd)
    """

    def __init__(self) -> None:
        self._columns: list[Bytes] = []
        self._waiting: list[bytes] = []

    def add(self, texts: Sequence[str]) -> None:
        """Sign the next blocks."""
        self._waiting += map(folded, texts)
        whole = len(self._waiting) // _GROUP * _GROUP
        self._columns += [_signed(self._waiting[at : at + _GROUP]) for at in range(0, whole, _GROUP)]
        del self._waiting[:whole]

    def write(self, fd: int) -> None:
        """Write the matrix of all blocks to an empty file."""
        if self._waiting:
            self._columns.append(_signed(self._waiting))
            self._waiting = []
        with open(fd, "wb", closefd=False) as file:
            for row in range(0, ROWS if self._columns else 0, _STRIPE):
                stripe = np.stack([column[row : row + _STRIPE] for column in self._columns], axis=1)
                file.write(stripe.data)


def _signed(blocks: Sequence[bytes]) -> Bytes:
    """Return one byte a row for up to eight blocks."""
    codes = np.frombuffer(b"".join(blocks), np.uint8).astype(np.uint16)
    rows = ((codes[:-2] * _A + codes[1:-1] * _B + codes[2:] * _C) >> (16 - ROW_BITS)).astype(np.intp)
    seen = np.zeros((_GROUP, ROWS), np.uint8)
    for block, (start, end) in enumerate(pairwise(accumulate(map(len, blocks), initial=0))):
        seen[block][rows[start : max(start, end - 2)]] = 1
    packed: Bytes = np.bitwise_or.reduce(seen << _PLACES, axis=0)
    return packed
