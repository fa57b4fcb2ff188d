"""Rows of one test: each is checked, and each that fails is named."""

import pytest
from tables import every_row


def test_each_row_that_fails_is_named_and_the_others_are_checked(tmp_path):
    checked = []

    rows = [(1, False), (2, False), (3, False), (4, True), (6, False)]

    @every_row("number, is_even", rows, ids=["one", "two", "three", "four", "six"])
    def test(place, number, is_even):
        checked.append((place, number))
        assert (number % 2 == 0) == is_even
        if number == 3:
            pytest.skip("a row alone cannot be")
        if number == 6:
            pytest.fail("it is not reached")

    with pytest.raises(BaseExceptionGroup, match="3 of 5 rows") as failed:
        test(place=tmp_path)
    assert [each.__notes__ for each in failed.value.exceptions] == [
        [f"in the row {n}"] for n in ("two", "three", "six")
    ]
    assert checked == [(tmp_path, number) for number, _ in rows]
