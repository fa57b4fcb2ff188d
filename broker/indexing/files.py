"""The memory files that a build fills."""

import os
from collections.abc import Collection
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
    facts_fd: int | None = None

    @classmethod
    def created(cls, *, is_followed: bool) -> Self:
        """Return new, empty files."""
        images = Images(*(memory_file.create() for _ in Images.__struct_fields__))
        return cls(images, memory_file.create(), memory_file.create()) if is_followed else cls(images)

    def all(self) -> tuple[int, ...]:
        """Return all descriptors."""
        return (*astuple(self.images), *(fd for fd in (self.kept_fd, self.facts_fd) if fd is not None))

    def of(self, generation: int) -> tuple[int, ...]:
        """Return those that are sealed with a generation."""
        images = self.images.of(generation)
        if self.kept_fd is not None and generation >= CODE:
            images = (*images, self.kept_fd)
        return images if self.facts_fd is None or generation < GRAPH else (*images, self.facts_fd)

    def close(self, but: Collection[int]) -> None:
        """Close all descriptors but some."""
        for fd in {*self.all()} - {*but}:
            os.close(fd)
