"""The image: the sealed memory file that holds the index. What fills, seals or opens one is here.

Rows are loaded into tables in memory first and copied into the image through the profile's views, so what a view
filters out was never in the image: there is nothing to escape to.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import duckdb
from msgspec.structs import astuple

from fledgling.security import memory_file
from fledgling.wire import Profile, View
from fledgling.worker.denied import Denied
from fledgling.worker.rows import FileRow, ImportRow, SymbolRow
from fledgling.worker.statement import Gate

BLOCK_CHARS = 8192  # a search verifies whole blocks: small enough to be read fast, large enough to be few
SQL = {file.stem: file.read_text("utf-8") for file in sorted((Path(__file__).parent / "sql").glob("*.sql"))}
_EMPTY = (Path(__file__).parent / "empty.duckdb").read_bytes()

# The order matters: unless its temporary directory was emptied before, the engine puts a directory below the working
# directory on its own allowlist, for writing, the moment external access goes off.
_BUILD_SETTINGS = ("SET temp_directory=''", "SET enable_external_access=false")
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

# What each view of a profile may read. visible_files decides about files before any text is read.
_VIEW_READS = {
    "visible_files": frozenset({"files"}),
    "files": frozenset({"files"}),
    "content": frozenset({"content", "files"}),
    "symbols": frozenset({"symbols", "files"}),
    "imports": frozenset({"imports", "files"}),
}


class Block(NamedTuple):
    """Some consecutive lines of one file, without the last line's end; `comments` numbers those with only comment."""

    path: str
    first_line: int
    text: str
    comments: list[int]


class ViewError(Exception):
    """A profile's view cannot be used: `line` of the profile file, `problem`, and what would be right."""

    def __init__(self, line: int, problem: str, fix: str) -> None:
        super().__init__(line, problem, fix)
        self.line, self.problem, self.fix = line, problem, fix


def path_of(fd: int) -> str:
    """Return the name under which the engine opens a descriptor: no path on any disk leads to a memory file."""
    return f"/proc/self/fd/{fd}" if sys.platform == "linux" else f"/dev/fd/{fd}"


def cut(path: str, lines: Sequence[str], comment_lines: frozenset[int]) -> Iterator[Block]:
    """Yield lines as blocks of about BLOCK_CHARS: `cut("a", ["x", "# y"], frozenset({2}))` is one, comments [2]."""
    first, size = 0, 0
    for last, line in enumerate(lines):
        size += len(line) + 1
        if size >= BLOCK_CHARS or last == len(lines) - 1:
            comments = [number for number in range(first + 1, last + 2) if number in comment_lines]
            yield Block(path, first + 1, "\n".join(lines[first : last + 1]), comments)
            first, size = last + 1, 0


