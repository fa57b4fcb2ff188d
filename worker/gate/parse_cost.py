"""What DuckDB's parser is not given: its time and memory have no bound, and it cannot be interrupted."""

import sys
from collections.abc import Callable
from itertools import accumulate, takewhile
from typing import NamedTuple

import _duckdb as duckdb

from fledgling.messages.questions import MAX_SQL_CHARS
from fledgling.worker.gate.denied import Denied

OPENING, CLOSING = frozenset("([{"), frozenset(")]}")


def check_text(sql: str) -> None:
    """Deny text that is too long or not text: `check_text("SELECT 1\\0")` raises Denied."""
    try:
        sql.encode()
    except UnicodeEncodeError:
        raise Denied("the SQL holds a lone surrogate", "Send plain UTF-8 text.") from None
    if len(sql) > MAX_SQL_CHARS:
        raise Denied(f"the SQL is longer than {MAX_SQL_CHARS} characters", "Send a shorter SELECT.")
    if "\0" in sql:
        raise Denied("the SQL holds a NUL character", "Send plain UTF-8 text.")


def words_of(sql: str) -> list[str]:
    """The tokens of `sql` as DuckDB cuts them, folded, without comments: `["from", "files"]`."""
    data = sql.encode().lower()
    tokens = duckdb.tokenize(sql)
    ends = [*(start for start, _ in tokens), len(data)][1:]
    return [
        data[start:end].decode(errors="replace").strip()
        for (start, kind), end in zip(tokens, ends, strict=True)
        if kind != duckdb.token_type.comment
    ]


def nesting(words: list[str]) -> int:
    """How many brackets are open at most: `(1 + (2))` is 2. The parser's cost grows with their square."""
    changes = ((word in OPENING) - (word in CLOSING) for word in words)
    return max(accumulate(changes), default=0)


def _queries(words: list[str]) -> int:
    """How many queries there may be, counted by two words of each: a query node is the largest of the tree."""
    return sum(map(words.count, ("select", "from", "values", "table")))


def _intervals(words: list[str]) -> int:
    """How many intervals there may be: what follows the word costs the parser as much as ten other words."""
    return words.count("interval")


DESCRIBES = frozenset(("describe", "desc", "show", "summarize"))
TAKES_STATEMENTS = DESCRIBES | {"analyze", "as", "copy", "explain", "materialized"}  # then a bracket, then a statement


def _misplaced_statements(words: list[str]) -> int:
    """How many statements begin where no subquery or CTE body does: `WITH a AS (WITH ...`, `UNION (DESCRIBE ...`.

    The parser tries what follows such a WITH six times over and such a DESCRIBE twice; all levels multiply.
    """
    misplaced = 0
    for two_back, back, word, ahead in zip(["", "", *words], ["", *words], words, [*words[1:], ""], strict=False):
        if word == "with" and ahead not in ("ordinality", "time"):
            in_subquery = back == "(" and two_back not in TAKES_STATEMENTS
            misplaced += not in_subquery and back not in ("", ";")
        elif word in DESCRIBES and back == "(":
            misplaced += two_back not in ("", "from", "join", ",", "as", "materialized")
    return misplaced


def _case_copies(words: list[str]) -> int:
    """How many words the operands of CASE may grow to, at most: the parser copies `x` of `CASE x WHEN` to each WHEN.

    A CASE in the operand of another counts as endless: every level multiplies the copies.
    """
    longest = length = 0
    in_operand = False
    for word in words:
        if word == "case" and in_operand:
            return sys.maxsize
        in_operand = word == "case" or (in_operand and word != "when")
        length = length + 1 if in_operand and word != "case" else 0
        longest = max(longest, length)
    return longest * words.count("when")


def _window_copies(words: list[str]) -> int:
    """How many words named windows may grow to, at most: the parser copies a window's definition to each OVER."""
    return words.count("over") * (len(words) - words.index("window")) if "window" in words else 0


def _grouping_copies(words: list[str]) -> int:
    """How many words ROLLUP, CUBE and GROUPING SETS may grow to, at most: sets repeat their columns, and multiply."""
    sets = 1
    for place, word in enumerate(words):
        if word in ("cube", "rollup", "sets") and sets < sys.maxsize:
            depths = accumulate((word in OPENING) - (word in CLOSING) for word in words[place + 1 :])
            inside = [word for word, _ in zip(words[place + 1 :], takewhile(bool, depths), strict=False)]
            sets *= 2 ** (inside.count(",") + 1) if word == "cube" else inside.count(",") + 2
    return sets * len(words) if sets > 1 else 0


SIDE_BY_SIDE = "List CTEs side by side: WITH a AS (...), b AS (FROM a) ...; describe in FROM: FROM (DESCRIBE files)."


class Cost(NamedTuple):
    """What parsing may cost at most, measured on the words."""

    measure: Callable[[list[str]], int]
    limit: int
    reason: str
    next_step: str


# DuckDB 2.0's parser backtracks and copies without a limit of time or memory, and cannot be interrupted. Measured
# without these rows: 110 characters of nested WITH, or 560 of CUBE, take over 20 seconds; 16 KiB of brackets, 10 GB.
# With them, none of two thousand kinds of nesting, chain and list takes more than 0.15 seconds.
COSTS = (
    Cost(len, 1000, "the SQL has more than 1000 words", "Send a shorter SELECT."),
    Cost(_queries, 100, "more than 100 times SELECT, FROM or VALUES", "Send a shorter SELECT."),
    Cost(_intervals, 100, "more than 100 times INTERVAL", "Send a shorter SELECT."),
    Cost(nesting, 40, "more than 40 brackets are nested", "Split it into CTEs: WITH a AS (...), b AS (...) SELECT."),
    Cost(_misplaced_statements, 0, "a WITH or DESCRIBE stands where only a SELECT may", SIDE_BY_SIDE),
    Cost(_case_copies, 5000, "the operand of a CASE is too long for its WHENs", "Name it in a CTE: CASE x WHEN ..."),
    Cost(_window_copies, 10_000, "named windows are too long for their uses", "Compute the keys in a CTE."),
    Cost(_grouping_copies, 10_000, "ROLLUP, CUBE or GROUPING SETS make too many sets", "Group by fewer columns."),
)  # fmt: skip
MAX_RESTATED_NESTING = 100  # DuckDB restates each join and each operator in brackets of its own


def check_cost(sql: str) -> None:
    """Deny what costs DuckDB's parser too much: `check_cost("SELECT " + "(" * 200)` raises Denied."""
    words = words_of(sql)
    for cost in COSTS:
        if cost.measure(words) > cost.limit:
            raise Denied(cost.reason, cost.next_step)
