"""Changes laid over a sealed index: every answer is that of an index built anew from the changed tree."""

from pathlib import Path
from random import Random

import pytest
from changing import Facts, Index, changes, edit, facts, indexed, plant, question, update

WHOLE = "fledgling-analyst"


def compare(random: Random, live: Index, fresh: Index, paths: list[str], count: int) -> None:
    """Ask both the same."""
    for _ in range(count):
        asked = question(random, paths)
        assert live.pages(asked) == fresh.pages(asked), asked


def paths_of(*known: Facts) -> list[str]:
    return sorted({path for some in known for path in some.parts})


def check(root: Path, seed: int, *, files: int, edits: list[int], count: int) -> None:
    """Build an index, change the tree in steps, and compare what is laid over the index with a new one at each."""
    random = Random(seed)
    plant(root, random, files)
    base = [indexed(root, WHOLE), indexed(root, "fledgling-core")]
    old = facts(base[0])
    for generation, some in enumerate(edits, 1):
        edit(root, random, some)
        fresh = [indexed(root, WHOLE), indexed(root, "fledgling-core")]
        new = facts(fresh[0])
        for live, anew in zip(base, fresh, strict=True):
            said = changes(old, new, whole=live.gate is not None)
            assert live.snapshots.add(update(generation, said))
            compare(random, live, anew, paths_of(old, new), count)
            anew.close()
        old = new
    for live in base:
        live.close()


def test_answers_are_those_of_an_index_built_anew(tmp_path: Path) -> None:
    check(tmp_path, 0, files=25, edits=[2, 12], count=40)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 26))
def test_answers_are_those_of_an_index_built_anew_whatever_changes(tmp_path: Path, seed: int) -> None:
    check(tmp_path, seed, files=60, edits=[1, 3, 20, 40], count=100)
