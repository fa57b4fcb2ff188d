"""How much of a file is looked at for the definitions that are meant: each limit, just kept and just broken."""

from collections.abc import AsyncIterator, Callable

import pytest
from running import fronted
from trees import make

from fledgling.broker.front import Front
from fledgling.messages.answers import Ranking
from fledgling.worker.ranking.definitions import (
    ABOVE,
    DEEP,
    LINE_BYTES,
    MOST_BLOCKS,
    MOST_DEFINITIONS,
    MOST_LOOKS,
    NEXT,
)
from fledgling.worker.ranking.features import BLOCK_BYTES
from fledgling.worker.ranking.rank import DEFINED

pytestmark = pytest.mark.anyio

QUESTION = "purple walrus"
KEPT = "print('purple walrus', 'purple walrus')\n"
SAID = "def meant():\n    return 'purple walrus'\n"


def above(many: int) -> str:
    return "# a purple walrus" + "\n" * many + "def meant():\n    pass\n"


def behind(many: int) -> str:
    return "# a purple walrus\n" + "import os\n" * (many - 1) + "def meant():\n    pass\n"


def indented(many: int) -> str:
    return "class Zoo:\n" + " " * many + "# a purple walrus\n    def meant(self):\n        pass\n"


def deep(many: int) -> str:
    inner = "".join(f"{' ' * depth}def inner{depth}():\n" for depth in range(1, many))
    return f"def meant():\n{inner}{' ' * many}return 'purple walrus'\n"


def definitions(many: int) -> str:
    return "def other(): pass\n" * (many - 1) + SAID


def looks(many: int) -> str:
    return "'" + "purple walrus " * (many - 1) + "'\n" + SAID


def blocks(many: int) -> str:
    return ("'purple walrus'\n" + "#" * BLOCK_BYTES * 2 + "\n") * (many - 1) + SAID


# What a file says a question with, so many times, and how many times are looked at.
LIMITS: dict[str, tuple[Callable[[int], str], int]] = {
    "lines between a comment and a definition": (above, ABOVE),
    "symbols between a comment and a definition": (behind, NEXT),
    "bytes before a comment": (indented, LINE_BYTES - 1),
    "definitions around a line": (deep, DEEP),
    "definitions of a file": (definitions, MOST_DEFINITIONS),
    "places of a word in a block": (looks, MOST_LOOKS),
    "blocks of a file": (blocks, MOST_BLOCKS),
}


@pytest.fixture(scope="module")
async def front(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Front]:
    """All files in one project: each is asked for by its path."""
    files = {
        f"{list(LIMITS).index(name)}/{many}.py": text(many)
        for name, (text, most) in LIMITS.items()
        for many in (most, most + 1)
    }
    for many in (DEFINED, DEFINED + 1):
        kept = {f"first{many}/kept{number}.py": KEPT for number in range(many - 1)}
        files |= {**kept, f"first{many}/zoo.py": SAID}
    async with fronted(make(tmp_path_factory.mktemp("limits"), **files)) as (front, indexing):
        await indexing.built()
        yield front


@pytest.mark.parametrize("name", LIMITS)
async def test_so_much_of_a_file_is_looked_at(name: str, front: Front) -> None:
    most = LIMITS[name][1]
    found = [await named(front, f"{list(LIMITS).index(name)}/{many}.py") for many in (most, most + 1)]
    assert [("meant" in each) for each in found] == [True, False], found


async def named(front: Front, path: str) -> list[str]:
    """Return the definitions that an answer names of a file."""
    found = await front.call("search", {"query": QUESTION, "path": path, "mode": "meaning"})
    assert isinstance(found, Ranking), found
    [passage] = found.files
    return [(name or "").rpartition(".")[2] for name in (passage.name, *(name for _, name in passage.others))]


async def test_definitions_of_the_first_files_have_a_say(front: Front) -> None:
    """What says it by a definition comes to be the first from the last place that is looked at, but not from behind."""
    firsts = []
    for many in (DEFINED, DEFINED + 1):
        found = await front.call("search", {"query": QUESTION, "path": f"first{many}", "mode": "meaning"})
        assert isinstance(found, Ranking), found
        firsts.append(found.files[0].path)
    assert firsts == [f"first{DEFINED}/zoo.py", f"first{DEFINED + 1}/kept0.py"]
