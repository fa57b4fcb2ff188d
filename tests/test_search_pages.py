"""Pages of a search that stops counting early: nothing is lost or repeated, and a total is never too large."""

import os

import duckdb
import pytest

from fledgling.messages.answers import Hits
from fledgling.messages.control import Generation, Images, Open
from fledgling.messages.generations import CODE
from fledgling.messages.questions import Search
from fledgling.security import memory_file
from fledgling.security import profile as profiles
from fledgling.worker.files.text import cut
from fledgling.worker.store.database import SQL
from fledgling.worker.store.ngram_writer import Signer, signed_here
from fledgling.worker.store.ngrams import Signatures
from fledgling.worker.store.text import Block, Blocks, BlockWriter, File
from fledgling.worker.tools import search
from fledgling.worker.tools.request import Request

FILES = {f"{name}.txt": "\n".join(f"{name} {n} needle" * (n % 3) + "x" * 300 for n in range(70)) for name in "abcde"}
HITS = [(path, n) for path, text in FILES.items() for n, line in enumerate(text.split("\n"), 1) if "needle" in line]


def request() -> Request:
    """An index of FILES, in the tables and the file that search reads."""
    db = duckdb.connect()
    db.execute("CREATE SCHEMA image")
    db.execute(SQL["schema"])
    db.execute("USE image")
    images = Images(*(memory_file.create() for _ in Images.__struct_fields__))
    signer, writer = Signer(images.signatures, signed_here), BlockWriter(images.blocks)
    blocks = [Block(path, *piece) for path, text in FILES.items() for piece in cut(text.encode())]
    signer.add(blocks)
    signer.finish()
    writer.add(blocks)
    writer.finish(File(path, None, len(text), 70, None) for path, text in FILES.items())
    opened = Open(os.getpid(), images, profiles.load("fledgling-core"), Generation(CODE, (), has_content=True))
    return Request(
        db,
        Signatures(memory_file.mapped(images.signatures)),
        Blocks(memory_file.mapped(images.blocks)),
        None,
        opened,
        opened.generation.number,
    )


@pytest.mark.parametrize("query", ["Needle", "ne"])
@pytest.mark.parametrize("path", [None, "[bd].txt"])
def test_pages(monkeypatch: pytest.MonkeyPatch, query: str, path: str | None) -> None:
    monkeypatch.setattr(search, "COUNTED_BLOCKS", 3)
    expected = [(at, line) for at, line in HITS if path is None or at in ("b.txt", "d.txt")]
    there = request()
    found, is_exact = [], []
    cursor: str | None = "0"
    while cursor:
        page = search.search(there, Search(query, path=path, context=1, max_results=19, cursor=cursor))
        assert isinstance(page, Hits)
        found += [(file.path, hit) for file in page.files for hit in file.hits]
        assert len(found) <= page.total <= len(expected)
        assert page.total == len(expected) or page.total_is_lower_bound
        is_exact.append(not page.total_is_lower_bound)
        cursor = str(page.next.arguments["cursor"]) if page.next else None
    assert found == expected
    assert not is_exact[0]
    assert is_exact[-1]


def test_what_is_very_frequent_is_not_counted_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "COUNTED_HITS", 20)
    page = search.search(request(), Search("needle", context=0, max_results=10))
    assert isinstance(page, Hits)
    assert page.total_is_lower_bound
    assert 30 < page.total < 60 < len(HITS)
