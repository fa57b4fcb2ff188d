"""One extractor process: text in, rows or signatures out; and the process above it, which replaces it.

It is forked off the indexer with the indexer's confinement and keeps one socket of it. A file that takes more than
FILE_SECONDS, or more memory than there is, ends the process wherever it is, in the middle of C code too: the kernel
does that. The process above then forks another and says `Lost`.
"""

import gc
import mmap
import os
import signal
import socket
import time
from collections.abc import Iterable, Iterator
from typing import NoReturn

from msgspec import Struct
from msgspec.structs import astuple

from fledgling.pipe import MAX_FRAME_BYTES, Pipe, pack
from fledgling.security import limits
from fledgling.security.confinement import ConfinementError, confine
from fledgling.wire import DEFINITION_KINDS, Confining, Layer
from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.language import Languages
from fledgling.worker.resolving.project import Declared, declared
from fledgling.worker.rows import Extraction, ImportRow, SymbolRow
from fledgling.worker.signer import signed

FILE_SECONDS = 2.0  # CPU seconds a file; a megabyte of ordinary source takes a quarter of it
# CPU seconds a file, and for each byte of it, once LOST_FILES were lost: four times what ordinary source takes
HURRIED_SECONDS, HURRIED_BYTE_SECONDS = 0.02, 1e-6
STDERR = 2
UNCONFINED = 3  # exit status: another would end in the same way


class Source(Struct, frozen=True):
    """One file to parse: its text as blocks of whole lines."""

    path: str
    language: str
    blocks: tuple[bytes, ...]


class Batch(Struct, frozen=True, tag="batch"):
    """Indexer to extractor: some files; `hurried` where so many were lost that none gets FILE_SECONDS any more."""

    sources: tuple[Source, ...]
    hurried: bool = False


class Sign(Struct, frozen=True, tag="sign"):
    """Indexer to extractor, before anything is parsed: some blocks of text to be signed (worker/signer.py)."""

    blocks: list[bytes]


class Facts(Struct, frozen=True):
    """What one file's text says but for its symbols, of which there are `symbols`; comment lines are by block."""

    engine: str | None
    complete: bool
    seconds: float
    symbols: int = 0
    definitions: int = 0
    imports: list[ImportRow] = []
    comments: list[list[int]] = []
    declared: Declared | None = None


class SymbolColumns(Struct, frozen=True):
    """Symbols of one file after the other, one list for each field of SymbolRow: what the engine loads fastest."""

    name: list[str] = []
    kind: list[str] = []
    line_start: list[int] = []
    line_end: list[int] = []
    parent_name: list[str | None] = []
    signature: list[str | None] = []
    docstring: list[str | None] = []
    visibility: list[str] = []
    qualified_name: list[str] = []


class Found(Struct, frozen=True, tag="found"):
    """Extractor to indexer: facts for each file of a batch, and the symbols of all."""

    facts: list[Facts]
    symbols: SymbolColumns


class Signed(Struct, frozen=True, tag="signed"):
    """Extractor to indexer: the signatures of some blocks."""

    rows: bytes


class Lost(Struct, frozen=True, tag="lost"):
    """The process above an extractor to the indexer: file `at` of the batch was its end, and there is another now.

    None where the batch, or what it found in all of it together, does not fit a frame, or it ended before the first.
    """

    at: int | None


class Confined(Struct, frozen=True, tag="confined"):
    """The process above an extractor to the indexer, first: what holds it and every extractor, or why nothing does."""

    layers: tuple[Layer, ...] = ()
    problem: str | None = None


ToExtractor = Batch | Sign
FromExtractor = Confined | Found | Signed | Lost


def fork(languages: Languages, end: socket.socket, confining: Confining) -> int:
    """Fork an extractor that serves its end of a socket, and the process above it; return the process id of that.

    No thread but the calling one may exist: a fork keeps the locks of threads that it does not keep.
    """
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            _keep(end.fileno())
            _replace_forever(languages, end.fileno(), parent, confining)
        finally:
            os._exit(1)  # nothing of the indexer's own may run here
    return child


def _keep(descriptor: int) -> None:
    """Close every descriptor but one and standard error: neither the root nor an image is for a parser."""
    os.closerange(0, STDERR)
    os.closerange(STDERR + 1, descriptor)
    os.closerange(descriptor + 1, os.sysconf("SC_OPEN_MAX"))


