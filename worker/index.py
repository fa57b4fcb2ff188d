"""One open image and how a call puts questions to it: SQL files with named parameters, refusals, pages."""

from collections.abc import Callable, Sequence
from itertools import starmap
from typing import TYPE_CHECKING, Any, TypeVar

import _duckdb as duckdb
import msgspec

from fledgling.wire import LISTING, Dependencies, Explore, Next, Open, Profile, Refusal, RefusalKind, Search, Symbols
from fledgling.worker.blocks import Blocks
from fledgling.worker.image import SQL
from fledgling.worker.outlines import Outlines
from fledgling.worker.signatures import Signatures

if TYPE_CHECKING:
    from fledgling.worker.gate.statement import Gate  # loaded where a profile allows SQL

PAGE_CHARS = 28_000  # characters of JSON; about 7,000 tokens, so that a page stays under 8,000
SHOWN_LINE_CHARS = 400  # characters shown of one line or signature; minified files have lines of a megabyte

Paged = Explore | Search | Symbols | Dependencies  # the questions that take a cursor

Row = TypeVar("Row")
Item = TypeVar("Item")


class Refused(Exception):
    """There is no answer, for a reason that an agent can act on."""

    def __init__(self, kind: RefusalKind, reason: str, next_step: str) -> None:
        """Hold the Refusal that goes back as it is."""
        super().__init__(reason)
        self.refusal = Refusal(kind, reason, next_step)


class Asking(msgspec.Struct, eq=False):
    """One call at work: a cursor of its own on the image, what the worker was opened with, and whether it must end."""

    cursor: duckdb.DuckDBPyConnection | None  # a listing has neither an engine nor
    signatures: Signatures | None
    blocks: Blocks
    outlines: Outlines | None  # of the second generation
    opened: Open
    gate: "Gate | None" = None  # where the profile allows SQL
    ended: RefusalKind | None = None

    @property
    def profile(self) -> Profile:
        """The profile whose limits hold for this call."""
        return self.opened.profile

    @property
    def page_chars(self) -> int:
        """The characters that one page of an answer may have under this profile."""
        return min(PAGE_CHARS, self.profile.max_result_bytes)

    @property
    def is_listing(self) -> bool:
        """Whether nothing is known but what the names of files tell."""
        return self.opened.generation.number == LISTING

    @property
    def partial(self) -> str | None:
        """Say in a sentence what the index lacks; None for a whole one."""
        return self.opened.generation.partial

    def check(self) -> None:
        """Raise InterruptException where the call was told to end between two statements."""
        if self.ended:
            raise duckdb.InterruptException("the call was told to end")

    def rows(self, sql: str, shape: Callable[..., Row], **parameters: object) -> list[Row]:
        """Run one SQL file and return its rows: `asking.rows("given_up", paths.Suggestion, ...)`."""
        self.check()
        assert self.cursor, "a listing is asked for no statement"
        return [*starmap(shape, self.cursor.execute(SQL[sql], parameters).fetchall())]

    def end(self, why: RefusalKind) -> None:
        """Interrupt the call; an engine between two batches does not hear it, so this is repeated until it ends."""
        self.ended = self.ended or why
        if self.cursor:
            self.cursor.interrupt()


def cut_page(items: Sequence[Item], asking: Asking) -> list[Item]:
    """Return the items from the first on that fit in a page, at least one of them."""
    kept: list[Item] = []
    chars = asking.page_chars
    for item in items[: asking.profile.max_rows]:
        chars -= len(msgspec.json.encode(item)) + 1
        if kept and chars < 0:
            break
        kept.append(item)
    return kept


def continuing(question: Paged, offset: int, total: int) -> Next | None:
    """Return the call that continues `question` at `offset`, or None where the last item was given.

    A cursor behind the last item is refused: an empty page would say that nothing was found.
    """
    if total and int(question.cursor or 0) >= total:
        raise Refused(
            "invalid", f"the cursor {question.cursor} is behind the last of {total} results", "Take it from `next`."
        )
    if offset >= total:
        return None
    arguments: dict[str, Any] = msgspec.to_builtins(question)
    tool = arguments.pop("tool")
    return Next(tool, {**arguments, "cursor": str(offset)})


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
