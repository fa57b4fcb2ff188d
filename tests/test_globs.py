"""Globs of an agent: Python's fnmatch judges names, and the engine takes every pattern that is made."""

from fnmatch import fnmatchcase
from functools import partial
from random import Random

import duckdb
import pytest
import re2
from costing import costs_under
from tables import every_row

from fledgling.messages.questions import MAX_ARGUMENT_CHARS, Search
from fledgling.worker.matching import lines as matching
from fledgling.worker.matching import prefilter as literals
from fledgling.worker.matching.globs import literal, name_pattern, path_pattern
from fledgling.worker.tools import paths
from fledgling.worker.tools.request import Refused

CLASSES = ["[a-z]", "[!a]", "[z-a]", "[]a]", "[!]a]", "[b-a0-9]", "[-a]", "[a-]", "[+--]", "[!--]", "[a^]"]
SOUP = [
    *"ab/.*?[]{},!^-\\&~|z09éß日 :=+()#$",
    "**/",
    "[z-a]",
    "[!",
    "[^",
    "[a-",
    "{a,",
    "[[:alpha:]]",
    "]-",
    "--",
    "[\\",
]


def matched(pairs):
    """For each (pattern, text), whether the engine finds the one in the other."""
    select = "SELECT regexp_matches(text, pattern) FROM (SELECT unnest($1) AS pattern, unnest($2) AS text)"
    columns = [list(column) for column in zip(*pairs, strict=True)]
    with duckdb.connect() as engine:
        return [found for (found,) in engine.execute(select, columns).fetchall()]


def test_names_match_as_for_fnmatch():
    random = Random(3)
    names = ["".join(random.choices("ab.-z09!^]é&", k=random.randrange(1, 4))) for _ in range(60)]
    pieces = [*"ab.*?-z09é!^&", *CLASSES]
    globs = ["".join(random.choices(pieces, k=random.randrange(1, 5))) for _ in range(400)]
    cases = [(glob, name) for glob in globs if "**" not in glob for name in names]
    found = matched([(name_pattern(glob), name) for glob, name in cases])
    assert [
        case for case, is_match in zip(cases, found, strict=True) if is_match != fnmatchcase(case[1], case[0])
    ] == []
    assert sum(found) > 500


def test_every_glob_is_a_pattern_that_the_engine_takes():
    random = Random(4)
    globs = ["".join(random.choices(SOUP, k=random.randrange(1, 9))) for _ in range(4000)]
    assert (
        len(matched([(make(glob), "a") for glob in globs for make in (path_pattern, name_pattern, literal)])) == 12_000
    )


def test_a_literal_finds_itself():
    random = Random(5)
    texts = ["".join(random.choices(SOUP, k=random.randrange(1, 9))) for _ in range(4000)]
    assert all(matched([(f"^{literal(text)}$", text) for text in texts]))


HOLDS = [  # a path filter | paths that it holds | paths that it does not
    (
        "src/{core,web}",
        ["src/core", "src/core/a.py", "src/web/x/b.js"],
        ["src/cli/a.py", "src/corex/a", "a/src/core/b"],
    ),
    ("{src,docs}/core", ["src/core/a.py", "docs/core"], ["core/a.py", "src/a.py"]),
    ("src{,_old}/core", ["src/core/a.py", "src_old/core/a.py"], ["src_new/core/a.py"]),
    ("src/{core,*.md}", ["src/core/a.py", "src/a.md"], ["src/a.py", "src/x.md/a.py"]),
    ("src/{*.py,*.md}", ["src/a.py"], ["src/core/a.py", "src/a.py/b"]),
    ("src/*/{core,web}", ["src/a/core"], ["src/a/core/b.py"]),
    ("src*{a,b}", ["x/src1a"], ["src1a/x.py"]),
    ("config.{py,toml}", ["config.py", "src/config.toml"], ["src/config.pyx"]),
    ("{src,config.py}", ["src/a.py", "config.py", "web/config.py"], ["web/src/a.py"]),
    ("{config.py}", ["config.py", "src/config.py"], ["config.pyx"]),
    ("src/{core,{web,cli}}", [], ["src/a.py", "src/core/a.py"]),
    ("src/{}", [], ["src/a.py"]),
    ("src{*}", ["src", "x/srcs"], ["src/a.py"]),
    ("src/{core", [], ["src/core/a.py"]),
]


