"""Resource limits of the back processes, from the profile's memory_limit. Everything that decides a figure lives here.

`memory_limit` bounds what the processes of a profile and its memory files hold together, beside HEADROOM. Shares of it
are more than the whole in sum, since none is needed from the beginning to the end: text is read before it is parsed.
The kernel holds each process to its share, and the broker all of them to the whole (broker/memory.py). A worker over a
whole index gets what the files leave, so that no look from outside is needed for the two.

It does not bound DuckDB by itself: one call of repeat() or range() takes memory outside its buffer pool. RLIMIT_DATA
does, and DuckDB turns the kernel's refusal into a clean out-of-memory error.
"""

import math
import os
import re
import resource
import sys
from collections.abc import Mapping

# Shares of memory_limit, in bytes for a byte of it.
FILES = 0.875  # all memory files of an index together, and the longest one of them; a kernel's take 0.83 of core's
TEXT = 0.5  # the text in them, a second copy for SQL included
INDEXING = 0.5  # the indexer and the lister, each: rows at work, buffers of DuckDB; a kernel's take 0.27 of core's
EXTRACTORS = 0.5  # all extractors together, each as much as another
GRAPH = 0.05  # the graph of an index, of FILES: of 1.5 million lines it takes 0.04 of core's
RESOLVED_BYTE = 43  # bytes of what resolves for each of source: 37 of Django's and ripgrep's, 42 of okio's
ROWS_BESIDE = 1.1  # bytes of a process that makes rows, for each that was held before: they took 0.06 of Django's
ROWS_PACKED = 4  # bytes of rows between processes for each in a graph: a row has 35, not 20, and its names beside
WORKER = 0.125  # a query worker at least, and before the index is whole

MEMORY_HEADROOM = 350 * 2**20  # bytes; what interpreter, engine and thread stacks reserve before the first row
EXTRACTOR_AT_REST = 34 * 2**20  # bytes that one holds before it parses; what all others hold fits MEMORY_HEADROOM
STACK = 8 * 2**20  # bytes that a thread reserves as it starts, and hardly ever fills: the default of most systems
CALL_STACKS = 8 * STACK  # bytes; five threads of a query worker take and end calls, and its engine has one or two
BESIDE_BUFFERS = 64 * 2**20  # bytes of a query worker beside the buffers that its engine counts
EXTRACTOR_MOST = 512 * 2**20  # bytes of a share; parsing a megabyte takes up to a hundred, ordinary source a tenth
EXTRACTOR_LEAST = 60 * 2**20  # bytes of a share; where it would be less, there are fewer extractors
MAX_EXTRACTORS = 8  # processes; a machine with more cores lends no more
FRAMES = 0.25  # of memory_limit, for what extractors have found and the indexer has not taken in yet
FILLED_SECOND = 2 * 2**30  # bytes that a core may fill in a second; 1.4 GB were measured
LOOK_SECONDS, LOOK_LEAST = 0.05, 0.002  # between two looks at what is held: as far as room lasts, and at least
LOOK_IDLE = 5.0  # seconds between two looks while nobody asks them for anything: the kernel holds each to its share
GRACE = 0.3  # seconds after query_timeout by which every call is answered or refused
YIELDING = 0.2  # seconds of them that a call has to yield; the rest is for killing its worker and for saying so
HEARING = 0.05  # seconds of YIELDING in which it must have run: it hears an interrupt every 5 ms

