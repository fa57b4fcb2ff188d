"""A git index is hostile input: whatever its bytes are, it is read in full or refused, soon and in little memory."""

import struct
from contextlib import suppress
from random import Random

import pytest
from costing import costs_under
from trees import git, make

from fledgling.worker.files import git_index
from fledgling.worker.files.git_index import BadIndex, parse

FILES = [f"{name}{number}" for name in ("a/b/c", "d", "long" * 50 + "/x", "m") for number in range(12)]


@pytest.fixture(params=[2, 4], ids=["version 2", "version 4"])
def index(request, tmp_path):
    git(make(tmp_path, *FILES), "init", "-q")
    git(tmp_path, "-c", f"index.version={request.param}", "add", ".")
    return (tmp_path / ".git/index").read_bytes()


def test_holds_what_was_added(index):
    tracked = parse(index)
    assert list(tracked.files) == sorted(name.encode() for name in FILES)
    assert tracked.holds(b"d0")
    assert not tracked.holds(b"a/b")
    assert tracked.reaches_into(b"a/b")
    assert not tracked.reaches_into(b"a/b/c")
    assert not tracked.reaches_into(b"d0")


def test_cut_anywhere_it_is_refused(index):
    for end in range(0, len(index), 13):
        with pytest.raises(BadIndex):
            parse(index[:end])


def test_changed_anywhere_it_is_read_or_refused(index):
    random = Random(5)
    for _ in range(3_000):
        changed = bytearray(index)
        for _ in range(random.choice([1, 1, 2, 8])):
            changed[random.randrange(len(changed))] = random.choice([0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)])
        with suppress(BadIndex):
            parse(bytes(changed))


def header(version, count):
    return struct.pack(">4sII", b"DIRC", version, count)


def entry(name, drop=b"\0"):
    """An entry of version 4."""
    return bytes(24) + struct.pack(">I", 0o100644) + bytes(12 + 20 + 2) + drop + name + b"\0"


BAD = [
    ("nothing", b""),
    ("another kind of file", b"PACK" + bytes(100)),
    ("a version that is not known", header(5, 0) + bytes(20)),
    ("more entries than bytes", header(2, 0xFFFFFFFF) + bytes(1_000)),
    ("names out of order", header(4, 2) + entry(b"b") + entry(b"a", b"\1") + bytes(20)),
    ("shares more than there is", header(4, 2) + entry(b"a") + entry(b"b", b"\2") + bytes(20)),
    ("a number that never ends", header(4, 1) + entry(b"a", b"\xff" * 500) + bytes(20)),
    ("a part that runs past the end", header(2, 0) + struct.pack(">4sI", b"TREE", 0xFFFFFFF0) + bytes(20)),
    ("nothing but NUL, on and on", header(2, 0) + bytes(1 << 20)),
    ("split", header(2, 0) + struct.pack(">4sI", b"link", 0) + bytes(20)),
    ("sparse", header(2, 0) + struct.pack(">4sI", b"sdir", 0) + bytes(20)),
]


@pytest.mark.parametrize(("what", "data"), BAD, ids=[row[0] for row in BAD])
def test_refused(what, data):
    with pytest.raises(BadIndex):
        parse(data)


def test_an_index_that_is_longer_than_is_read_is_refused(index, monkeypatch):
    monkeypatch.setattr(git_index, "MAX_INDEX", len(index))
    parse(index)
    monkeypatch.setattr(git_index, "MAX_INDEX", len(index) - 1)
    with pytest.raises(BadIndex, match="larger than is read"):
        parse(index)


def test_names_that_unfold_to_gigabytes_are_refused(monkeypatch):
    monkeypatch.setattr(git_index, "MAX_NAME_BYTES", 1 << 20)
    many = [entry(b"x" * 50_000), *(entry(b"x") for _ in range(50_000))]
    data = header(4, len(many)) + b"".join(many) + bytes(20)

    def refused():
        with pytest.raises(BadIndex, match="too many"):
            parse(data)

    costs_under(1, refused)
