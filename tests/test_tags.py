"""Tags: which rules make a file have one, what is shown of it, what a search does with it, and which may be added."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import re2
from running import fronted
from trees import make

from fledgling.broker.front import Front
from fledgling.broker.indexing.failures import IndexingError
from fledgling.broker.protocol import tools
from fledgling.messages.answers import Hits, Ranking, Refusal, Summaries
from fledgling.messages.questions import MAX_TAGS, Explore, Search
from fledgling.security import profile as profiles
from fledgling.security.profile import ProfileError
from fledgling.security.tag_rules import MAX_PATTERN_CHARS, MAX_RULES, SHIPPED

pytestmark = pytest.mark.anyio

# A file, its text, and the tags that it has.
FILES: dict[str, tuple[str, list[str]]] = {
    "src/store.py": (
        "import sqlite3\n\n\ndef load(db):\n    return db.execute('SELECT name FROM users')\n",
        ["database 0.95 (IMPORT sqlite3, line 1; REGEX, line 5)"],
    ),
    "web/rows.ts": ("import { Client } from 'pg';\n", ["database 0.90 (IMPORT pg, line 1)"]),
    "fc/pid.c": ('#include "pg/pg.h"\n#include "motor.h"\n', []),  # headers of its own
    "src/db/connect.py": ("def connect():\n    return 1\n", ["database 0.70 (PATH)"]),
    "src/users.py": (
        "from django.db import models\nfrom django.contrib.auth import login\n\n\nclass User: ...\n",
        ["auth 0.90 (IMPORT django.contrib.auth, line 2)", "database 0.90 (IMPORT django.db, line 1)"],
    ),
    "src/app.py": (
        "from flask import Flask\n\n\n@app.get('/')\ndef index(): ...\n\n\n@app.post('/')\ndef save(): ...\n",
        ["api/http 0.99 (REGEX, line 4; IMPORT flask, line 1)"],
    ),
    "src/names.py": ("class UserRepository: ...\n\n\nclass OrderRepository: ...\n\n\ndef a(): ...\n", []),
    "web/cache.ts": (
        "import LRU from 'lru-cache';\nexport const a = new LRU();\n",
        ["caching 0.98 (IMPORT lru-cache, line 1; PATH)"],
    ),
    "pay/Checkout.java": (
        "import com.stripe.Stripe;\n\nclass Checkout {\n}\n",
        ["payments 1.00 (IMPORT com.stripe, line 1; PATH; SYMBOL Checkout, line 3)"],
    ),
    "go/serve.go": (
        'package serve\n\nimport "net/http"\n\nfunc f(w http.ResponseWriter, r *http.Request) {\n\thttp.Get(a)\n}\n',
        ["api/http 0.75 (IMPORT net/http, line 3; REGEX, line 5)"],
    ),
    # What uses a thing in passing is not about it, and neither is what is no code.
    "go/kinds.go": ('package kinds\n\nimport "net/http"\n\nvar kind = http.DetectContentType(nil)\n', []),
    "src/pages.py": (
        "from django.contrib.auth.decorators import login_required\nfrom django.http import HttpResponse\n",
        ["api/http 0.85 (IMPORT django.http, line 2)"],
    ),
    "src/compat.py": ("from functools import cached_property, lru_cache\n\n\n@lru_cache\ndef version(): ...\n", []),
    "config/application.rb": ('require "active_record/railtie"\nrequire "action_controller/railtie"\n', []),
    "json/Plan.java": (
        "import io.swagger.v3.oas.annotations.media.Schema;\n\nclass Plan {\n}\n",
        ["api/http 0.70 (IMPORT io.swagger.v3.oas.annotations.media, line 1)"],
    ),
    "src/handlers.py": (
        "from flask import request\nfrom flask_login import current_user\nfrom sqlalchemy.exc import IntegrityError\n",
        ["api/http 0.85 (IMPORT flask, line 1)"],
    ),
    "src/commands.py": ("from flask.cli import AppGroup\nfrom sqlalchemy.orm.exc import NoResultFound\n", []),
    "src/series.py": ("from influxdb_client import Point\n", ["database 0.90 (IMPORT influxdb_client, line 1)"]),
    "src/rates.py": (
        "from rest_framework.views import APIView\nfrom rest_framework.permissions import AllowAny\n",
        ["api/http 0.85 (IMPORT rest_framework.views, line 1)"],
    ),
    "Data/Shop.cs": ("class ShopDbContext : Base {\n}\n", ["database 0.62 (SYMBOL ShopDbContext, line 1)"]),
    "web/rates.service.ts": (
        "import { Injectable } from '@nestjs/common';\nimport { A } from '@prisma/client';\n",
        [],
    ),
    "web/rates.ts": (
        "import { Controller, Get } from '@nestjs/common';\nimport { PrismaClient } from '@prisma/client';\n",
        ["api/http 0.85 (IMPORT @nestjs/common, line 1)", "database 0.90 (IMPORT @prisma/client, line 2)"],
    ),
    "web/roles.guard.ts": (
        "import { CanActivate, Injectable } from '@nestjs/common';\n",
        ["auth 0.65 (IMPORT @nestjs/common, line 1)"],
    ),
    "lib/user.ex": (
        "defmodule User do\n  use Ecto.Schema\n  import Ecto.Changeset\nend\n",
        ["database 0.90 (IMPORT Ecto.Schema, line 2)"],
    ),
    "lib/form.ex": ("defmodule Form do\n  import Ecto.Changeset\nend\n", []),  # checks what was entered, no more
    "src/worker.py": ("import logging\n\nlog = logging.getLogger(__name__)\n", []),
    "src/once.py": ("QUERY = 'DELETE FROM users'\n", []),
    "docs/database.md": ("# Database\n\nSELECT a FROM b\n", []),
    "schema/user.json": ('{"auth": 1}\n', []),
}


def write(root: Path) -> Path:
    return make(root, **{path: text for path, (text, _) in FILES.items()})


@pytest.fixture(scope="module")
async def front(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Front]:
    async with fronted(write(tmp_path_factory.mktemp("tags"))) as (front, indexing):
        await indexing.built()
        yield front


async def tags_of(front: Front, path: str) -> list[str]:
    found = await front.ask(Explore(path, detail="summary"))
    assert isinstance(found, Summaries), found
    return found.summaries[0].tags


@pytest.mark.parametrize("path", FILES)
async def test_a_file_has_the_tags_that_rules_give_it_and_says_why(front: Front, path: str) -> None:
    assert await tags_of(front, path) == FILES[path][1]


AUTH = {"src/users.py", "web/roles.guard.ts"}
# Arguments of a search for "e", and the files that it is left with.
LEFT: dict[str, tuple[dict[str, Any], set[str]]] = {
    "one": ({"tags_any": ["auth"]}, AUTH),
    "any of two": ({"tags_any": ["auth", "payments"]}, {*AUTH, "pay/Checkout.java"}),
    "any of two in one text": (
        {"tags_any": "auth, payments"},
        {*AUTH, "pay/Checkout.java"},
    ),
    "all of two": ({"tags_all": ["auth", "database"]}, {"src/users.py"}),
    "any, and all": ({"tags_any": ["auth", "payments"], "tags_all": ["payments"]}, {"pay/Checkout.java"}),
    "none that has both": ({"tags_all": ["auth", "payments"]}, set()),
    "inside a directory": ({"tags_any": ["database"], "path": "src/db"}, {"src/db/connect.py"}),
    "in a language": ({"tags_any": ["api/http"], "language": "go"}, {"go/serve.go"}),
    "an expression": ({"tags_any": ["caching"], "query": "L.U", "regex": True}, {"web/cache.ts"}),
}


@pytest.mark.parametrize("name", LEFT)
async def test_a_search_looks_only_into_files_with_the_tags(front: Front, name: str) -> None:
    arguments, files = LEFT[name]
    found = await front.call("search", {"query": "e", "mode": "auto", **arguments})
    assert isinstance(found, Hits), found
    assert {file.path for file in found.files} == files
    said = r"Only in \d+ files? tagged " if files else r"No file is tagged all of auth, payments\.(?! Nothing found)"
    assert re.match(said, found.note or "")


async def test_pages_of_a_search_by_tags_lose_and_repeat_nothing(front: Front) -> None:
    asked: dict[str, Any] = {"query": "e", "tags_any": ["database"], "context": 0}
    whole = await front.call("search", asked)
    assert isinstance(whole, Hits)
    hits, page = [], await front.call("search", {**asked, "max_results": 2})
    while isinstance(page, Hits):
        hits += [(file.path, hit) for file in page.files for hit in file.hits]
        page = await front.call("search", page.next.arguments) if page.next else None
    assert hits == [(file.path, hit) for file in whole.files for hit in file.hits]
    assert len(hits) == whole.total > 2


async def test_a_ranking_is_of_files_with_the_tags_and_explains_them(front: Front) -> None:
    found = await front.ask(Search("load from store", mode="meaning", tags_any=("database",), explain=True))
    assert isinstance(found, Ranking)
    assert {passage.path for passage in found.files} <= {"src/store.py", "src/users.py", "src/db/connect.py"}
    assert found.files[0].why
    assert found.files[0].why.matched_tags == FILES["src/store.py"][1]
    assert f"  tag {FILES['src/store.py'][1][0]}" in tools.text(found)


UNFIT: dict[str, dict[str, Any]] = {
    "a tag that no rule gives": {"tags_any": ["quantum"]},
    "one among others": {"tags_all": ["auth", "quantum"]},
    "with a kind": {"tags_any": ["auth"], "kind": "function"},
    "in documents": {"tags_any": ["auth"], "mode": "docs"},
    "too many": {"tags_any": ["auth"] * (MAX_TAGS + 1)},
    "a line break": {"tags_any": ["auth\n"]},
}


@pytest.mark.parametrize("name", UNFIT)
async def test_tags_that_cannot_be_asked_for_are_refused(front: Front, name: str) -> None:
    refused = await front.call("search", {"query": "e", **UNFIT[name]})
    assert isinstance(refused, Refusal)
    assert refused.kind == "invalid"
    if "no rule" in name:
        assert "api/http, auth, caching, database" in refused.next_step


# ---- rules -----------------------------------------------------------------------------------------------------------


def test_the_shipped_rules_are_expressions_and_cover_what_is_promised() -> None:
    for rule in SHIPPED:
        re2.compile(rule.pattern)
    tags = "api/http auth caching database logging metrics payments"
    assert sorted({rule.tag for rule in SHIPPED}) == tags.split()
    assert profiles.load("fledgling-core").tags == SHIPPED


def own(tmp_path: Path, rules: str, more: str = "") -> Path:
    path = tmp_path / "mine.sql"
    path.write_text(f"SET extends = 'fledgling-core';\nSET tags = '{rules}';\n{more}")
    return path


WRONG = {
    "database": "mine.sql:2: 'database' is not a rule",
    "a SYMBOL 0.9": "mine.sql:2: 'a SYMBOL 0.9' is not a rule",
    "\n# why\nA SYMBOL 0.9 x": "mine.sql:4: a tag cannot be 'A'",
    f"{'a' * 33} SYMBOL 0.9 x": "mine.sql:2: a tag cannot be ",
    "a NAME 0.9 x": "mine.sql:2: unknown matcher 'NAME'; write one of PATH, IMPORT, SYMBOL, REGEX",
    "a PATH 9 x": "mine.sql:2: a confidence cannot be '9'; write a number from 0.1 to 1",
    "a PATH 0.01 x": "mine.sql:2: a confidence cannot be '0.01'",
    "a PATH nan x": "mine.sql:2: a confidence cannot be 'nan'",
    f"a PATH 0.9 {'x' * (MAX_PATTERN_CHARS + 1)}": f"mine.sql:2: an expression of {MAX_PATTERN_CHARS + 1} characters",
    "a PATH 0.9 x\n" * (MAX_RULES + 1): f"mine.sql:2: {MAX_RULES + 1} rules of tags; give {MAX_RULES} at most",
    "a PATH 0.9 x\n" * MAX_RULES: "rules of tags with the shipped ones",
}


@pytest.mark.parametrize("rules", WRONG, ids=lambda rules: rules[:20].strip())
def test_a_wrong_rule_is_refused_with_its_line(tmp_path: Path, rules: str) -> None:
    with pytest.raises(ProfileError, match=re.escape(WRONG[rules])):
        profiles.load(str(own(tmp_path, rules)))


async def test_a_profile_adds_rules_and_replaces_those_of_a_tag(tmp_path: Path) -> None:
    rules = "\n  users SYMBOL 0.9 (?i)user\n  auth PATH 0.8 ^src/app\\.py$\n  acme PATH 0.9 ^com/acme/billing/\n"
    path = own(tmp_path, rules)
    (tmp_path / "tree").mkdir()
    most = 4 * len(FILES)  # more than three quarters
    tree = make(write(tmp_path / "tree"), **{f"com/acme/billing/part/C{n}.java": "class C {}\n" for n in range(most)})
    make(tree, **{"com/acme/billing/invoice/Line.java": "class Line {}\n"})
    async with fronted(tree, path) as (front, indexing):
        await indexing.built()
        assert await tags_of(front, "src/users.py") == [
            "database 0.90 (IMPORT django.db, line 1)",
            "users 0.66 (SYMBOL User, line 5)",
        ]
        assert [tag.split()[0] for tag in await tags_of(front, "src/app.py")] == ["api/http", "auth"]
        assert isinstance(await front.ask(Search("e", tags_any=("users",))), Hits)
        # A directory that nearly all files are in makes no shipped rule match; what a profile says is as it says.
        assert await tags_of(front, "com/acme/billing/part/C7.java") == ["acme 0.90 (PATH)"]
        assert await tags_of(front, "com/acme/billing/invoice/Line.java") == [
            "acme 0.90 (PATH)",
            "payments 0.85 (PATH)",
        ]


async def test_a_directory_of_more_than_three_quarters_of_twenty_files_makes_no_tag(tmp_path: Path) -> None:
    """Of 20 files 16 are more, and 15 are not; of 19 any number is not."""
    for count, expected in ((19, ["caching", "payments"]), (20, ["caching"])):
        places = [*(f"billing/cache/C{n}.java" for n in range(15)), "billing/D.java"]
        places += [f"other/E{n}.java" for n in range(count - 16)]
        async with fronted(make(tmp_path / str(count), **dict.fromkeys(places, "class C {}\n"))) as (front, indexing):
            await indexing.built()
            assert [tag.split()[0] for tag in await tags_of(front, "billing/cache/C0.java")] == expected, count


async def test_an_expression_that_re2_does_not_take_is_refused_with_its_line(tmp_path: Path) -> None:
    path = own(tmp_path, "\n\nusers SYMBOL 0.9 (?=user)")
    (tmp_path / "tree").mkdir()
    with pytest.raises(IndexingError, match=r"mine\.sql:4: the expression of the tag users cannot be read"):
        async with fronted(write(tmp_path / "tree"), path):
            pass


# What a view leaves out makes no tag: the file, and the tags that it has then.
NARROWED = {
    "imports": ("CREATE VIEW imports AS SELECT * FROM imports WHERE module <> 'sqlite3';", []),
    "lines": (
        "CREATE VIEW content AS SELECT * FROM content WHERE line_text NOT LIKE '%SELECT%';",
        ["database 0.90 (IMPORT sqlite3, line 1)"],
    ),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] if name == "imports" else []) for name in NARROWED]
)
async def test_what_a_profile_hides_makes_no_tag(tmp_path: Path, name: str) -> None:
    view, expected = NARROWED[name]
    (tmp_path / "mine.sql").write_text(f"SET extends = 'fledgling-core';\n{view}")
    (tmp_path / "tree").mkdir()
    async with fronted(write(tmp_path / "tree"), tmp_path / "mine.sql") as (front, indexing):
        await indexing.built()
        assert await tags_of(front, "src/store.py") == expected
