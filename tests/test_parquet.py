"""Parquet files of ours, read by DuckDB, which is the judge."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from fledgling.broker.reporting.parquet import written

TABLES: dict[str, tuple[list[Any], str, list[Any]]] = {
    "whole numbers": ([1, None, -(2**63), 2**63 - 1], "BIGINT", [1, None, -(2**63), 2**63 - 1]),
    "numbers": ([1, None, 2.5], "DOUBLE", [1.0, None, 2.5]),
    "truth": ([True, None, False] * 9, "BOOLEAN", [True, None, False] * 9),
    "text": (["", None, "a\x1b\u00e9\n\U0001f600"], "VARCHAR", ["", None, "a\x1b\u00e9\n\U0001f600"]),
    "nothing": ([None], "VARCHAR", [None]),
    "no rows": ([], "VARCHAR", []),
    "too large": ([2**63], "VARCHAR", [str(2**63)]),
    "of two types": ([1, "a", True], "VARCHAR", ["1", "a", "true"]),
    "nested": ([[1, None], {"a": "b"}], "VARCHAR", ["[1, null]", '{"a": "b"}']),
    "many": ([*range(10_000)], "BIGINT", [*range(10_000)]),
}


@pytest.mark.parametrize("name", TABLES)
def test_column_is_what_it_was(name: str, tmp_path: Path, engine: duckdb.DuckDBPyConnection) -> None:
    values, kind, expected = TABLES[name]
    file = tmp_path / "x.parquet"
    file.write_bytes(written(["x", "x", "number"], [[value, value, 7] for value in values]))
    read = engine.sql(f"SELECT * FROM '{file}'")
    assert (read.columns, [str(each) for each in read.types[:2]]) == (["x", "x_2", "number"], [kind, kind])
    assert read.fetchall() == [(value, value, 7) for value in expected]


def test_many_columns(tmp_path: Path, engine: duckdb.DuckDBPyConnection) -> None:
    file = tmp_path / "x.parquet"
    file.write_bytes(written([f"c{number}" for number in range(300)], [[*range(300)]]))
    assert engine.sql(f"SELECT * FROM '{file}'").fetchall() == [(*range(300),)]
