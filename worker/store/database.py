"""The images: sealed memory files that hold the index. What opens them is here; the indexer fills them.

The text image holds files and is served first, with the text; the code image adds what the parsers found in that.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Generic, TypeVar

import _duckdb as duckdb
from msgspec.structs import astuple

from fledgling.messages.control import Images
from fledgling.messages.generations import EDGES, TEXT, WORDS
from fledgling.security import limits
from fledgling.worker.store.image_files import ImageFiles, size_of

SQL = {file.stem: file.read_text("utf-8") for file in sorted((Path(__file__).parent / "sql").glob("*.sql"))}

# Each call has a cursor of its own, which has what is set GLOBAL alone where a setting is of one connection.
# The order matters: unless its temporary directory was emptied before, DuckDB puts a directory below the working
# directory on its own allowlist, for writing, the moment external access goes off.
_SERVE_SETTINGS = (
    "SET threads=2",
    "SET temp_directory=''",
    "SET GLOBAL python_enable_replacements=false",
    "SET autoload_known_extensions=false",
    "SET autoinstall_known_extensions=false",
    "SET allow_community_extensions=false",
    "SET allow_unsigned_extensions=false",
    "SET allow_persistent_secrets=false",
    "SET enable_external_file_cache=false",
    "SET enable_logging=false",
    "SET GLOBAL max_expression_depth=250",
    "SET GLOBAL TimeZone='UTC'",  # not the machine's, which is nobody's business, and in which a cast would be wrong
    "SET enable_external_access=false",
    # Half a megabyte that is never let go of, of this connection alone: what forget_buffers() asks for cannot be had.
    "CREATE TEMP TABLE held AS SELECT range FROM range(40000)",
    "SET allowed_configs=['memory_limit']",  # the one setting that stays open; RLIMIT_DATA bounds what it could do
    "SET lock_configuration=true",
)


TESTED = ("2.0.0", "2.0.1")  # releases of DuckDB that the tests are run with
WORKS = "2.0."  # how those begin that may be installed: what fixes a tested release must be free to replace it
ROWS_TOGETHER = 2048  # rows DuckDB writes at once, and again until they are so many: 8 megabytes of text
SYMBOLS_TOGETHER = 10 * ROWS_TOGETHER  # likewise, and loaded at once: each load costs some milliseconds, however small
AGAIN = 0.005  # seconds between two interrupts of a statement: one is lost where DuckDB is between two batches
ENDING = 0.0005  # seconds between two looks at whether a thread is gone
EMPTY = (Path(__file__).parent / "empty.duckdb").read_bytes()


Result = TypeVar("Result")


class EngineError(Exception):
    """A DuckDB is installed that Fledgling does not work with."""


def check_engine(installed: str) -> str | None:
    """Return what is to be said of a DuckDB that works but was not tested: `check_engine("2.0.0")` is None.

    Raises EngineError where it does not work.
    """
    if not installed.startswith(WORKS):
        raise EngineError(f"duckdb {installed} is installed, and Fledgling works with duckdb 2.0")
    if installed in TESTED:
        return None
    return f"duckdb {installed} is installed; Fledgling was tested with {' and '.join(TESTED)}"


class Starting(Generic[Result]):
    """DuckDB starts on a thread while what a process needs next is loaded: it takes thirty milliseconds or more.

    >>> starting = Starting(start)
    >>> starting.wait()
    <_duckdb.DuckDBPyConnection object at ...>
    """

    def __init__(self, begin: Callable[[], Result]) -> None:
        self._begin = begin
        self._results: list[Result] = []
        self._problem: Exception | None = None
        self._thread = Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._results.append(self._begin())
        except Exception as problem:  # noqa: BLE001  (it is raised where it is waited for)
            self._problem = problem

    def wait(self) -> Result:
        """Return what `begin` did once the thread is gone for the kernel, too: confinement suffers no other."""
        self._thread.join()
        while Path(f"/proc/self/task/{self._thread.native_id}").exists():
            time.sleep(ENDING)
        if self._problem:
            raise self._problem
        return self._results.pop()


def start() -> duckdb.DuckDBPyConnection:
    """Start DuckDB with nothing opened: it reads files of the system as it starts, so this comes before confinement.

    One thread until the process is confined: confinement binds the threads that come after it, not those before.
    Raises EngineError.
    """
    check_engine(duckdb.__version__)
    return duckdb.connect(":memory:", config={"threads": 1, "async_threads": 0})


def memory_share(images: Images, generation: int, memory_limit: int) -> int:
    """Return how many bytes a worker may hold over a generation: what the files leave, once they are all there."""
    if generation < WORDS:
        return limits.worker_share(memory_limit, None)
    size = sum(map(size_of, astuple(images)))
    return limits.worker_share(memory_limit, size if generation == EDGES else size + limits.graph(memory_limit, size))


def open_sealed(db: duckdb.DuckDBPyConnection, images: Images, generation: int, share: int) -> None:
    """Open the sealed images of a generation read-only, and nothing else from now on. Their descriptors stay in use.

    `share` is the bytes that DuckDB may hold: `memory_share`. A process is confined before it comes here: an image is
    what an indexer wrote that met hostile files.
    """
    db.execute("SET memory_limit=$1", [f"{share}B"])
    files = ImageFiles({"text": images.text, "code": images.code, "edges": images.edges})
    files.register(db)
    names = ["text"] if generation == TEXT else ["code", "text"]
    if generation == EDGES and size_of(images.edges):
        names.append("edges")
    for name in names:
        db.execute(f"ATTACH '{files.protocol}://{name}' AS {name} (READ_ONLY)")
    files.forget()
    db.execute(f"USE {names[0]}")
    db.execute("DETACH memory")  # the one database that could be written to
    meant = db.cursor().execute("SELECT current_database()").fetchone()
    assert meant == (names[0],), "without a database in memory, a cursor means the one that was attached first"


def open_empty(db: duckdb.DuckDBPyConnection, images: Images, *, has_edges: bool = False) -> None:
    """Open the empty memory files for writing, that of edges if it `has_edges`; a process is confined before."""
    # Each commit goes to the image at once: a log beside it would be thrown away.
    db.execute("SET auto_checkpoint_skip_wal_threshold=0")
    db.execute("SET wal_autocheckpoint='0B'")
    described = {"text": images.text, "code": images.code} | ({"edges": images.edges} if has_edges else {})
    for fd in described.values():
        os.pwrite(fd, EMPTY, 0)
    files = ImageFiles(described)
    files.register(db)
    db.execute(f"SET allowed_paths=['{files.protocol}://text']")  # opened again when it is sealed
    db.execute(f"ATTACH '{files.protocol}://text' AS text (ROW_GROUP_SIZE {ROWS_TOGETHER})")
    for name in described.keys() - {"text"}:
        db.execute(f"ATTACH '{files.protocol}://{name}' AS {name} (ROW_GROUP_SIZE {SYMBOLS_TOGETHER})")


def lock_down(db: duckdb.DuckDBPyConnection) -> None:
    """Turn off everything in DuckDB that reaches beyond the image, and lock the settings."""
    for setting in _SERVE_SETTINGS:
        db.execute(setting)


def forget_buffers(db: duckdb.DuckDBPyConnection, limit: int) -> None:
    """Let a DuckDB of this `memory_share` forget the buffers that are gone, and blocks that nobody reads.

    Of each buffer of a statement an entry of some 200 bytes stays in the queues of what may be evicted, until 32,768
    of them are there; the queues are emptied where memory is short. So DuckDB is asked to hold less than it can: it
    lets go of what it may, refuses, and its limit stays as it was; to be told that once more makes its allocator give
    back what is free. Statements at work go on. What they read next comes from the memory file again.
    """
    with suppress(duckdb.OutOfMemoryException):
        db.execute("SET memory_limit='1B'")
    db.execute(f"SET memory_limit='{limit}B'")  # with which its allocator gives back what is free
