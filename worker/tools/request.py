"""One open image and how a call puts questions to it: SQL files with named parameters, refusals, pages."""

from collections.abc import Callable, Sequence
from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from zlib import crc32

import msgspec

from fledgling.messages.answers import Next, Refusal, RefusalKind
from fledgling.messages.control import Generation, Open, TagsByHand
from fledgling.messages.cursors import PageStart, offset_of
from fledgling.messages.generations import CODE, GRAPH, LISTING
from fledgling.messages.languages import ORDINARY, Conventions
from fledgling.messages.profile import Profile
from fledgling.messages.questions import Dependencies, Explore, Search, Symbols, arguments_of, name_of
from fledgling.plain import said

if TYPE_CHECKING:  # a query worker loads all of it, but for the gate; who answers one search, a fraction
    import _duckdb as duckdb

    from fledgling.worker.gate.statement import Gate
    from fledgling.worker.store.graph import Graph
    from fledgling.worker.store.ngrams import Signatures
    from fledgling.worker.store.overlay.snapshots import Snapshot, Snapshots
    from fledgling.worker.store.shelf import Shelf
    from fledgling.worker.store.symbols import DefinitionLines, Outlines
    from fledgling.worker.store.text import Blocks
    from fledgling.worker.store.words import Words
    from fledgling.worker.tools.corpora import Corpora
    from fledgling.worker.tools.kept_tags import LastMade, MadeRows, TagsOfFiles

PAGE_CHARS = 28_000  # characters of JSON; about 7,000 tokens, so that a page stays under 8,000
SHOWN_PENDING = 5  # paths in a sentence
SHOWN_LINE_CHARS = 400  # characters shown of one line or signature; minified files have lines of a megabyte

EARLIER = (
    "This continues a map that was begun before the index was complete, and leaves out what is known since then: "
    "call explore without a cursor for that."
)
Paged = Explore | Search | Symbols | Dependencies  # the questions that take a cursor

Row = TypeVar("Row")
Item = TypeVar("Item")


class Refused(Exception):
    """There is no answer, for a reason that an agent can act on."""

    def __init__(self, kind: RefusalKind, reason: str, next_step: str) -> None:
        """Hold the Refusal that goes back as it is."""
        super().__init__(reason)
        self.refusal = Refusal(kind, said(reason), said(next_step))


class OneOfMany(NamedTuple):
    """What is known of an index among several, as of one that is opened alone."""

    profile: Profile
    generation: Generation


