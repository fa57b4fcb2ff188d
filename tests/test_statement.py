"""The statement gate: what it must let pass, what it must stop, and what it may cost.

Tables: queries/admitted.toml, attacks/sql.toml. Both are asked of a real DuckDB that also holds a table nobody may see.
"""

import json
import subprocess
import sys
import tomllib
from bisect import bisect_left
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import msgspec
import pytest
from costing import costs_under
from tables import every_row

from fledgling.messages.questions import MAX_SQL_CHARS, Query
from fledgling.worker.gate import denied, functions, syntax, syntax_tree
from fledgling.worker.gate.denied import Denied
from fledgling.worker.gate.parse_cost import check_cost, check_text
from fledgling.worker.gate.statement import Gate

HERE = Path(__file__).parent
TABLES = frozenset({"files", "content", "symbols", "imports"})
SCOPE = frozenset({(name,) for name in TABLES} | {("main", name) for name in TABLES})

SCHEMA = """
CREATE TABLE files(path VARCHAR, absolute_path VARCHAR, directory VARCHAR, filename VARCHAR, extension VARCHAR,
  language VARCHAR, size_bytes BIGINT, line_count INTEGER, modified_at TIMESTAMP, is_binary BOOLEAN,
  is_generated BOOLEAN, content_hash VARCHAR, skip_reason VARCHAR);
CREATE TABLE content(path VARCHAR, line_number INTEGER, line_text VARCHAR, indent_level INTEGER, is_blank BOOLEAN,
  is_comment BOOLEAN);
CREATE TABLE symbols(path VARCHAR, name VARCHAR, kind VARCHAR, line_start INTEGER, line_end INTEGER,
  parent_name VARCHAR, signature VARCHAR, docstring VARCHAR, language VARCHAR, visibility VARCHAR,
  qualified_name VARCHAR);
CREATE TABLE imports(path VARCHAR, line_number INTEGER, module VARCHAR, alias VARCHAR, is_relative BOOLEAN,
  is_stdlib BOOLEAN, resolved_path VARCHAR, imported_names VARCHAR[]);
INSERT INTO files VALUES
  ('src/app.py', NULL, 'src', 'app.py', 'py', 'python', 900, 6, '2026-01-02 03:04:05', false, false, 'h1', NULL),
  ('src/util.py', NULL, 'src', 'util.py', 'py', 'python', 120, 3, '2025-12-30', false, false, 'h2', NULL),
  ('db/schema.sql', NULL, 'db', 'schema.sql', 'sql', 'sql', 4000, 2, '2025-06-01', false, true, 'h2', NULL),
  ('logo.png', NULL, '', 'logo.png', 'png', NULL, 20000, NULL, '2024-01-01', true, false, NULL, 'binary');
INSERT INTO content VALUES
  ('src/app.py', 1, 'from util import Path, helper', 0, false, false),
  ('src/app.py', 2, '# TODO: Error', 0, false, true),
  ('src/app.py', 3, '', 0, true, false),
  ('src/app.py', 4, 'def parse(x):', 0, false, false),
  ('src/app.py', 5, '    raise ValueError(''no'')', 1, false, false),
  ('src/app.py', 6, 'é', 0, false, false),
  ('src/util.py', 1, 'import os', 0, false, false),
  ('src/util.py', 2, 'class Util:', 0, false, false),
  ('src/util.py', 3, '    def get_x(self): pass', 1, false, false);
INSERT INTO symbols VALUES
  ('src/app.py', 'parse', 'function', 4, 5, NULL, 'def parse(x)', 'Parses.', 'python', 'public', 'app.parse'),
  ('src/app.py', 'Main', 'class', 6, 6, NULL, NULL, NULL, 'python', 'public', 'app.Main'),
  ('src/util.py', 'Util', 'class', 2, 3, NULL, NULL, NULL, 'python', 'public', 'util.Util'),
  ('src/util.py', 'get_x', 'method', 3, 3, 'Util', NULL, NULL, 'python', 'private', 'util.Util.get_x');
INSERT INTO imports VALUES
  ('src/app.py', 1, 'util', NULL, true, false, 'src/util.py', ['Path', 'helper']),
  ('src/util.py', 1, 'os', NULL, false, true, NULL, []);
"""


