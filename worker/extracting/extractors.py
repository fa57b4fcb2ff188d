"""The extractor processes of one build: text is parsed on every core at once.

tree-sitter holds Python's lock while it parses, so it takes processes to use the cores.
"""

import os
import queue
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from msgspec.structs import astuple

from fledgling.pipe import FrameError, Pipe
from fledgling.security.confinement import ConfinementError
from fledgling.wire import Confining, Layer
from fledgling.worker.extracting.extractor import (
    FILE_SECONDS,
    Batch,
    Confined,
    Facts,
    Found,
    FromExtractor,
    Source,
    SymbolColumns,
    fork,
)
from fledgling.worker.language import Languages

MAX_EXTRACTORS = 8  # processes, each with EXTRACTOR_MEMORY at most: a machine with more cores lends no more
BATCH_CHARS = 256 * 1024  # of text in one message: some tens of milliseconds of work
AHEAD = 4  # batches for each process that wait to be parsed, or to be loaded

Item = TypeVar("Item")
Result = TypeVar("Result")


class Extractors:
    """The processes. Make it before the first thread is started: it forks.

    >>> extractors = Extractors(languages, order.confining)
    >>> layers = extractors.confined()
    >>> for batch, found in extractors.extract(sources): ...
    >>> extractors.close()
    """

    def __init__(self, languages: Languages, confining: Confining) -> None:
        self._sockets: list[socket.socket] = []
        self._children: list[int] = []
        self._free: queue.SimpleQueue[Pipe[FromExtractor]] = queue.SimpleQueue()
        for _ in range(min(len(os.sched_getaffinity(0)), MAX_EXTRACTORS)):
            ours, theirs = socket.socketpair()
            self._children.append(fork(languages, theirs, confining))
            self._sockets.append(ours)
            self._free.put(Pipe(FromExtractor, ours.fileno(), ours.fileno()))
            theirs.close()

    def confined(self) -> tuple[Layer, ...]:
        """Wait until each process is confined, and return what holds them. Raises ConfinementError."""
        layers: tuple[Layer, ...] = ()
        for _ in self._children:
            pipe = self._free.get()
            answer = pipe.receive()
            self._free.put(pipe)
            if not isinstance(answer, Confined):
                raise FrameError("an extractor did not say what confines it")
            if answer.problem:
                raise ConfinementError(answer.problem)
            layers = answer.layers
        return layers

    def extract(self, sources: Iterable[Source]) -> Iterator[tuple[Batch, Found]]:
        """Yield what the sources say, in batches and in order; several are at work at once."""
        with ThreadPoolExecutor(len(self._sockets)) as pool:
            yield from in_order(pool, self._ask, batches(sources), AHEAD * len(self._sockets))

    def close(self) -> None:
        """End the processes."""
        for ours in self._sockets:
            ours.close()
        for child in self._children:
            os.waitpid(child, 0)

    def _ask(self, batch: Batch) -> tuple[Batch, Found]:
        pipe = self._free.get()
        try:
            return batch, found(pipe, batch)
        finally:
            self._free.put(pipe)


def found(pipe: Pipe[FromExtractor], batch: Batch) -> Found:
    """Put a batch to a process; where it was the end of that, put the files one by one, and only the worst is lost."""
    pipe.send(batch)
    answer = pipe.receive()
    if isinstance(answer, Found):
        return answer
    if answer is None:
        raise FrameError("an extractor has closed its socket")
    if len(batch.sources) == 1:
        return Found([Facts(None, complete=False, seconds=FILE_SECONDS)], SymbolColumns())
    alone = [found(pipe, Batch((source,))) for source in batch.sources]
    columns = zip(*(astuple(answer.symbols) for answer in alone), strict=True)
    facts = [facts for answer in alone for facts in answer.facts]
    return Found(facts, SymbolColumns(*([value for part in column for value in part] for column in columns)))


def batches(sources: Iterable[Source]) -> Iterator[Batch]:
    """Put sources together until they hold BATCH_CHARS."""
    waiting: list[Source] = []
    chars = 0
    for source in sources:
        waiting.append(source)
        chars += sum(map(len, source.blocks))
        if chars > BATCH_CHARS:
            yield Batch(tuple(waiting))
            waiting, chars = [], 0
    if waiting:
        yield Batch(tuple(waiting))


def in_order(
    pool: ThreadPoolExecutor, work: Callable[[Item], Result], items: Iterable[Item], ahead: int
) -> Iterator[Result]:
    """Like `map`, with at most `ahead` results or items waiting."""
    waiting: deque[Future[Result]] = deque()
    for item in items:
        waiting.append(pool.submit(work, item))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
