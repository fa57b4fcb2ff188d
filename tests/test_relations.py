"""Who uses what, as an agent is told: nothing that is not so, and nothing kept back without a word."""

import tomllib
from collections.abc import AsyncIterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from costing import costs_under
from running import PATIENCE, fronted
from test_live import live

from fledgling.broker.front import Front
from fledgling.messages.answers import Context, Related, Relations, Table
from fledgling.messages.generations import GRAPH
from fledgling.messages.inner_answers import Overview
from fledgling.messages.languages import Unnamed
from fledgling.security import profile as profiles
from fledgling.worker.indexer.placing import MAX_LINES
from fledgling.worker.indexer.relating import FOLLOWED_BYTES, UNFOLLOWED
from fledgling.worker.indexer.whole import Spans
from fledgling.worker.rows import WIDEST
from fledgling.worker.store.graph import MAX_PLACES
from fledgling.worker.tools.accounts import MOST
from fledgling.worker.tools.context import DROPPED_CHARS, FIRST
from fledgling.worker.tools.unknown_imports import MOST_BLOCKS
from fledgling.worker.unnamed import taker

ROWS = tomllib.loads((Path(__file__).parent / "relations.toml").read_text())["case"]
CROWD = " ".join(f"function crowd{number}() {{}}" for number in range(MAX_PLACES + 50))  # too many for a line
LONG_BODY = "".join(f"    int beat_{number} = {number};\n" for number in range(60))
CASES = {row["name"]: row for row in ROWS}
PLACES = {name: f"c{number:02}" for number, name in enumerate(CASES)}

pytestmark = pytest.mark.anyio


def plant(root: Path) -> None:
    for name, case in CASES.items():
        for path, text in case["files"].items():
            file = root / PLACES[name] / path
            file.parent.mkdir(parents=True, exist_ok=True)
            filled = text.replace("WIDE", " " * (WIDEST - 8)).replace("CROWD", CROWD)
            file.write_text(filled.replace("DIR", PLACES[name]))
    (root / "w").mkdir()
    (root / "long.c").write_text(f"int long_score(void) {{\n{LONG_BODY}}}\n")
    for path, text in (EFFECTS | WHOLE).items():
        (root / path).write_text(text)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def front(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Front]:
    root = tmp_path_factory.mktemp("relations")
    plant(root)
    profile = tmp_path_factory.mktemp("profile") / "all.sql"
    expert = profiles.load("fledgling-expert")
    profile.write_text(f"SET extends = 'fledgling-analyst';\nSET tools = '{', '.join(expert.tools)}, query';\n")
    async with fronted(root, profile) as (front, indexing):
        assert await indexing.is_sealed(GRAPH, PATIENCE)
        yield front


def shown(related: Related) -> str:
    parts = [related.name or "-", "" if related.how == "call" else related.how, related.confidence or ""]
    return " ".join(filter(None, [*parts, str(related.distance) if related.distance > 1 else ""]))


@pytest.mark.parametrize("name", CASES)
async def test_uses_are_those_that_there_are(front: Front, name: str) -> None:
    case, place = CASES[name], PLACES[name]
    asked = {
        key: value.replace("DIR", place) if isinstance(value, str) else value for key, value in case["ask"].items()
    }
    found: Any = await front.call("symbols", {"path": place, **asked})
    assert isinstance(found, Relations), found
    uses = [(file.path.removeprefix(f"{place}/"), related) for file in found.files for related in file.related]
    assert [f"{path}:{related.line} {shown(related)}" for path, related in uses] == case["found"]
    assert case.get("account", "").replace("DIR", place) in found.account
    assert case.get("note", "").replace("DIR", place) in (found.note or "")
    assert not [words for words in case.get("unsaid", ()) if words in (found.note or "")]


# how an agent may ask for the callers of a definition, and what is said of that
ASKED: dict[str, tuple[str, dict[str, object], str | None]] = {
    "as it is": ("symbols", {"symbol": "plain_one", "relation": "callers"}, None),
    "a question": ("symbols", {"query": "who calls plain_one?"}, 'relation="callers"'),
    "another word": ("symbols", {"symbol": "plain_one", "relation": "find-callers"}, '"find-callers" as "callers"'),
    "another case": ("symbols", {"symbol": "Plain_One", "relation": "callers"}, 'symbol "Plain_One" as "plain_one"'),
    "a pattern": ("symbols", {"name_pattern": "plain_one", "relation": "callers"}, "name_pattern as symbol"),
    "with brackets": (
        "symbols",
        {"symbol": "plain_one()", "relation": "callers"},
        'symbol "plain_one()" as "plain_one"',
    ),
    "another tool": ("callers", {"symbol": "plain_one"}, None),
}


