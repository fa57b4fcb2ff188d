"""How much of a file is looked at for the definitions that are meant: each limit, just kept and just broken."""

from collections.abc import Callable
from pathlib import Path

import pytest
from running import fronted
from trees import make

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


@pytest.mark.parametrize("name", LIMITS)
async def test_so_much_of_a_file_is_looked_at(name: str, tmp_path: Path) -> None:
    text, most = LIMITS[name]
    found = [await named(tmp_path / str(many), text(many)) for many in (most, most + 1)]
    assert [("meant" in each) for each in found] == [True, False], found


async def named(root: Path, text: str) -> list[str]:
    """Return the definitions that an answer names of a file."""
    async with fronted(make(root, **{"zoo.py": text})) as (front, indexing):
        await indexing.built()
        found = await front.call("search", {"query": QUESTION, "mode": "meaning"})
    assert isinstance(found, Ranking), found
    [passage] = found.files
    return [(name or "").rpartition(".")[2] for name in (passage.name, *(name for _, name in passage.others))]


async def test_definitions_of_the_first_files_have_a_say(tmp_path: Path) -> None:
    """What says it by a definition comes to be the first from the last place that is looked at, but not from behind."""
    firsts = []
    for many in (DEFINED, DEFINED + 1):
        others = {f"kept{number}.py": "print('purple walrus', 'purple walrus')\n" for number in range(many - 1)}
        async with fronted(make(tmp_path / str(many), **others, **{"zoo.py": SAID})) as (front, indexing):
            await indexing.built()
            found = await front.call("search", {"query": QUESTION, "mode": "meaning"})
        assert isinstance(found, Ranking), found
        firsts.append(found.files[0].path)
    assert firsts == ["zoo.py", "kept0.py"]
