"""The file system of DuckDB: it opens images by descriptor, whatever stands on a disk, from any number of threads."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import _duckdb as duckdb
import numpy as np
import pytest
from msgspec.structs import astuple
from running import PATIENCE

from fledgling.messages.control import Images
from fledgling.messages.generations import TEXT
from fledgling.security import memory_file
from fledgling.worker.store.database import lock_down, memory_share, open_empty, open_sealed, start
from fledgling.worker.store.image_files import ImageFiles, size_of

LOCKED = {
    "python_enable_replacements": False,
    "max_expression_depth": 250,
    "TimeZone": "UTC",
    "temp_directory": "",
    "autoload_known_extensions": False,
    "enable_external_access": False,
    "enable_logging": False,
    "lock_configuration": True,
    "threads": 2,
}
FILL = """
import os
import sys
import types

sys.modules["fsspec"] = types.ModuleType("fsspec")  # another module has imported it already

from fledgling.security import confinement, limits, memory_file
from fledgling.messages.control import CONFINED, Images
from fledgling.messages.generations import CODE, TEXT
from fledgling.worker.store.database import lock_down, memory_share, open_empty, open_sealed, start

images = Images(*(memory_file.create() for _ in Images.__struct_fields__))
filling, serving = start(), start()
os.chdir("/")
"""
# What each process does after confinement, in the order it does it there.
INDEXER = """
confinement.confine("indexer", CONFINED, parent=os.getppid(), lowered=limits.INDEXER, owner=(0, 0))
open_empty(filling, images)
filling.execute("SET temp_directory=''")
filling.execute("SET enable_external_access=false")
filling.execute("CREATE TABLE text.words AS SELECT range AS number, repeat('word', 50) AS word FROM range(100000)")
filling.execute("CREATE TABLE code.names AS SELECT 'f' AS name")
filling.execute("DETACH text")
memory_file.seal(images.text)
filling.execute("ATTACH 'image://text' AS text (READ_ONLY)")
filling.execute("DETACH code")
memory_file.seal(images.code)
print(*filling.execute("SELECT count(*), sum(length(word)) FROM text.words").fetchone())
"""
WORKER = """
open_empty(filling, images)
filling.execute("CREATE TABLE text.words AS SELECT 1 AS number")
filling.execute("CREATE TABLE code.words AS SELECT 2 AS number")
filling.close()
memory_file.seal(images.text)
memory_file.seal(images.code)
confinement.confine("query worker", CONFINED, parent=os.getppid(), lowered=limits.QUERY_WORKER)
open_sealed(serving, images, CODE, memory_share(images, CODE, 2**28))
lock_down(serving)
print(*serving.cursor().execute("SELECT a.number, b.number FROM words a, text.words b").fetchone())
"""


@pytest.mark.parametrize(
    ("role", "expected"), [(INDEXER, "100000 20000000"), (WORKER, "2 1")], ids=["indexer", "worker"]
)
def test_images_are_opened_by_a_process_that_can_open_no_path(role: str, expected: str) -> None:
    """The kernel is the judge: the indexer may open nothing here, and the worker has no call that takes a path."""
    ran = subprocess.run(
        [sys.executable, "-c", FILL + role], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (ran.stdout.strip(), ran.returncode) == (expected, 0), ran.stderr


@pytest.fixture(scope="module")
def images() -> Iterator[Images]:
    made = Images(*(memory_file.create() for _ in Images.__struct_fields__))
    with closing(start()) as db:
        open_empty(db, made)
        db.execute("CREATE TABLE text.words AS SELECT range AS number, md5(range::VARCHAR) AS word FROM range(200000)")
    memory_file.seal(made.text)
    yield made
    for fd in astuple(made):
        os.close(fd)


def served(images: Images, memory_limit: int = 2**28) -> duckdb.DuckDBPyConnection:
    db = start()
    open_sealed(db, images, TEXT, memory_share(images, TEXT, memory_limit))
    return db


@pytest.fixture
def hasty() -> Iterator[None]:
    """Python goes from thread to thread as often as it can: also between a seek and the read that it is for."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty")
def test_threads_that_read_at_once_get_each_its_own_bytes(images: Images) -> None:
    """Under so little memory that blocks are read again and again: positions of one thread are not another's."""
    ask = "SELECT sum(hash(word) % 1000003), max(word) FROM words WHERE number % {} = 0"
    with closing(served(images)) as db:
        expected = [db.execute(ask.format(part)).fetchone() for part in range(1, 9)]
    little = 10 * 2**23  # of which an eighth is the share of a worker before the index is whole
    with closing(served(images, little)) as db, ThreadPoolExecutor(8) as pool:
        db.execute("SET threads=4")
        db.execute("SET temp_directory=''")
        asked = [part for _ in range(6) for part in range(1, 9)]
        found = [*pool.map(lambda part: db.cursor().execute(ask.format(part)).fetchone(), asked)]
    assert found == expected * 6


