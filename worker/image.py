"""The images: sealed memory files that hold the index. What opens them is here; builder.py fills and seals them.

The text image holds files and is served first, with the text; the code image adds what the parsers found in that.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Generic, TypeVar

import _duckdb as duckdb

from fledgling.wire import TEXT, Images

SQL = {file.stem: file.read_text("utf-8") for file in sorted((Path(__file__).parent / "sql").glob("*.sql"))}

# The order matters: unless its temporary directory was emptied before, the engine puts a directory below the working
# directory on its own allowlist, for writing, the moment external access goes off.
_SERVE_SETTINGS = (
    "SET threads=2",
    "SET temp_directory=''",
    "SET python_enable_replacements=false",
    "SET autoload_known_extensions=false",
    "SET autoinstall_known_extensions=false",
    "SET allow_community_extensions=false",
    "SET allow_unsigned_extensions=false",
    "SET allow_persistent_secrets=false",
    "SET enable_external_file_cache=false",
    "SET enable_logging=false",
    "SET max_expression_depth=250",
    "SET enable_external_access=false",
    "SET disabled_filesystems='LocalFileSystem'",
    "SET lock_configuration=true",
)


# The one engine whose functions are reviewed, and that opens memory files. 2.0.1 follows the link in /proc first, and
# makes a file on disk of the name that it finds there, before this process is confined.
ENGINE = "2.0.0"
ROWS_TOGETHER = 2048  # rows the engine writes at once, and again until they are so many: 8 megabytes of text
SYMBOLS_TOGETHER = 10 * ROWS_TOGETHER  # likewise, and loaded at once: each load costs some milliseconds, however small
ENDING = 0.0005  # seconds between two looks at whether a thread is gone
_EMPTY = (Path(__file__).parent / "empty.duckdb").read_bytes()


Opened = TypeVar("Opened")


class EngineError(Exception):
    """Another engine is installed than ENGINE."""


def check_engine(installed: str) -> None:
    """Raise EngineError where an engine of another version would open images: `check_engine("2.0.1")`."""
    if installed != ENGINE:
        raise EngineError(f"duckdb {installed} is installed, and Fledgling works with duckdb {ENGINE} alone")


class Opening(Generic[Opened]):
    """The engine opens images while what a process needs next is loaded: it takes thirty milliseconds or more to start.

    >>> opening = Opening(lambda: open_empty(images))
    >>> opening.wait()
    <_duckdb.DuckDBPyConnection object>
    """

    def __init__(self, open_images: Callable[[], Opened]) -> None:
        self._open_images = open_images
        self._opened: list[Opened] = []
        self._problem: Exception | None = None
        self._thread = Thread(target=self._open)
        self._thread.start()

    def _open(self) -> None:
        try:
            self._opened.append(self._open_images())
        except Exception as problem:  # noqa: BLE001  (it is raised where it is waited for)
            self._problem = problem

    def wait(self) -> Opened:
        """Return what was opened once the thread is gone for the kernel, too: confinement suffers no other."""
        self._thread.join()
        while Path(f"/proc/self/task/{self._thread.native_id}").exists():
            time.sleep(ENDING)
        if self._problem:
            raise self._problem
        return self._opened.pop()


def path_of(fd: int) -> str:
    """Return the name under which the engine opens a descriptor: no path on any disk leads to a memory file."""
    return f"/proc/self/fd/{fd}" if sys.platform == "linux" else f"/dev/fd/{fd}"


def open_sealed(images: Images, generation: int, memory_limit: int) -> duckdb.DuckDBPyConnection:
    """Open the sealed images of a generation read-only; the caller closes them.

    One thread until the process is confined: confinement binds the threads that come after it, not those before.
    """
    room = memory_limit - os.fstat(images.blocks).st_size  # what is mapped counts as memory of the process, too
    settings = {"threads": "1", "async_threads": "0", "memory_limit": f"{max(room, memory_limit // 2)}B"}
    first = images.text if generation == TEXT else images.code
    db = duckdb.connect(path_of(first), read_only=True, config={**settings})
    if generation != TEXT:
        db.execute(f"ATTACH '{path_of(images.text)}' AS text (READ_ONLY)")
    return db


def open_empty(images: Images) -> duckdb.DuckDBPyConnection:
    """Open the empty memory files for writing. One thread until the process is confined, as above.

    Raises EngineError before anything is opened.
    """
    check_engine(duckdb.__version__)
    db = duckdb.connect(":memory:", config={"threads": 1, "async_threads": 0})
    # Without these two the engine would write a log file beside an image while it is filled.
    db.execute("SET auto_checkpoint_skip_wal_threshold=0")
    db.execute("SET wal_autocheckpoint='0B'")
    for fd in (images.text, images.code):
        os.pwrite(fd, _EMPTY, 0)
    db.execute(f"SET allowed_paths=['{path_of(images.text)}']")  # opened again when it is sealed
    db.execute(f"ATTACH '{path_of(images.text)}' AS text (ROW_GROUP_SIZE {ROWS_TOGETHER})")
    db.execute(f"ATTACH '{path_of(images.code)}' AS code (ROW_GROUP_SIZE {SYMBOLS_TOGETHER})")
    return db


def lock_down(db: duckdb.DuckDBPyConnection) -> None:
    """Turn off everything in the engine that reaches beyond the image, and lock the settings."""
    for setting in _SERVE_SETTINGS:
        db.execute(setting)