def _replace_forever(languages: Languages, descriptor: int, indexer: int, confining: Confining) -> NoReturn:
    above = os.getpid()
    extractor = Extractor(languages)  # once, for all that come after each other, and while files can be opened
    gc.freeze()  # a collection looks at what comes after it only: _serve() calls for one, begin() has forbidden others
    pipe: Pipe[ToExtractor] = Pipe(ToExtractor, descriptor, descriptor)
    lowered = limits.with_memory(limits.EXTRACTOR, limits.EXTRACTOR_MEMORY)
    try:
        pipe.send(Confined(confine("extractor's parent", confining, parent=indexer, lowered=lowered)))
    except ConfinementError as absent:
        pipe.send(Confined(problem=str(absent)))
        os._exit(1)
    at_work = AtWork(languages.rows)
    while (child := os.fork()) != 0:
        _, status = os.waitpid(child, 0)
        if os.waitstatus_to_exitcode(status) in (0, UNCONFINED):
            os._exit(0)
        pipe.send(Lost(at_work.begun()))
        at_work.begin(None)
        for language in at_work.met():
            extractor.extract(language, b"\n")  # a query takes 0.1 seconds to compile: once, not in each after a loss
    try:
        confine("extractor", confining, parent=above)
    except ConfinementError:
        os._exit(UNCONFINED)
    _serve(pipe, extractor, at_work)
    os._exit(0)


class AtWork:
    """What an extractor is at, in memory that it shares with the process above it: file of the batch, languages met."""

    def __init__(self, languages: Iterable[str]) -> None:
        self._places = {language: place for place, language in enumerate(sorted(languages), 8)}
        self._memory = mmap.mmap(-1, 8 + len(self._places))

    def begin(self, number: int | None) -> None:
        """Note that a file is begun; None before the first."""
        self._memory[:8] = (0 if number is None else number + 1).to_bytes(8, "little")

    def begun(self) -> int | None:
        """Return the file that was noted last."""
        number = int.from_bytes(self._memory[:8], "little")
        return number - 1 if number else None

    def meet(self, language: str) -> bool:
        """Note that a language is in use; return whether this is new."""
        place = self._places.get(language)
        if place is None or self._memory[place]:
            return False
        self._memory[place] = 1
        return True

    def met(self) -> list[str]:
        """Return the languages in use."""
        return [language for language, place in self._places.items() if self._memory[place]]


def _serve(pipe: Pipe[ToExtractor], extractor: Extractor, at_work: AtWork) -> None:
    while (asked := pipe.receive()) is not None:
        if isinstance(asked, Sign):
            pipe.send(Signed(signed(asked.blocks)))
            continue
        extracted = []
        for number, source in enumerate(asked.sources):
            if at_work.meet(source.language):
                extractor.extract(source.language, b"\n")  # what a language needs first is not on this file's clock
            at_work.begin(number)
            extracted.append(_timed(extractor, source, seconds(source, asked)))
        at_work.begin(None)
        frame = pack(_found(extracted, asked))
        extracted.clear()
        gc.collect()
        pipe.write(frame if len(frame) < MAX_FRAME_BYTES else pack(Lost(None)))


def seconds(source: Source, batch: Batch) -> float:
    """How many CPU seconds one file of a batch may take."""
    if not batch.hurried:
        return FILE_SECONDS
    return min(FILE_SECONDS, HURRIED_SECONDS + HURRIED_BYTE_SECONDS * sum(map(len, source.blocks)))


def _timed(extractor: Extractor, source: Source, limit: float) -> tuple[Extraction, float]:
    """Extract under the kernel's clock, whose signal is left to end the process."""
    begun = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, limit)
    found = extractor.extract(source.language, b"\n".join((*source.blocks, b"")))
    signal.setitimer(signal.ITIMER_PROF, 0)
    return found, time.process_time() - begun


def _found(extracted: list[tuple[Extraction, float]], batch: Batch) -> Found:
    facts = [
        Facts(
            found.engine,
            found.complete,
            seconds,
            symbols=len(found.symbols),
            definitions=sum(row.kind in DEFINITION_KINDS for row in found.symbols),
            imports=found.imports,
            comments=list(_by_block(found.comment_lines, source.blocks)),
            declared=declared(source.language, found.symbols),
        )
        for (found, seconds), source in zip(extracted, batch.sources, strict=True)
    ]
    rows = [astuple(row) for found, _ in extracted for row in found.symbols]
    return Found(facts, SymbolColumns(*map(list, zip(*rows, strict=True))))


def _by_block(lines: Iterable[int], blocks: Iterable[bytes]) -> Iterator[list[int]]:
    """The numbers of comment lines, block by block: `_by_block({1, 3}, [b"# a\\nb", b"# c"])` is [1], [3]."""
    numbers = sorted(lines)
    first, at = 1, 0
    for block in blocks:
        first += block.count(b"\n") + 1
        begin = at
        while at < len(numbers) and numbers[at] < first:
            at += 1
        yield numbers[begin:at]


assert SymbolColumns.__struct_fields__ == SymbolRow.__struct_fields__