def rows(file: str) -> dict:
    return tomllib.loads((HERE / file).read_text())


ADMITTED = {
    f"{group}/{name}": sql for group, named in rows("queries/admitted.toml").items() for name, sql in named.items()
}
ATTACKS = rows("attacks/sql.toml")


@pytest.fixture(scope="module")
def gate():
    return Gate()


@pytest.fixture(scope="module")
def index():
    """The four tables; only read."""
    with duckdb.connect(config={"threads": 1, "async_threads": 0}) as connection:
        connection.execute(SCHEMA)
        yield connection


def asked(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[list[str], list[str]]:
    """Column names and rows, as text: NaN equals itself there."""
    cursor = connection.execute(sql)
    return [column[0] for column in cursor.description], [repr(row) for row in cursor.fetchall()]


# ---- what must pass --------------------------------------------------------------------------------------------------


@every_row("sql", ADMITTED.values(), ids=ADMITTED)
def test_an_ordinary_query_passes_and_its_restatement_answers_the_same(gate, index, sql):
    text = gate.admit(sql, TABLES).text
    names, written = asked(index, sql)
    assert asked(index, text) == (names, written)
    assert gate.admit(text, TABLES)


# Which tables a statement reads: what merely holds their names reads none.
READ = {
    "FROM files": "files",
    "FROM main.FILES JOIN (SELECT path FROM content) USING (path)": "content files",
    "SELECT 'symbols' AS imports, path FROM files WHERE path LIKE '%content%' -- of imports": "files",
    "SELECT path IN (SELECT path FROM symbols) FROM files ORDER BY (SELECT 1 FROM imports)": "files imports symbols",
    "WITH a AS (FROM imports), files AS (FROM a) FROM files": "files imports",  # one too many is no harm
    "WITH RECURSIVE a AS (FROM files UNION FROM a) FROM a": "files",
    "SUMMARIZE symbols": "symbols",
    "DESCRIBE content": "content",
    "PIVOT symbols ON kind IN ('class') USING count(*)": "symbols",
    "SELECT 1": "",
}


@pytest.mark.parametrize("sql", READ)
def test_the_tables_are_those_that_are_read(gate, sql):
    assert gate.admit(sql, TABLES).tables == {*READ[sql].split()}


def test_every_function_on_the_list_can_be_called(gate):
    calls = [f'"{name}"(path)' for name in sorted(functions.FUNCTIONS - functions.BOUNDED.keys())]
    for first in range(0, len(calls), 50):
        gate.admit(f"SELECT {', '.join(calls[first : first + 50])} FROM files", TABLES)


def test_a_profile_view_may_read_only_what_it_is_given(gate):
    assert gate.admit("SELECT * FROM files WHERE NOT is_generated", frozenset({"files"}))
    with pytest.raises(Denied, match="content is not a table here"):
        gate.admit("SELECT * FROM content", frozenset({"files"}))


# ---- what must not ---------------------------------------------------------------------------------------------------


def assert_denied(gate: Gate, sql: str, says: str = "") -> None:
    """`sql` is refused in a line that can be shown anywhere and holds `says`."""
    with pytest.raises(Denied) as refused:
        gate.admit(sql, TABLES)
    words = f"{refused.value.reason} {refused.value.next_step}"
    assert refused.value.reason
    assert refused.value.next_step
    assert words.isprintable()
    assert len(words) < 500
    assert says in words


@pytest.mark.parametrize("kind", ["expression", "source"])
def test_every_position_lets_something_harmless_pass(gate, kind):
    harmless = {"expression": "NULL", "source": "(SELECT 'x' AS path, 'y' AS name)"}[kind]
    for position in ATTACKS["positions"][kind].values():
        gate.admit(position.format(harmless), TABLES)


PAYLOADS = [(kind, name) for kind, named in ATTACKS["payloads"].items() for name in named]


@every_row("kind, name", PAYLOADS)
def test_a_payload_passes_in_no_position(gate, kind, name):
    """Every payload in a sixth of the positions, every position with a sixth of the payloads."""
    positions = list(ATTACKS["positions"][kind].values())
    for position in positions[PAYLOADS.index((kind, name)) % 6 :: 6]:
        assert_denied(gate, position.format(ATTACKS["payloads"][kind][name]))


@pytest.mark.long
@pytest.mark.parametrize(("kind", "name"), PAYLOADS)
def test_a_payload_passes_in_no_position_at_all(gate, kind, name):
    for position in ATTACKS["positions"][kind].values():
        assert_denied(gate, position.format(ATTACKS["payloads"][kind][name]))


@every_row("row", ATTACKS["statement"], ids=lambda row: row["name"])
def test_a_hostile_statement_is_refused_in_words_of_use(gate, row):
    assert_denied(gate, row["sql"], row.get("says", ""))


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.long)])
def test_no_function_off_the_list_can_be_called_anywhere(gate, every):
    calls = ("SELECT path.{}(1) FROM files", "SELECT * FROM {}(1)", "SELECT {}(1) OVER ()")
    for number, name in enumerate(sorted(functions.REFUSED_FUNCTIONS)):
        for call in calls[number % every :: every]:
            assert_denied(gate, call.format(f'"{name}"'))


