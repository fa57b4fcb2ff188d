"""Signatures as they are made, from the text of blocks in their order. See ngrams.py."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise

import numpy as np

from fledgling.worker.arrays import NDArray
from fledgling.worker.store.ngrams import GRAMS, LONGEST, ROW_BITS, ROWS, SEGMENT, WEIGHTS, folded
from fledgling.worker.store.sections import SectionWriter
from fledgling.worker.store.text import Block

_GROUP = 8  # blocks that share a byte of each row
_PIECE = 16 * _GROUP  # blocks signed at once: about half a megabyte
_TEXT = 2**20  # bytes of text whose grams are numbers at once, some 20 times as many; a line may be max_file_size long
_A, _B, _C, _D = (np.uint16(weight) for weight in WEIGHTS)
AT_ONCE = 2  # pieces under way in other processes: while one is signed the next is sent

Bytes = NDArray[np.uint8]
Sign = Callable[[Sequence[bytes]], Callable[[], bytes]]  # begins to sign, and returns what waits for the signatures


class Signer:
    """Collects the signatures of blocks as they come, and writes them segment by segment.

    `sign` makes them, here or in another process.

    >>> signer = Signer(fd, signed_here)
    >>> signer.add([Block("a.py", 1, b"import os")])
    >>> signer.finish()
    """

    def __init__(self, fd: int, sign: Sign) -> None:
        """Write to an empty file, which the caller closes."""
        self._sections = SectionWriter(fd, "ngrams")
        self._sections.begin("matrix")
        self._sign = sign
        self._signing: deque[Callable[[], bytes]] = deque()
        self._waiting: list[bytes] = []
        self._segment = np.empty((ROWS, SEGMENT), np.uint8)
        self._filled = 0  # bytes of each row

    def add(self, blocks: Iterable[Block]) -> None:
        """Sign the next blocks."""
        self._waiting += [block.text for block in blocks]
        while len(self._waiting) >= _PIECE:
            self._sign_piece()

    def finish(self) -> None:
        """Write what is left."""
        if self._waiting:
            self._sign_piece()
        while self._signing:
            self._take()
        with self._sections as sections:
            sections.write([np.ascontiguousarray(self._segment[:, : self._filled]).data])
        del self._segment

    def _sign_piece(self) -> None:
        if len(self._signing) == AT_ONCE:
            self._take()
        self._signing.append(self._sign(self._waiting[:_PIECE]))
        del self._waiting[:_PIECE]

    def _take(self) -> None:
        """Put the next piece into the segment, which holds a whole number of them."""
        piece = np.frombuffer(self._signing.popleft()(), np.uint8).reshape(ROWS, -1)
        end = self._filled + piece.shape[1]
        self._segment[:, self._filled : end] = piece
        if end == SEGMENT:
            self._sections.write([self._segment.data])
        self._filled = end % SEGMENT


def signed_here(blocks: Sequence[bytes]) -> Callable[[], bytes]:
    """Sign in this process, when the signatures are asked for."""
    return partial(signed, blocks)


def signed(blocks: Sequence[bytes]) -> bytes:
    """Return the signatures of some blocks: of each row of the matrix a byte for every eight blocks."""
    piece = np.empty((ROWS, -(-len(blocks) // _GROUP)), np.uint8)
    for group in range(piece.shape[1]):
        seen = np.zeros((_GROUP, ROWS), np.uint8)
        for texts in _bounded(blocks[group * _GROUP : (group + 1) * _GROUP]):
            _see(texts, seen)
        piece[:, group] = np.bitwise_or.reduce(seen, axis=0)
    return piece.tobytes()


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
            seen[block][of_size[start : max(start, end - size + 1)].astype(np.intp)] = 1 << block
