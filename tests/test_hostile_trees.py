"""What a tree can hold to hurt who walks it: it leads nowhere outside, hangs nothing, and costs what its size costs."""

import os
import resource
import stat
import subprocess
import sys
import time
from contextlib import closing
from random import Random

import pytest
from costing import costs_under
from running import PATIENCE
from trees import ALL, make, somebody_else, walked

from fledgling.worker.files import walk as walk_module
from fledgling.worker.files.openat import MOST_AT_ONCE, Reader, open_directory
from fledgling.worker.files.walk import LEFT_OUT_NAMES, MAX_DEPTH, walk

CANARY = "the canary outside"


@pytest.fixture
def root(tmp_path):
    """A tree to walk, beside a directory that nothing may come from."""
    make(tmp_path, "outside/secret", **{"outside/canary": CANARY})
    (tmp_path / "root").mkdir()
    yield tmp_path / "root"
    subprocess.run(["rm", "-rf", tmp_path / "root"], check=True)  # pytest's own removal recurses


def read(root, path):
    fd = os.open(root, os.O_RDONLY)
    try:
        with closing(Reader(fd)) as reader:
            return reader.read(path, 1_000_000)
    finally:
        os.close(fd)


SPECIAL = [
    ("FIFO", stat.S_IFIFO, 0),
    ("socket", stat.S_IFSOCK, 0),
    ("character device", stat.S_IFCHR, os.makedev(1, 5)),
    ("block device", stat.S_IFBLK, os.makedev(7, 0)),
]


@pytest.mark.parametrize(("what", "kind", "device"), SPECIAL, ids=[row[0] for row in SPECIAL])
def test_special_file_is_counted_and_never_read(root, what, kind, device):
    make(root, "a.py")
    try:
        os.mknod(root / "b.py", kind | 0o600, device)
    except PermissionError:
        pytest.skip(f"only root may make a {what}")
    tree = walked(root)
    assert [entry.path for entry in tree.entries] == ["a.py"]
    assert tree.left_out == {"special file": 1}
    with pytest.raises(OSError, match=r"Invalid argument|No such device"):
        read(root, b"b.py")


@pytest.mark.parametrize("name", [".git", ".gitignore", ".git/index", ".git/info/exclude", ".git/info"])
def test_fifo_where_rules_are_expected_does_not_hang(root, name):
    make(root, "a.py", ".git/HEAD", ".git/objects/x", ".git/refs/x") if "/" in name else make(root, "a.py")
    path = root / name
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)
    assert [entry.path for entry in walked(root).entries] == ["a.py"]


LINKS = [
    "../outside",
    "../outside/canary",
    "{outside}/canary",
    "/",
    "/etc/passwd",
    "/proc/self/root",
    "/dev/zero",
    "loop",
]
LINKS += [".", "..", "nowhere", "other"]


@pytest.mark.parametrize("target", LINKS)
def test_link_is_listed_as_a_link_and_leads_nowhere(root, target):
    target = target.format(outside=root.parent / "outside")
    (root / "loop").symlink_to(target)
    (root / "other").symlink_to("loop")
    tree = walked(root)
    assert [(entry.path, entry.target) for entry in tree.entries] == [("loop", target), ("other", "loop")]
    for path in (b"loop", b"loop/canary", b"other/passwd", b"loop/loop/loop"):
        with pytest.raises(OSError, match=r"Too many levels of symbolic links|Not a directory"):
            read(root, path)


RULE_LINKS = [".git", ".git/index", ".git/info", ".git/info/exclude", ".gitignore"]


@pytest.mark.parametrize("name", RULE_LINKS)
def test_rules_are_not_read_through_a_link(root, name):
    make(root, "a.py", ".git/HEAD", ".git/objects/x", ".git/refs/x")
    if name == ".git":
        (root / ".git").rename(root.parent / "outside/repository")
    target = root.parent / "outside/rules"
    target.write_text("*.py\n")
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).symlink_to(root.parent / "outside/repository" if name == ".git" else target)
    assert "a.py" in [entry.path for entry in walked(root).entries]


