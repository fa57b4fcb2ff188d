"""Headings of a document as nested sections: a section goes on to the next heading of its own or a higher level."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from fledgling.worker.extracting.outline import Definition


class Heading(Struct, frozen=True):
    """A heading at `start`..`end` in bytes, its text at `head`..`text`; level 1 is the highest."""

    level: int
    name: str
    start: int
    head: int
    text: int
    end: int


def sections(headings: Iterable[Heading], size: int) -> Iterator[Definition]:
    """The sections that headings, given in order, make of a text of `size` bytes; one without a name has no symbol."""
    open_: list[tuple[int, Definition]] = []
    for found in headings:
        while open_ and open_[-1][0] >= found.level:
            open_.pop()[1].end = found.start
        section = Definition(
            found.name,
            kind="section",
            start=found.start,
            end=size,
            head=found.head,
            inside=found.end,
            body=found.text,
        )
        open_.append((found.level, section))
        if found.name:
            yield section
