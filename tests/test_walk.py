"""The walk lists what git lists; and what it does with settings, limits and repositories in one another."""

import os
import shutil
from random import Random

import pytest
from trees import git, git_files, grow, make, walked

from fledgling.scope import Scope
from fledgling.worker.files.walk import NAMES_A_LOOK


def paths(tree):
    return [entry.path for entry in tree.entries]


def judge(root):
    tree = walked(root)
    assert {entry.raw for entry in tree.entries} == git_files(root)
    assert not tree.notices
    assert paths(tree) == sorted(set(paths(tree)))


FURTHER = [pytest.param(seed, marks=pytest.mark.long) for seed in (*range(20, 80), *range(1_000, 1_300))]


@pytest.mark.parametrize("seed", [*range(20), *FURTHER])
def test_random_tree_as_git_lists_it(tmp_path, seed):
    grow(tmp_path, Random(seed))
    judge(tmp_path)


def repository(root, *files, ignore=""):
    git(make(root, *files, **{".gitignore": ignore} if ignore else {}), "init", "-q")
    return root


def tracked_though_ignored(root):
    repository(root, "build/kept", "build/new", "build/deep/kept", ignore="build/\n")
    git(root, "add", "-f", "build/kept", "build/deep")


def tracked_and_replaced(root):
    repository(root, "a", "d/b", "e")
    git(root, "add", ".")
    shutil.rmtree(root / "d")
    (root / "d").symlink_to("/")
    (root / "a").unlink()
    make(root, "a/c")


def merge_conflict(root):
    repository(root, "a", ignore="a\n")
    blob = git(root, "hash-object", "-w", "a").decode().strip()
    stages = "".join(f"100644 {blob} {stage}\ta\n" for stage in (1, 2, 3))
    git(root, "update-index", "--index-info", stdin=stages.encode())


def index_version_3(root):
    repository(root, "a", "b", ignore="a\nb\n")
    git(root, "add", "-f", "--intent-to-add", "a")


def index_version_4(root):
    repository(root, *(f"d/file{number}" for number in range(300)), "e" * 200, ignore="*\n")
    git(root, "add", "-f", ".")
    git(root, "update-index", "--index-version=4")
    make(root, "d/file301")


def hashed_with_sha256(root):
    git(make(root, "a", "b", **{".gitignore": "a\nb\n"}), "init", "-q", "--object-format=sha256")
    git(root, "add", "-f", "a")


def repository_in_it(root):
    repository(root, "a")
    repository(root / "inner", "b", "c/d")


def repository_in_it_with_tracked_files(root):
    repository(root, "inner/b")
    git(root, "add", ".")
    repository(root / "inner", "new", ignore="b\n")


def directory_that_is_no_repository(root):
    repository(root, "inner/.git/x", "inner/b")


