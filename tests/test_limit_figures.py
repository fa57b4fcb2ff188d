"""The limits of security/README.md have the figures of the code: tests of what happens there may set others."""

import pkgutil
import re
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
SAID = re.search(
    r"### Limits\n(.*?)So the whole is", (HERE.parent / "security/README.md").read_text("utf-8"), re.DOTALL
)[1]
ROWS = [row.removeprefix("| ") for row in SAID.splitlines() if row.startswith("| ")]
ROWS = [row for row in ROWS if not row.startswith(("limit | ", "who | "))]
FIGURES: dict[str, dict[str, str]] = tomllib.loads((HERE / "limits.toml").read_text("utf-8"))
UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "ms": Fraction(1, 1000)}

pytestmark = pytest.mark.quick


def constant(name: str) -> Any:
    """A constant by module and name; a number in brackets is a place in a tuple."""
    module, _, own = name.partition("[")[0].rpartition(".")
    found = getattr(pkgutil.resolve_name(module), own)
    for place in re.findall(r"\[(\d+)\]", name):
        found = found[int(place)]
    return found


def test_every_limit_is_here() -> None:
    assert len(ROWS) == len(FIGURES)
    rows = {begin: sum(row.startswith(begin) for row in ROWS) for begin in FIGURES}
    assert {begin: count for begin, count in rows.items() if count != 1} == {}


@pytest.mark.parametrize("begin", [begin for begin, figures in FIGURES.items() if figures])
def test_a_limit_is_the_one_of_the_code(begin: str) -> None:
    row = next(row for row in ROWS if row.startswith(begin))
    for figure, name in FIGURES[begin].items():
        assert re.search(rf"(?<![\w.,]){re.escape(figure)}(?![\d.,]*\d)", row), f"{figure} is not in the row"
        number, unit = re.search(r"([\d,./]+) ?(\w*)", figure).groups()
        assert float(Fraction(number.replace(",", "")) * UNITS.get(unit, 1)) == constant(name), f"{figure}: {name}"