@pytest.mark.parametrize("name", ASKED)
async def test_a_question_about_uses_is_understood(front: Front, name: str) -> None:
    tool, arguments, taken = ASKED[name]
    found: Any = await front.call(tool, arguments)
    assert isinstance(found, Relations), found
    assert [each.name for each in found.definitions] == ["plain_one"]
    assert found.files[0].related[0].name == "plain_two"
    assert (taken or "") in (found.taken or "")
    assert (found.taken is None) is (taken is None)


async def test_several_definitions_of_a_name_are_named(front: Front) -> None:
    found: Any = await front.call("symbols", {"symbol": "boost", "relation": "callers"})
    assert found.kind == "ambiguous"
    assert "method EngineA.boost" in found.reason
    again: Any = await front.call("find_usages", {"symbol": "EngineA.boost"})
    assert isinstance(again, Relations)


async def test_a_member_that_a_class_has_from_above_is_named_where_it_is(front: Front) -> None:
    place = next(PLACES[name] for name, row in CASES.items() if row["ask"]["symbol"] == "Base199.load199")
    found: Any = await front.call("symbols", {"symbol": "Low199.load199", "relation": "callers"})
    there = f"Low199 has it from method Base199.load199 ({place}/base199.py:2)"
    assert found.reason == f"no definition 'Low199.load199' in the index; {there}"
    assert found.next_step == f'symbols(symbol="Base199.load199", path="{place}/base199.py", relation="callers").'
    again: Any = await front.call("symbols", {"symbol": "Low199.save199", "relation": "callers"})
    assert "has it from" not in again.reason
    for path in ({}, {"path": f"{place}/low199.py"}):
        read: Any = await front.call("read", {"symbol": "Low199.load199", **path})
        assert read.reason == f"no definition 'Low199.load199' in {place}/low199.py; {there}"
        assert read.next_step == f'read(path="{place}/base199.py", symbol="Base199.load199").'
        again = await front.call("read", {"symbol": "Low199.save199", **path})
        assert "has it from" not in again.reason


async def test_of_definitions_of_a_name_that_is_first_which_is_near_the_root(front: Front) -> None:
    """Copies that are built or generated lie deep, and come first by their paths."""
    found: Any = await front.call("symbols", {"symbol": "near_root112", "relation": "callers"})
    place = next(PLACES[name] for name, row in CASES.items() if row["ask"]["symbol"] == "near_root112")
    first, second = (f"function near_root112 ({place}/{path}:1)" for path in ("near112.py", "a/near112.py"))
    assert f"names 2 definitions: {first}, {second}" in found.reason
    assert f'path="{place}/near112.py"' in found.next_step
    found = await front.call("read", {"symbol": "near_root112"})
    assert f'path="{place}/near112.py"' in found.next_step


async def test_other_names_answer_as_the_tools_do(front: Front) -> None:
    asked = {"symbol": "conductor"}
    assert await front.call("callees", asked) == await front.call("symbols", {**asked, "relation": "callees"})
    assert await front.call("get_code_context", asked) == await front.call("read", asked)
    context: Any = await front.call("symbol_context", {**asked, "budget_tokens": 100})
    assert isinstance(context, Context)
    place = next(PLACES[name] for name, row in CASES.items() if row["ask"]["symbol"] == "conductor")
    listed: Any = await front.call("explore_namespace", {"ns": place})
    assert [symbol.name for file in listed.files for symbol in file.symbols] == ["first_violin", "oboe", "conductor"]


