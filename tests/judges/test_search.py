"""Judge: ripgrep, or git grep where that is not installed, on real projects: the same lines for the same questions."""

import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from asking import pages, structured, whole_map
from conftest import connected
from corpora import fetch, plant
from mcp import Client

# Of fewer literals and patterns on Flask, and by grep, tests/test_corpora.py says the same.
pytestmark = [pytest.mark.anyio, pytest.mark.long]

Lines = set[tuple[str, int]]
CASES: tuple[dict[str, bool], ...] = ({}, {"case_sensitive": True}, {"whole_word": True})
MANY = 2000  # hits up to which every page is fetched; beyond it the totals are compared
LITERALS = {"flask": 9, "django": 500, "sympy": 500}
PATTERNS = r"""
^import \w+$
^from [\w.]+ import \w+, \w+
^class \w+\(.*\):$
^    def __\w+__\(self\)
def (get|set|has)_\w+\(
def \w+_(name|id)\(
\bself\.\w+ = \w+\(
return (True|False|None)$
raise \w+Error\(
except \(?\w+, \w+\)?:
^\s+@\w+\.\w+
^@(pytest|functools)\.
lambda( \w+)?:
\b[A-Z]{3,}_[A-Z]+\b
\b\d{4}-\d{2}\b
0x[0-9a-f]+
[0-9]+\.[0-9]+e-?[0-9]+
"[^"]{40,}"
'[^']{30,}'
\w+@\w+\.(com|org|net)
https?://[^ )]+
TODO|FIXME|XXX
(?i)license
(foo|bar|baz)+
(ab|cd){2}
colou?r
[Dd]eprecat(ed|ion)
[^\x00-\x7f]
[é-ü]
\pL+é
\p{Greek}
[\x{3b1}-\x{3c9}]+
“.*”
naïve|café
^$
^\s*$
\s+$
^.{100,}$
^.{0,3}$
\t
  +\S
\\
\.\.\.
\(\)$
\[\]
\{\}
\{\w+\}
%\(\w+\)s
\$\w+
\*\*kwargs
\+=
[+*/-]=
!=|==|<=
->
:=
^#!
^# ?-\*-
# .*\?$
\w+\?
;$
,$
:$
\\$
^\)
^\}
^[^ #]
^[a-z]+ = \w
[a-z]+\[['"]\w+['"]\]
\bif not \w+:
\bfor \w+, \w+ in \w+
\bin range\(\d+\)
is (not )?None
and|or|not
\Band\B
\bthe the\b
e\b
\be
[[:upper:]]{5}
[[:punct:]]{4}
[[:space:]]{20}
[^[:alnum:][:space:]]{6}
\D\d\D
\W_\w
\S{60}
(?:x|y|z)\d
(?P<word>\w+)\(\)\.
((((a))))b
(a|b|)c
x*y+z
a{3}
a{2,3}b
.{5}test.{5}
t.st
te?st
t[^aeiou]st
request\.(args|form|json)
\.(py|html|txt)['"]
assert .* == .*
with \w+\(.*\) as \w+:
yield( from)?
async def
\x{17f}
\x{212a}
\x{3a9}
日本|中文
\x{200b}?zero
""".strip("\n").split("\n")


class Corpus(NamedTuple):
    """A project behind a server, and the files that are searched."""

    name: str
    root: Path
    client: Client
    paths: list[str]


@pytest.fixture(scope="module", params=["flask", "django", "sympy"])
async def corpus(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Corpus]:
    name = request.param
    root = plant(fetch(name, request.config.cache.mkdir("corpora")), tmp_path_factory.mktemp(name))
    async with connected(root) as client:
        listed = [file for page in await whole_map(client, depth=20) for file in page["files"]]
        yield Corpus(name, root, client, [file["path"] for file in listed if "skipped" not in file])