def what_git_takes_for_repositories(root):
    """By their HEAD, by where objects and refs are; a directory that is none of these is as any other."""
    repository(root, "a")
    git(root, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")
    heads = [
        "",
        "x\n",
        "ref: x\n",
        "REF: refs/heads/x\n",
        "\nref: refs/heads/x\n",
        "a" * 39 + "\n",
        "ref: " + " " * 250,
    ]
    heads += ["ref: refs/heads/x\n", "ref:refs/x", "ref:\t\r\nrefs/x", "A" * 40, "a" * 64 + "\n", "b" * 40 + "zz"]
    heads += ["ref: refs/heads/" + "x" * 5_000]
    for number, head in enumerate(heads):
        make(root / f"head{number}", "b", "c/d", **{".git/HEAD": head, ".git/objects/e": "", ".git/refs/f": ""})
    for number, link in enumerate(("refs/heads/x", "refs", "x", "../../.git/HEAD")):
        make(root / f"link{number}", "b", "c/d", **{".git/objects/e": "", ".git/refs/f": ""})
        (root / f"link{number}/.git/HEAD").symlink_to(link)
    for name in ("HEAD", "objects", "refs"):
        repository(root / f"other_{name}", "b", "c/d")
        part = root / f"other_{name}/.git" / name
        part.rename(part.with_name("x"))
        part.mkdir() if name == "HEAD" else part.touch()
    make(root / "shares", "b", "c/d", **{".git/HEAD": heads[7], ".git/commondir": "../../.git\n"})


def submodule_not_checked_out(root):
    repository_in_it(root)
    git(root / "inner", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")
    git(root, "-c", "advice.addEmbeddedRepo=false", "add", ".")
    shutil.rmtree(root / "inner/.git")


def ignore_file_that_is_a_link(root):
    repository(root, "a", "b", "rules")
    (root / "rules").write_text("a\n")
    (root / ".gitignore").symlink_to("rules")


def ignore_file_that_is_a_directory(root):
    repository(root, "a", ".gitignore/b")


def everything_ignored(root):
    repository(root, "a", "b/c", ignore="*\n")


def own_rules_of_the_repository(root):
    repository(root, "a", "b", "c", ignore="!a\n")
    (root / ".git/info/exclude").write_text("a\nb\n")


def links(root):
    repository(root, "d/a", ignore="outdir/\ngone\n")
    for name, target in {"out": "/etc/passwd", "outdir": "/etc", "up": "..", "loop": "loop", "gone": "nowhere"}.items():
        (root / name).symlink_to(target)


TREES = [
    tracked_though_ignored,
    tracked_and_replaced,
    merge_conflict,
    index_version_3,
    index_version_4,
    hashed_with_sha256,
    repository_in_it,
    repository_in_it_with_tracked_files,
    directory_that_is_no_repository,
    what_git_takes_for_repositories,
    submodule_not_checked_out,
    ignore_file_that_is_a_link,
    ignore_file_that_is_a_directory,
    everything_ignored,
    own_rules_of_the_repository,
    links,
]


@pytest.mark.parametrize("plant", TREES, ids=lambda plant: plant.__name__)
def test_tree_as_git_lists_it(tmp_path, plant):
    plant(tmp_path)
    judge(tmp_path)


def test_a_tree_without_git_keeps_its_ignore_files(tmp_path):
    make(tmp_path, "a.log", "b/c.log", "b/d", **{".gitignore": "*.log\n"})
    tree = walked(tmp_path)
    assert paths(tree) == [".gitignore", "b/d"]
    assert tree.left_out == {"ignored": 2}


def test_repositories_side_by_side_have_their_own_rules(tmp_path):
    make(tmp_path, **{".gitignore": "a\n"})
    for name in ("one", "two"):
        repository(tmp_path / name, "a", "b", ignore="b\n" if name == "one" else "")
    repository(tmp_path / "two/inner", "c")
    tree = walked(tmp_path)
    assert paths(tree) == [".gitignore", "one/.gitignore", "one/a", "two/a", "two/b"]
    assert tree.left_out == {"ignored": 1, "nested repository": 1}
    for name in ("one", "two"):
        inside = {entry.raw.partition(b"/")[2] for entry in tree.entries if entry.path.startswith(name)}
        assert inside == git_files(tmp_path / name)


EXCLUDES = [
    (["*.pyc"], {"excluded": 1}, ["a.py", "d/b", "d/e/b", "x/b"]),
    (["d"], {"excluded": 1}, ["a.py", "a.pyc", "x/b"]),
    (["/b", "d/b"], {"excluded": 1}, ["a.py", "a.pyc", "d/e/b", "x/b"]),
    (["b", "!x/b"], {"excluded": 2}, ["a.py", "a.pyc", "x/b"]),
    (["*", "!*/", "!*.py"], {"excluded": 4}, ["a.py"]),
    (["# none", "", "["], {}, ["a.py", "a.pyc", "d/b", "d/e/b", "x/b"]),
]


@pytest.mark.parametrize(("patterns", "left_out", "left"), EXCLUDES, ids=[" ".join(row[0]) for row in EXCLUDES])
def test_exclude_patterns_win_even_over_tracked(tmp_path, patterns, left_out, left):
    repository(tmp_path, "a.py", "a.pyc", "d/b", "d/e/b", "x/b")
    git(tmp_path, "add", ".")
    tree = walked(tmp_path, Scope(exclude_patterns=tuple(patterns)))
    assert paths(tree) == left
    assert tree.left_out == left_out


def test_past_max_files_those_nearest_to_the_root_stay(tmp_path):
    make(tmp_path, "a/b/c/deep", "a/x", "a/y", "top", "z/w")
    tree = walked(tmp_path, Scope(max_files=3))
    assert paths(tree) == ["a/x", "a/y", "top"]
    assert tree.partial == "Only 3 of 5 files are indexed: those nearest to the root, then by path."
    assert walked(tmp_path, Scope(max_files=5)).partial is None


def test_past_the_limit_of_names_the_walk_ends_and_says_so(tmp_path):
    make(tmp_path, *(f"{directory}/{name}" for directory in "abc" for name in range(10)))
    tree = walked(tmp_path, names=20)
    assert len(tree.entries) == 18
    assert tree.partial == "The walk ended after 20 names; what comes later is missing."


def test_past_the_limit_of_bytes_of_paths_the_walk_ends_and_says_so(tmp_path):
    make(tmp_path, *(f"{'d' * 200}/{'e' * 200}/{number:03}{'f' * 200}" for number in range(100)))
    tree = walked(tmp_path, names=110)
    assert len(tree.entries) == NAMES_A_LOOK
    assert tree.partial == f"The walk ended after {605 * NAMES_A_LOOK:,} bytes of paths; what comes later is missing."


OUTSIDE = [
    ("a worktree", lambda git_file: git_file.write_text("gitdir: /elsewhere\n"), "its .git is a file"),
    ("a link", lambda git_file: git_file.symlink_to("elsewhere"), "its .git is a symlink"),
]


@pytest.mark.parametrize(("what", "plant", "why"), OUTSIDE, ids=[row[0] for row in OUTSIDE])
def test_a_repository_kept_elsewhere_is_not_followed(tmp_path, what, plant, why):
    make(tmp_path, "a", "b", **{".gitignore": "a\n"})
    plant(tmp_path / ".git")
    tree = walked(tmp_path)
    assert paths(tree) == [".gitignore", "b"]
    assert tree.notices[0].startswith(f"Tracked files below the root are left out where they are ignored: {why}")


def test_a_split_index_is_refused_not_half_read(tmp_path):
    repository(tmp_path, "a", "b", ignore="a\n")
    git(tmp_path, "add", "-f", ".")
    git(tmp_path, "update-index", "--split-index")
    tree = walked(tmp_path)
    assert paths(tree) == [".gitignore", "b"]
    assert "split or sparse index" in tree.notices[0]


def test_entries_say_what_they_are(tmp_path):
    make(tmp_path, "a")
    os.utime(tmp_path / "a", ns=(0, 1_700_000_000_123_456_789))
    (tmp_path / "b").symlink_to("a")
    one, other = walked(tmp_path).entries
    assert (one.path, one.size, one.modified_ns, one.target) == ("a", 1, 1_700_000_000_123_456_789, None)
    assert (other.path, other.target) == ("b", "a")
