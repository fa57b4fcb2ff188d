"""Which of many indexes come first: those that have the words of a question in names, as far as these are looked up."""

import os
from pathlib import Path

import pytest
from forking import fledgling
from msgspec.structs import replace

from fledgling.broker.fleet.pack import packed
from fledgling.messages.generations import CODE
from fledgling.messages.questions import Search, Sift
from fledgling.security import memory_file
from fledgling.security import profile as profiles
from fledgling.worker.store import database
from fledgling.worker.store.shelf import Shelf, stored_in
from fledgling.worker.tools.request import OneOfMany, Request
from fledgling.worker.tools.sift import NAMED, sift

TEXTS = {"a": 'said = "zebra"\n', "b": "def zebra(): pass\n"}


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two repositories with a word in their text, of which one has it in a name."""
    above, out = tmp_path_factory.mktemp("repositories"), tmp_path_factory.mktemp("shards")
    for name, text in TEXTS.items():
        (above / name).mkdir()
        (above / name / "main.py").write_text(text)
    done = fledgling("fleet", "shard", *(str(above / name) for name in TEXTS), "--out", str(out))
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize(("before", "first"), [(1, 1), (NAMED - 1, NAMED - 1), (NAMED, 0)])
def test_names_are_looked_up_in_the_first_of_very_many_alone(shards: Path, before: int, first: int) -> None:
    profile = profiles.load("fledgling-core")
    pack = packed(str(shards), profile)
    try:
        stored = stored_in(pack.fd, pack.table_bytes)
        a, b = stored.indexes
        with database.start() as db:
            shelf = Shelf(memory_file.mapped(pack.fd), replace(stored, indexes=[*[a] * before, b]), db)
            of = shelf.snapshots[0]
            assert of
            opened = OneOfMany(profile, shelf.generations[0])
            request = Request(None, of.signatures, of.blocks, of.outlines, opened, CODE, shelf=shelf)
            found = sift(request, Sift(Search("zebra", mode="meaning")))
    finally:
        os.close(pack.fd)
    assert found.indexes[0] == first
    assert sorted(found.indexes) == [*range(before + 1)]
