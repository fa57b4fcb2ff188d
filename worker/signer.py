"""Signatures as they are made, from the text of blocks in their order. See signatures.py."""

import mmap
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from fledgling.worker.blocks import Block
from fledgling.worker.signatures import GRAMS, LONGEST, ROW_BITS, ROWS, WEIGHTS, folded

_GROUP = 8  # blocks that share a byte of each row
_PIECE = 16 * _GROUP  # blocks signed at once: about half a megabyte
_TEXT = 2**20  # bytes of text whose grams are numbers at once, some 20 times as many; a line may be max_file_size long
_STRIPE = 64  # rows written at once: what a cache line holds of one group
_A, _B, _C, _D = (np.uint16(weight) for weight in WEIGHTS)
_PLACES = np.arange(_GROUP, dtype=np.uint8)[:, np.newaxis]
AT_ONCE = 2  # pieces under way in other processes: while one is signed the next is sent

Bytes = npt.NDArray[np.uint8]
Sign = Callable[[Sequence[bytes]], Callable[[], bytes]]  # begins to sign, and returns what waits for the signatures


class Signer:
    """Collects the signatures of blocks as they come; holds an eighth of ROWS bytes for each.

    `sign` makes them, here or in another process.

    >>> signer = Signer(signed_here)
    >>> signer.add([Block("a.py", 1, b"import os")])
    >>> signer.write(fd)
    """

    def __init__(self, sign: Sign) -> None:
        self._sign = sign
        self._signing: deque[Callable[[], bytes]] = deque()
        self._parts: list[Bytes] = []  # a row for each group of blocks, a byte for each row of the matrix
        self._waiting: list[bytes] = []

    def add(self, blocks: Iterable[Block]) -> None:
        """Sign the next blocks."""
        self._waiting += [block.text for block in blocks]
        while len(self._waiting) >= _PIECE:
            self._sign_piece()

    def write(self, fd: int) -> None:
        """Write the matrix of all blocks to an empty file."""
        if self._waiting:
            self._sign_piece()
        while self._signing:
            self._take()
        with open(fd, "wb", closefd=False) as file:
            for row in range(0, ROWS if self._parts else 0, _STRIPE):
                stripe = np.concatenate([part[:, row : row + _STRIPE] for part in self._parts])
                file.write(np.ascontiguousarray(stripe.T).data)
        self._parts.clear()

    def _sign_piece(self) -> None:
        if len(self._signing) == AT_ONCE:
            self._take()
        self._signing.append(self._sign(self._waiting[:_PIECE]))
        del self._waiting[:_PIECE]

    def _take(self) -> None:
        rows = self._signing.popleft()()
        part = mmap.mmap(-1, len(rows))  # among other memory it would not be given back before the process ends
        part.write(rows)
        self._parts.append(np.frombuffer(part, np.uint8).reshape(-1, ROWS))


def signed_here(blocks: Sequence[bytes]) -> Callable[[], bytes]:
    """Sign in this process, when the signatures are asked for."""
    return partial(signed, blocks)


def signed(blocks: Sequence[bytes]) -> bytes:
    """Return the signatures of some blocks: a byte for each row of the matrix, for eight blocks after the other."""
    part = np.empty((-(-len(blocks) // _GROUP), ROWS), np.uint8)
    for group, column in enumerate(part):
        seen = np.zeros((_GROUP, ROWS), np.uint8)
        for texts in _bounded(blocks[group * _GROUP : (group + 1) * _GROUP]):
            _see(texts, seen)
        np.bitwise_or.reduce(seen << _PLACES, axis=0, out=column)
    return part.tobytes()


def _bounded(blocks: Sequence[bytes]) -> Iterator[list[tuple[int, bytes]]]:
    """Yield the folded texts of blocks, numbered, some _TEXT bytes at once; of a long one parts that overlap."""
    texts: list[tuple[int, bytes]] = []
    size = 0
    for number, block in enumerate(blocks):
        text = folded(block)
        for start in range(0, max(len(text) - LONGEST + 1, 1), _TEXT):
            texts.append((number, text[start : start + _TEXT + LONGEST - 1]))
            size += len(texts[-1][1])
            if size > _TEXT:
                yield texts
                texts, size = [], 0
    yield texts


def _see(texts: Sequence[tuple[int, bytes]], seen: Bytes) -> None:
    """Mark the rows of all grams in texts, those of each block in a row of its own."""
    codes = np.frombuffer(b"".join(text for _, text in texts), np.uint8).astype(np.uint16)
    three = codes[:-2] * _A + codes[1:-1] * _B + codes[2:] * _C
    rows = [hashes >> (16 - ROW_BITS) for hashes in (three, three[:-1] + codes[3:] * _D)]
    ends = accumulate((len(text) for _, text in texts), initial=0)
    for (block, _), (start, end) in zip(texts, pairwise(ends), strict=True):
        for size, of_size in zip(GRAMS, rows, strict=True):
            # As the numbers that index an array, of one block: memory for more of them would be new at each call.
            seen[block][of_size[start : max(start, end - size + 1)].astype(np.intp)] = 1