SWAP_FOREVER = """
import ctypes, itertools
swap = ctypes.CDLL(None).renameat2  # RENAME_EXCHANGE: at no moment is either name missing
for one, other in itertools.cycle([(b"d", b"link"), (b"f", b"filelink")]):
    swap(-100, one, -100, other, 2)
"""


def test_race_of_links_against_walk_and_read_leaks_nothing(root):
    make(root, "d/secret", **{"d/canary": "inside", "f": "inside"})
    (root / "link").symlink_to("../outside")
    (root / "filelink").symlink_to("../outside/canary")
    swapper = subprocess.Popen([sys.executable, "-c", SWAP_FOREVER], cwd=root)
    try:
        found, contents, refused = race(root)
    finally:
        swapper.kill()
        swapper.wait()
    assert contents == {b"inside"}
    assert found >= TRIED, "the names were not swapped, so nothing was tried"
    assert refused > 0, "no race was ever met"


TRIED = {"d", "link", "d/canary", "link/canary"}


def race(root):
    """Walk and read for half a second, or longer on a machine so busy that no race was met yet."""
    found, contents, refused = set(), set(), 0
    begun = time.monotonic()
    while (seconds := time.monotonic() - begun) < 0.5 or (not (refused and found >= TRIED) and seconds < PATIENCE):
        for entry in walked(root).entries:
            found.add(entry.path)
        for path in (b"d/canary", b"link/canary", b"f", b"filelink"):
            try:
                contents.add(read(root, path))
            except OSError:
                refused += 1
    return found, contents, refused


def nest(root, depth):
    fd = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=fd)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
        below = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)


def test_deep_nesting_ends_at_the_limit_within_the_descriptors(root):
    nest(root, 3_000)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))  # what the indexer has
    try:
        tree = walked(root)
        deepest = read(root, tree.entries[-1].raw)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert len(tree.entries) == MAX_DEPTH + 1
    assert tree.left_out == {"too deep": 1}
    assert deepest == b""


def test_descriptors_are_all_closed(root):
    nest(root, 20)
    make(root, "inner/.git/HEAD", "inner/.git/objects/x", "inner/.git/refs/x", "inner/.gitignore")
    before = os.listdir("/proc/self/fd")
    for entry in walked(root).entries:
        read(root, entry.raw)
    assert os.listdir("/proc/self/fd") == before


def test_many_names_in_one_directory(root):
    for number in range(5_000):
        os.close(os.open(root / f"{number}.py", os.O_CREAT | os.O_WRONLY))
    tree = costs_under(0.5, lambda: walked(root))
    assert len(tree.entries) == 5_000


def test_ignore_file_of_a_hundred_thousand_patterns(root):
    make(root, "a.py", "7", **{".gitignore": "".join(f"{number}\n" for number in range(100_000))})
    tree = costs_under(1, lambda: walked(root))
    assert [entry.path for entry in tree.entries] == [".gitignore", "a.py"]
    assert tree.notices == [".gitignore is over a limit: some of its rules were not used."]


SLOW_RULES = {  # and the names they meet
    "to compile, in every directory": ["".join(f"*{number:029d}\n" for number in range(2000)), "a"],
    "to match, with every name": ["".join(f"*{number:06b}*{number:06b}\n" for number in range(1000)), "10" * 100],
}


@pytest.mark.parametrize("what", SLOW_RULES)
def test_a_walk_ends_though_rules_are_slow(root, monkeypatch, what):
    monkeypatch.setattr(walk_module, "MAX_SECONDS", 0.25)
    rules, name = SLOW_RULES[what]
    dice = Random(1)
    for number in range(60):
        names = ["".join(dice.choices(name, k=len(name))) for _ in range(10)]
        make(root, *(f"{number}/{name}" for name in names), **{f"{number}/.gitignore": rules})
    tree = costs_under(1.25, lambda: walked(root))
    assert tree.partial == "The walk ended after 0.25 seconds; what comes later is missing."


def walked_by_somebody_else(root):
    """Walk it as one who may not read what only its owner may; the root has been opened for them."""
    root_fd = os.open(root, os.O_RDONLY)
    try:
        with somebody_else():
            return walk(root_fd, ALL)
    finally:
        os.close(root_fd)