@pytest.mark.parametrize("budget", [100, 101, 120, 150, 200, 300, 1000, 50_000])
async def test_a_context_is_within_its_budget_and_says_each_thing_once(front: Front, budget: int) -> None:
    found: Any = await front.call("read", {"symbol": "core_rule", "budget_tokens": budget})
    text = "\n".join(found.lines)
    assert len(text) <= 4 * budget
    assert found.tokens == -(-len(text) // 4)
    assert len({*found.lines}) == len(found.lines)
    assert bool(found.dropped) is any(line.startswith("[dropped") for line in found.lines)


async def test_a_context_has_the_first_of_each_kind_however_many_there_are_of_one(front: Front) -> None:
    found: Any = await front.call("read", {"symbol": "busy_hub", "budget_tokens": 200})
    headings = [line for line in found.lines if line.endswith("):") and "\t" not in line]
    assert headings == ["callers (16):", "callees (1):", "types (1):", "tests (1):", "sections (1):"]
    rows = [found.lines.index(heading) for heading in headings[:2]]
    listed = rows[1] - rows[0] - 1
    assert listed > FIRST
    assert found.dropped[0] == f"{16 - listed} of 16 callers"


async def test_a_long_definition_has_what_is_left_of_the_budget(front: Front) -> None:
    found: Any = await front.call("read", {"symbol": "long_score", "budget_tokens": 300})
    *lines, dropped = found.lines
    kept = sum("beat_" in line for line in lines)
    assert dropped == f"[dropped for the budget: {61 - kept} of 62 lines of the definition]"
    assert 4 * 300 - DROPPED_CHARS - len(lines[-1]) <= len("\n".join(lines)) + 1 <= 4 * 300 - DROPPED_CHARS


async def test_a_context_of_overloads_has_the_one_with_a_body(front: Front) -> None:
    found: Any = await front.call("read", {"symbol": "Valve.turn", "budget_tokens": 300})
    assert isinstance(found, Context), found
    assert any("return how" in line for line in found.lines)
    assert any("in open_valve" in line for line in found.lines)


async def test_a_context_says_where_it_may_be_run_from_besides(front: Front) -> None:
    found: Any = await front.call("read", {"symbol": "Tree.write83", "budget_tokens": 300})
    assert found.symbol == "Tree.write83"  # which is on a line with its class
    assert any("in Use.exact" in line and "write83()" in line for line in found.lines)
    assert "It overrides `Base.write83`" in found.note
    assert "1 call of that may run it: ask for the callers of `Base.write83`." in found.note


# ---- as tables ------------------------------------------------------------------------------------------------------

COLUMNS = {
    "calls": "path line caller callee_name callee_path callee_qualified_name confidence reason",
    "refs": "path line name target_path target_qualified_name kind confidence",
    "inherits": "path line name base base_path base_qualified_name kind confidence reason",
    "cycles": "kind cycle size path line name",
    "hubs": "kind path name users",
    "unreachable": "path line name qualified_name kind unseen",
}


INHERITED = "base, base_path IS NOT NULL, kind, confidence, reason"
BASES_OF = "name IN ('Dog11', 'Dog14', 'Dog15', 'Cat15', 'Viewed')"
LACKS = "may lack a method that the interface has from outside the project"
INHERITS: list[list[object]] = [  # the classes of some cases
    ["Cat15", "Walker15", True, "implements", "likely", "implements the interface"],
    ["Dog11", "Walker11", True, "may implement", "possible", LACKS],
    ["Dog14", "Walker14", True, "implements", "likely", "implements the interface"],
    ["Dog15", "Walker15", True, "extends", "certain", None],
    ["Viewed", "Component", False, "extends", None, None],
    ["Viewed", "Iface", False, "extends", None, None],
]


async def ask(front: Front, sql: str) -> Table:
    found = await front.call("query", {"sql": sql})
    assert isinstance(found, Table), found
    return found


async def test_tables_say_what_answers_say(front: Front) -> None:
    for table, columns in COLUMNS.items():
        assert (await ask(front, f"FROM {table} LIMIT 0")).columns == columns.split()
    found = await ask(front, "SELECT path, line, caller FROM calls WHERE callee_qualified_name = 'plain_one'")
    assert found.rows == [[f"{PLACES['a function and its caller']}/a.py", 5, "plain_two"]]
    assert (
        "Uses are resolved in c, cpp, csharp, go, java, javascript, kotlin, php, python, ruby, rust, typescript."
        in (found.note or "")
    )
    found = await ask(front, "SELECT name, base_qualified_name FROM inherits WHERE base = 'Middle'")
    assert found.rows == [["Below", "Middle"]]
    found = await ask(front, f"SELECT DISTINCT name, {INHERITED} FROM inherits WHERE {BASES_OF} ORDER BY name, base")
    assert found.rows == INHERITS
    found = await ask(front, "SELECT kind, count(*) FROM refs WHERE name = 'deep' GROUP BY kind ORDER BY kind")
    assert found.rows == [["call", 1], ["definition", 1], ["import", 2]]
    await effects_are_those_of_the_text(front)
    await whole_is_that_of_the_text(front)


EFFECTS = {
    "e.py": "def e(a):\n    return a + 1\n\n\ndef d(a):\n    return e(a)\n",
    "f.py": "import os\n\ndef e(a):\n    return a + 1  \n\ndef d(a):\n    return os.stat(e(a))\n",
}


async def effects_are_those_of_the_text(front: Front) -> None:
    """A statement that names none of it is not told, and says so."""
    asked = (
        "SELECT content_hash, purity, purity_reason FROM symbols WHERE path IN ('e.py', 'f.py') AND kind = 'function'"
    )
    (found, *pure), (*_, of_caller), (again, *_), (_, *impure) = (await ask(front, asked)).rows
    assert (found, pure) == (again, ["pure", "no effect, and it calls nothing"])
    assert of_caller == "no effect, and all that it calls is pure (1 called)"
    assert impure == ["impure", "line 7: calls os.stat"]
    unasked = await ask(front, "SELECT * FROM symbols WHERE path = 'e.py' AND name = 'e'")
    assert unasked.rows[0][-3:] == [found, None, None]
    assert "purity is NULL here" in (unasked.note or "")
    (other,) = (
        await ask(
            front, "SELECT purity, purity_reason FROM symbols WHERE language = 'go' AND kind = 'function' LIMIT 1"
        )
    ).rows
    assert other == ["unknown", "effects are not read in go"]


WITHOUT_IMPORT = {  # a file that defines Engine, and one that uses it without an import
    "java": ("E.java", "package j;\nclass Engine {}", "U.java", "package j;\nclass U { Engine a; }"),
    "kotlin": ("E.kt", "package k\nclass Engine", "U.kt", "package k\nval a = Engine()"),
    "go": ("e.go", "package e\ntype Engine struct{}", "u.go", "package e\nvar a Engine"),
    "c#": ("E.cs", "namespace E;\nclass Engine {}", "U.cs", "namespace E;\nclass U { Engine a; }"),
    "scala": ("E.scala", "package s\nclass Engine", "U.scala", "package s\nclass U { val a = new Engine }"),
    "swift": ("E.swift", "class Engine {}", "U.swift", "let a = Engine()"),
    "ruby": ("app/engine.rb", "class Engine; end", "lib/u.rb", "Engine.new"),
    "php": ("src/Engine.php", "<?php\nclass Engine {}", "src/U.php", "<?php\n$a = new Engine();"),
}
NO_GRAPH = ("scala", "swift")  # where there are no uses to ask for


async def test_files_that_need_no_import_lead_to_usages(tmp_path: Path) -> None:
    for language, (path, text, user, use) in WITHOUT_IMPORT.items():
        for name, said in ((path, text), (user, use)):
            (tmp_path / language / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / language / name).write_text(said + "\n")
    wrong = {}
    async with fronted(tmp_path) as (front, _):
        for language, (path, _, user, _) in WITHOUT_IMPORT.items():
            found: Any = await front.call("dependencies", {"path": f"{language}/{path}"})
            named = f"1 of 1 name `Engine` ({language}/{user})."
            uses = "" if language in NO_GRAPH else ' symbols(symbol="Engine", relation="usages") says where.'
            if not (found.note or "").endswith(named + uses):
                wrong[language] = found.note
    assert not wrong


LOADED = {  # a file that defines what is loaded by its name: what is said of the files that name it
    "lib/widget.rb": "may need no import: 2 of 12 name `Widget` (lib/says.rb, lib/z.rb). symbols(",
    "lib/many.rb": "may need no import: 1 of 12 name what it defines (lib/z.rb). symbols(",
    "lib/db.rb": "may need no import: at least 0 of 12 name `DB`. symbols(",  # too short to be looked up
    "lib/part.rb": "may need no import: at least 0 of 11 name `Part`. symbols(",
    "lib/text.rb": "may need no import: 1 of 12 name `Text` (lib/words.rb). symbols(",  # a module within one
    "src/helper.php": None,  # a function is not loaded by its name
    "src/Alone.php": None,
    "ex/deep.ex": "may need no import: 1 of 1 name `App.Deep` (ex/uses.ex).",
    "rtl/alu.sv": "may need no import: 1 of 1 name `alu` (rtl/top.sv).",
}


async def test_what_is_loaded_by_its_name_costs_what_a_hint_may(tmp_path: Path) -> None:
    """Text that only may hold a name is looked at up to a limit, which is said; and a mention is not called a use."""
    texts = {
        "lib/widget.rb": "class Widget; end\n",
        "lib/says.rb": "# Widget\n",
        "lib/z.rb": "Z::Widget.new(DB, Name150)\n",
        "lib/db.rb": "class DB; end\n",
        "lib/many.rb": "".join(f"class Name{number:03}; end\n" for number in range(60, 160)),
        "lib/text.rb": "module App\n  module Text\n    def self.cut; end\n  end\nend\n",
        "lib/words.rb": "App::Text.cut\n",
        "lib/part.rb": "class Part; end\n",
        "lib/whole.rb": "require_relative 'part'\nPart.new\n",  # an importer: it is listed, and none of the others
        "src/helper.php": "<?php\nfunction helper() {}\n",
        "src/Alone.php": "<?php\nclass Alone { function helper() {} }\n",
        "src/x.php": "<?php\nhelper();\n",
        "ex/deep.ex": "defmodule App.Deep do\n  def run, do: 1\nend\n",
        "ex/uses.ex": "defmodule App do\n  def go, do: App.Deep.run()\nend\n",
        "rtl/alu.sv": "module alu; endmodule\n",
        "rtl/top.sv": "module top; alu u_alu(); endmodule\n",
    }
    texts |= {f"big/{number}.rb": "# Partly\n" * (MOST_BLOCKS * 4096 // 4 // 9 + 500) for number in range(4)}
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    wrong = {}
    async with fronted(tmp_path) as (front, _):
        for path, said in LOADED.items():
            note = (await front.call("dependencies", {"path": path})).note or ""
            if (said not in note) if said else ("by its name" in note):
                wrong[path] = note
    assert not wrong


EDITED = [  # each makes other functions what they are: of its file, of one that calls it, and of the whole project
    ("a.py", "def a(x: str):\n    print(x)\n"),
    (
        "b.py",
        "from a import a\nimport json\ndef b(x: str):\n    return json.dumps(x)\ndef c(x: str):\n    return a(x)\n",
    ),
    ("d.py", "import json\njson.dumps = print\nclass D:\n    def __len__(self):\n        print(1)\n"),
    ("d.py", None),
    ("a.py", "\n\ndef a(x: str):\n    return x.upper()\n"),
]
AFTER = [
    ["impure", "pure", "pure"],
    ["impure", "pure", "impure", "pure"],
    ["impure", "unknown", "impure", "impure"],
    ["impure", "pure", "impure"],
    ["pure", "pure", "pure"],
]


@pytest.mark.parametrize("at_once", [(3, 2), pytest.param((1,) * 5, marks=pytest.mark.long)], ids=["some", "each"])
async def test_effects_after_an_edit_are_those_of_a_build_from_nothing(
    tmp_path: Path, at_once: tuple[int, ...]
) -> None:
    """After so many edits at a time; after the last, or after each that is made alone, such a build is made."""
    for path in ("a.py", "b.py", "d.py"):
        (tmp_path / path).write_text("def a(x: str):\n    return x.strip()\n")
    asked = (
        "SELECT path, line_start, name, purity, purity_reason FROM symbols "
        "WHERE kind IN ('function', 'method') ORDER BY ALL"
    )
    edited = 0
    async with live(tmp_path, "fledgling-analyst") as front:
        for count in at_once:
            for path, text in EDITED[edited : edited + count]:
                if text is None:
                    (tmp_path / path).unlink()
                else:
                    (tmp_path / path).write_text(text)
            edited += count
            while "and this may be out of date" in ((found := await ask(front, asked)).note or ""):
                pass  # a busy machine may take longer for a build than a call may wait
            assert [row[3] for row in found.rows] == AFTER[edited - 1]
            if count == 1 or edited == len(EDITED):
                async with fronted(tmp_path, "fledgling-analyst") as (anew, _):
                    assert found.rows == (await ask(anew, asked)).rows


WHOLE = {
    "w/one.py": "from w import two\ndef _odd(n):\n    return two._even(n - 1)\n"
    "def _again(n):\n    return _again(n)\n_again(1)\n",
    "w/two.py": "from w import one\nNAMES = ['_in_a_string']\ndef _even(n):\n    return one._odd(n - 1)\n"
    "def _nowhere(): ...\ndef _in_a_string(): ...\ndef public(): ...\nclass _Own:\n"
    "    def made(self):\n        return _Own()\n@un.known\ndef _decorated(): ...\nclass _Quoted: ...\n"
    "NOTED = 'a: _Quoted | None'\n",
    "w/paste.c": "#define MAKE(a) int a##_made(void);\n__attribute__((constructor)) static void begin(void) {}\n"
    "static int x_made(void) { return 1; }\n",
    "w/test_w.py": "def _helps(): ...\n",
    "w/loop.py": "import threading\nclass _Loop(threading.Thread): ...\nclass _Worker(_Loop):\n"
    "    def _hook(self): ...\n",
    "w/shown.py": "def setup(): ...\n",
    "w/less.rb": "class Less95\n  def <=>(other) = 0\nend\nLess95.new < Less95.new\n",
    "w/__init__.py": "",
}


async def survey_is_that_of_the_tables(front: Front) -> None:
    """What a report shows of calls and circles, its neighbours and members too."""
    overview = await front.survey()
    assert isinstance(overview, Overview)
    for kind, circles in (("import", overview.circles), ("call", overview.calls.circles)):
        rows = await ask(front, f"SELECT cycle, path, line, name FROM cycles WHERE kind = '{kind}' ORDER BY ALL")
        expected = [[(p, n or 0, name) for _, p, n, name in some] for _, some in groupby(rows.rows, lambda row: row[0])]
        found = [[(each.path, each.line, each.name) for each in some] for some in circles.members]
        assert sorted(found) == sorted(map(sorted, expected))
        assert circles.sizes == sorted(map(len, expected), reverse=True)
    assert overview.calls.hubs
    for hub in overview.calls.hubs:
        called = f"callee_path = '{hub.path}' AND callee_qualified_name = '{hub.name}'"
        rows = await ask(
            front,
            "SELECT count(*), count(*) FILTER (confidence = 'certain'), count(DISTINCT (path, caller)) FROM calls "
            f"WHERE {called} AND confidence IN ('certain', 'likely')",
        )
        assert rows.rows == [[hub.sites, hub.certain_sites, hub.total_callers]], hub


async def whole_is_that_of_the_text(front: Front) -> None:
    """Circles, hubs, and what nothing is seen to use, with what may use it unseen: a file of a case is broken."""
    circles = await ask(front, "SELECT kind, size, path, name FROM cycles WHERE path LIKE 'w/%' ORDER BY ALL")
    assert circles.rows == [
        ["call", 1, "w/one.py", "_again"],
        ["call", 2, "w/one.py", "_odd"],
        ["call", 2, "w/two.py", "_even"],
        ["import", 2, "w/one.py", None],
        ["import", 2, "w/two.py", None],
    ]
    hubs = await ask(front, "SELECT kind, name, users FROM hubs WHERE path = 'w/one.py' ORDER BY ALL")
    assert hubs.rows == [["call", "_again", 2], ["call", "_odd", 1], ["import", None, 1]]
    await survey_is_that_of_the_tables(front)
    unused = await ask(front, "SELECT name, unseen FROM unreachable WHERE path LIKE 'w/%' ORDER BY ALL")
    assert unused.rows == [
        ["<=>", "the language or a tool may run it"],
        ["_Own", "a file that is not wholly in the graph may use it"],
        ["_Quoted", "its name stands in a string"],
        ["_Worker", "a file that is not wholly in the graph may use it"],
        ["_decorated", "what stands above it may register it"],
        ["_helps", "a test runner may run it"],
        ["_hook", "it may be called through a class that its own is derived from"],
        ["_in_a_string", "its name stands in a string"],
        ["_nowhere", "a file that is not wholly in the graph may use it"],
        ["begin", "what stands above it may register it"],
        ["made", "a file that is not wholly in the graph may use it"],
        ["public", "a file that is not wholly in the graph may use it"],
        ["setup", "the language or a tool may run it"],
        ["x_made", "a macro may make its name of parts"],
    ]
    assert "A name computed at run time may use them" in (unused.note or "")


DECORATED = """class A {
  @override @deprecated private plain() {}
  @override
  @bound private handed() {}
  private __sign__() {}
  private toString() {}
}
new A()
"""


NOTEBOOK = '{"cells": [{"cell_type": "code", "source": ["import a\\n", "a._alone()"]}]}\n'
NOTED = {"a.py": "def _alone(): ...\ndef _lost(): ...\n", "a.ipynb": NOTEBOOK, "a.md": "`_lost`\n"}


@pytest.fixture(scope="module")
async def unused(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Front]:
    """A project of what nothing is seen to use: each language has what its test looks at."""
    root = tmp_path_factory.mktemp("unused")
    for path, text in {"a.ts": DECORATED, **NOTED}.items():
        (root / path).write_text(text)
    async with fronted(root, "fledgling-analyst") as (front, _):
        yield front


async def test_tables_and_answers_go_by_the_same_above_a_definition(unused: Front) -> None:
    """`@override` hands nothing on, but what stands beside or below it may; a language runs the names that it says."""
    found = await ask(unused, "SELECT name, unseen FROM unreachable WHERE path = 'a.ts' ORDER BY ALL")
    assert found.rows == [
        ["__sign__", None],
        ["handed", "what stands above it may register it"],
        ["plain", None],
        ["toString", "the language or a tool may run it"],
    ]


def test_what_stands_above_a_definition_is_read_once() -> None:
    costs_under(1, lambda: taker(Unnamed(inert="@A"), "method", ["@A " * 600_000]))


async def test_what_a_notebook_names_may_be_used(unused: Front) -> None:
    """There is no graph of notebooks, but their words are known; those of documents are no uses."""
    found = await ask(unused, "SELECT name, unseen FROM unreachable WHERE path <> 'a.ts' ORDER BY ALL")
    assert found.rows == [["_alone", "a file in a language without a graph names it"], ["_lost", None]]


HIDING = """
SET extends = 'fledgling-analyst';
CREATE VIEW visible_files AS SELECT * FROM files WHERE path NOT LIKE '%unseen%';
"""


async def test_a_hidden_file_gives_no_edge_no_count_and_no_name(tmp_path: Path) -> None:
    """All that is said is what would be said if it were not there."""
    seen = {
        "a.py": "from unseen import hidden_one\ndef used(): ...\ndef _alone(): ...\n",
        "b.py": "import a\na.used()\nhidden_one()\n",
    }
    unseen = {
        "unseen.py": "import a\ndef hidden_one():\n    a.used()\nclass Sub(a.Base): ...\n",
        "unseen.ipynb": NOTEBOOK,
    }
    profile = tmp_path / "hiding.sql"
    profile.write_text(HIDING)
    said = []
    for name, files in {"whole": seen | unseen, "without": seen}.items():
        for path, text in files.items():
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / path).write_text(text)
        async with fronted(tmp_path / name, profile) as (front, _):
            asked = [
                ("symbols", {"symbol": "used", "relation": "usages"}),
                ("symbols", {"symbol": "used", "relation": "impact"}),
                ("symbols", {"symbol": "hidden_one", "relation": "usages"}),
                ("read", {"symbol": "used", "budget_tokens": 500}),
                *(("query", {"sql": f"FROM {table} ORDER BY ALL"}) for table in COLUMNS),
                ("query", {"sql": "SELECT *, purity IS NULL FROM symbols ORDER BY ALL"}),
            ]
            said.append([await front.call(tool, arguments) for tool, arguments in asked])
    assert said[0] == said[1]


# ---- what does not fit ----------------------------------------------------------------------------------------------

SMALL = "SET extends = 'fledgling-analyst'; SET memory_limit = '128MB';"
FILLED = '"""\n' + ("." * 69 + "\n") * 12_000 + '"""\n'  # SMALL has room for one


async def test_a_graph_without_room_for_all_files_says_which_uses_it_does_not_know(tmp_path: Path) -> None:
    deep = "import near\nfrom deep.b import far\nnear.used()\nfar()\n" + FILLED
    texts = {
        "near.py": "import deep.c\nclass Used:\n    def run(self): ...\n"
        "def used(one: Used):\n    deep.c.used()\n    one.run()\n",
        "caller.py": "from near import used\nused()\n",
        "deep/__init__.py": "",
        "deep/a.py": deep,
        "deep/b.py": deep + "def far(): ...\n",
        "deep/c.py": deep + "def used(): ...\n",
    }
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    profile = tmp_path / "small.sql"
    profile.write_text(SMALL)
    async with fronted(tmp_path, profile) as (front, _):
        found: Any = await front.call("symbols", {"symbol": "used", "path": "near.py", "relation": "callers"})
        assert isinstance(found, Relations), found
        assert [(file.path, [use.line for use in file.related]) for file in found.files] == [
            ("caller.py", [2]),
            ("deep/a.py", [3]),
        ]
        assert "1 unresolved (outside the project, or in a file that is not in the graph: near.py:5)" in found.account
        assert "3 unresolved (not in the graph: deep/b.py:3, deep/c.py:3, deep/c.py:12007)" in found.account
        assert "Uses in 2 of 5 files are not resolved: the graph of the others, those nearest" in (found.note or "")
        found = await front.call("symbols", {"symbol": "run", "relation": "callers"})
        assert [(use.confidence, use.reason) for file in found.files for use in file.related] == [
            ("likely", "may be overridden")
        ]
        refused: Any = await front.call("symbols", {"symbol": "far", "relation": "callers"})
        assert "deep/b.py" in refused.reason, refused
        assert "no room" in refused.reason, refused
        context: Any = await front.call("read", {"symbol": "used", "path": "near.py", "budget_tokens": 500})
        assert "Uses in 2 of 5 files" in (context.note or ""), context
        table = await ask(front, "SELECT path, line FROM calls WHERE callee_path = 'near.py' ORDER BY ALL")
        assert table.rows == [["caller.py", 2], ["deep/a.py", 3], ["near.py", 6]]
        assert "Uses in 2 of 5 files" in (table.note or "")


async def answered(front: Front, symbol: str, relation: str) -> Relations:
    found = await front.call("symbols", {"symbol": symbol, "relation": relation})
    assert isinstance(found, Relations), found
    return found


@pytest.mark.parametrize("more", [0, 1])
async def test_arguments_are_followed_in_so_many_bytes_of_source(more: int, tmp_path: Path) -> None:
    """Of FOLLOWED_BYTES and one more the graph lacks what functions are given, and says so."""
    text = "class A:\n def run(self): ...\ndef f(a):\n a.run()\nf(A())\n"
    text += "def once(): ...\nonce()\ndef given(): ...\nf(given)\n"
    lines = ("." * 1_999 + "\n") * (FOLLOWED_BYTES // 2_000)
    (tmp_path / "a.py").write_text(text + f'"""\n{lines[: FOLLOWED_BYTES - len(text) - 8 + more]}"""\n')
    async with fronted(tmp_path, "fledgling-expert", settings={"max_file_size": FOLLOWED_BYTES + 1}) as (front, _):
        found: Any = await front.call("symbols", {"symbol": "run", "relation": "callers"})
        said = {
            (name, relation): UNFOLLOWED in ((await answered(front, name, relation)).note or "")
            for name in ("run", "once", "given", "A")
            for relation in ("callers", "impact", "hierarchy")
            if (name == "A") is (relation == "hierarchy")
        }
    assert isinstance(found, Relations), found
    assert said == {
        ("run", "callers"): bool(more),
        ("run", "impact"): bool(more),
        ("once", "callers"): False,
        ("once", "impact"): bool(more),
        ("given", "callers"): bool(more),
        ("given", "impact"): bool(more),
        ("A", "hierarchy"): False,
    }
    assert ([(use.line, use.confidence) for file in found.files for use in file.related], found.note) == (
        ([], UNFOLLOWED) if more else ([(4, "likely")], None)
    )


@pytest.mark.parametrize(
    ("views", "settings", "reason"),
    [
        pytest.param("", {"index_content": False}, "index_content is off", marks=pytest.mark.long),
        ("CREATE VIEW symbols AS SELECT * FROM symbols WHERE name <> 'x';", {}, "under this profile"),
    ],
)
async def test_an_index_that_can_have_no_graph_says_why(
    tmp_path: Path, views: str, settings: dict[str, Any], reason: str
) -> None:
    (tmp_path / "a.py").write_text("def used(): ...\nused()\n")
    profile = tmp_path / "own.sql"
    profile.write_text(f"SET extends = 'fledgling-core';\n{views}")
    async with fronted(tmp_path, profile, settings=settings, is_followed=True) as (front, _):
        refused: Any = await front.call("symbols", {"symbol": "used", "relation": "callers"})
        assert reason in refused.reason, refused
        overview: Any = await front.survey()
        assert reason in overview.calls.missing
        assert overview.calls.hubs == []


def test_what_stands_in_a_derived_class_is_found_in_time_in_proportion_to_the_classes() -> None:
    spans = [(line, 8000 + line % 2) for line in range(8000, 0, -1)]
    within = costs_under(0.1, lambda: [*map(Spans(spans).hold, range(8003))])
    assert within == [1 < line < 8002 for line in range(8003)]


@pytest.mark.long  # as many lines take seconds
async def test_a_definition_further_down_than_lines_are_numbered_costs_its_own_uses_only(tmp_path: Path) -> None:
    """Its calls are counted, and not certain where others begin on its line; its own uses are not resolved."""
    last = "function last() { top1(); }\n"  # on the last line that has a number
    below = "function f() { top1(); } function g() { f(); }\nf();\ntop1();\n"
    (tmp_path / "a.js").write_text("function top1() {}\n" + "\n" * (MAX_LINES - 2) + last + below)
    settings = {"max_file_size": 2 * MAX_LINES}
    async with fronted(tmp_path, "fledgling-expert", settings=settings) as (front, indexing):
        assert await indexing.is_sealed(GRAPH, PATIENCE)
        found: Any = await front.call("symbols", {"symbol": "top1", "relation": "callers"})
        of_far: Any = await front.call("symbols", {"symbol": "f", "relation": "callers"})
    assert isinstance(found, Relations), found
    uses = [(use.line - MAX_LINES, use.confidence) for file in found.files for use in file.related]
    assert uses == [(0, None), (1, "likely"), (3, None)]
    assert isinstance(of_far, Relations), of_far
    assert of_far.total == 0
    assert "unresolved" in of_far.account


@pytest.mark.long  # it takes as long as a file may; tests/honesty/ has files that were given up
async def test_a_language_is_named_though_none_of_its_files_could_be_read(tmp_path: Path) -> None:
    """To read its uses takes five seconds, and its definitions half of one: a file may take two (FILE_SECONDS)."""
    (tmp_path / "a.js").write_text("function k() {}\n" + ("a.b(c.d);" * 8 + "\n") * 10_000 + "k();\n")
    async with fronted(tmp_path, "fledgling-expert") as (front, indexing):
        assert await indexing.is_sealed(GRAPH, PATIENCE)
        found: Any = await front.call("symbols", {"symbol": "k", "relation": "callers"})
    assert isinstance(found, Relations), found
    assert "2 occurrences of `k`: 2 unresolved (not parsed: a.js:1, a.js:10002)" in found.account


async def test_of_very_many_computed_names_those_of_the_language_are_counted_and_the_nearest_named(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.js").write_text("function all(a, b) {" + "a[b]();\n" * (MOST + 1) + "}")
    (tmp_path / "b.js").write_text("function one() {}\nfunction any(a, b) { a[b](); }\n")
    (tmp_path / "c.py").write_text("def two(): eval('')\n")
    said = {"one": "more than 20,000 places (b.js:2, a.js:1, a.js:2, ...)", "two": "1 place (c.py:1)"}
    async with fronted(tmp_path, "fledgling-core") as (front, indexing):
        assert await indexing.is_sealed(GRAPH, PATIENCE)
        for name, places in said.items():
            found: Any = await front.call("symbols", {"symbol": name, "relation": "callers"})
            assert isinstance(found, Relations), found
            assert found.account.endswith(f", nor those by names that are computed at run time in {places}")
