"""The extractor processes of one build: text is parsed on every core at once.

tree-sitter holds Python's lock while it parses, so it takes processes to use the cores.
"""

import os
import queue
import socket
import sys
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from fledgling.messages.control import Confining, Layer
from fledgling.pipe import MAX_FRAME_BYTES, FrameError, Pipe, pack
from fledgling.security import lifeline, limits
from fledgling.security.confinement import ConfinementError
from fledgling.worker.extractor.at_work import Noted
from fledgling.worker.extractor.batches import Known, batches, given_up, groups, joined, new_of, one_by_one
from fledgling.worker.extractor.messages import (
    Batch,
    Confined,
    ExtractedBatch,
    FromExtractor,
    FromResolver,
    GraphMade,
    GraphPart,
    Lost,
    ReadFile,
    Resolve,
    Rest,
    Sign,
    Signed,
    Source,
    TooLarge,
    Unfit,
    Visited,
    seconds,
)
from fledgling.worker.language import Languages
from fledgling.worker.process import fault
from fledgling.worker.process.child import Child

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

LOST_FILES = 8  # that may end an extractor by FILE_SECONDS each: a thousand of them would take half an hour
WAITING_BYTES = 2**20  # asked of the kernel for each end of a socket: who writes does not wait for who reads
STDERR = 2
AHEAD = 4  # batches for each process that wait to be parsed, or to be loaded

Item = TypeVar("Item")
Result = TypeVar("Result")


class UnfitError(Exception):
    """No file of a language can be read: what the message says is wrong in its folder."""


class ResolverLostError(Exception):
    """The process that resolves has ended before the graph was there, and not at a limit that it knows of."""


