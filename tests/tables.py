"""Tables: in a file, a test for each row; of many cheap rows, one test of them all, which names each that fails."""

import inspect
import tomllib
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

FAILED = (Exception, pytest.fail.Exception, pytest.skip.Exception)


def cases(table: Path) -> list[Any]:
    """The rows of a table in a file, for `pytest.mark.parametrize`, each by its name."""
    return [pytest.param(case, id=case["name"]) for case in tomllib.loads(table.read_text("utf-8"))["case"]]


def every_row(names: str, rows: Iterable[Any], ids: Callable[[Any], Any] | Iterable[Any] = repr) -> Callable[..., Any]:
    """Like `pytest.mark.parametrize`, for rows that cost less than what pytest does for a test.

    A row that skips has failed: the test is one, and cannot be skipped in part.

    >>> @every_row("text", ["", "a"])
    ... def test_a_text_is_lower(text): ...
    """
    names_of = [name.strip() for name in names.split(",")]
    table = [row if len(names_of) > 1 else (row,) for row in rows]
    said = [ids(row[0] if len(row) == 1 else row) for row in table] if callable(ids) else [*ids]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)

        @wraps(test)
        def run(**fixtures: Any) -> None:
            wrong: list[BaseException] = []
            for name, row in zip(said, table, strict=True):
                try:
                    test(**fixtures, **dict(zip(names_of, row, strict=True)))
                except FAILED as problem:
                    problem.add_note(f"in the row {name}")
                    wrong.append(problem)
            if wrong:
                raise BaseExceptionGroup(f"{len(wrong)} of {len(table)} rows", wrong)

        kept = [parameter for name, parameter in signature.parameters.items() if name not in names_of]
        run.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return run

    return decorate
