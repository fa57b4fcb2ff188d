"""Where a page begins, as a cursor says it."""

from typing import NamedTuple

from fledgling.messages.generations import CODE


class PageStart(NamedTuple):
    """The place of a page: behind so many results, of an answer made of this generation of the index and of changes.

    `tags` stands for the tags by hand that the answer knew of.
    """

    offset: int
    generation: int = CODE
    changes: int = 0
    tags: int = 0

    @property
    def cursor(self) -> str:
        """The cursor that means this place: `PageStart(500, LISTING).cursor` is "500.0"."""
        before = f"{self.changes}:" if self.changes else ""
        behind = "" if self.generation == CODE else f".{self.generation}"
        tags = f"~{self.tags}" if self.tags else ""
        return f"{before}{self.offset}{behind}{tags}"


def place(cursor: str | None) -> PageStart:
    """Return what a cursor means.

    >>> place("17:500.0")
    PageStart(offset=500, generation=0, changes=17, tags=0)
    """
    changes, _, rest = (cursor or "0").rpartition(":")
    rest, _, tags = rest.partition("~")
    offset, _, generation = rest.partition(".")
    return PageStart(int(offset), int(generation or CODE), int(changes or 0), int(tags or 0))


def offset_of(cursor: str | None) -> int:
    """Return behind how many results a page begins: `offset_of("17:500")` is 500."""
    return place(cursor).offset
