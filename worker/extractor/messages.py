"""What goes between the indexer and its extractors. It loads in no time: the indexer needs it before it forks them."""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from fledgling.messages.bounded import Said
from fledgling.messages.control import Layer
from fledgling.worker.resolving.project import Declared
from fledgling.worker.rows import Engine, FileWords, ImportRow, SymbolColumns
from fledgling.worker.store.symbol_writer import Outlined

FILE_SECONDS = 2.0  # CPU seconds a file; a megabyte of ordinary source takes a quarter of it
REPAIR_SECONDS = 1.0  # of these, until nothing more is repaired: what began before has the rest, and is not lost
# CPU seconds a file, and for each byte of it, once LOST_FILES were lost: four times what ordinary source takes
HURRIED_SECONDS, HURRIED_BYTE_SECONDS = 0.02, 1e-6


class Source(Struct, frozen=True):
    """One file to parse: its text as blocks of whole lines.

    Where words are asked for, comes with its `prose`, and without that with no text; and with its symbols, so many
    rows, as the index has them (worker/store/symbols.py).
    """

    path: str
    language: str
    blocks: tuple[bytes, ...]
    prose: bytes = b""
    rows: int = 0
    outline: bytes = b""

    @property
    def size(self) -> int:
        """The bytes of it that take time: all but its name."""
        return sum(map(len, self.blocks)) + len(self.prose) + len(self.outline)


class Batch(Struct, frozen=True, tag="batch"):
    """Indexer to extractor: some files; `hurried` where so many were lost that none gets FILE_SECONDS any more.

    `tabled` asks for symbols as columns too: DuckDB has a table of them under some profiles only; with `hashed`,
    each has the hash of its text. `for_graph` asks for nothing but what the graph is made of, and `for_words` for the
    words of files alone, once their definitions are sealed.
    """

    sources: tuple[Source, ...]
    tabled: bool = False
    for_graph: bool = False
    hurried: bool = False
    hashed: bool = False
    for_words: bool = False


class Sign(Struct, frozen=True, tag="sign"):
    """Indexer to extractor, before anything is parsed: blocks of text to be signed (worker/store/ngram_writer.py)."""

    blocks: list[bytes]


class Rest(Struct, frozen=True, tag="rest"):
    """Indexer to extractor, once all is signed: end. The next one has compiled what was expected meanwhile."""


class ReadFile(Struct, frozen=True, tag="read"):
    """Indexer to the process that resolves, first: a file of the graph, its facts, and its imports, packed."""

    path: str
    language: str
    facts: memoryview
    imports: bytes


class Resolve(Struct, frozen=True, tag="resolve"):
    """Indexer to the process that resolves, after all files: make their graph, within a budget of solving.

    `known` has the graph of each family that was kept, packed, without its columns; b"" where none was. Processes that
    make rows may hold as many bytes as there is `room`.
    """

    evaluations: int
    follows_arguments: bool
    is_partial: bool
    known: list[bytes]
    room: int


class Visited(Struct, frozen=True, tag="visited"):
    """The process that resolves to the indexer, again and again: how often it has gone through a file by now."""

    files: int


class GraphPart(Struct, frozen=True, tag="part"):
    """The process that resolves to the indexer: the next bytes of a field of a graph (worker/graph/columns.py)."""

    field: str
    held: bytes


class GraphMade(Struct, frozen=True, tag="made"):
    """The process that resolves to the indexer: a graph is whole; or `is_known`, and what was kept is still right."""

    is_known: bool


class TextFacts(Struct, frozen=True):
    """What one file's text says but for its symbols, of which there are `symbols`; comment lines are by block.

    `prose` is where its comments are, and what else its words are made of but its symbols, packed (wording.py): there
    is none in a language that is not searched by meaning. `words` are there where they were asked for.
    """

    engine: Engine | None
    complete: bool
    seconds: float
    symbols: int = 0
    definitions: int = 0
    imports: list[ImportRow] = []
    comments: list[list[int]] = []
    declared: Declared | None = None
    prose: bytes = b""
    words: FileWords | None = None


class ExtractedBatch(Struct, frozen=True, tag="found"):
    """Extractor to indexer: facts for each file of a batch, and the symbols of all; as columns, too, if `tabled`.

    `uses` are those of each file, packed (worker/graph/reading/facts.py), where the batch was for the graph.
    """

    facts: list[TextFacts]
    outlined: Outlined
    symbols: SymbolColumns = SymbolColumns()
    uses: list[bytes] = []


class Signed(Struct, frozen=True, tag="signed"):
    """Extractor to indexer: the signatures of some blocks."""

    rows: bytes


class Lost(Struct, frozen=True, tag="lost"):
    """The process above an extractor to the indexer: file `at` of the batch was its end, and there is another now.

    None where the batch, or what it found in all of it together, does not fit a frame, or it ended before the first.
    """

    at: int | None


class TooLarge(Struct, frozen=True, tag="too large"):
    """The process that resolves to the indexer: a graph needs more memory than there is."""


class Confined(Struct, frozen=True, tag="confined"):
    """The process above an extractor to the indexer, first: what holds it and every extractor, or why nothing does."""

    layers: tuple[Layer, ...] = ()
    problem: str | None = None


class Unfit(Struct, frozen=True, tag="unfit"):
    """To the indexer: something in the folder of a language is wrong, and no file of it can be read."""

    problem: Said


ToExtractor = Batch | Sign | Rest
FromExtractor = Confined | ExtractedBatch | Signed | Lost | Unfit
ToResolver = ReadFile | Resolve
FromResolver = Visited | GraphPart | GraphMade | TooLarge | Lost


def seconds(source: Source, batch: Batch) -> float:
    """How many CPU seconds one file of a batch may take."""
    if not batch.hurried:
        return FILE_SECONDS
    return min(FILE_SECONDS, HURRIED_SECONDS + HURRIED_BYTE_SECONDS * source.size)


def packed(facts: Sequence[ImportRow] | Declared | None) -> bytes:
    """Return imports, or what a file declares, as they are kept; nothing is b""."""
    return msgspec.msgpack.encode(facts) if facts else b""


def imports_of(kept: bytes) -> list[ImportRow]:
    """Return imports that were packed."""
    return msgspec.msgpack.decode(kept, type=list[ImportRow]) if kept else []


def declared_of(kept: bytes) -> Declared | None:
    """Return what a file declares, which was packed."""
    return msgspec.msgpack.decode(kept, type=Declared) if kept else None
