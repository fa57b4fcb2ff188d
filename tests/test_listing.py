"""The process that lists a project: what it hands over, what it holds, and what becomes of an index without it."""

import os
import signal
from contextlib import contextmanager

import psutil
import pytest
from running import is_alive, opened, until

from fledgling.messages.control import CONFINED, Build, Crashed, Images
from fledgling.refusals import NO_INDEX
from fledgling.scope import Scope
from fledgling.security import inspection, memory_file
from fledgling.security import profile as profiles
from fledgling.worker.files.walk import MAX_DEPTH, walk
from fledgling.worker.languages.table import load_languages
from fledgling.worker.lister import process as listing
from fledgling.worker.lister.process import SMALL_FILES, Lister, ListingError
from fledgling.worker.process.child import CrashError
from fledgling.worker.store.text import Blocks

FILES = 140  # whose names together take more than a frame
KEPT = Scope(exclude_patterns=("*.tmp",))


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A project with a listing, a settings file of its own, and names that are not what they look like."""
    root = tmp_path_factory.mktemp("listed")
    for number in range(SMALL_FILES + 1):
        (root / f"file {number:05}.{('py', 'c', 'txt', 'none')[number % 4]}").write_text("x\n")
    for raw in (b"\xff.py", "\N{RIGHT-TO-LEFT OVERRIDE}.md".encode(), b"a\\b\nc", b".env", b"out.tmp"):
        (root / os.fsdecode(raw)).write_text("secret\n")
    (root / "link").symlink_to(b"/\xff\n")
    (root / "fledgling.yaml").write_text("exclude_patterns: ['*.tmp']\n")
    return root


@contextmanager
def listing_of(place, flags=os.O_DIRECTORY):
    """A lister at work, its process, and the order that it was given."""
    images = Images(*(memory_file.create() for _ in Images.__struct_fields__))
    root_fd = os.open(place, os.O_RDONLY | flags)
    order = Build(os.getpid(), images, root_fd, profiles.load("fledgling-core"), Scope(exclude_patterns=()))
    before = psutil.Process().children()
    lister = Lister(order, load_languages())
    [process] = [child for child in psutil.Process().children() if child not in before]
    try:
        yield lister, process, order
    finally:
        lister.close()
        assert not psutil.pid_exists(process.pid)
        for fd in (*images.of(2), root_fd):
            os.close(fd)


@pytest.mark.anyio
async def test_the_tree_is_what_was_walked(root):
    with listing_of(root) as (lister, process, order):
        assert lister.began().narrowed.scope == KEPT
        walked = lister.walked()
        tree = lister.tree()
        await until(lambda: not is_alive(process))
        assert tree == walk(order.root_fd, KEPT)
        assert (walked.files, walked.has_listing) == (len(tree.entries), True)
        assert tree.left_out == {"excluded": 1}
        assert memory_file.is_sealed(order.images.listing)
        blocks = Blocks(memory_file.mapped(order.images.listing))
        assert [blocks.path(number) for number in blocks.files] == [entry.path for entry in tree.entries]
        found = {file.path: file for file in map(blocks.file, blocks.files)}
        assert found[r"\xff.py"].language == "python"
        assert found[r"\u202e.md"].size_bytes == 7
        assert (found["link"].skip_reason, found[".env"].skip_reason) == ("symlink", "secret")
        assert {file.line_count for file in found.values()} == {None}


def test_names_as_long_as_they_may_be_fit_their_frames(tmp_path):
    """A path may be longer than any that a program can open at once, and four times as long as text."""
    directory = os.open(tmp_path, os.O_RDONLY)
    for _ in range(MAX_DEPTH - 1):
        os.mkdir(b"\xff" * 255, dir_fd=directory)
        below = os.open(b"\xff" * 255, os.O_RDONLY, dir_fd=directory)
        os.close(directory)
        directory = below
    for number in range(FILES):
        os.symlink(b"\xff" * 4000, b"%d" % number, dir_fd=directory)
    os.close(directory)
    with listing_of(tmp_path) as (lister, _, _):
        lister.began()
        assert lister.walked().files == FILES
        assert len(lister.tree().entries) == FILES


def test_the_lister_is_confined_and_holds_the_root_and_one_memory_file(root, monkeypatch):
    monkeypatch.setattr(listing, "WAITING_BYTES", 1)  # it waits until somebody hears the tree
    with listing_of(root) as (lister, process, order):
        began = lister.began()
        lister.walked()
        assert inspection.problem("indexer", process.pid, began.layers, CONFINED) is None
        held = opened(process)
        assert held.pop(order.root_fd) == str(root)
        assert held.pop(order.images.listing) == "/memfd:fledgling-image (deleted)"
        del held[2]
        assert [where.partition(":")[0] for where in held.values() if "landlock" not in where] == ["socket"]
        assert lister.tree().entries


def test_a_root_that_is_none_is_refused(root):
    with listing_of(root / "fledgling.yaml", 0) as (lister, _, _):
        lister.began()
        with pytest.raises(ListingError) as failed:
            lister.walked()
        assert failed.value.refusal == NO_INDEX


@pytest.mark.anyio
async def test_a_lister_that_is_killed_is_noticed(root, monkeypatch):
    monkeypatch.setattr(listing, "WAITING_BYTES", 1)
    with listing_of(root) as (lister, process, _):
        lister.began()
        lister.walked()
        process.send_signal(signal.SIGKILL)
        await until(lambda: not is_alive(process))
        with pytest.raises(CrashError) as failed:
            lister.tree()
        assert failed.value.crashed == Crashed("lister", -signal.SIGKILL)