def test_text_that_is_not_utf8_or_too_long_is_not_parsed(gate):
    assert_denied(gate, "SELECT '\ud800'", "surrogate")
    assert_denied(gate, "SELECT 1" + " " * MAX_SQL_CHARS, "longer")
    gate.admit("SELECT 1" + " " * (MAX_SQL_CHARS - 8), TABLES)


def test_text_that_is_too_long_is_no_argument() -> None:
    assert msgspec.convert({"sql": "x" * MAX_SQL_CHARS}, Query)
    with pytest.raises(msgspec.ValidationError, match=f"length <= {MAX_SQL_CHARS}"):
        msgspec.convert({"sql": "x" * (MAX_SQL_CHARS + 1)}, Query)


# ---- what DuckDB may change ------------------------------------------------------------------------------------------


def test_every_function_of_duckdb_is_reviewed(engine):
    offered = {
        denied.folded(name) for (name,) in engine.execute("SELECT function_name FROM duckdb_functions()").fetchall()
    }
    unreviewed = offered - functions.FUNCTIONS - functions.REFUSED_FUNCTIONS.keys()
    assert not unreviewed, f"new in duckdb {duckdb.__version__}: sort them into functions.txt or denied_functions.txt"
    assert offered >= functions.FUNCTIONS
    assert not functions.FUNCTIONS & functions.REFUSED_FUNCTIONS.keys()
    assert offered >= functions.BOUNDED.keys() | functions.TABLE_FUNCTIONS


def test_the_function_lists_are_sorted_and_say_why():
    lines = (functions.REVIEW / "functions.txt").read_text().splitlines()
    assert lines == sorted(set(lines))
    assert all(why and remedy for why, remedy in functions.REFUSED_FUNCTIONS.values())


def test_every_type_of_duckdb_is_reviewed(engine):
    offered = {name.lower() for (name,) in engine.execute("SELECT type_name FROM duckdb_types()").fetchall()}
    unoffered = {"bignum", "geometry", "parquet_variant", "timestamptz_ns", "type", "variant", "varint"}
    assert syntax.TYPES <= offered <= syntax.TYPES | unoffered


def test_every_bare_word_that_duckdb_calls_is_known(engine):
    names = {name for (name,) in engine.execute("SELECT keyword_name FROM duckdb_keywords()").fetchall()}
    names |= syntax.VALUE_NAMES
    names |= {name for (name,) in engine.execute("SELECT function_name FROM duckdb_functions()").fetchall()}
    called = set()
    for name in names:
        try:
            engine.execute(f'SELECT "{name}"')  # not fetched: 2.0.0 needs pytz for a time with a zone
        except duckdb.BinderException:
            continue
        called.add(name)
    assert called == syntax.VALUE_NAMES


