"""Shards that change while they are served: a new build takes the place of the old one between two calls.

A directory is looked at when a call comes, and not before. What is new is verified and copied beside what is served,
and a worker started over it; then calls go there. A call at work ends where it began, and a page is continued in its
own build or not at all.
"""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Mapping

from fledgling.broker.audit_log.records import Tell
from fledgling.broker.fleet import verified
from fledgling.broker.fleet.fleet import Fleet
from fledgling.broker.fleet.pack import ClosingError, Pack, PackIndex, digest_of, packed
from fledgling.broker.fleet.verified import ShardError
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.terms import Terms
from fledgling.messages.answers import AnyAnswer, Refusal
from fledgling.messages.control import Confining
from fledgling.messages.profile import Profile

LOOK_SECONDS = 2.0  # at least between two looks at a directory
QUIET_SECONDS = 5.0  # without a change until a build is taken over: one at work changes the directory all the time
RETRY_SECONDS = 30.0  # until a build whose worker did not start is tried again: its shards are copied anew
OTHER_DIRECTORY = "another directory is at its path, which this server may not read; start the server again"
_log = logging.getLogger("fledgling")


class ShardDirectory:
    """A directory of shards, and what of it is served.

    >>> directory = ShardDirectory("/srv/shards", profile, digest=None)
    >>> directory.packed().manifests, directory.packed_again()
    ((Manifest(repository='api', ...), ...), None)
    """

    def __init__(self, path: str, profile: Profile, digest: str | None) -> None:
        self._path, self._profile, self._expected = path, profile, digest
        self._place: tuple[int, int] | None = None  # device and inode of the directory that was packed first
        self._seen = 0  # when the directory had changed last as it was packed
        self._digest = ""
        self._problem = ""  # which was logged last
        self._is_closing = threading.Event()

    def packed(self) -> Pack:
        """Verify and copy what is there. Raises ShardError."""
        self._seen = self._changed_at()
        pack = packed(self._path, self._profile, self._expected, self._is_closing.is_set)
        self._digest = pack.digest
        return pack

    def packed_again(self) -> Pack | None:
        """Return what is there now; None where that is served already, is being changed, or cannot be served."""
        try:
            changed_at = self._changed_at()
            if changed_at == self._seen or time.time_ns() - changed_at < QUIET_SECONDS * 1e9:
                return None
            self._seen = changed_at
            return None if self._current_digest() == self._digest else self.packed()
        except ClosingError:
            return None
        except (ShardError, OSError) as wrong:
            if str(wrong) != self._problem:  # each look meets it again
                _log.error("the new build is not served, and the old one stays: %s", wrong)
            self._problem = str(wrong)
            return None

    def forget(self) -> None:
        """Let what was packed last count as new: it is not served."""
        self._seen, self._digest = 0, ""

    def close(self) -> None:
        """Let whoever is packing give up before the next file."""
        self._is_closing.set()

    def _changed_at(self) -> int:
        try:
            found = os.stat(self._path)  # noqa: PTH116  (no path of a project)
        except OSError as failed:
            raise ShardError(f"the directory cannot be opened ({failed.strerror})") from failed
        place = found.st_dev, found.st_ino
        self._place = self._place or place
        if place != self._place:
            raise ShardError(OTHER_DIRECTORY)
        return found.st_mtime_ns

    def _current_digest(self) -> str:
        fd = verified.open_directory(self._path)
        try:
            return digest_of(fd)
        finally:
            os.close(fd)


class _Build:
    """A fleet, and the calls that began in it."""

    def __init__(self, fleet: Fleet, number: int) -> None:
        self.fleet, self.number = fleet, number
        self.calls = 0
        self.is_idle = asyncio.Event()
        self.is_idle.set()


class LiveFleet:
    """The fleet of a directory as it was built last; it is asked as a front is.

    >>> live = LiveFleet(directory, PackIndex(directory.packed(), ...))
    >>> await live.call("read", {"path": "flask/src/flask/app.py"})
    Excerpt(path='flask/src/flask/app.py', ...)
    """

    def __init__(self, directory: ShardDirectory, first: PackIndex, kind: type[Fleet] = Fleet) -> None:
        """Serve what was packed first, and each build after it, as a fleet of this kind."""
        self.profile = first.profile
        self._directory = directory
        self._confining: Confining = first.confining
        self._tell: Tell = first.tell
        self._kind = kind
        self._build = _Build(kind(first), 0)
        self._look_at = time.monotonic() + LOOK_SECONDS
        self._renewing: asyncio.Task[None] | None = None
        self._retiring: dict[_Build, asyncio.Task[None]] = {}

    def indexings(self) -> Mapping[str, Indexing]:
        """Return none: nothing is indexed here."""
        return {}

    def is_serving(self) -> bool:
        """Return whether the newest build has a worker that takes calls."""
        return self._build.fleet.is_serving()

    def stands(self) -> list[str]:
        """Return which repositories are served, and which are not, a line each."""
        return self._build.fleet.stands()

    async def call(self, tool: str, arguments: Mapping[str, object], terms: Terms | None = None) -> AnyAnswer | Refusal:
        """Put a call to the newest build."""
        self._look()
        build = self._build
        build.calls += 1
        build.is_idle.clear()
        try:
            return await build.fleet.call(tool, arguments, terms)
        finally:
            build.calls -= 1
            if not build.calls:
                build.is_idle.set()

    async def close(self) -> None:
        """End the processes, and let go of the indexes."""
        self._directory.close()
        if self._renewing:
            self._renewing.cancel()
            await asyncio.wait([self._renewing])
        for build in self._retiring:
            build.is_idle.set()  # whoever waits for an answer is gone
        await asyncio.gather(*self._retiring.values())
        await self._build.fleet.close()

    def _look(self) -> None:
        """Look at the directory beside the call that has come, unless somebody does, or just has."""
        is_looking = self._renewing is not None and not self._renewing.done()
        if not is_looking and time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + LOOK_SECONDS
            self._renewing = asyncio.create_task(self._renew())

    async def _renew(self) -> None:
        pack = await self._packed_again()
        if pack is None:
            return
        number = self._build.number + 1
        fleet = self._kind(PackIndex(pack, self.profile, self._confining, self._tell), number)
        try:
            problem = await fleet.started()
        except asyncio.CancelledError:
            await fleet.close()
            raise
        if problem:
            _log.error("the new build is not served, and the old one stays: %s", problem.reason)
            await fleet.close()
            self._directory.forget()
            self._look_at = time.monotonic() + RETRY_SECONDS
            return
        for name, reason in pack.refused.items():
            _log.error("%s is not served: %s", name, reason)
        _log.info("serving a new build, repositories: %d", len(pack.manifests))
        old, self._build = self._build, _Build(fleet, number)
        self._retiring[old] = asyncio.create_task(self._retire(old))

    async def _packed_again(self) -> Pack | None:
        """Pack in a thread; who is cancelled meanwhile waits for that, and lets go of what it has made."""
        packing = asyncio.create_task(asyncio.to_thread(self._directory.packed_again))
        try:
            return await asyncio.shield(packing)
        except asyncio.CancelledError:
            if pack := await packing:
                os.close(pack.fd)
            raise

    async def _retire(self, build: _Build) -> None:
        """Close a build when the calls that began in it have ended, each in its own time."""
        await build.is_idle.wait()
        await build.fleet.close()
        self._retiring.pop(build, None)
