"""One extractor process: text in, rows or signatures out; and the process above them all, which replaces it.

It keeps one socket of the indexer. A file that takes more than FILE_SECONDS, or more memory than there is, ends the
process wherever it is, in the middle of C code too: the kernel does that. The process above then says `Lost`, and forks
another when more is to be parsed. One that has nothing to do ends by itself: what has met hostile text does not stay.
"""

import gc
import mmap
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

import msgspec
from msgspec.structs import astuple

from fledgling.messages.control import Confining
from fledgling.pipe import MAX_FRAME_BYTES, Pipe, pack
from fledgling.plain import said
from fledgling.security import limits
from fledgling.security.confinement import ConfinementError, confine
from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.extracting.repair import IsLate
from fledgling.worker.extractor.hashing import hashes
from fledgling.worker.extractor.messages import (
    REPAIR_SECONDS,
    Batch,
    Confined,
    ExtractedBatch,
    Lost,
    Sign,
    Signed,
    Source,
    TextFacts,
    ToExtractor,
    Unfit,
    seconds,
)
from fledgling.worker.extractor.wording import DEFINED, worded
from fledgling.worker.language import Language, LanguageError, Languages
from fledgling.worker.resolving.project import declared
from fledgling.worker.rows import Extraction, FileWords, SymbolColumns
from fledgling.worker.store.symbol_writer import Outlined, outlined

if TYPE_CHECKING:  # loaded where more is wanted than definitions
    from fledgling.worker.graph.reading.facts import FactsExtractor

Extracted = TypeVar("Extracted")

UNCONFINED = 3  # exit status: another would end in the same way
AT_REST = 4  # exit status: there was nothing to do, and another begins when there is
LOOK_SECONDS = 0.02  # between two looks at whether an extractor has ended, or the indexer
REST_SECONDS = 1.0  # without a message until an extractor ends; and between two looks while there is none


class Parsers(NamedTuple):
    """What finds definitions in a text, and, where more is wanted, what finds all that the graph is made of."""

    symbols: Extractor
    graph: "FactsExtractor | None"


def graph_of(language: str) -> str:
    """Return what stands for the facts of a language where its name stands for its definitions."""
    return f"graph of {language}"


def prepare(extractor: Parsers, met: str) -> None:
    """Compile what a language needs, or its facts. Raises LanguageError where something does not compile."""
    if (language := met.removeprefix(graph_of(""))) != met:
        assert extractor.graph
        extractor.graph.facts_of(language, b"\n")
    else:
        extractor.symbols.prepare(language)


def replace_forever(
    languages: Languages,
    ends: Sequence[socket.socket],
    indexer: int,
    confining: Confining,
    memory_limit: int,
    *,
    parse_only: bool,
) -> NoReturn:
    """Fork an extractor for each socket that is written to; be gone when the indexer has closed them.

    This process reads nothing that is hostile: what it loads, it loads before it is confined, for all that it forks.
    """
    above = os.getpid()
    pipes: list[Pipe[ToExtractor]] = [Pipe(ToExtractor, end.fileno(), end.fileno()) for end in ends]
    try:
        extractor = Parsers(Extractor(languages), None if parse_only else facts_extractor(languages))
    except LanguageError as wrong:
        pipes[0].send(Unfit(said(str(wrong))))
        os._exit(1)
    gc.freeze()  # a collection looks at what comes after it only: _serve() calls for one, begin() has forbidden others
    lowered, longest = limits.of_extractor(memory_limit), min(MAX_FRAME_BYTES, limits.frame_bytes(memory_limit))
    try:
        pipes[0].send(Confined(confine("extractor's parent", confining, parent=indexer, lowered=lowered)))
    except ConfinementError as absent:
        pipes[0].send(Confined(problem=str(absent)))
        os._exit(1)
    at_work = [AtWork([*languages.rows, *map(graph_of, languages.rows)]) for _ in ends]
    resting = [*range(len(ends))]  # sockets without an extractor, until something comes
    running: dict[int, int] = {}  # processes, and which socket each serves
    while resting or running:
        for place in _asked([(place, ends[place]) for place in resting], LOOK_SECONDS if running else REST_SECONDS):
            if (child := os.fork()) == 0:
                for other in {*ends} - {ends[place]}:
                    other.close()
                _confine(confining, above)
                os._exit(_serve(ends[place], pipes[place], extractor, at_work[place], longest))
            running[child] = place
            resting.remove(place)
        if os.getppid() != indexer:
            os._exit(0)  # the kernel then ends the extractors, also one that is stopped, or whose code was taken over
        while running and (ended := os.waitpid(-1, os.WNOHANG))[0]:
            child, status = ended
            place = running.pop(child)
            if code := os.waitstatus_to_exitcode(status):
                _take_back(code, pipes[place], extractor, at_work[place], parse_only=parse_only)
                resting.append(place)
    os._exit(0)