@every_row("asked, held, others", HOLDS, ids=[row[0] for row in HOLDS])
def test_choices_of_plain_paths_hold_what_is_below(asked, held, others):
    is_held = matching.in_path(path_pattern(asked))
    assert [path for path in (*held, *others) if is_held(path)] == held


# ---- what a hostile pattern costs ------------------------------------------------------------------------------------

BOMBS = {
    "stars": "*" * MAX_ARGUMENT_CHARS,
    "stars and letters": "*a" * 2000 + "b",
    "stars across directories": "**/" * 1300 + "x",
    "directories and stars": "**/a/" * 800 + "x",
    "question marks and stars": "?*" * 2000,
    "open sets": "[" * MAX_ARGUMENT_CHARS,
    "open ranges": "[a-" * 1300,
    "negated sets": "[!a-z]" * 650,
    "sets of all that there is": "[!\x01-\uffff]" * 800,
    "open braces": "{" * MAX_ARGUMENT_CHARS,
    "braces in braces": "{a," * 1300 + "}" * 100,
    "braces of stars": "{*,**}" * 650,
    "braces beside braces": "{a,b}" * 800,
    "a brace of very many": "{" + ",".join(f"{number:x}" for number in range(1000)) + "}",
}
PATHS = ["a" * MAX_ARGUMENT_CHARS, "a/" * 2000 + "b", "ab" * 2000, "é/" * 1000]


def made(make, glob):
    return matching.in_path(make(glob))


@pytest.mark.parametrize("name", BOMBS)
def test_a_hostile_glob_is_cheap(name):
    glob = BOMBS[name][:MAX_ARGUMENT_CHARS]
    for make in (path_pattern, name_pattern):
        matches = costs_under(0.3, partial(made, make, glob))  # 0.07
        for path in PATHS:
            costs_under(1, partial(matches, path))  # 0.2


EXPRESSIONS = {
    "stars in stars": "(((((a*)*)*)*)*)*b",
    "plusses in plusses": "((a+)+)+$",
    "two plusses": "(x+x+)+y",
    "words and spaces": r"(\w+\s+)*\w+x",
    "optional, then not": "a?" * 1000 + "a" * 1000,
    "counted": "(a|b){1,1000}c",
    "counted as often as RE2 counts": "((a{1,10}){1,10}){1,10}b",
    "counted more often": "((a{1,100}){1,100}){1,100}",
    "anything, counted": "a.{1000}b",
    "nothing of a kind, counted": "[^a]{0,1000}[^b]{0,20}c",
    "a class of Unicode, counted": r"\p{L}{1,1000}z",
    "classes of Unicode, counted, in every case": r"(?i)[\p{Greek}\p{Cyrillic}a]{1,900}z",
    "classes without end": "[[:alpha:]]" * 350,
    "a long alternation": "|".join("a" * length for length in range(1, 88)),
    "alternatives in alternatives": "(a|" * 900 + "b" + ")" * 900,
    "groups in groups": "(" * 1500 + "a" + ")" * 1500,
    "groups that stay open": "(" * MAX_ARGUMENT_CHARS,
    "sets that stay open": "[" * MAX_ARGUMENT_CHARS,
    "borders of words": r"\b" * 2000 + "a",
    "anything, very often": ".*" * 2000 + "x",
    "as long as may be": "a" * MAX_ARGUMENT_CHARS,
}
BLOCKS = [b"a" * 8192, bytes(Random(6).choices(b"ab", k=8192)), ("日本\n" * 1200).encode()]  # as the index keeps text


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_a_hostile_expression_is_cheap(name):
    question = Search(EXPRESSIONS[name], regex=True)

    def compiled():
        literals.read(question.query, case_sensitive=False)
        try:
            return matching.matcher(question)
        except re2.error:
            return matching.matcher(Search("a"))

    finding = costs_under(0.5, compiled)  # 0.12
    for block in BLOCKS:
        costs_under(1, partial(matching.places, finding, block))  # 0.2, for RE2's largest program


@pytest.mark.parametrize("path", ["{a.js,/etc}", "{a.js,../x}", "{a.js,..}", "{a/../b,c}"])
def test_no_choice_leads_out_of_the_root(path):
    with pytest.raises(Refused):
        paths.inside(path)


def test_each_choice_is_taken_as_a_single_path_is():
    assert paths.pattern("{./a/./b.js,c/}") == paths.pattern("{a/b.js,c}")
