"""The memory files of an index: what a build fills, what is served of it, and what the next one takes over."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Literal, NamedTuple, Self

from msgspec.structs import astuple

from fledgling.messages.control import Images
from fledgling.messages.generations import CODE, GRAPH, WORDS
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
        sealed = [(CODE, self.kept_fd), (WORDS, self.findings_fd), (GRAPH, self.facts_fd)]
        return (*self.images.of(generation), *(fd for number, fd in sealed if fd is not None and number <= generation))

    def close(self) -> None:
        """Close all descriptors."""
        for fd in self.all():
            os.close(fd)


class TakenOver(NamedTuple):
    """What earlier builds have found in texts: the files of the last that came so far."""

    findings_fd: int | None = None
    facts_fd: int | None = None

    def all(self) -> tuple[int, ...]:
        """Return all descriptors."""
        return tuple(fd for fd in self if fd is not None)


class HeldFiles:
    """All memory files of an index. One may be served, be filled and be taken over at once: it is closed with the last.

    >>> files = HeldFiles(is_followed=True)  # an index is being built
    >>> files.serve()  # a generation of it is there
    >>> files.begin(is_any_served=True)  # it is built anew, beside what is served
    """

    def __init__(self, *, is_followed: bool) -> None:
        """Create the files of the first build. Raises OSError."""
        self.is_followed = is_followed
        self.served = self.filling = Files.created(is_followed=is_followed)
        self.known = TakenOver()
        self._is_closed = False

    def all(self) -> set[int]:
        """Return all descriptors; none once they are closed: others may have the numbers by then."""
        return set() if self._is_closed else {*self.served.all(), *self.filling.all(), *self.known.all()}

    def begin(self, *, is_any_served: bool) -> None:
        """Create the files of another build, in place of those of one that died or failed. Raises OSError.

        Where not `is_any_served` workers that start from now on open the new ones.
        """
        with self._changing():
            self.filling = self.served
        with self._changing():
            self.filling = Files.created(is_followed=self.is_followed)
            if not is_any_served:
                self.served = self.filling

    def serve(self) -> None:
        """Let workers that start from now on open what is filled; those at work hold theirs themselves."""
        with self._changing():
            self.served = self.filling

    def keep(self, name: Literal["findings_fd", "facts_fd"]) -> None:
        """Keep what a build has found for those that follow, also if its graph is not whole."""
        found: int | None = getattr(self.filling, name)
        if found is None or found in self.known or not memory_file.is_sealed(found):
            return
        with self._changing():
            self.known = self.known._replace(**{name: found})

    def forget(self) -> None:
        """Let the next build take over nothing."""
        with self._changing():
            self.known = TakenOver()

    def close(self) -> None:
        """Close them all."""
        with self._changing():
            self._is_closed = True

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Close what is held no more after a change."""
        before = self.all()
        yield
        for fd in before - self.all():
            os.close(fd)