class Extractors:
    """The processes. Make it before the first thread is started: it forks.

    >>> extractors = Extractors(languages, order.confining, order.profile.memory_limit)
    >>> layers = extractors.confined()
    >>> rows = extractors.sign([b"import os", b"import sys"])()
    >>> for batch, found in extractors.extract(sources, Batch(())): ...
    >>> extractors.close()
    """

    def __init__(
        self,
        languages: Languages,
        confining: Confining,
        memory_limit: int,
        processes: int | None = None,
        *,
        parse_only: bool = False,
    ) -> None:
        """Fork as many processes as there are shares of the limit, or so many.

        Those that `parse_only` find definitions, make no signatures, and nothing for the graph.
        """
        if not parse_only:
            import concurrent.futures.thread  # noqa: F401, PLC0415  (`extract` cannot load it once confined)

        extracting = processes or limits.extractors(memory_limit)
        pairs = [socket.socketpair() for _ in range(extracting + (not parse_only))]  # the last one for what resolves
        theirs_alone = [theirs for _, theirs in pairs]
        self._expected = Noted(languages.rows)
        forked = fork(languages, self._expected, theirs_alone, confining, memory_limit, parse_only=parse_only)
        self._above = Child("extractors' parent", forked)
        self._longest = min(MAX_FRAME_BYTES, limits.frame_bytes(memory_limit))
        self._sockets = [ours for ours, _ in pairs]
        self._lost = 0
        for ours, theirs in pairs:
            for end in (ours, theirs):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, WAITING_BYTES)
            theirs.close()
        # A frame may be all values, as of a megabyte of `#define`; what they cost is bounded by memory_limit.
        numbers = [ours.fileno() for ours in self._sockets]
        pipes: list[Pipe[FromExtractor]] = [Pipe(FromExtractor, at, at, self._longest, self._longest) for at in numbers]
        self._first = pipes[0]  # which the process above them has, too
        self._resolving: Pipe[FromResolver] = Pipe(FromResolver, numbers[-1], numbers[-1], self._longest, self._longest)
        self._processes = extracting
        self._free: queue.SimpleQueue[Pipe[FromExtractor]] = queue.SimpleQueue()
        for pipe in pipes[:extracting]:
            self._free.put(pipe)
        self._signing: set[Pipe[FromExtractor]] = set()  # those that have signed something

    def confined(self) -> tuple[Layer, ...]:
        """Wait until the process above them is confined, and return what holds them.

        Raises ConfinementError, or UnfitError where a language cannot be loaded.
        """
        answer = self._above.heard(self._first)
        if isinstance(answer, Unfit):
            raise UnfitError(answer.problem)
        if not isinstance(answer, Confined):
            raise FrameError("the process above the extractors did not say what confines it")
        if answer.problem:
            raise ConfinementError(answer.problem)
        return answer.layers

    def expect(self, languages: Iterable[str]) -> None:
        """Have what texts of these languages need compiled once, while other text is signed, and not in each process.

        It is compiled above them, for those that are forked when signing is over.
        """
        for language in languages:
            self._expected.note(language)

    def sign(self, blocks: Sequence[bytes]) -> Callable[[], bytes]:
        """Let a process sign blocks while this one reads on; what is returned waits for what `signed` makes of them.

        Where none is free, or they do not fit a frame, they are signed here. No thread does this: sharing Python's lock
        with the one that reads files costs more than it does.
        """

        def here() -> bytes:
            from fledgling.worker.store.ngram_writer import signed  # noqa: PLC0415  (see `fork`)

            return signed(blocks)

        frame = pack(Sign([*blocks]))
        if self._free.empty() or len(frame) >= self._longest:
            return here
        pipe = self._free.get()
        self._signing.add(pipe)
        self._write(pipe, frame)

        def wait() -> bytes:
            answer = self._above.heard(pipe)
            self._free.put(pipe)
            return answer.rows if isinstance(answer, Signed) else here()

        return wait

    def extract(
        self, sources: Iterable[Source], asked: Batch, known: Callable[[Source], ExtractedBatch | None] = lambda _: None
    ) -> Iterator[tuple[Batch, ExtractedBatch]]:
        """Yield what is `asked` of the sources, in batches and in order; several are at work at once.

        A source is not parsed where it is `known` what it holds: that is asked of each source once.

        >>> for batch, found in extractors.extract(sources, Batch((), tabled=True)): ...

        Raises UnfitError.
        """
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  (see `__init__`)

        self._end_signing()
        with ThreadPoolExecutor(self._processes) as pool:
            ahead = AHEAD * self._processes
            for group in in_order(pool, self._ask, groups(batches(sources, asked), known), ahead):
                yield from group

    def parsed(self, source: Source) -> ExtractedBatch:
        """Return what is in one source, which is parsed now. Raises UnfitError."""
        [(_, found)] = self._ask([(Batch((source,)), [None])])
        return found

    def resolve(
        self, files: Sequence[ReadFile], asked: Resolve, tell: Callable[[int], None]
    ) -> Iterator[dict[str, bytes] | None]:
        """Yield the fields of the graph of each family of files; None where what is known of one is still right.

        `tell` hears how often a file was gone through. Raises MemoryError where that takes more than there is,
        and ResolverLostError.
        """
        if any(len(file.facts) + len(file.imports) > MAX_FRAME_BYTES // 2 for file in files):
            raise MemoryError  # a frame has to hold it, with its path
        if sum(map(len, asked.known)) > MAX_FRAME_BYTES // 2:  # nor would they fit: all are made anew
            asked = replace(asked, known=[b""] * len(asked.known))
        for message in (*files, asked):
            self._write(self._resolving, pack(message))
        fields = defaultdict[str, bytearray](bytearray)
        made = 0
        while made < len(asked.known):
            match self._above.heard(self._resolving):
                case Visited(visited):
                    tell(visited)
                case GraphPart(field, held):
                    fields[field] += held
                case GraphMade(is_known):
                    yield None if is_known else {name: bytes(held) for name, held in fields.items()}
                    fields.clear()
                    made += 1
                case TooLarge():
                    raise MemoryError
                case Lost():
                    raise ResolverLostError

    def prepare(self, language: str) -> Callable[[], None]:
        """Let a process compile what a language needs while this one goes on; what is returned waits for that.

        It may come before `confined`, which then comes before the wait: nothing is read before it is confined.
        """
        pipe = self._free.get()
        self._write(pipe, pack(Batch((Source("", language, (b"",)),))))

        def wait() -> None:
            self._above.heard(pipe)  # whether it has come to its end or not: what is parsed then says so
            self._free.put(pipe)

        return wait

    def close(self) -> None:
        """End the processes."""
        while not self._free.empty():  # what is to be signed from here on is signed by who asks
            self._free.get()
        for ours in self._sockets:
            ours.close()
        self._above.ended()

    def _end_signing(self) -> None:
        """Let processes that have signed be followed by others, which know what was expected."""
        for _ in range(self._free.qsize() if self._expected.noted() else 0):
            pipe = self._free.get()
            if pipe in self._signing:
                self._signing.remove(pipe)
                self._write(pipe, pack(Rest()))
            self._free.put(pipe)

    def _ask(self, group: list[tuple[Batch, Known]]) -> list[tuple[Batch, ExtractedBatch]]:
        """Return batches, and what is known of their sources and found in the others, which go in one message."""
        new = tuple(source for batch, each in group for source in new_of(batch, each))
        parsed: Iterator[ExtractedBatch] = iter(())
        if new:
            pipe = self._free.get()
            try:
                found = self._found(pipe, group[0][0], new)
            finally:
                self._free.put(pipe)
            if len(group) == 1 and len(new) == len(group[0][1]):
                return [(group[0][0], found)]
            parsed = one_by_one(found)
        return [(batch, joined([of_one or next(parsed) for of_one in each])) for batch, each in group]

    def _found(self, pipe: Pipe[FromExtractor], batch: Batch, new: tuple[Source, ...]) -> ExtractedBatch:
        """Put sources to a process; where a file was the end of that, the files before and after it are put again."""
        parts: list[ExtractedBatch] = []
        pending: list[tuple[Source, ...] | ExtractedBatch] = [new]
        while pending:
            sources = pending.pop()
            if isinstance(sources, ExtractedBatch):
                parts.append(sources)
            elif sources:
                batch = replace(batch, sources=sources, hurried=self._lost >= LOST_FILES)
                match self._answered(pipe, batch):
                    case ExtractedBatch() as found:
                        parts.append(found)
                    case Lost(None) if len(sources) > 1:
                        pending += ((source,) for source in reversed(sources))
                    case Lost(at) if 0 <= (worst := at or 0) < len(sources):
                        self._lost += at is not None
                        took = 0.0 if at is None else seconds(sources[worst], batch)
                        pending += (sources[worst + 1 :], given_up(took), sources[:worst])
                    case Unfit(problem):
                        raise UnfitError(problem)
                    case _:
                        raise FrameError("an extractor did not say what it found")
        return joined(parts)

    def _answered(self, pipe: Pipe[FromExtractor], message: Batch) -> FromExtractor:
        """Put a message to a process and return what it answers; a message that does not fit a frame is not sent."""
        frame = pack(message)
        if len(frame) >= self._longest:
            return Lost(None)
        self._write(pipe, frame)
        return self._above.heard(pipe)

    def _write(self, pipe: Pipe[Any], frame: bytes) -> None:
        try:
            pipe.write(frame)
        except (BrokenPipeError, ConnectionResetError):
            raise self._above.crash() from None


def fork(
    languages: Languages,
    expected: Noted,
    ends: Sequence[socket.socket],
    confining: Confining,
    memory_limit: int,
    *,
    parse_only: bool = False,
) -> int:
    """Fork the process above the extractors, with its ends of their sockets; return its process id.

    What parses is loaded there, while the indexer loads what it needs itself. No thread but the calling one may exist:
    a fork keeps the locks of threads that it does not keep.
    """
    indexer = os.getpid()
    child = os.fork()
    if child == 0:
        lifeline.tie(indexer)
        try:
            keep({STDERR, *(end.fileno() for end in ends)})
            from fledgling.worker.extractor.replacing import replace_forever  # noqa: PLC0415  (see above)

            replace_forever(languages, expected, ends, indexer, confining, memory_limit, parse_only=parse_only)
        except (BrokenPipeError, ConnectionResetError):  # the indexer is gone, and says why itself
            os._exit(0)
        except Exception as problem:  # noqa: BLE001  (as in indexer/run.py; the indexer sees a closed socket)
            sys.stderr.write(fault.line(problem))
        finally:
            os._exit(1)  # nothing of the indexer's own may run here
    return child


def keep(descriptors: Collection[int]) -> None:
    """Close all other descriptors: neither the root nor an image is for a parser."""
    for below, above in pairwise([-1, *sorted(descriptors), os.sysconf("SC_OPEN_MAX")]):
        os.closerange(below + 1, above)


def in_order(
    pool: "ThreadPoolExecutor", work: Callable[[Item], Result], items: Iterable[Item], ahead: int
) -> Iterator[Result]:
    """Like `map`, with at most `ahead` results or items waiting."""
    waiting: deque[Future[Result]] = deque()
    for item in items:
        waiting.append(pool.submit(work, item))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
