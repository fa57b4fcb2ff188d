"""The images: sealed memory files that hold the index. What opens them is here; builder.py fills and seals them.

The text image holds files and is served first, with the text; the code image adds what the parsers found in that.
"""

import os
import sys
from pathlib import Path

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


def lock_down(db: duckdb.DuckDBPyConnection) -> None:
    """Turn off everything in the engine that reaches beyond the image, and lock the settings."""
    for setting in _SERVE_SETTINGS:
        db.execute(setting)