def nodes(tree: object) -> Iterator[dict]:
    """Every object of a JSON document."""
    pending = [tree]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            yield value
            pending += value.values()
        elif isinstance(value, list):
            pending += value


def changes(node: dict):
    """What a later DuckDB may do to a node: a field more, a field less, a word or kind of value not seen before."""
    yield {**node, "new_field": None}
    for field, value in node.items():
        yield {other: node[other] for other in node if other != field}
        yield {**node, field: {"new": "node"}}
        if isinstance(value, str) and value in syntax.WORDS and field != "alias":
            yield {**node, field: "NEW_WORD"}
        if value is None or value is False:
            yield {**node, field: [{"type": "NEW_NODE"}]}


def test_whatever_is_new_in_a_tree_is_refused(gate, engine):
    """Each kind of node of all admitted queries, changed in each way: what DuckDB may add later is denied."""
    seen = set()
    for sql in ADMITTED.values():
        tree = json.loads(engine.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()[0])
        for node in nodes(tree):
            kind = (str(node.get("class")), str(node.get("type")), *node)
            if kind in seen or "key" in node:  # `key` is free text: the name of a CTE or of a replaced column
                continue
            seen.add(kind)
            original = dict(node)
            for changed in changes(original):
                node.clear()
                node.update(changed)
                if (removed := original.keys() - changed.keys()) and removed <= syntax.NEWER:
                    continue  # a tested release has no such field
                with pytest.raises((Denied, LookupError, TypeError, AttributeError)):
                    syntax_tree.check(tree, SCOPE)
            node.clear()
            node.update(original)
            syntax_tree.check(tree, SCOPE)
    assert len(seen) > 60


# ---- what it may cost ------------------------------------------------------------------------------------------------

