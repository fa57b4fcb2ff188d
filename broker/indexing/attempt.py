"""One attempt to build an index: an indexer, from its start to its end, and what became of it."""

import signal
import subprocess
import time
from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec
from msgspec.structs import replace

from fledgling import refusals
from fledgling.broker.audit_log.records import KilledRecord, Tell
from fledgling.broker.audit_log.writer import tell_confinement
from fledgling.broker.indexing.failures import DiedError, IndexingError, UnchangedError, failed
from fledgling.broker.indexing.files import Files, TakenOver
from fledgling.broker.launch import BackProcess, how_ended
from fledgling.broker.memory import Memory
from fledgling.broker.watchdog import within
from fledgling.messages.answers import Refusal
from fledgling.messages.control import Accepted, Build, Crashed, FromIndexer, Layer, Unchanged
from fledgling.pipe import Unpacker
from fledgling.security import inspection, limits, memory_file

MAX_REPORT_BYTES = 2**21  # of a message of the indexer; the longest are a thousand exclude_patterns
SILENT_SECONDS = 300.0  # between two reports; sealing the index of a kernel takes a tenth of that
ENDED = "the indexer ended before the index was complete"
NO_SHARE = 1  # byte, of a build beside a whole index: it is the first to be ended, and not a call that is answered
UNCHANGED = Refusal("unavailable", "the project has not changed since an earlier index was made", "Use that index.")


class Attempt:
    """An indexer that is started, and is told its order here. Nothing of it is waited for but reports.

    >>> attempt = Attempt(started(order.root_fd, files, known), order, files, known, tell=audit_log.tell)
    >>> await attempt.accepted(memory, is_first=True)
    Accepted(...)
    >>> await attempt.report()
    Progress(stage='walk', done=0, total=0)
    """

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        order: Build,
        files: Files,
        known: TakenOver,
        *,
        tell: Tell,
    ) -> None:
        self.started_at = datetime.now(UTC)
        self._order = order
        self._files = files
        self._tell = tell
        self._process: BackProcess[FromIndexer] = BackProcess(
            process,
            replace(
                order,
                images=files.images,
                kept_fd=files.kept_fd,
                findings_fd=files.findings_fd,
                known_findings_fd=known.findings_fd,
                facts_fd=files.facts_fd,
                known_facts_fd=known.facts_fd,
                begun_ns=time.time_ns(),
            ),
            Unpacker(FromIndexer, MAX_REPORT_BYTES),
        )

    @property
    def pid(self) -> int:
        """The process id, as in `ps`."""
        return self._process.pid

    async def accepted(self, memory: Memory, *, is_first: bool, is_beside: bool = False) -> Accepted:
        """Wait until the indexer has checked what it is asked to do, and is seen to be confined.

        Where it works `is_beside` a whole index, it is the first to be ended if memory is full.
        Raises IndexingError, or DiedError where another attempt may do better.
        """
        profile, confining = self._order.profile, self._order.confining
        share = int(profile.memory_limit * limits.INDEXING)
        self._process.watch(memory, NO_SHARE if is_beside else share)
        message = await self.report()
        if not isinstance(message, Accepted):
            raise await self.failed(message, is_refused=is_first)
        if problem := inspection.problem("indexer", self._process.pid, message.layers, confining):
            ended = self._process.has_ended()
            raise await self.failed(None if ended else refusals.not_confined(problem), is_refused=True)
        tell_confinement(self._tell, "indexer", self._process.pid, message.layers)
        tell_confinement(self._tell, "lister", self._process.pid, message.lister_layers)
        if not self._order.sought:  # which tells of them later
            self.tell_extractors(message.extractor_layers)
        return message

    def tell_extractors(self, layers: Iterable[Layer]) -> None:
        """Tell what confines the extractors."""
        tell_confinement(self._tell, "extractors", self._process.pid, layers)

    def tell(self, message: msgspec.Struct) -> None:
        """Tell the indexer what to do next."""
        self._process.tell(message)

    async def report(self) -> FromIndexer | None:
        """Return the next report; None where the indexer has ended. It is ended where it says nothing for too long."""
        try:
            async with within(SILENT_SECONDS, lambda: self.pid):
                return await self._process.receive()
        except TimeoutError:
            raise await self.given_up(f"the indexer has said nothing for {SILENT_SECONDS:g} s and was ended") from None

    async def check(self, number: int) -> None:
        """Raise IndexingError where an image of a generation could still be changed."""
        if not all(map(memory_file.is_sealed, self._files.of(number))):
            raise await self.given_up("the indexer left an image unsealed")

    async def end(self) -> int:
        """End the indexer, if it still works; return its exit status."""
        self._process.kill()
        return await self._process.ended()

    async def given_up(self, reason: str) -> IndexingError:
        """End an indexer that is not waited for any more; return what to raise."""
        await self.end()
        self._tell_ended(reason)
        return failed(reason)

    async def failed(self, message: object, *, is_refused: bool = False) -> Exception:
        """Return what to raise where an indexer has not come to the end: what it was refused, or how it died."""
        status = await self.end()
        if isinstance(message, Refusal):
            return IndexingError(message, is_refused=is_refused)
        if isinstance(message, Unchanged) and self._order.tree:
            return UnchangedError(UNCHANGED)
        if self._process.over_memory:
            self._tell_ended("it held more than memory_limit and the headroom")
            return IndexingError(refusals.index_too_large(self._order.profile))
        if -signal.SIGSYS in (status, message.status if isinstance(message, Crashed) else None):
            self._tell_ended("it made a system call that Fledgling never makes")
            return failed(f"{ENDED}: it made a system call that Fledgling never makes")
        if isinstance(message, Crashed):
            died = f"the {message.process} of the index ended: {how_ended(message.status)}"
        elif message is not None or self._process.broken:
            self._tell_ended("it sent a message that no indexer sends")
            return failed(ENDED)
        else:
            died = f"{ENDED}: {how_ended(status)}"
        self._tell_ended(died)
        return DiedError(died)

    def _tell_ended(self, reason: str) -> None:
        self._tell(KilledRecord(process="indexer", pid=self._process.pid, reason=reason))