def test_what_may_not_be_read_is_counted(root):
    make(root, "a", "closed/b", "open/c", **{"open/.gitignore": "c\n", ".gitignore": "a\n"})
    for name in ("closed", "open/.gitignore", ".gitignore"):
        (root / name).chmod(0)
    tree = walked_by_somebody_else(root)
    assert [entry.path for entry in tree.entries] == [".gitignore", "a", "open/.gitignore", "open/c"]
    assert tree.left_out == {"unreadable directory": 1}
    assert tree.notices == [f"{where}.gitignore cannot be read: Permission denied." for where in ("", "open/")]


def test_a_directory_of_closed_ones_takes_no_room_of_others(root):
    for number in range(LEFT_OUT_NAMES + 1):
        (root / f"{number:03}" / "in").mkdir(parents=True)
        (root / f"{number:03}").chmod(0)
    (root / "d/in").mkdir(parents=True)
    (root / "d/in").chmod(0)
    tree = walked_by_somebody_else(root)
    assert tree.left_out == {"unreadable directory": LEFT_OUT_NAMES + 2}
    assert [name for name, _ in tree.unlisted] == [*(f"{n:03}/" for n in range(LEFT_OUT_NAMES)), "d/in/"]


def test_notices_do_not_grow_with_the_tree(root):
    make(root, **{f"{number}/.gitignore": "x" * 300 for number in range(100)})
    tree = walked(root)
    assert len(tree.notices) == 21
    assert tree.notices[-1] == "And 80 more like these."


def test_another_file_system_is_not_entered():
    fd = os.open("/", os.O_RDONLY)
    try:
        with pytest.raises(OSError, match="cross-device"):
            open_directory(b"proc", fd, os.fstat(fd).st_dev)
    finally:
        os.close(fd)


@pytest.mark.parametrize("limit", [100, MOST_AT_ONCE - 1, MOST_AT_ONCE, 3 * MOST_AT_ONCE])
@pytest.mark.parametrize("size", [0, 1, 99, 100, 101, MOST_AT_ONCE, MOST_AT_ONCE + 1, 5_000_000])
def test_read_is_bounded(root, size, limit):
    (root / "a").write_bytes(b"x" * size)
    fd = os.open(root, os.O_RDONLY)
    with closing(Reader(fd)) as reader:
        assert len(reader.read(b"a", limit)) == min(size, limit + 1)
    os.close(fd)


def test_a_file_that_says_it_is_empty_is_read_to_its_end():
    """As those of /proc do, and of file systems whose files are made when they are read."""
    fd = os.open("/proc/self", os.O_RDONLY)
    with closing(Reader(fd)) as reader:
        assert os.stat("/proc/self/status").st_size == 0
        assert b"\nnonvoluntary_ctxt_switches:" in reader.read(b"status", 100_000)  # the last line
    os.close(fd)


def test_sparse_gigabyte_costs_nothing(root):
    with open(root / "a", "wb") as file:
        file.truncate(1 << 30)
    assert walked(root).entries[0].size == 1 << 30
    assert len(read(root, b"a")) == 1_000_001


def test_root_that_is_gone_is_an_error(root):
    fd = os.open(root, os.O_RDONLY)
    root.rmdir()
    assert walk(fd, ALL).entries == []
    os.close(fd)
    with pytest.raises(OSError, match="Bad file descriptor"):
        walk(fd, ALL)


NAMES = [
    b"\xff\xfe",
    b"a\nb",
    b"\x1b[31mred",
    b"a\xe2\x80\xaeb",
    b"-rf",
    b"x" * 255,
    b"\\",
    b"...",
    b"CON",
    b"e\xcc\x81",
    b"'; DROP",
]


def test_names_of_every_kind_are_listed_shown_and_read(root):
    for name in NAMES:
        (root / os.fsdecode(name)).write_bytes(name)
    tree = walked(root)
    assert {entry.raw for entry in tree.entries} == set(NAMES)
    assert all(entry.path.isprintable() for entry in tree.entries)
    assert all(read(root, entry.raw) == entry.raw for entry in tree.entries)