def facts_extractor(languages: Languages) -> "FactsExtractor | None":
    """Load what signs, and what finds what the graph is made of, if the languages were read for that."""
    from fledgling.worker.store import ngram_writer  # noqa: F401, PLC0415  (`_signed` cannot load it once confined)

    if not any(row.graph.rules for row in languages.rows.values()):
        return None
    from fledgling.worker.graph.reading.facts import FactsExtractor  # noqa: PLC0415  (see TYPE_CHECKING)

    return FactsExtractor(languages)


def _confine(confining: Confining, above: int) -> None:
    try:
        confine("extractor", confining, parent=above)
    except ConfinementError:
        os._exit(UNCONFINED)


def _asked(resting: Sequence[tuple[int, socket.socket]], seconds: float) -> list[int]:
    """Wait for a moment; return the places whose sockets have something to be read."""
    if not resting:
        time.sleep(seconds)
        return []
    readable, _, _ = select.select([end for _, end in resting], [], [], seconds)
    return [place for place, end in resting if end in readable]


def _take_back(
    status: int, pipe: Pipe[ToExtractor], extractor: Parsers, at_work: "AtWork", *, parse_only: bool
) -> None:
    """Make ready for another extractor: one rests, or was lost, of which the indexer is told if it waits for it.

    One of a build rests when all is parsed, one that parses what has changed between two changes.
    """
    if status != AT_REST:
        _tell_lost(status, pipe, at_work)
    elif not parse_only:
        return
    for met in at_work.met():
        prepare(extractor, met)  # a query takes 0.1 seconds to compile: once, not after each loss


def _tell_lost(status: int, pipe: Pipe[ToExtractor], at_work: "AtWork") -> None:
    """Tell the indexer of the message that was the end of an extractor, if it had one."""
    if status == UNCONFINED:
        sys.stderr.write("an extractor could not be confined\n")
        os._exit(1)
    match at_work.stage():
        case Stage.WITHIN_FRAME:  # the next one would take the rest for a message of its own
            sys.stderr.write("an extractor ended within a message\n")
            os._exit(1)
        case Stage.WORKING:
            pipe.send(Lost(at_work.begun()))
            at_work.begin(None)
            at_work.enter(Stage.WAITING)


class Stage(IntEnum):
    """What an extractor is at: between two messages, reading or writing one, or working on what one asks."""

    WAITING = 0
    WITHIN_FRAME = 1
    WORKING = 2


class AtWork:
    """What an extractor is at, in memory that it shares with the process above it.

    Its stage, which file of the batch, and languages met.
    """

    def __init__(self, languages: Iterable[str]) -> None:
        self._places = {language: place for place, language in enumerate(sorted(languages), 9)}
        self._memory = mmap.mmap(-1, 9 + len(self._places))

    def enter(self, stage: Stage) -> None:
        """Note that a stage is entered."""
        self._memory[8] = stage

    def stage(self) -> int:  # as the other side wrote it
        """Return the stage that was noted last."""
        return self._memory[8]

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


def _serve(end: socket.socket, pipe: Pipe[ToExtractor], extractor: Parsers, at_work: AtWork, longest: int) -> int:
    """Answer one message after the other, until none comes for a while; return the exit status.

    Wherever this process is killed, the one above knows what it was at.
    """
    while True:
        if select.select([end], [], [], REST_SECONDS) == ([], [], []):
            return AT_REST  # what has met hostile text does not stay
        at_work.enter(Stage.WITHIN_FRAME)
        asked = pipe.receive()
        if asked is None:
            return 0
        at_work.enter(Stage.WORKING)
        frame = _signed(asked) if isinstance(asked, Sign) else _parsed(asked, extractor, at_work)
        at_work.enter(Stage.WITHIN_FRAME)
        pipe.write(frame if len(frame) < longest else pack(Lost(None)))
        at_work.enter(Stage.WAITING)


