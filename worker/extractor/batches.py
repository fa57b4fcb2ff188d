"""Sources and what is found in them, put together for one message and taken apart again."""

from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import astuple, replace

from fledgling.worker.extractor.messages import Batch, ExtractedBatch, Source, TextFacts
from fledgling.worker.rows import SymbolColumns
from fledgling.worker.store.symbol_writer import Outlined, end_to_end
from fledgling.worker.store.symbol_writer import one_by_one as outlines_of

BATCH_FILES = 1000  # in one message, each some ten values of those that a frame may hold (pipe.MAX_VALUES)
BATCH_BYTES = 256 * 1024  # of sources in one message: some tens of milliseconds of work
TOGETHER = 4  # batches in one message at most, where little in them is new: a message costs as much as a small file

Known = list[ExtractedBatch | None]  # of each source of a batch


def given_up(took: float) -> ExtractedBatch:
    """What is known of a file that was the end of an extractor after so many seconds, or does not fit a frame."""
    return ExtractedBatch([TextFacts(None, complete=False, seconds=took)], Outlined([b""]), uses=[b""])


def joined(parts: list[ExtractedBatch]) -> ExtractedBatch:
    """What was found in one part of a batch after the other."""
    if len(parts) == 1:
        return parts[0]
    columns = zip(*(astuple(part.symbols) for part in parts), strict=True)
    symbols = SymbolColumns(*([value for part in column for value in part] for column in columns))
    facts = [facts for part in parts for facts in part.facts]
    uses = [use for part in parts for use in part.uses]
    return ExtractedBatch(facts, end_to_end([part.outlined for part in parts]), symbols, uses)


def one_by_one(found: ExtractedBatch) -> Iterator[ExtractedBatch]:
    """Yield what was found in each file by itself, uses aside: the reverse of `joined`."""
    counts = [of_file.symbols for of_file in found.facts]
    for of_file, symbols, columns in zip(
        found.facts, outlines_of(found.outlined, counts), found.symbols.one_by_one(counts), strict=True
    ):
        yield ExtractedBatch([of_file], symbols, columns)


def batches(sources: Iterable[Source], asked: Batch) -> Iterator[Batch]:
    """Put sources together until they hold BATCH_BYTES, or are BATCH_FILES."""
    waiting: list[Source] = []
    size = 0
    for source in sources:
        waiting.append(source)
        size += source.size
        if size > BATCH_BYTES or len(waiting) == BATCH_FILES:
            yield replace(asked, sources=tuple(waiting))
            waiting, size = [], 0
    if waiting:
        yield replace(asked, sources=tuple(waiting))


def groups(
    some: Iterable[Batch], known: Callable[[Source], ExtractedBatch | None]
) -> Iterator[list[tuple[Batch, Known]]]:
    """Put batches together as long as what is new in them is no more than one that is all new: it is one message."""
    group: list[tuple[Batch, Known]] = []
    size = files = 0
    for batch in some:
        each = [*map(known, batch.sources)]
        new = new_of(batch, each)
        length = sum(source.size for source in new)
        if group and (size + length > BATCH_BYTES or files + len(new) > BATCH_FILES or len(group) == TOGETHER):
            yield group
            group, size, files = [], 0, 0
        group.append((batch, each))
        size, files = size + length, files + len(new)
    if group:
        yield group


def new_of(batch: Batch, each: Known) -> tuple[Source, ...]:
    """Return the sources of a batch of which nothing is known."""
    return tuple(source for source, found in zip(batch.sources, each, strict=True) if found is None)
