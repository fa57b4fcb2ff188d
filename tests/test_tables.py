"""Rows of one test: each is checked, and each that fails is named."""

import pytest
from tables import every_row


def test_each_row_that_fails_is_named_and_the_others_are_checked(tmp_path):
    checked = []

    @every_row("number, is_even", [(1, False), (2, False), (4, True), (6, False)], ids=["one", "two", "four", "six"])
    def test(place, number, is_even):
        checked.append((place, number))
        assert (number % 2 == 0) == is_even
        if number == 6:
            pytest.fail("it is not reached")

    with pytest.raises(ExceptionGroup, match="2 of 4 rows") as failed:
        test(place=tmp_path)
    assert [each.__notes__ for each in failed.value.exceptions] == [["in the row two"], ["in the row six"]]
    assert checked == [(tmp_path, number) for number in (1, 2, 4, 6)]
