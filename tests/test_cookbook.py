"""The cookbooks hold: a profile shows what its condition says and no more, a statement has the answer beside it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import TESTS
from cookbook import BOOK, answers, recipes
from corpora import FetchError, fetch, plant
from running import fronted, in_time
from test_image import built, raw
from trees import make

from fledgling.messages.answers import Table

PROFILES = sorted((TESTS.parent / "docs" / "cookbook" / "profiles").glob("*.sql"))
CORE = {"explore", "read", "search", "symbols", "dependencies"}
PROSE = ("markdown", "restructuredtext", "text", "asciidoc")
SETTINGS = ("yaml", "toml", "ini", "hcl", "dockerfile", "make", "bash")

# What a file must be to be seen, by path and language; where nothing is said, all are seen
SEEN = {
    "documentation": lambda path, language: language in PROSE,
    "no-tests": lambda path, _: not re.search(r"(^|/)(tests?|spec|examples?|fixtures?)/", path),
    "one-directory": lambda path, _: path.startswith("src/"),
    "one-language": lambda _, language: language == "python",
    "no-infrastructure": lambda path, language: language not in SETTINGS and not re.search(r"(^|/)\.", path),
    "written-by-people": lambda path, _: not re.search(r"(^|/)(vendor|third_party|node_modules)/", path),
}
TOOLS = {name: {"explore", "symbols", "dependencies"} for name in ("outline", "public-names")}


def test_each_profile_is_in_the_book_and_says_its_name():
    book = (PROFILES[0].parent.parent / "profiles.md").read_text()
    assert len(PROFILES) == 11
    for profile in PROFILES:
        assert f"[{profile.name}](profiles/{profile.name})" in book
        assert profile.read_text().startswith(f"-- {profile.stem}: ")


async def files(front):
    """Path -> language and why it has no content, of all that a profile shows."""
    found = await front.call("explore", {"depth": 20})
    assert found.next is None
    return {file.path: (file.language, file.skipped) for file in found.files}


@pytest.fixture(scope="module")
async def everything(anyio_backend, project):
    async with fronted(project) as (front, _):
        yield await files(front)


# Conditions of paths and languages, as that of documentation; and profiles without one.
ALIKE = {"no-infrastructure", "no-tests", "one-directory", "one-language", "outline", "small-machine"}


@pytest.mark.anyio
@pytest.mark.parametrize(
    "profile",
    [pytest.param(each, marks=[pytest.mark.long] if each.stem in ALIKE else [], id=each.stem) for each in PROFILES],
)
async def test_a_profile_shows_what_its_condition_says(project, everything, profile):
    name = profile.stem
    async with fronted(project, profile) as (front, _):
        assert {*front.profile.tools} == TOOLS.get(name, CORE)
        shown = await files(front)
        is_seen = SEEN.get(name, lambda *_: True)
        expected = {path: about for path, about in everything.items() if is_seen(path, about[0])}
        if name == "written-by-people":
            expected = {path: about for path, about in expected.items() if not about[1]}
            assert shown.keys() <= expected.keys()  # what is generated, explore does not say
        else:
            assert shown == expected
        if name == "no-comments":
            assert (await front.call("search", {"query": r"^\s*# ", "regex": True, "path": "**/*.py"})).total == 0
        if name == "public-names":
            found = (await front.call("symbols", {"max_results": 1000})).files
            names = [each.name for file in found for each in file.symbols]
            assert names
            assert not [name for name in names if re.match(r"_(?!_)", name)]


KEYS = {
    "a.py": '''API_KEY = "hunter2"

def f(token: str = "hunter2", n=1):
    """Say.

    password='hunter2'
    """
    return {"password": "hunter2"}

class A:
    secret_key = """hunter2"""
''',
    "b.go": 'package b\n\nconst apiKey = "hunter2"\n\n// var Secret = `hunter2`\nvar Token = `hunter2`\n',
    "c.yaml": 'db:\n  password: "hunter2"\n',
}


@pytest.mark.anyio
async def test_what_is_redacted_is_nowhere_in_the_index(tmp_path):
    make(tmp_path, **KEYS)
    [redacted] = [profile for profile in PROFILES if profile.stem == "redacted"]
    async with built(tmp_path, redacted) as indexing:
        assert b'API_KEY = "***' in raw(indexing)
        assert b"hunter2" not in raw(indexing)


@pytest.mark.long
@pytest.mark.parametrize("profile", PROFILES, ids=lambda path: path.stem)
def test_nothing_gets_through_a_profile(profile):
    command = [Path(sys.executable).parent / "fledgling", "audit", "--profile", profile]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.anyio
async def test_each_statement_is_answered(project):
    """Of any project; the answers beside them are Flask's."""
    async with fronted(project, "fledgling-analyst") as (front, _):
        for sql, _ in recipes(BOOK.read_text()):
            assert isinstance(await in_time(front.call, "query", {"sql": sql}), Table), sql


@pytest.mark.anyio
@pytest.mark.long  # Flask is fetched, and indexed
async def test_statements_have_the_answers_beside_them(tmp_path, pytestconfig):
    try:
        flask = plant(fetch("flask", pytestconfig.cache.mkdir("projects")), tmp_path)
    except FetchError as failed:
        pytest.skip(str(failed))
    book = recipes(BOOK.read_text())
    assert len(book) == 26
    assert await answers(flask, [sql for sql, _ in book]) == [answer for _, answer in book]
