"""One extractor process: text in, rows or signatures out.

It keeps one socket of the indexer. A file that takes more than FILE_SECONDS, or more memory than there is, ends the
process wherever it is, in the middle of C code too: the kernel does that. The process above (replacing.py) then says
`Lost`, and forks another when more is to be parsed.
"""

import gc
import select
import signal
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec
from msgspec.structs import astuple

from fledgling.pipe import Pipe, pack
from fledgling.plain import said
from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.extracting.repair import IsLate
from fledgling.worker.extractor.at_work import AtWork, Stage
from fledgling.worker.extractor.hashing import hashes
from fledgling.worker.extractor.messages import (
    REPAIR_SECONDS,
    Batch,
    ExtractedBatch,
    Lost,
    Rest,
    Sign,
    Signed,
    Source,
    TextFacts,
    ToExtractor,
    Unfit,
    seconds,
)
from fledgling.worker.extractor.wording import DEFINED, prose, worded
from fledgling.worker.language import Language, LanguageError, Languages
from fledgling.worker.resolving.project import declared
from fledgling.worker.rows import Extraction, FileWords, SymbolColumns
from fledgling.worker.store.symbol_writer import Outlined, outlined

if TYPE_CHECKING:  # loaded where more is wanted than definitions
    from fledgling.worker.graph.reading.facts import FactsExtractor

Extracted = TypeVar("Extracted")

AT_REST = 4  # exit status: there was nothing to do, and another begins when there is
REST_SECONDS = 1.0  # without a message until an extractor ends; and between two looks while there is none


class Parsers(NamedTuple):
    """What finds definitions in a text, and, where more is wanted, what finds all that the graph is made of."""

    symbols: Extractor
    graph: "FactsExtractor | None"


def graph_of(language: str) -> str:
    """Return what stands for the facts of a language where its name stands for its definitions."""
    return f"graph of {language}"


def prepare(parsers: Parsers, met: str) -> None:
    """Compile what a language needs, or its facts. Raises LanguageError where something does not compile."""
    if (language := met.removeprefix(graph_of(""))) != met:
        assert parsers.graph
        parsers.graph.facts_of(language, b"\n")
    else:
        parsers.symbols.prepare(language)


def facts_extractor(languages: Languages) -> "FactsExtractor | None":
    """Load what signs, and what finds what the graph is made of, if the languages were read for that."""
    from fledgling.worker.store import ngram_writer  # noqa: F401, PLC0415  (`_signed` cannot load it once confined)

    if not any(row.graph.rules for row in languages.rows.values()):
        return None
    from fledgling.worker.graph.reading.facts import FactsExtractor  # noqa: PLC0415  (see TYPE_CHECKING)

    return FactsExtractor(languages)


def serve(end: socket.socket, pipe: Pipe[ToExtractor], parsers: Parsers, at_work: AtWork, longest: int) -> int:
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
        if isinstance(asked, Rest):
            at_work.enter(Stage.WAITING)
            return AT_REST
        at_work.enter(Stage.WORKING)
        frame = _signed(asked) if isinstance(asked, Sign) else _parsed(asked, parsers, at_work)
        at_work.enter(Stage.WITHIN_FRAME)
        pipe.write(frame if len(frame) < longest else pack(Lost(None)))
        at_work.enter(Stage.WAITING)


class ReadText(NamedTuple):
    """What is in a file, and what its words are made of if it is searched by them."""

    found: Extraction
    prose: bytes


def _signed(asked: Sign) -> bytes:
    from fledgling.worker.store.ngram_writer import signed  # noqa: PLC0415  (see `facts_extractor`)

    return pack(Signed(signed(asked.blocks)))


def _parsed(asked: Batch, parsers: Parsers, at_work: AtWork) -> bytes:
    """Return the frame that says what is in a batch."""
    extract = _facts_of(parsers) if asked.for_graph else _worded if asked.for_words else _read_by(parsers)
    extracted: list[tuple[Any, float]] = []
    for number, source in enumerate(asked.sources):
        met = graph_of(source.language) if asked.for_graph else source.language
        if not asked.for_words and at_work.met.note(met):
            try:
                prepare(parsers, met)  # what a language needs first is not on this file's clock
            except LanguageError as wrong:
                return pack(Unfit(said(str(wrong))))
        at_work.begin(number)
        extracted.append(_timed(extract, source, seconds(source, asked)))
    at_work.begin(None)
    found = _uses(extracted) if asked.for_graph else _words(extracted) if asked.for_words else None
    frame = pack(found or _found(extracted, asked, parsers.symbols.rows))
    extracted.clear()
    gc.collect(0)  # what came with this batch: words that are remembered would take a tenth of the time
    return frame


def _facts_of(parsers: Parsers) -> Callable[[Source, bytes, IsLate], bytes | None]:
    graph = parsers.graph
    assert graph
    return lambda source, text, _: graph.facts_of(source.language, text)


def _worded(source: Source, text: bytes, _: IsLate) -> FileWords:
    return worded(source, text)


def _read_by(parsers: Parsers) -> Callable[[Source, bytes, IsLate], ReadText]:
    def read(source: Source, text: bytes, is_late: IsLate) -> ReadText:
        found = parsers.symbols.extract(source.language, text, is_late)
        is_code = parsers.symbols.rows[source.language].role == "code"
        return ReadText(found, prose(source.path, text, found) if is_code else b"")

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


def _words(extracted: list[tuple[FileWords, float]]) -> ExtractedBatch:
    facts = [TextFacts(None, complete=True, seconds=seconds, words=words) for words, seconds in extracted]
    return ExtractedBatch(facts, Outlined())


def _found(extracted: list[tuple[ReadText, float]], batch: Batch, languages: Mapping[str, Language]) -> ExtractedBatch:
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
            prose=prose,
        )
        for ((found, prose), seconds), source in zip(extracted, batch.sources, strict=True)
    ]
    rows = [astuple(row) for (found, _), _ in extracted for row in found.symbols] if batch.tabled else []
    columns = SymbolColumns(*map(list, zip(*rows, strict=True)))
    if batch.hashed:
        each = zip(extracted, batch.sources, strict=True)
        hashed = (hashes(found.symbols, b"\n".join(source.blocks)) for ((found, _), _), source in each)
        columns = msgspec.structs.replace(columns, content_hash=[*chain.from_iterable(hashed)])
    return ExtractedBatch(facts, outlined(found.symbols for (found, _), _ in extracted), columns)


def _by_block(lines: Iterable[int], blocks: Iterable[bytes]) -> Iterator[list[int]]:
    """Return the numbers of comment lines, block by block: `_by_block({1, 3}, [b"# a\\nb", b"# c"])` is [1], [3]."""
    numbers = sorted(lines)
    first, at = 1, 0
    for block in blocks:
        first += block.count(b"\n") + 1
        begin = at
        while at < len(numbers) and numbers[at] < first:
            at += 1
        yield numbers[begin:at]
