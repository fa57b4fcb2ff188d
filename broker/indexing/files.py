"""The memory files that a build fills."""

import os
from collections.abc import Collection
from contextlib import ExitStack
from typing import NamedTuple, Self

from msgspec.structs import astuple

from fledgling.messages.control import Images
from fledgling.messages.generations import CODE, GRAPH
from fledgling.security import memory_file


class Files(NamedTuple):
    """The memory files of one build: the images, which workers open, and, where the index is followed, what is kept for
    the follower and for the next build.
    """

    images: Images
    kept_fd: int | None = None
    findings_fd: int | None = None
    facts_fd: int | None = None

    @classmethod
    def created(cls, *, is_followed: bool) -> Self:
        """Return new, empty files. Raises OSError, and leaves none open then."""
        with ExitStack() as opened:

            def create() -> int:
                fd = memory_file.create()
                opened.callback(os.close, fd)
                return fd

            images = Images(*(create() for _ in Images.__struct_fields__))
            files = cls(images, *(create() for _ in cls._fields[1:])) if is_followed else cls(images)
            opened.pop_all()
        return files

    def all(self) -> tuple[int, ...]:
        """Return all descriptors."""
        return (
            *astuple(self.images),
            *(fd for fd in (self.kept_fd, self.findings_fd, self.facts_fd) if fd is not None),
        )

    def of(self, generation: int) -> tuple[int, ...]:
        """Return those that are sealed with a generation."""
        sealed = [(CODE, self.kept_fd), (CODE, self.findings_fd), (GRAPH, self.facts_fd)]
        return (*self.images.of(generation), *(fd for number, fd in sealed if fd is not None and number <= generation))

    def close(self, but: Collection[int]) -> None:
        """Close all descriptors but some."""
        for fd in {*self.all()} - {*but}:
            os.close(fd)


class TakenOver(NamedTuple):
    """What earlier builds have found in texts: the files of the last that came so far."""

    findings_fd: int | None = None
    facts_fd: int | None = None

    def all(self) -> tuple[int, ...]:
        """Return all descriptors."""
        return tuple(fd for fd in self if fd is not None)