class Request(msgspec.Struct, eq=False):
    """One call at work: a cursor of its own on the image, what the worker was opened with, and whether it must end."""

    cursor: "duckdb.DuckDBPyConnection | None"  # a listing has neither an engine nor
    signatures: "Signatures | None"
    blocks: "Blocks"
    outlines: "Outlines | None"  # of the second generation
    opened: Open | OneOfMany
    generation: int  # which the answer is made of
    listing: "Blocks | None" = None  # where there was one
    gate: "Gate | None" = None  # where the profile allows SQL
    ended: RefusalKind | None = None
    snapshot: "Snapshot | None" = None  # whose readers these are
    snapshots: "Snapshots | None" = None  # among which a cursor finds its own
    graph: "Graph | None" = None  # of the fourth generation
    corpora: "Corpora | None" = None  # what files are ranked by
    shelf: "Shelf | None" = None  # of several indexes, where there are several
    tags: "LastMade[TagsOfFiles] | None" = None  # what files are about
    summaries: "LastMade[MadeRows] | None" = None  # of the table
    by_hand: TagsByHand = TagsByHand()  # what agents say that files are about
    tags_found: "TagsOfFiles | None" = None  # by rules and by hand, once this call has asked
    lines_read: "DefinitionLines | None" = None  # likewise

    @property
    def words(self) -> "Words | None":
        """The words of files; None before the third generation."""
        return self.snapshot.words if self.snapshot else None

    @property
    def lines(self) -> "DefinitionLines":
        """The definitions that begin on lines; of the second generation."""
        assert self.outlines
        if not self.lines_read or self.lines_read.outlines is not self.outlines:
            self.lines_read = self.outlines.by_line()
        return self.lines_read

    @property
    def profile(self) -> Profile:
        """The profile whose limits hold for this call."""
        return self.opened.profile

    @property
    def page_chars(self) -> int:
        """The characters that one page of an answer may have under this profile."""
        return min(PAGE_CHARS, self.profile.max_result_bytes)

    def conventions(self, language: str | None) -> Conventions:
        """What files and functions of a language are by their names."""
        return self.opened.generation.conventions.get(language or "", ORDINARY)

    @property
    def map_generation(self) -> int:
        """The generation that a map is made of: the graph says nothing of files."""
        return min(self.generation, CODE)

    @property
    def is_listing(self) -> bool:
        """Whether nothing is known but what the names of files tell."""
        return self.generation == LISTING

    @property
    def is_early(self) -> bool:
        """Whether uses of definitions will be known, and are not yet."""
        return self.generation < GRAPH

    @property
    def partial(self) -> str | None:
        """Say in a sentence what the index lacks, or the answer; None for a whole one."""
        known = self.opened.generation
        said = [self.snapshot.partial if self.snapshot else known.partial, self.unread]
        if self.generation != known.number:
            said.append(EARLIER)
        return " ".join(filter(None, said)) or None

    @property
    def unread(self) -> str | None:
        """Say in a sentence which files have changed and are not read yet."""
        paths = self.snapshot.pending if self.snapshot else ()
        if not paths:
            return None
        shown = ", ".join([*paths[:SHOWN_PENDING], *["..."][: len(paths) > SHOWN_PENDING]])
        return f"Changed and not read yet: {shown}."

    def is_unread(self, path: str) -> bool:
        """Return whether a file has changed and is not read yet."""
        return self.snapshot is not None and path in self.snapshot.pending

    def use_base(self) -> None:
        """Answer from the index as it was built: no change is laid over its graph. The broker sees to its age."""
        if self.snapshots:
            self._use(self.snapshots.base)

    def continue_at(self, where: PageStart) -> None:
        """Answer from the snapshot that the pages before are of. Raises Refused where that is gone."""
        if not self.snapshot or where.changes == self.snapshot.changes:
            return
        found = self.snapshots.at(where.changes) if self.snapshots else None
        if not found:
            raise Refused("invalid", "the project has changed since the first page", "Ask again without `cursor`.")
        self._use(found)

    def _use(self, snapshot: "Snapshot") -> None:
        self.snapshot, self.graph = snapshot, snapshot.graph
        self.signatures, self.blocks, self.outlines = snapshot.signatures, snapshot.blocks, snapshot.outlines

    @property
    def pending(self) -> str | None:
        """Say in a sentence what only a later generation has; None of the last."""
        known = self.opened.generation
        return known.pending if self.generation == known.number else None

    def go_back(self, generation: int) -> None:
        """Answer as an earlier generation does: what is known since then is left out."""
        if generation == LISTING:
            if not self.listing:
                raise Refused("invalid", "there is no map to continue with this cursor", "Take it from `next`.")
            self.blocks = self.listing
        self.outlines = self.graph = None
        self.generation = generation

    @property
    def changes(self) -> int:
        """The generation of changes that the answer is made of."""
        return self.snapshot.changes if self.snapshot else 0

    @property
    def tags_mark(self) -> int:
        """A number that is another where the tags by hand are others, 0 where there are none: pages are of one."""
        given = sorted((each.name, each.path, each.symbol or "") for each in self.by_hand.given)
        return crc32(msgspec.json.encode(given)) if given else 0

    def check(self) -> None:
        """Raise InterruptException where the call was told to end between two statements."""
        if self.ended:
            import _duckdb as duckdb  # noqa: PLC0415  (who answers one search has none)

            raise duckdb.InterruptException("the call was told to end")

    def rows(self, sql: str, shape: Callable[..., Row], **parameters: object) -> list[Row]:
        """Run one SQL file and return its rows: `request.rows("nearest_paths", paths.Suggestion, ...)`."""
        self.check()
        assert self.cursor, "a listing is asked for no statement"
        from fledgling.worker.store.database import SQL  # noqa: PLC0415  (nor this)

        tables = self.snapshot.tables if self.snapshot else None
        statement = tables.statement(sql, self.cursor) if tables else SQL[sql]
        return [*starmap(shape, self.cursor.execute(statement, parameters).fetchall())]

    def end(self, why: RefusalKind) -> None:
        """Interrupt the call; an engine between two batches does not hear it, so this is repeated until it ends."""
        self.ended = self.ended or why
        if self.cursor:
            self.cursor.interrupt()


def cut_page(items: Sequence[Item], request: Request) -> list[Item]:
    """Return the items from the first on that fit in a page, at least one of them."""
    kept: list[Item] = []
    chars = request.page_chars
    for item in items[: request.profile.max_rows]:
        chars -= len(msgspec.json.encode(item)) + 1
        if kept and chars < 0:
            break
        kept.append(item)
    return kept


def continuing(request: Request, question: Paged, offset: int, total: int) -> Next | None:
    """Return the call that continues `question` at `offset`, or None where the last item was given.

    A cursor behind the last item is refused: an empty page would say that nothing was found.
    """
    if total and offset_of(question.cursor) >= total:
        raise Refused(
            "invalid", f"the cursor {question.cursor} is past the last of {total} results", "Take it from `next`."
        )
    if offset >= total:
        return None
    generation = request.map_generation if isinstance(question, Explore) else CODE  # a map alone is not begun anew
    tags = request.tags_mark if isinstance(question, Search) else 0
    following = PageStart(offset, generation, request.changes, tags)
    return Next(name_of(type(question)), {**arguments_of(question), "cursor": following.cursor})


def shown(line: str, limit: int = SHOWN_LINE_CHARS, at: int = 0) -> str:
    """Return a line as an answer shows it: a long one cut around column `at`, with marks that count what is missing.

    >>> shown("x" * 500)[-22:]
    'xxx… (+100 characters)'
    """
    if len(line) <= limit:
        return line
    start = max(0, min(at - limit // 4, len(line) - limit))
    rest = len(line) - start - limit
    before = f"({start} characters) …" if start else ""
    after = f"… (+{rest} characters)" if rest else ""
    return f"{before}{line[start : start + limit]}{after}"