BROKER: Mapping[int, int] = {
    resource.RLIMIT_CORE: 0,  # bytes; a core file would be a copy of answers on disk
    # The C library gives each thread what it finds here as a process starts, so it is for those that the broker starts.
    # macOS has no RLIMIT_DATA that counts stacks, and does not let everybody lower this.
    **({resource.RLIMIT_STACK: STACK} if sys.platform == "linux" else {}),
}
KEEPER: Mapping[int, int] = {
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_FSIZE: 0,  # bytes; it writes nothing
    resource.RLIMIT_NOFILE: 0,  # descriptors; it keeps a pipe and a directory, and nothing gives it another
}
INDEXER: Mapping[int, int] = {
    resource.RLIMIT_CORE: 0,  # a core file would be a copy of the project on disk
    resource.RLIMIT_NOFILE: 256,  # descriptors; the walk holds one for each level of directories, 128 at most
}
EXTRACTOR: Mapping[int, int] = {
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_FSIZE: 0,  # bytes; it writes to its socket only
    resource.RLIMIT_NOFILE: 0,  # descriptors; it keeps its socket and standard error, and nothing gives it another
}
QUERY_WORKER: Mapping[int, int] = {
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_FSIZE: 0,  # bytes; it writes to pipes only
    resource.RLIMIT_NOFILE: 0,  # descriptors; it keeps three pipes and the image, and nothing gives it another
}
EMBEDDING_MEMORY = 96 * 2**20  # bytes each of connector and embedder; interpreter and the longest reply take half
CONNECTOR: Mapping[int, int] = {
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_FSIZE: 0,  # bytes; it writes to sockets only
    resource.RLIMIT_NOFILE: 8,  # descriptors; it keeps three, and adds a ruleset of Landlock, and one socket at a time
    resource.RLIMIT_DATA: EMBEDDING_MEMORY,
}
EMBEDDER: Mapping[int, int] = {
    **CONNECTOR,
    resource.RLIMIT_NOFILE: 0,  # descriptors; it keeps what it has, and nothing gives it another
}


def memory_cap(share: int) -> int:
    """Return the bytes a process of this share may reserve: `memory_cap(2_000_000_000)` is 2_367_001_600."""
    return share + MEMORY_HEADROOM


_DATA_LIMIT = re.compile(rb"^Max data size +(\d+)", re.MULTILINE)


def data_bytes(pid: int | None = None) -> int:
    """Return the address space that a process, or this one, holds for data: what RLIMIT_DATA counts; 0 if it is gone.

    See proc_pid_statm(5). Where the system does not say (macOS), this one holds MEMORY_HEADROOM, and others 0.
    """
    if sys.platform != "linux":
        return 0 if pid else MEMORY_HEADROOM
    try:
        with open(f"/proc/{pid or 'self'}/statm", "rb", buffering=0) as opened:  # noqa: PTH123  (a third of the time)
            return int(opened.readall().split()[5]) * resource.getpagesize()
    except (OSError, IndexError):
        return 0


def data_limit(pid: int) -> float:
    """Return the RLIMIT_DATA of a process; infinity where it has none, or is gone. See proc_pid_limits(5)."""
    try:
        with open(f"/proc/{pid}/limits", "rb", buffering=0) as opened:  # noqa: PTH123  (as above)
            found = _DATA_LIMIT.search(opened.readall())
    except OSError:
        found = None
    return int(found[1]) if found else math.inf