class WordedFile(NamedTuple):
    """What is in a file, and its words if it is searched by them."""

    found: Extraction
    words: FileWords | None


def _signed(asked: Sign) -> bytes:
    from fledgling.worker.store.ngram_writer import signed  # noqa: PLC0415  (see `facts_extractor`)

    return pack(Signed(signed(asked.blocks)))


def _parsed(asked: Batch, extractor: Parsers, at_work: AtWork) -> bytes:
    """Return the frame that says what is in a batch."""
    extract = _facts_of(extractor) if asked.for_graph else _read_by(extractor)
    extracted: list[tuple[Any, float]] = []
    for number, source in enumerate(asked.sources):
        met = graph_of(source.language) if asked.for_graph else source.language
        if at_work.meet(met):
            try:
                prepare(extractor, met)  # what a language needs first is not on this file's clock
            except LanguageError as wrong:
                return pack(Unfit(said(str(wrong))))
        at_work.begin(number)
        extracted.append(_timed(extract, source, seconds(source, asked)))
    at_work.begin(None)
    frame = pack(_uses(extracted) if asked.for_graph else _found(extracted, asked, extractor.symbols.rows))
    extracted.clear()
    gc.collect(0)  # what came with this batch: words that are remembered would take a tenth of the time
    return frame


def _facts_of(extractor: Parsers) -> Callable[[Source, bytes, IsLate], bytes | None]:
    graph = extractor.graph
    assert graph
    return lambda source, text, _: graph.facts_of(source.language, text)


def _read_by(extractor: Parsers) -> Callable[[Source, bytes, IsLate], WordedFile]:
    def read(source: Source, text: bytes, is_late: IsLate) -> WordedFile:
        found = extractor.symbols.extract(source.language, text, is_late)
        is_code = extractor.symbols.rows[source.language].role == "code"
        return WordedFile(found, worded(source.path, text, found) if is_code else None)

    return read


def _timed(
    extract: Callable[[Source, bytes, IsLate], Extracted], source: Source, limit: float
) -> tuple[Extracted, float]:
    """Extract under the kernel's clock, whose signal is left to end the process."""
    begun = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, limit)
    found = extract(source, b"\n".join((*source.blocks, b"")), lambda: time.process_time() - begun > REPAIR_SECONDS)
    signal.setitimer(signal.ITIMER_PROF, 0)
    return found, time.process_time() - begun


def _uses(extracted: list[tuple[bytes | None, float]]) -> ExtractedBatch:
    facts = [TextFacts(None, complete=found is not None, seconds=seconds) for found, seconds in extracted]
    return ExtractedBatch(facts, Outlined(), uses=[found or b"" for found, _ in extracted])


def _found(
    extracted: list[tuple[WordedFile, float]], batch: Batch, languages: Mapping[str, Language]
) -> ExtractedBatch:
    facts = [
        TextFacts(
            found.engine,
            found.complete,
            seconds,
            symbols=len(found.symbols),
            definitions=sum(row.kind in DEFINED for row in found.symbols),
            imports=found.imports,
            comments=list(_by_block(found.comment_lines, source.blocks)) if found.comment_lines else [],
            declared=declared(languages[source.language], found.symbols, found.imports),
            words=words,
        )
        for ((found, words), seconds), source in zip(extracted, batch.sources, strict=True)
    ]
    rows = [astuple(row) for (found, _), _ in extracted for row in found.symbols] if batch.tabled else []
    columns = SymbolColumns(*map(list, zip(*rows, strict=True)))
    if batch.hashed:
        each = zip(extracted, batch.sources, strict=True)
        hashed = (hashes(found.symbols, b"\n".join(source.blocks)) for ((found, _), _), source in each)
        columns = msgspec.structs.replace(columns, content_hash=[*chain.from_iterable(hashed)])
    return ExtractedBatch(facts, outlined(found.symbols for (found, _), _ in extracted), columns)


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
