"""The sums by language of docs/graph.md are those of the rows of docs/graph/judged.md that were new."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
ROW = re.compile(r"\| ([\d,]+) \| (?:[\d.]+, )?([\d.]+) \| ([\d,]+) of ([\d,]+)[^|]* \|$", re.MULTILINE)
NEW = re.compile(r"^\| (?:new|[^|]*, new)\b[^\n]*", re.MULTILINE)

pytestmark = pytest.mark.quick


def figures(row: str) -> tuple[int, float, int, int]:
    """Calls or edges, the share that is found, and wrong ones of how many."""
    found = ROW.search(row)
    assert found, row
    calls, share, wrong, certain = (figure.replace(",", "") for figure in found.groups())
    return int(calls), float(share), int(wrong), int(certain)


def test_sums_are_those_of_the_rows() -> None:
    _, *judged = re.split(r"^## (.+)$", (DOCS / "graph/judged.md").read_text("utf-8"), flags=re.MULTILINE)
    pages = dict(zip(judged[::2], judged[1::2], strict=True))
    table = (DOCS / "graph.md").read_text("utf-8").partition("| language | calls or edges |")[2].split("\n\n")[0]
    sums = {row.split(" | ")[0].strip("| ").partition(" (")[0]: figures(row) for row in table.split("\n")[2:]}
    assert {language.replace(" and ", ", ") for language in pages} >= {*sums}
    assert len(sums) == 10
    for language, page in pages.items():
        rows = [figures(row) for row in NEW.findall(page)]
        if rows:
            calls, _, wrong, certain = (sum(column) for column in zip(*rows, strict=True))
            share = sum(row[0] * row[1] for row in rows) / calls
            said = sums[language.replace(" and ", ", ")]
            assert (calls, wrong, certain) == (said[0], said[2], said[3]), language
            assert abs(share - said[1]) <= 0.0055, (language, share)
