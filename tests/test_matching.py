"""Lines are found in a whole text as they are found one by one: judged by the engine, which holds another RE2."""

import duckdb
import pytest
from tables import every_row

from fledgling.messages.questions import Search
from fledgling.worker.matching import globs
from fledgling.worker.matching import lines as matching

TEXTS = (
    "",
    "\n",
    "a\n\nb\n",
    "import os\n\nclass A:\n    def run(self, self_id):\n        return self.run()\n\n\n\tend",
    "aab\r x\n a.b\nB\n\na\n a",
    "Kelvin \u212a sign\n\u017fharp S k\nK\nß SS ẞ\nİ\u0131 iI\né É\nÀà 日本",
)
LITERALS = ("a", "self", "SELF", "K", "s", "\u212a", "\u017f", "é", "ß", "İ", "a.b", "\t", " ", "日本", "run(")
PATTERNS = (
    *(
        "^",
        "$",
        "^$",
        "$^",
        "a*",
        "(?:)",
        r"\B$",
        r"\b",
        r"^\W",
        r"a\s+b",
        r"\s",
        r"[^a]$",
        r"[^x]{3}",
        r"\W\W\W",
        "k\\b",
    ),
    *(r"(?s)a.b", r"a\n", r"\x0a", r"[\x00-\x1f]", r"\p{Cc}", r"[[:cntrl:]]", r"[\s\S]{9}", "(?U)a+", r"\Qa.b\E"),
    *(r"\Qa.b", r"b|\Qa\E|\Qa.b", r"\\Qa"),
    *(r"\Aimport", r"\Aa", r"a\z", r"b\z", "(?-m)^a", "(?i-m:^b)", "(?-m:a$)", "(?m)^b$", r"\\A", r"\C\C\C", "(?i)K|ß"),
)
QUESTIONS = [Search(query) for query in LITERALS] + [Search(query, regex=True) for query in PATTERNS]


@pytest.mark.parametrize("how", ["", "case_sensitive", "whole_word"])
@every_row("question", QUESTIONS, ids=[repr(question.query) for question in QUESTIONS])
def test_places(engine: duckdb.DuckDBPyConnection, question: Search, how: str) -> None:
    asked = Search(question.query, regex=question.regex, **{how: True} if how else {})
    finding, pattern = matching.matcher(asked), globs.query_pattern(asked)
    for text in TEXTS:
        lines = text.split("\n")
        sql = "SELECT regexp_matches(line, $pattern) FROM (SELECT unnest($lines) AS line)"
        matched = engine.execute(sql, {"lines": lines, "pattern": pattern}).fetchall()
        assert matching.places(finding, text.encode()) == [
            place for place, (is_match,) in enumerate(matched) if is_match
        ], text


@pytest.mark.parametrize(
    ("question", "line", "column"),
    [
        (Search("b"), "ab", 1),
        (Search("B", whole_word=True), "xb b", 2),
        (Search("é", case_sensitive=True), "日本é", 2),
        (Search("[0-9]+$", regex=True), "1 and 23", 6),
    ],
)
def test_column(question: Search, line: str, column: int) -> None:
    assert matching.column(question, line) == column
