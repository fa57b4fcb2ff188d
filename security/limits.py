"""Resource limits of the back processes, from the profile's memory_limit. Everything that decides a figure lives here.

`memory_limit` alone does not bound DuckDB: one call of repeat() or range() takes memory outside its buffer pool.
RLIMIT_DATA does, and the engine turns the kernel's refusal into a clean out-of-memory error.
"""

import resource
from collections.abc import Mapping

MEMORY_HEADROOM = 350 * 2**20  # bytes; what interpreter, engine and thread stacks hold before the first row
GRACE = 0.3  # seconds after query_timeout by which every call is answered or refused
YIELDING = 0.2  # seconds of them that a call has to yield; the rest is for killing its worker and for saying so

BROKER: Mapping[int, int] = {
    resource.RLIMIT_CORE: 0,  # bytes; a core file would be a copy of answers on disk
}
INDEXER: Mapping[int, int] = {
    resource.RLIMIT_CORE: 0,  # a core file would be a copy of the project on disk
    resource.RLIMIT_NOFILE: 256,  # descriptors; the walk holds one for each level of directories, 128 at most
}
EXTRACTOR_MEMORY = 512 * 2**20  # bytes; parsing a megabyte takes up to a hundred, ordinary source a tenth of that
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


def memory_cap(memory_limit: int) -> int:
    """Return the bytes a process under this profile may hold: `memory_cap(2_000_000_000)` is 2_367_001_600."""
    return memory_limit + MEMORY_HEADROOM


def is_spent(data_bytes: int, memory_limit: int) -> bool:
    """Return whether a worker holds so much that the next call may get too little: half of the headroom is gone.

    The engine's allocator keeps the address space that a large call took, though not the memory, and RLIMIT_DATA counts
    it. A fresh worker at rest holds about 100 MB, and up to memory_limit more as the engine's own buffers.
    """
    return data_bytes > memory_limit + MEMORY_HEADROOM // 2


def with_memory(limits: Mapping[int, int], memory_limit: int) -> dict[int, int]:
    """Return limits with the cap of a profile's memory_limit: `with_memory(QUERY_WORKER, profile.memory_limit)`."""
    return {**limits, resource.RLIMIT_DATA: memory_cap(memory_limit)}


def confine(limits: Mapping[int, int]) -> None:
    """Lower this process's limits for good: hard limits too, so that nothing here can raise them again.

    >>> confine(with_memory(QUERY_WORKER, profile.memory_limit))

    Raises OSError where the kernel refuses (setrlimit(2)).
    """
    for limit, value in limits.items():
        _, hard = resource.getrlimit(limit)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (value, value))