# What DuckDB's parser suffers from: 16 KiB each, or as much as the gate parses.
BOMBS = {
    "brackets, open": "SELECT " + "(" * 16000,
    "brackets, closed": "SELECT " + "(" * 8000 + "1" + ")" * 8000,
    "brackets in FROM": "FROM " + "(" * 8000 + "files" + ")" * 8000,
    "brackets, as deep as allowed": "SELECT " + ",".join(["(" * 40 + "1" + ")" * 40] * 60),
    "brackets in FROM, as deep as allowed": "FROM " + ",".join(["(" * 40 + "files" + ")" * 40] * 60),
    "list brackets": "SELECT " + "[" * 8000 + "]" * 8000,
    "structs": "SELECT " + "{'a':" * 3000,
    "not": "SELECT " + "NOT " * 4000 + "true",
    "minus": "SELECT " + "- " * 8000 + "1",
    "case, nested": "SELECT " + "CASE WHEN 1 THEN " * 900,
    "case, in operands": "SELECT " + "CASE " * 30 + "1" + " WHEN 1 THEN 2 WHEN 3 THEN 4 END" * 30,
    "case, many whens": "SELECT CASE " + "WHEN 1 THEN 2 " * 1100 + "END",
    "case, long operand": "SELECT CASE " + "a + " * 500 + "a " + "WHEN 1 THEN 2 " * 900 + "END",
    "casts": "SELECT 1" + "::INT" * 3200,
    "casts, beside": "SELECT " + ",".join(["a::INT"] * 1200),
    "unions": "SELECT 1" + " UNION SELECT 1" * 1050,
    "in list": "SELECT 1 IN (" + ",".join(["1"] * 8000) + ")",
    "in list, as long as allowed": "SELECT 1 IN (" + ",".join(["1"] * 2400) + ")",
    "joins": "FROM files" + " JOIN files USING (path)" * 680,
    "joins, beside": " UNION ALL ".join(["FROM files" + " JOIN files USING (path)" * 90] * 7),
    "comma joins": "FROM " + ",".join(["f"] * 8000),
    "subqueries": "SELECT " + "(SELECT " * 1800 + "1" + ")" * 1800,
    "subqueries, as deep as allowed": "SELECT " + ",".join(["(SELECT " * 40 + "1" + ")" * 40] * 40),
    "ctes, nested": "WITH a AS (" * 1400,
    "ctes, nested less": "WITH a AS (" * 12,
    "ctes, nested in describe": "DESCRIBE (WITH a AS MATERIALIZED (" * 12,
    "ctes, nested in from": "WITH a AS (FROM (" * 18 + "SELECT",
    "ctes, beside": "WITH " + ",".join(f"a{i} AS (FROM files)" for i in range(600)) + " FROM a1",
    "describe, nested": "SELECT 1 UNION (DESCRIBE " * 30,
    "lambdas": "SELECT " + "lambda x: " * 1600,
    "named windows": "SELECT "
    + "sum(x) OVER w," * 1000
    + "1 FROM files WINDOW w AS (PARTITION BY "
    + "y," * 900
    + "y)",
    "cube": "SELECT 1 GROUP BY CUBE (" + ",".join(f"a{i}" for i in range(15)) + ")",
    "cubes": "SELECT 1 GROUP BY "
    + ",".join(f"CUBE (a{i})" for i in range(15))
    + ","
    + ",".join(f"b{i}" for i in range(100)),
    "rollup": "SELECT 1 GROUP BY ROLLUP (" + ",".join(f"a{i}" for i in range(2000)) + ")",
    "types": "SELECT 1::" + "STRUCT(a " * 1600,
    "quotes": "SELECT " + "'" * 16000,
    "comments": "SELECT " + "/*" * 8000,
    "semicolons": ";" * 16000,
    "suggestions": "SELECT " + "a" * 16000 + "(1)",
}
# What goes around an expression or a source, what follows one, and what stands in a list: as often as the gate lets
# pass, 8 and 39 deep beside each other. These cost most of a thousand that were tried.
NESTED = {
    "SELECT {}": [
        "ARRAY(SELECT |)", "- |", "~ |", "+ |", "NOT |", "MAP {{1: |}}", "INTERVAL (|) DAY", "(VALUES (|))",
        "(SELECT |)", "[|]", "[| FOR x IN a]", "{{'a': |}}", "CAST(| AS INT)", "CASE WHEN 1 THEN 2 ELSE | END",
        "(1, |)", "abs(|)", "1 IN (SELECT |)", "EXISTS (SELECT |)", "list_transform(a, lambda x: |)", "a[|]",
        "sum(1) OVER (ORDER BY |)", "(WITH a AS (FROM files) SELECT |)", "1 BETWEEN 2 AND |", "TRY(|)",
        "INTERVAL 1 DAY + |", "~ INTERVAL (|) DAY", "INTERVAL 1 DAY + ~ INTERVAL (SELECT |) DAY", "MAP {{1: - |}}",
    ],
    "FROM {}": [
        "(FROM |)", "(DESCRIBE FROM |)", "(SUMMARIZE FROM |)", "files JOIN | ON 1", "(FROM files LIMIT (FROM |))",
        "(PIVOT | ON a IN (1) USING count(*))", "unnest((FROM |))", "LATERAL (FROM |)", "((FROM |) UNION FROM files)",
        "(WITH a AS MATERIALIZED (FROM |) FROM a)", "(|)", "| UNPIVOT (a FOR b IN (c))",
    ],
}  # fmt: skip
LISTED = {
    "SELECT a{}": [
        " || a OR a", " LIKE a OR a", " AND a ^ a", " NOT IN a AND a", ", a", " + a", " -> a", " AND NOT a", "::INT",
        ".a", ", [x FOR x IN a]", ", -a", ", (a, b)", ", sum(a) OVER ()", ", CASE WHEN a THEN b END", ", f(a := 1)",
        " UNION SELECT a", " COLLATE nocase",
    ],
    "FROM files{}": [
        " JOIN files ON 1, files", ", unnest([1]) UNION FROM files", ", (VALUES (1))", " POSITIONAL JOIN files",
        " EXCEPT ALL FROM files PIVOT (count(*) FOR a IN (1))", " LEFT JOIN files ON a = b, range(1)",
        " NATURAL JOIN files", " ASOF JOIN files ON a >= b",
    ],
    "FROM files ORDER BY a{}": [", INTERVAL 1 DAY", ", a DESC NULLS LAST", ", NOT a", ", a IN (1)"],
    "SELECT DISTINCT ON (a{}) 1": [", INTERVAL 1 DAY", ", a -> b"],
    "VALUES (1{})": [", INTERVAL 1 DAY", ", 1"],
    "SELECT 1 FROM files GROUP BY a{}": [" AND a", ", [a]"],
    "SELECT CASE 1{} END": [" WHEN 1 THEN 1"],
    "WITH a AS (FROM files){} FROM a": [", a AS (FROM files)"],
    "SELECT 1 FROM files WINDOW w AS (ORDER BY a){}": [", w AS (ORDER BY a)"],
}  # fmt: skip