def literals(corpus: Corpus) -> list[str]:
    """Words and pieces of lines as they come, in their own case or another."""
    random = Random(7)
    found: list[str] = []
    while len(found) < LITERALS[corpus.name]:
        text = (corpus.root / random.choice(corpus.paths)).read_text("utf-8", "ignore")
        line = random.choice(text.split("\n") or [""])
        start = random.randrange(len(line) + 1)
        words = re.findall(r"\w+", line)
        literal = (
            random.choice(words) if words and random.random() < 0.5 else line[start : start + random.randint(2, 20)]
        )
        literal = random.choice((str, str, str.lower, str.upper))(literal)
        if literal.strip() and literal.isprintable():
            found.append(literal)
    return found


def grep(corpus: Corpus, query: str, *, regex: bool, **options: bool) -> Lines:
    """The lines that the judge finds; what is a word is told by ASCII, as in a pattern of RE2."""
    flags = [] if options.get("case_sensitive") else ["-i"]
    flags += ["-w"] if options.get("whole_word") else []
    flags += [] if regex else ["-F"]
    if shutil.which("rg"):
        command = ["rg", "--no-config", "-anH0", "--no-heading", "--color=never", "--crlf", *flags]
        command += ["--no-unicode"] if options.get("whole_word") and query.isascii() else []
    else:
        command = ["git", "grep", "-anz", "--full-name", *(["-P"] if regex else []), *flags]
    done = subprocess.run(
        [*command, "-e", query, "--", *corpus.paths], check=False, cwd=corpus.root, capture_output=True
    )
    assert done.returncode in (0, 1), done.stderr.decode()
    found: Lines = set()
    for line in done.stdout.decode(errors="replace").split("\n")[:-1]:
        path, rest = line.split("\0", 1)
        found.add((path, int(re.match(r"\d+", rest)[0])))  # type: ignore[index]
    return found


async def check(corpus: Corpus, query: str, *, regex: bool, **options: bool) -> None:
    """All pages together hold the lines of the judge, each once; where they are very many, the totals agree."""
    expected = grep(corpus, query, regex=regex, **options)
    asked: dict[str, Any] = {"query": query, "regex": regex, "context": 0, "max_results": 1000, **options}
    first = await structured(corpus.client, "search", **asked)
    if "taken" in first:  # for another text, since this one is nowhere
        assert not expected, query
        return
    is_exact = not first.get("total_is_lower_bound")
    assert first["total"] == len(expected) if is_exact else 1000 < first["total"] <= len(expected), (query, options)
    assert first["total_files"] == len({path for path, _ in expected}) or not is_exact, (query, options)
    if len(expected) <= MANY:
        found = [
            (file["path"], hit)
            for page in await pages(corpus.client, "search", **asked)
            for file in page["files"]
            for hit in file["hits"]
        ]
        assert len(set(found)) == len(found), (query, options)
        assert set(found) == expected, (query, options, set(found) ^ expected)


async def test_literals(corpus: Corpus) -> None:
    for at, literal in enumerate(literals(corpus)):
        await check(corpus, literal, regex=False, **CASES[at % len(CASES)])


@pytest.mark.skipif(not shutil.which("rg"), reason="the patterns are in the syntax of RE2, which ripgrep shares")
async def test_patterns(corpus: Corpus) -> None:
    for at, pattern in enumerate(PATTERNS[::15] if corpus.name == "flask" else PATTERNS):
        await check(corpus, pattern, regex=True, **CASES[at % 2])


@pytest.mark.parametrize("corpus", ["django"], indirect=True)
async def test_pages_behind_a_lower_bound_lose_and_repeat_nothing(corpus: Corpus) -> None:
    asked = {"query": "self", "context": 0, "max_results": 1000, "path": "django"}
    found = await pages(corpus.client, "search", **asked)
    hits = [(file["path"], hit) for page in found for file in page["files"] for hit in file["hits"]]
    expected = {(path, line) for path, line in grep(corpus, "self", regex=False) if path.startswith("django/")}
    assert len(hits) == len(expected)
    assert set(hits) == expected
    totals = [page["total"] for page in found]
    assert totals == sorted(totals)
    assert totals[-1] == len(expected)