def cores() -> int:
    """Return how many processors these processes may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def extractors(memory_limit: int) -> int:
    """Return how many extractors there are: one for each core, as far as each gets EXTRACTOR_LEAST."""
    return max(1, min(cores(), MAX_EXTRACTORS, int(memory_limit * EXTRACTORS) // EXTRACTOR_LEAST))


def whole(memory_limit: int) -> int:
    """Return the bytes that all processes and memory files of a profile may hold together.

    With two cores, `whole(2_000_000_000)` is 2_438_304_768.
    """
    return memory_cap(memory_limit) + extractors(memory_limit) * EXTRACTOR_AT_REST


def text(memory_limit: int, *, holds_rows: bool) -> int:
    """Return the bytes of text that an index may have: half as many where it holds them as rows, too."""
    return int(memory_limit * TEXT) // (2 if holds_rows else 1)


def files(memory_limit: int) -> int:
    """Return the bytes that all memory files of an index may have together: `files(2_000_000_000)` is 1_750_000_000."""
    return int(memory_limit * FILES)


def graph(memory_limit: int, of_files: int) -> int:
    """Return the bytes of a graph at most, beside other files of so many: `graph(2_000_000_000, 0)` is 100_000_000."""
    return max(0, min(int(memory_limit * GRAPH), files(memory_limit) - of_files))


def graph_source(memory_limit: int) -> int:
    """Return how many bytes of source a graph can be of: `graph_source(2_000_000_000)` is 23_255_813."""
    return resolver_share(memory_limit) // RESOLVED_BYTE


def resolver_share(memory_limit: int) -> int:
    """Return the bytes of the process that resolves: `resolver_share(2_000_000_000)` is 1_000_000_000."""
    return int(memory_limit * INDEXING)


def row_makers(room: int) -> int:
    """Return how many processes may make rows, the calling one with them, where they hold `room` bytes together.

    Each counts as if it shared nothing with the one that has forked it, as for the broker (broker/memory.py).
    """
    most_held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1024 if sys.platform == "linux" else 1)
    return max(1, min(cores(), MAX_EXTRACTORS, int(room / (most_held * ROWS_BESIDE))))


def rows_bytes(memory_limit: int) -> int:
    """Return the bytes of the rows that one process makes, as it hands them over: all that a graph may have."""
    return graph(memory_limit, 0) * ROWS_PACKED


def extractor_share(memory_limit: int) -> int:
    """Return the bytes of one extractor: with two cores, `extractor_share(2_000_000_000)` is 500_000_000."""
    return min(EXTRACTOR_MOST, int(memory_limit * EXTRACTORS) // extractors(memory_limit))


def worker_share(memory_limit: int, of_files: int | None) -> int:
    """Return the bytes of a query worker over files of so many; None where more are being written."""
    return max(memory_limit - (memory_limit if of_files is None else of_files), int(memory_limit * WORKER))


def frame_bytes(memory_limit: int) -> int:
    """Return how long a frame of an extractor may be: four of each wait, and take three times that when decoded."""
    return int(memory_limit * FRAMES) // (4 * extractors(memory_limit))


def kept_free() -> int:
    """Return the bytes that may fill between two looks: where fewer of the whole are left, a process is ended."""
    return int(FILLED_SECOND * cores() * LOOK_LEAST)


def look_again(room: int) -> float:
    """Return in how many seconds to look again at what is held, where `room` bytes are left: sooner than they fill."""
    return min(max(room / (FILLED_SECOND * cores()), LOOK_LEAST), LOOK_SECONDS)


def is_spent(pid: int, data_limit: float) -> bool:
    """Return whether a worker reserves so much that the next call may get too little: half of BESIDE_BUFFERS is left.

    The engine's allocator keeps the address space that a large call took, though not the memory, and RLIMIT_DATA counts
    it. A fresh worker has all of BESIDE_BUFFERS left, and its share.
    """
    return data_bytes(pid) > data_limit - BESIDE_BUFFERS // 2


def of_indexer(memory_limit: int) -> dict[int, int]:
    """Return the limits of the indexer, and of the lister."""
    return {**with_memory(INDEXER, int(memory_limit * INDEXING)), resource.RLIMIT_FSIZE: files(memory_limit)}


def of_bundler(memory_limit: int) -> dict[int, int]:
    """Return the limits of a bundler: it keeps the memory files that it was handed, and nothing gives it another."""
    return {**of_indexer(memory_limit), resource.RLIMIT_NOFILE: 0}


def of_extractor(memory_limit: int) -> dict[int, int]:
    """Return the limits of an extractor. Call it above all of them, and once everything is loaded: as `above`."""
    return {**EXTRACTOR, resource.RLIMIT_DATA: data_bytes() + extractor_share(memory_limit)}


def above_extractors(memory_limit: int) -> dict[int, int]:
    """Return the limits of the process above the extractors, which is this one, and of the one that resolves.

    Call it once everything is loaded: what is held then, each process below it holds at rest.
    """
    share = max(extractor_share(memory_limit), resolver_share(memory_limit))
    return {**EXTRACTOR, resource.RLIMIT_DATA: data_bytes() + share}


def of_query_worker(share: int) -> dict[int, int]:
    """Return the limits of this process, a query worker that has started its engine."""
    return {**QUERY_WORKER, resource.RLIMIT_DATA: data_bytes() + CALL_STACKS + BESIDE_BUFFERS + share}


def with_memory(limits: Mapping[int, int], share: int) -> dict[int, int]:
    """Return limits with the cap of a share: `with_memory(INDEXER, 500_000_000)`."""
    return {**limits, resource.RLIMIT_DATA: memory_cap(share)}


def confine(limits: Mapping[int, int]) -> None:
    """Lower this process's limits for good: hard limits too, so that nothing here can raise them again.

    >>> confine(of_indexer(profile.memory_limit))

    Raises OSError where the kernel refuses (setrlimit(2)).
    """
    for limit, value in limits.items():
        _, hard = resource.getrlimit(limit)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (value, value))
