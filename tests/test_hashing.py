"""Whether a definition is the same is told by its hash: of its lines, wherever they stand."""

import pytest
from costing import costs_under

from fledgling.worker.extractor.hashing import MOST_TIMES, hashes
from fledgling.worker.rows import SymbolRow


def hashed(text: bytes, *lines: tuple[int, int]) -> list[str | None]:
    return hashes([SymbolRow("a", "function", *each, None, None, None, "public", "a") for each in lines], text)


@pytest.mark.parametrize(
    ("text", "is_same"),
    [
        (b"\n\ndef a():\n    b\n\n    c", True),
        (b"if x:\n\n    def a():\n        b\n\n        c", True),
        (b"\n\ndef a():   \n    b\t\n  \n    c", True),
        (b"\n\ndef a():\r\n    b\r\n\r\n    c\r", True),
        (b"\n\ndef a():\n    b\n\n    C", False),
        (b"\n\ndef a():\n    b\n\n  c", False),
        (b"\n\ndef a():  # d\n    b\n\n    c", False),
    ],
    ids=["moved", "indented", "spaces-at-ends", "line-ends", "changed", "indented-inside", "comment"],
)
def test_hash_is_that_of_the_lines(text: bytes, is_same: bool) -> None:
    assert (hashed(b"def a():\n    b\n\n    c", (1, 4)) == hashed(text, (3, 6))) is is_same


def test_definitions_within_each_other_take_time_in_proportion_to_them() -> None:
    deep = [(line, 8000) for line in range(1, 8001)]
    costs_under(0.15, lambda: hashed(b"x\n" * 8000, *deep))


def test_text_is_not_hashed_without_end() -> None:
    within = hashed(b"x\n" * 1000, *[(1, 1000)] * (MOST_TIMES * 10))
    assert 0 < sum(found is not None for found in within) <= MOST_TIMES