class Builder:
    """Fills one image: files, then text as it is read, then symbols and imports; `seal` ends it.

    >>> builder = Builder(image_fd, profile)
    >>> visible = builder.files(rows)
    >>> builder.text(blocks); builder.symbols(symbols); builder.imports(imports)
    >>> size = builder.seal()
    """

    def __init__(self, fd: int, profile: Profile) -> None:
        """Open the image for writing and check the profile's views; raises ViewError."""
        self._fd = fd
        os.pwrite(fd, _EMPTY, 0)
        self._db = duckdb.connect(":memory:", config={"threads": 1, "async_threads": 0})
        # Without these two the engine would write a log file beside the image while it is filled.
        self._db.execute("SET auto_checkpoint_skip_wal_threshold=0")
        self._db.execute("SET wal_autocheckpoint='0B'")
        self._db.execute(f"ATTACH '{path_of(fd)}' AS image")
        for setting in _BUILD_SETTINGS:
            self._db.execute(setting)
        self._db.execute("SET memory_limit=$1", [f"{profile.memory_limit}B"])
        self._db.execute(SQL["schema"])
        self._db.execute(SQL["schema"].replace("image.", "memory."))
        self._views = self._checked(profile)
        self._text = self._db.cursor()
        self._text.execute("USE memory" if "content" in self._views else "USE image")

    def files(self, rows: Sequence[FileRow]) -> frozenset[str]:
        """Load the files and return the paths that the profile leaves visible."""
        _load(self._db, "load_files", FileRow.__struct_fields__, [astuple(row) for row in rows])
        self._db.execute(f"CREATE TABLE visible AS SELECT DISTINCT path FROM ({self._view('visible_files', 'files')})")
        self._db.execute("DELETE FROM files WHERE path NOT IN (FROM visible)")
        kept = self._db.execute(f"SELECT path FROM ({self._view('files', 'files')})").fetchall()
        return frozenset(path for (path,) in kept)

    def text(self, blocks: Sequence[Block]) -> None:
        """Load blocks of visible files, in any number of calls."""
        _load(self._text, "load_blocks", Block._fields, blocks)

    def symbols(self, symbols: Iterable[tuple[str, str, SymbolRow]]) -> None:
        """Load symbols, each with the path and language of its file."""
        columns = ("path", "language", *SymbolRow.__struct_fields__)
        _load(self._db, "load_symbols", columns, [(path, language, *astuple(row)) for path, language, row in symbols])

    def imports(self, imports: Iterable[tuple[str, ImportRow]]) -> None:
        """Load resolved imports, each with the path of its file."""
        columns = ("path", *ImportRow.__struct_fields__)
        _load(self._db, "load_imports", columns, [(path, *astuple(row)) for path, row in imports])

    def without_content(self, paths: Sequence[str], reason: str) -> None:
        """Say of files that were described already why their content is not here; call before `finish`."""
        if paths:
            self._db.execute(SQL["skip_files"], {"paths": list(paths), "reason": reason})

    def counts(self) -> dict[str, int]:
        """Return the number of rows in the image: `{"files": 10, "symbols": 80, "imports": 7}`. After `finish`."""
        counted = self._db.execute(SQL["count_rows"]).fetchone()
        assert counted is not None
        return dict(zip(("files", "symbols", "imports"), counted, strict=True))

    def finish(self) -> None:
        """Copy what the profile's views leave into the image."""
        for table in ("files", "symbols", "imports"):
            self._db.execute(f"INSERT INTO image.{table} BY NAME SELECT * FROM ({self._view(table, table)})")
        if "content" in self._views:
            self._db.execute(f"CREATE VIEW narrowed_content AS SELECT * FROM ({self._views['content']})")
            self._db.execute(SQL["cut_blocks"])

    def seal(self) -> int:
        """Write the image out, make it immutable for good, and return its size in bytes."""
        self._text.close()
        self._db.execute("DETACH image")
        self._db.close()
        memory_file.seal(self._fd)
        return os.fstat(self._fd).st_size

    def _checked(self, profile: Profile) -> dict[str, str]:
        gate = Gate()
        return {view.name: self._check(gate, view) for view in profile.views}

    def _check(self, gate: Gate, view: View) -> str:
        table = "files" if view.name == "visible_files" else view.name
        known = {name for name, *_ in self._db.execute(f"DESCRIBE memory.{table}").fetchall()}
        try:
            select: str = gate.admit(view.select, _VIEW_READS[view.name])
            columns = [name for name, *_ in self._db.execute(f"DESCRIBE {select}").fetchall()]
        except Denied as denied:
            raise ViewError(view.line, denied.reason, denied.next_step) from denied
        except duckdb.Error as problem:
            raise ViewError(view.line, str(problem).splitlines()[0], f"the columns are {', '.join(known)}") from problem
        if "path" not in columns or not known.issuperset(columns):
            raise ViewError(
                view.line,
                f"the view {view.name} has the columns {', '.join(columns)}",
                f"a view keeps `path` and adds none: {', '.join(sorted(known))}",
            )
        return select

    def _view(self, name: str, table: str) -> str:
        return self._views.get(name, f"FROM {table}")


def open_sealed(fd: int, memory_limit: int) -> duckdb.DuckDBPyConnection:
    """Open a sealed image read-only and close `fd`: what the engine holds from here on cannot be written by anyone.

    One thread until the process is confined: confinement binds the threads that come after it, not those before.
    """
    settings = {"threads": "1", "async_threads": "0", "memory_limit": f"{memory_limit}B"}
    db = duckdb.connect(path_of(fd), read_only=True, config={**settings})
    os.close(fd)
    return db


def lock_down(db: duckdb.DuckDBPyConnection) -> None:
    """Turn off everything in the engine that reaches beyond the image, and lock the settings."""
    for setting in _SERVE_SETTINGS:
        db.execute(setting)


def _load(db: duckdb.DuckDBPyConnection, sql: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    values = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in columns]
    db.execute(SQL[sql], dict(zip(columns, values, strict=True)))
