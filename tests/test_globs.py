"""Globs of an agent: Python's fnmatch judges names, and the engine takes every pattern that is made."""

from fnmatch import fnmatchcase
from random import Random

import duckdb

from fledgling.worker.globs import literal, name_pattern, path_pattern

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
    return [
        found for (found,) in duckdb.execute(select, [list(column) for column in zip(*pairs, strict=True)]).fetchall()
    ]


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
