"""Who uses what, as an agent is told: nothing that is not so, and nothing kept back without a word."""

import tomllib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from running import PATIENCE, fronted

from fledgling.broker.front import Front
from fledgling.messages.answers import Related, Relations
from fledgling.messages.generations import GRAPH

ROWS = tomllib.loads((Path(__file__).parent / "relations.toml").read_text())["case"]
CASES = {row["name"]: row for row in ROWS}
PLACES = {name: f"c{number:02}" for number, name in enumerate(CASES)}

pytestmark = pytest.mark.anyio


def plant(root: Path) -> None:
    for name, case in CASES.items():
        for path, text in case["files"].items():
            file = root / PLACES[name] / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.replace("DIR", PLACES[name]))


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def front(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Front]:
    root = tmp_path_factory.mktemp("relations")
    plant(root)
    async with fronted(root) as (front, indexing):
        assert await indexing.is_sealed(GRAPH, PATIENCE)
        yield front


def shown(related: Related) -> str:
    parts = [related.name or "-", "" if related.how == "call" else related.how, related.confidence or ""]
    return " ".join(filter(None, [*parts, str(related.distance) if related.distance > 1 else ""]))


@pytest.mark.parametrize("name", CASES)
async def test_uses_are_those_that_there_are(front: Front, name: str) -> None:
    case, place = CASES[name], PLACES[name]
    found: Any = await front.call("symbols", {"path": place, **case["ask"]})
    assert isinstance(found, Relations), found
    uses = [(file.path.removeprefix(f"{place}/"), related) for file in found.files for related in file.related]
    assert [f"{path}:{related.line} {shown(related)}" for path, related in uses] == case["found"]
    assert case.get("account", "").replace("DIR", place) in found.account
    assert case.get("note", "") in (found.note or "")
