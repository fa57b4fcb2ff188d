"""One search of a command, answered without an index: all text is searched, and files of the page alone are parsed.

What it finds is what an index would have found. Where no line matches, or something is wrong, it says so and no more:
what there is to say then takes an index.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache

from fledgling.messages.answers import Refusal
from fledgling.messages.control import Accepted, Build, ExtractorsConfined, Generation, Progress, Relate, Sought
from fledgling.messages.generations import WORDS
from fledgling.messages.profile import Profile
from fledgling.messages.questions import Search
from fledgling.pipe import Pipe
from fledgling.plain import said
from fledgling.security import limits, memory_file
from fledgling.security.confinement import ConfinementError
from fledgling.worker.extractor.messages import Source
from fledgling.worker.extractor.pool import Extractors, UnfitError
from fledgling.worker.files.describe import Describing
from fledgling.worker.files.openat import Reader
from fledgling.worker.files.tree import Tree
from fledgling.worker.language import LanguageError, Languages
from fledgling.worker.lister.process import Lister, ListingError, confined
from fledgling.worker.process.child import CrashError
from fledgling.worker.reasons import NO_ROOM
from fledgling.worker.store.ngrams import Needed, Signatures, folded
from fledgling.worker.store.symbols import NO_PARSER, Outline, Outlines, parsed, read_outline
from fledgling.worker.store.text import Block, Blocks, BlockWriter, File
from fledgling.worker.tools.meant import meant
from fledgling.worker.tools.request import OneOfMany, Refused, Request
from fledgling.worker.tools.search import of_text

UNSOUGHT = Refusal("unavailable", "there is no answer without an index", "Build one.")  # the broker's ears only


def seek(
    pipe: Pipe[Build | Relate],
    order: Build,
    question: Search,
    languages: Languages,
    lister: Lister,
    parsers: Extractors,
) -> None:
    """Answer one question, and report."""
    try:
        layers = confined(order, order.broker_pid)
        began = lister.began()
        narrowed = began.narrowed
        notices = tuple(map(said, narrowed.notices))
        pipe.send(Accepted(narrowed.scope, narrowed.narrowed, notices, layers, began.layers))
        lister.walked()
        tree = lister.tree()
        lister.close()
        ready = _ready(question.language, tree, languages, parsers)
        describing = Describing(languages, max_file_size=narrowed.scope.max_file_size, root=None, with_hashes=False)
        blocks = _read(order, describing, tree) if narrowed.scope.index_content else None  # while the parsers load
        pipe.send(ExtractorsConfined(parsers.confined()))
        if blocks:
            pipe.send(Progress("read", len(tree.entries), len(tree.entries)))
            request = _request(order.profile, blocks, SoughtOutlines(blocks, parsers, ready), tree.partial)
            pipe.send(_sought(request, question, tree) or UNSOUGHT)
        else:
            pipe.send(UNSOUGHT)
    except (ConfinementError, ListingError, CrashError, LanguageError, UnfitError, Refused, MemoryError):
        pipe.send(UNSOUGHT)


def _ready(asked: str | None, tree: Tree, languages: Languages, parsers: Extractors) -> Callable[[], None]:
    """Have the language prepared in which most of what is found may be; return what waits for that."""
    names = (languages.detect(entry.path.rpartition("/")[2], b"") for entry in tree.entries)
    counts = Counter(name for name in names if name and languages.rows[name].finds_definitions)
    language = asked or max(counts, key=counts.__getitem__, default=None)
    return parsers.prepare(language) if language and language in languages.rows else lambda: None


def _read(order: Build, describing: Describing, tree: Tree) -> Blocks | None:
    """Read the text of all files; None where it does not fit."""
    writer = BlockWriter(order.images.blocks)
    files = []
    room = limits.text(order.profile.memory_limit, holds_rows=order.profile.reads_all_of("content"))  # as an index has
    with closing(Reader(order.root_fd)) as reader:
        for entry in tree.entries:
            row, pieces = describing.describe(reader, entry, room)
            if row.skip_reason == NO_ROOM:
                return None
            files.append(
                File(row.path, row.language, row.size_bytes, row.line_count, row.skip_reason, encoding=row.encoding)
            )
            if pieces:
                writer.add(Block(row.path, first_line, text) for first_line, text in pieces)
                room -= sum(len(text) for _, text in pieces)
    writer.finish(files, tree.unlisted)
    memory_file.seal(order.images.blocks)
    return Blocks(memory_file.mapped(order.images.blocks))


def _request(profile: Profile, blocks: Blocks, outlines: Outlines, partial: str | None) -> Request:
    """Return a request as of a whole index. Of what is known of one, a text that is found asks what it lacks alone."""
    generation = Generation(WORDS, defined=(), has_content=True, partial=partial)
    return Request(None, Unsigned(blocks), blocks, outlines, OneOfMany(profile, generation), WORDS)


def _sought(request: Request, question: Search, tree: Tree) -> Sought | None:
    taken, others = meant(request, question)
    assert isinstance(taken, Search), "a search means a search"
    found = None if others else of_text(request, taken)
    if not found:
        return None
    return Sought(found, None if taken is question else taken, tuple(map(said, tree.notices)), tree.partial)


class Unsigned(Signatures):
    """Which blocks hold a text, without a matrix of their n-grams: each is looked at."""

    def __init__(self, blocks: Blocks) -> None:
        self._text = blocks

    def holding(self, needed: Needed) -> Iterator[int]:
        """Yield the blocks that hold all texts of one group, in order."""
        for block in self._text.in_order():
            text = folded(self._text.text(block))
            if any(all(part in text for part in texts) for texts in needed):
                yield block


class SoughtOutlines(Outlines):
    """The symbols of files that are asked about, each of which is parsed then, once the parsers are `ready`."""

    def __init__(self, blocks: Blocks, parsers: Extractors, ready: Callable[[], None]) -> None:
        self._blocks, self._parsers, self._ready = blocks, parsers, cache(ready)
        self._found: dict[int, tuple[Outline, int]] = {}

    def parsed(self, file: File) -> int:
        """Return how far a file was parsed: WHOLE, IN_PART, ..."""
        return self._of(file.number)[1]

    def outline(self, file: int) -> Outline:
        """Return what is in the file with this number."""
        return self._of(file)[0]

    def _of(self, number: int) -> tuple[Outline, int]:
        if number not in self._found:
            self._found[number] = self._parse(self._blocks.file(number))
        return self._found[number]

    def _parse(self, file: File) -> tuple[Outline, int]:
        if not file.language:
            return read_outline(b"", 0, 0), NO_PARSER
        self._ready()
        texts = map(self._blocks.text, range(file.block, file.block + file.blocks))
        found = self._parsers.parsed(Source(file.path, file.language, tuple(texts)))
        [facts], [part] = found.facts, found.outlined.parts
        return read_outline(part, 0, facts.symbols), parsed(facts.engine, is_whole=facts.complete)