@pytest.mark.usefixtures("hasty")
def test_positions_of_threads_are_apart(images: Images) -> None:
    file = ImageFiles({"text": images.text}).open("image://text")

    def read(number: int) -> bool:
        file.seek(number)
        return file.read(4096) == os.pread(images.text, 4096, number)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(read, range(20000)))
    file.close()


# what a statement names, and what DuckDB says of it
NAMED = [
    ("FROM read_text('image://text')", "image://text"),
    ("FROM read_blob('image://code')", "image://code"),
    ("FROM read_text('/etc/hostname')", "LocalFileSystem"),
    ("FROM read_text('file:///etc/hostname')", "LocalFileSystem"),
    ("ATTACH 'image://text' AS again (READ_ONLY)", "image://text"),
    ("ATTACH 'image://../text' AS again", "image://../text"),
    ("ATTACH '{planted}' AS again", "LocalFileSystem"),
    ("ATTACH 'image://{planted}' AS again", "image://"),
    ("COPY (SELECT 1) TO 'image://text'", ""),
    ("COPY (SELECT 1) TO 'image://new.csv'", ""),
    ("COPY (SELECT 1) TO '{planted}.csv'", "LocalFileSystem"),
    ("EXPORT DATABASE 'image://out'", ""),
    ("LOAD '{planted}'", "LocalFileSystem"),
]


@pytest.mark.parametrize(("statement", "said"), NAMED)
def test_nothing_else_is_opened_once_the_images_are(images: Images, tmp_path: Path, statement: str, said: str) -> None:
    """By the file system alone: no other setting of DuckDB is made here."""
    planted = tmp_path / "memfd:fledgling-image (deleted)"
    duckdb.connect(str(planted)).close()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with closing(served(images)) as db:
        with pytest.raises(duckdb.Error) as refused:
            pytest.fail(str(db.execute(statement.format(planted=planted)).fetchall()))
        assert said in str(refused.value)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_name_that_no_descriptor_has_is_not_found(images: Images) -> None:
    files = ImageFiles({"text": images.text})
    for name in ("image://code", "image://text.wal", "image://text/", "image:///proc/self/fd/3", "/etc/passwd", ""):
        with pytest.raises(FileNotFoundError):
            pytest.fail(str(files.open(name)))
        assert not files.isfile(name)
    assert files.size("image://text") == size_of(images.text) > 12288


def test_what_the_kernel_refuses_to_take_is_an_error_and_not_a_hole(images: Images) -> None:
    """A sealed image, written to: the caller hears of it."""
    file = ImageFiles({"text": images.text}).open("image://text", "rb+")
    file.seek(0)
    with pytest.raises(PermissionError):
        file.write(b"x")
    file.close()


def test_what_is_dropped_of_an_image_does_not_end_the_build() -> None:
    """DuckDB then asks for the file to be cut, as it does where a large project's files are told what extracts them."""
    made = Images(*(memory_file.create() for _ in Images.__struct_fields__))
    with closing(start()) as db:
        open_empty(db, made)
        db.execute("CREATE TABLE text.gone AS SELECT range AS number, repeat('word', 50) AS word FROM range(100000)")
        db.execute("DROP TABLE text.gone")
        db.execute("CREATE TABLE text.words AS SELECT 7 AS number")
    memory_file.seal(made.text)
    with closing(served(made)) as db:
        assert db.execute("SELECT count(*), sum(number) FROM words").fetchall() == [(1, 7)]
    for fd in astuple(made):
        os.close(fd)


def test_what_is_locked_holds_for_the_cursor_of_a_call() -> None:
    """Some settings of DuckDB are of one connection, unless they are set for all that are to come."""
    with closing(start()) as db:
        lock_down(db)
        cursor = db.cursor()
        asked = ", ".join(f"current_setting('{name}')" for name in LOCKED)
        assert dict(zip(LOCKED, cursor.execute(f"SELECT {asked}").fetchone(), strict=True)) == LOCKED
        variable = {"column": np.arange(3)}
        with pytest.raises(duckdb.CatalogException):
            cursor.execute("FROM variable")
        assert len(variable) == 1
