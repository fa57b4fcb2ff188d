"""The memory file, and what stands in for it where the system has none."""

import mmap
import os
import resource
import stat
from pathlib import Path

import pytest
from msgspec.structs import astuple

from fledgling.broker.indexing.files import Files
from fledgling.messages.control import CONFINED, Build, Images
from fledgling.messages.generations import CODE
from fledgling.scope import Scope
from fledgling.security import memory_file, profile
from fledgling.worker.extractor.pool import Extractors
from fledgling.worker.indexer.build import Building
from fledgling.worker.indexer.index import Index
from fledgling.worker.languages.table import load_languages
from fledgling.worker.lister.process import Lister
from fledgling.worker.store.database import memory_share, open_empty, open_sealed, start
from fledgling.worker.store.text import Blocks


def test_sealed_file_takes_no_change() -> None:
    fd = memory_file.create()
    os.write(fd, b"index")
    assert not memory_file.is_sealed(fd)
    memory_file.seal(fd)
    assert memory_file.is_sealed(fd)
    for change in (
        lambda: os.write(fd, b"more"),
        lambda: os.ftruncate(fd, 0),
        lambda: os.ftruncate(fd, 100),
        lambda: mmap.mmap(fd, 5, mmap.MAP_SHARED, mmap.PROT_WRITE),
    ):
        with pytest.raises(OSError, match="not permitted"):
            change()
    assert os.pread(fd, 9, 0) == b"index"
    os.close(fd)


def test_unlinked_file_has_no_name_and_one_owner() -> None:
    fd = memory_file.create_unlinked()
    found = os.fstat(fd)
    assert found.st_nlink == 0
    assert stat.S_IMODE(found.st_mode) == 0o600
    os.close(fd)


def test_unlinked_file_holds_an_image(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole build works in it on Linux too, where the file is merely not sealed."""
    images, root = (
        Images(*(memory_file.create_unlinked() for _ in Images.__struct_fields__)),
        os.open(project, os.O_RDONLY),
    )
    core = profile.load("fledgling-core")
    order = Build(os.getpid(), images, root, core, Scope())
    languages = load_languages()
    monkeypatch.setattr(memory_file, "seal", lambda _: None)  # the one thing a plain file cannot do
    lister = Lister(order, languages)
    extractors = Extractors(languages, CONFINED, core.memory_limit)
    extractors.confined()
    open_empty(db := start(), images)
    index = Index(db, None, images, core, languages.modules(), has_content=True)
    lister.began()
    Building(order, order.scope, index, languages, lister, extractors, lambda _: None).run()
    extractors.close()
    db.close()
    blocks = Blocks(memory_file.mapped(images.blocks))
    open_sealed(db := start(), images, CODE, memory_share(images, CODE, core.memory_limit))
    assert db.execute("SELECT count(*) FROM files").fetchone() == (20,)
    db.close()
    assert sum(blocks.text(block).count(b"\n") for block in range(blocks.count)) > 100
    for fd in (*astuple(images), root):
        os.close(fd)


def test_files_of_a_build_that_lacks_descriptors_are_all_closed():
    before = {*os.listdir("/proc/self/fd")}
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = memory_file.create()
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free + 3, hard))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            Files.created(is_followed=True)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert {*os.listdir("/proc/self/fd")} == before