def nested(frame: str, around: str, depth: int, count: int) -> str:
    """`nested("SELECT {}", "(|)", 2, 2)` is `SELECT ((1)), ((1))`."""
    before, after = around.format().split("|")
    core = "1" if frame.startswith("SELECT") else "files"
    return frame.format(", ".join([before * depth + core + after * depth] * count))


def is_parsed(sql: str) -> bool:
    """Whether the gate gives `sql` to the engine."""
    try:
        check_text(sql)
        check_cost(sql)
    except Denied:
        return False
    return True


def most(make: Callable[[int], str]) -> str:
    """The longest text of those that `make` makes of a number that is given to the engine."""
    return make(bisect_left(range(1, 2048), True, key=lambda number: not is_parsed(make(number))))


def bombs(depths: int) -> Iterator[tuple[str, str]]:
    """Name and text of every bomb; those that are nested in both depths, or each in one of them."""
    yield from BOMBS.items()
    for frame, rows in NESTED.items():
        for number, around in enumerate(rows):
            for depth in ((8, 39) * 2)[number % 2 :][:depths]:
                yield f"{around}, {depth} deep", most(lambda count: nested(frame, around, depth, count))  # noqa: B023
    for frame, units in LISTED.items():
        for unit in units:
            yield frame.format(unit), most(lambda count: frame.format(unit * count))  # noqa: B023


MEASURE = """
import json, sys, time
from fledgling.worker.gate.denied import Denied
from fledgling.worker.gate.statement import Gate
gate, seconds = Gate(), {}
texts = json.load(sys.stdin)
for name, sql in texts * 3:
    if seconds.get(name, 1) > 0.05:
        start = time.process_time()
        try:
            gate.admit(sql[:16384], frozenset({"files"}))
        except Denied:
            pass
        seconds[name] = min(seconds.get(name, 1), time.process_time() - start)
print(json.dumps(seconds))
"""
PARSE_SECONDS = 0.15  # of CPU, the least of three times: a machine whose cores are shared counts more for the same


@pytest.mark.parametrize("depths", [1, pytest.param(2, marks=pytest.mark.long)])
def test_no_parse_bomb_costs_more_than_it_may(record_testsuite_property, depths):
    """In a process of its own, because what goes wrong here ends in gigabytes. CPU time: tests share the machine."""
    texts = list(bombs(depths))
    done = subprocess.run(
        [sys.executable, "-c", MEASURE],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    seconds = json.loads(done.stdout)
    assert seconds.keys() == dict(texts).keys()
    assert len(seconds) > 60 + 40 * depths
    worst = max(seconds, key=seconds.__getitem__)
    record_testsuite_property(f"worst parse bomb ms, {worst}", round(1000 * seconds[worst]))
    assert {name: cost for name, cost in seconds.items() if cost > PARSE_SECONDS} == {}


def test_an_ordinary_query_costs_milliseconds(gate):
    costs_under(0.015 * len(ADMITTED), lambda: [gate.admit(sql, TABLES) for sql in ADMITTED.values()])
