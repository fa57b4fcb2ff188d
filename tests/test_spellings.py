"""What an agent means by arguments that are not quite those of a tool, as values; calls are in calls/spellings.toml.

Nothing widens: another name or spelling never asks for more than a true one could.
"""

import gc
import json
import time
from collections import Counter
from functools import cache
from typing import get_args

import msgspec
import pytest
from running import CALLS, fronted
from tables import every_row
from trees import make

from fledgling.broker import refused
from fledgling.broker.fitting import may_mean
from fledgling.broker.protocol import schema, tools
from fledgling.broker.spelling import others as respelled
from fledgling.broker.spelling.arguments import MAX_RESPELLED_CHARS, MeaningError, taken
from fledgling.broker.spelling.commands import command
from fledgling.broker.spelling.table import listed
from fledgling.broker.spelling.values import HOWS
from fledgling.broker.spelling.wider import wider
from fledgling.messages.questions import (
    QUESTIONS,
    Dependencies,
    Direction,
    Explore,
    Kind,
    Mode,
    Read,
    Relation,
    Search,
    Symbols,
)
from fledgling.security import profile as profiles
from fledgling.security.audit import corpus
from fledgling.security.audit.corpus import Ask
from fledgling.worker.languages.table import load_languages

ROOT = "/srv/app"

# ---- the table ------------------------------------------------------------------------------------------------------


def test_rows_of_aliases_are_of_tools_and_arguments_that_there_are():
    for alias in listed().alias:
        assert alias.how in HOWS
        for tool in alias.tools:
            assert alias.means in QUESTIONS[tool].__struct_fields__, alias
            own = {*alias.names} & {*QUESTIONS[tool].__struct_fields__}
            assert own <= {"regex"} if alias.how == "expression" else not own, alias
    for row in listed().always:
        assert not any({*row.names} & {*QUESTIONS[tool].__struct_fields__} for tool in row.tools), row


COMMANDS = {
    "rg -n 'a b' src": {"query": "a b", "path": "src"},
    "rg 'a.*b' src lib": {"query": "a.*b", "regex": True, "path": "{src,lib}"},
    "rg -F 'a.*b' .": {"query": "a.*b"},
    "-iw a": {"query": "a", "whole_word": True},
    "grep -A 3 -B5 x": {"query": "x", "context": 5},
    "grep -rnC99 x": {"query": "x", "context": 20},
    "rg -g '*.md' x docs": {"query": "x", "path": "docs/**/*.md"},
    "grep --include=*.py -r x": {"query": "x", "path": "*.py"},
    "rg -tpy -e -x -- src": {"query": "-x", "path": "src", "language": "python"},
    r"grep 'a\|b(c)'": {"query": r"a|b\(c\)", "regex": True},
    r"grep -E 'a|b\(c\)'": {"query": r"a|b\(c\)", "regex": True},
    "ack -i timeout": {"query": "timeout"},
    # what is not understood, inverts, excludes, or is prose
    "ack timeout": None,
    "grep -v x src": None,
    "grep -rnv x src": None,
    "grep --invert-match x": None,
    "rg -g '!*.md' x": None,
    "rg -e a -e b": None,
    "rg x | head": None,
    "grep -A x y": None,
    "grep -A 3": None,
    "rg 'x": None,
    "- x": None,
    "-x y": None,
    "rg": None,
    "x -i": None,
    "": None,
}


@every_row("text", COMMANDS)
def test_a_command_line_of_grep_means_a_search_or_nothing(text):
    assert command(text) == COMMANDS[text]


def test_a_name_means_one_argument_of_a_tool():
    """But where the value decides: `type` of a file or a definition, `regexp` as a truth value or an expression."""
    meanings = Counter((tool, name) for row in listed().alias for tool in row.tools for name in {*row.names})
    assert {pair for pair, count in meanings.items() if count > 1} <= {("search", "regexp")}


def test_values_mean_what_there_is_and_are_no_value_themselves():
    known = {
        "kind": get_args(Kind),
        "direction": get_args(Direction),
        "mode": get_args(Mode),
        "relation": get_args(Relation),
        "language": (*load_languages().rows,),
    }
    assert known.keys() == listed().values.keys()
    for field, names in listed().values.items():
        assert {*names.values()} <= {*known[field], *[""][: field == "kind"]}  # of any kind
        assert not names.keys() & {*known[field]}


def test_no_alias_is_in_a_schema():
    for tool in QUESTIONS:
        properties = schema.input_schema(tool)["properties"]
        assert [*properties] == [*QUESTIONS[tool].__struct_fields__]


# ---- words of names, and wider paths ---------------------------------------------------------------------------------

JOINED = {
    "processBatch": ["process_batch", "processBatch", "ProcessBatch"],
    "Time.HTTPServer2": ["Time.http_server_2", "Time.httpServer2", "Time.HTTPServer2"],
    "größeWert": ["größe_wert", "größeWert", "GrößeWert"],
    "überÄnderung": ["über_änderung", "überÄnderung", "ÜberÄnderung"],
    "число_слов": ["число_слов", "числоСлов", "ЧислоСлов"],
    "naïve": [],
    "nai\u0308ve": [],
    "日本": [],
    "_load_x": ["_load_x", "_loadX", "_LoadX"],
    "A.__getItem__": ["A.__get_item__", "A.__getItem__", "A.__GetItem__"],
    "__init__": [],
    "___": [],
    "": [],
}


@every_row("name", JOINED)
def test_words_of_a_name_are_of_any_alphabet(name):
    assert [*respelled.joined(name)] == JOINED[name]


DEEPER = {
    "src/*.py": "src/**/*.py",
    "src/*.{ts,tsx}": "src/**/*.{ts,tsx}",
    "{src,docs}/*.md": "{src,docs}/**/*.md",
    "src/[a-c]*.py": "src/**/[a-c]*.py",
    # leaves alone
    "src/**/*.py": None,
    "src/a.py": None,
    "{src/*.py,docs/*.md}": None,
    "src/[a/*]b": None,
    "a{b,c/*}d": None,
    "a{b/*,c}": None,
}


@every_row("path", DEEPER)
def test_a_pattern_of_one_level_is_wider_where_its_last_part_stands_alone(path):
    found = [way.question.path for way in wider(Search("x", path=path)) if way.question.path]
    assert found == [deeper for deeper in (DEEPER[path],) if deeper]


# ---- nothing widens -------------------------------------------------------------------------------------------------


ASKED = [attack.act for attack in corpus.attacks(("arguments", "query")) if isinstance(attack.act, Ask)]


def attacks_on(tool, argument):
    """Every value that the attack corpus gives to an argument, or to one of the same name of another tool."""
    return [ask.arguments[argument] for ask in ASKED if argument in ask.arguments and ask.tool in (tool, "read")]


def became(tool, arguments):
    """The question, or why there is none."""
    try:
        return taken(tool, arguments, ROOT).question
    except (MeaningError, msgspec.ValidationError) as problem:
        return str(problem)


@cache
def by_true_name(tool, means):
    """Each attack on an argument, what else its tool needs, and the questions that it may become."""
    needed = {key: value for key, value in corpus.REQUIRED.get(tool, {}).items() if key != means}
    found = []
    for value in attacks_on(tool, means):
        only = value[0] if isinstance(value, list) and len(value) == 1 else value
        found.append((value, needed, [became(tool, {**needed, means: each}) for each in (value, only)]))
    return found


SAME: dict[tuple[str, str], list[str]] = {}  # tool and argument -> the other names that it has
for alias in listed().alias:
    for tool in alias.tools if alias.how == "same" else ():
        SAME.setdefault((tool, alias.means), []).extend(alias.names)


@pytest.mark.parametrize("each", [False, pytest.param(True, marks=pytest.mark.long)])
def test_an_attack_by_another_name_is_the_attack_by_the_true_name(each):
    """Every attack by one of the names, every name with some attacks; or each with each."""
    wrong = [
        (tool, name, value)
        for (tool, means), names in SAME.items()
        for at, (value, needed, expected) in enumerate(by_true_name(tool, means))
        for name in (names if each else [names[at % len(names)]])
        if became(tool, {**needed, name: value}) not in expected
    ]
    assert not wrong


def test_whatever_is_meant_is_a_question_that_true_names_and_values_could_put():
    count = 0
    for alias in listed().alias:
        for tool in alias.tools:
            for value in [*attacks_on(tool, alias.means), True, "true", 7, [3, 5], "3-5", "*.py", f"{ROOT}/../x", ROOT]:
                needed = {key: v for key, v in corpus.REQUIRED.get(tool, {}).items() if key != alias.means}
                asked = became(tool, {**needed, alias.names[0]: value})
                if isinstance(asked, str):
                    continue
                for question in (asked, *(each.question for each in respelled.others(asked))):
                    true = {key: v for key, v in msgspec.to_builtins(question).items() if key != "tool"}
                    assert msgspec.convert(true, QUESTIONS[tool]) == question
                    count += 1
    assert count > 1000


# ---- absolute paths -------------------------------------------------------------------------------------------------

BELOW = {
    "/srv/app/src/a.py": "src/a.py",
    "/srv/app/": "",
    "/srv/app": "",
    "file:///srv/app/src/a.py": "src/a.py",
    "fledgling://file/src/a.py": "src/a.py",
    "/srv/app/**/*.py": "**/*.py",
    "/srv/app/../other": "../other",  # which a worker refuses
    "/srv/app//etc/passwd": "/etc/passwd",  # this, too
    "/srv/application/a.py": "/srv/application/a.py",
    "/srv/ap": "/srv/ap",
    "/srv": "/srv",
    "/SRV/APP/a.py": "/SRV/APP/a.py",
    "/srv/./app/a.py": "/srv/./app/a.py",
    "file:///etc/passwd": "file:///etc/passwd",
    "file://srv/app/a.py": "file://srv/app/a.py",
    "srv/app/a.py": "srv/app/a.py",
    "x/srv/app/a.py": "x/srv/app/a.py",
}


@every_row("path", BELOW)
def test_an_absolute_path_is_cut_where_it_begins_with_the_root(path):
    assert taken("explore", {"path": path}, ROOT).question.path == BELOW[path]
    assert taken("explore", {"pattern": path}, ROOT).question.pattern == (BELOW[path] or None)


def test_a_root_that_is_all_cuts_nothing():
    assert taken("explore", {"path": "/etc"}, "/").question.path == "/etc"


def test_what_is_said_does_not_repeat_the_root():
    assert taken("read", {"path": f"{ROOT}/a.py"}, ROOT).words == ('the absolute path as "a.py"',)


# ---- names of definitions -------------------------------------------------------------------------------------------

NAMES = {
    "Foo.bar": "Foo.bar",
    "Foo.bar()": "Foo.bar",
    "Foo.bar(self, x: int = 3) -> int:": "Foo.bar",
    "Foo::bar": "Foo.bar",
    "::Foo::bar()": "Foo.bar",
    "std::vector<T>::push_back(const T&)": "std.vector.push_back",
    "Foo#bar": "Foo.bar",
    "Foo->bar": "Foo.bar",
    "foo?.bar": "foo.bar",
    "(*T).m": "T.m",
    "(T).m": "T.m",
    "*T.m": "T.m",
    "func (t *T) m(x int) error": "T.m",
    "func (T) m()": "T.m",
    "FileSink..ctor": "FileSink.FileSink",
    "Outer.FileSink..ctor(String)": "Outer.FileSink.FileSink",
    "FileSink.<init>": "FileSink.FileSink",
    "app.core:run": "app.core.run",
    "app/core/run": "app.core.run",
    "App\\Engine": "App.Engine",
    "Outer$Inner": "Outer.Inner",
    "$ZodString": "$ZodString",
    "export const $go": "$go",
    "[dependencies]": "dependencies",
    "def run": "run",
    "async def run(self):": "run",
    "class Engine(Base):": "Engine",
    "public static final class Engine extends Base {": "Engine",
    "export default function boot(root)": "boot",
    "export async function boot": "boot",
    "pub fn run<T>(x: T)": "run",
    "impl Engine": "Engine",
    "const go": "go",
    "interface View": "View",
    "`Engine.run`": "Engine.run",
    '"Engine.run"': "Engine.run",
    "self.run": "run",
    "this.run": "run",
    "@app.route": "app.route",
    "&Engine": "Engine",
    "List[int].append": "List.append",
    "  Engine  ": "Engine",
    "Engine.": "Engine",
    "classify": "classify",
    "functional": "functional",
    "defrost": "defrost",
    "selfish.run": "selfish.run",
    "über": "über",
}


@every_row("name", NAMES)
def test_a_name_is_what_is_left_of_it(name):
    assert respelled.symbol(name) == NAMES[name]
    assert respelled.symbol(NAMES[name]) == NAMES[name]


# ---- what a worker may take a question for --------------------------------------------------------------------------

MAY = [
    (Read("query.py"), Read("db/query.py")),
    (Read("db/query"), Read("x/db/query.py")),
    (Read("Query.PY"), Read("db/query.py")),
    (Read("./query.py"), Read("db/query.py")),
    (Read(symbol="run"), Read("a.py", symbol="run")),
    (Read(symbol="a.Engine.run"), Read("a.py", symbol="Engine.run")),
    (Read("a.py", symbol="engine.RUN"), Read("a.py", symbol="Engine.run")),
    (Search("x", path="query.py"), Search("x", path="**/query.py")),
    (Explore("sql"), Explore("db/sql")),
    (Symbols(name_pattern="ENGINE"), Symbols(name_pattern="Engine")),
    (Symbols("Engine"), Symbols(name_pattern="Engine")),
    (Symbols("Engine.run"), Symbols(name_pattern="Engine.run")),
    (Symbols("core.engine"), Symbols(name_pattern="core.Engine")),
    (Dependencies("query.py", "imports"), Dependencies("db/query.py", "imports")),
]
MAY_NOT = [
    (Symbols("Engine"), Symbols()),
    (Symbols("Engine"), Symbols(name_pattern="*")),
    (Symbols("Engine"), Symbols(name_pattern="Queue")),
    (Symbols("Nope.run"), Symbols(name_pattern="run")),
    (Symbols("Nope.run"), Symbols(name_pattern="Base.run")),
    (Symbols("package.json"), Symbols(name_pattern="json")),
    (Symbols(name_pattern="Nope.run"), Symbols(name_pattern="run")),
    (Symbols("Engine", name_pattern="a"), Symbols(name_pattern="Engine")),
    (Read("query.py"), Read("secret.py")),
    (Read("query.py"), Read("db/myquery.py")),
    (Read("query.py"), Read("query.py/x")),
    (Read("query.py", 1, 2), Read("query.py", 1, 9)),
    (Read("a.py"), Read("a.py", symbol="run")),
    (Read("a.py", symbol="run"), Read("a.py", symbol="walk")),
    (Read("a.py", symbol="run"), Read("b.py", symbol="run")),
    (Read(symbol="run"), Read("a.py", symbol="walk")),
    (Read(symbol="run"), Read("a.py")),
    (Search("x"), Search("x", path="a.py")),
    (Search("x"), Search("y")),
    (Search("x", max_results=1), Search("x", max_results=9)),
    (Search("x", path="a.py"), Search("x")),
    (Search("x", path="a.py"), Symbols("a.py")),
    (Explore(), Explore("src")),
    (Explore("src"), Explore()),
    (Explore("src", cursor="5"), Explore("src", cursor="6")),
    (Symbols(name_pattern="a"), Symbols(name_pattern="*")),
    (Dependencies("a.py", "imports"), Dependencies("a.py")),
]


@every_row("asked, taken", MAY, ids=repr)
def test_a_worker_may_find_what_is_meant(asked, taken):
    assert may_mean(asked, taken)


@every_row("asked, taken", MAY_NOT, ids=repr)
def test_a_worker_may_not_answer_another_question(asked, taken):
    assert not may_mean(asked, taken)


# ---- cost, and what else is asked -----------------------------------------------------------------------------------

BOMBS = ["a.", "a:", ".a:1", "a#", "\\", "`", " ", "<", "[", "(*", "a,", "::", "def ", "$", "{", "/", "@a", "1-", "-"]
MEANING_SECONDS = 1.0  # for 2,000 spellings of the longest texts; a quadratic row would take minutes


@pytest.mark.parametrize("chars", [MAX_RESPELLED_CHARS, 4096])
def test_no_text_takes_long_to_be_spelled_otherwise(chars):
    texts = [(bomb * chars)[: chars - 1] + end for bomb in BOMBS for end in ("", "/", "\x00", ")", "x")]
    begun = time.process_time()
    for text in texts:
        for question in (Read(text.strip("\x00") or "a"), Read("a", symbol=text.replace("\x00", "b"))):
            assert sum(1 for _ in respelled.others(question)) <= 12
    assert time.process_time() - begun < MEANING_SECONDS


def test_calls_leave_nothing_for_the_collector():
    """What a broker must collect lies about until then, a megabyte and more of it."""
    profile = profiles.load("fledgling-analyst")
    calls = [*CALLS, ("query", {"sql": "SELECT 1"}), ("search", {"query": ""}), ("read", {"at": 1}), ("nothing", {})]
    for call in calls:
        refused.taken(profile, *call, ROOT)
    gc.collect()
    gc.disable()
    try:
        for call in calls:
            refused.taken(profile, *call, ROOT)
        assert gc.collect() == 0
    finally:
        gc.enable()


@pytest.mark.anyio
async def test_ways_on_are_those_of_the_profile(project, tmp_path):
    profile = tmp_path / "few.sql"
    profile.write_text("SET tools = 'symbols, read';")
    async with fronted(project, profile) as (front, _):
        found = tools.text(await front.call("symbols", {"name_pattern": "requests"}))
        assert found.startswith("0 symbols")
        assert "search(query" not in found
        few = await front.call("symbols", {"name": "Engine", "kind": "function", "path": "web"})
        assert json.dumps(few.note).count("symbols(") == 1


@pytest.mark.anyio
async def test_a_qualified_name_comes_before_a_path_that_lacks_its_directory_and_extension(tmp_path):
    sent = "var res = {}\nres.send = function send() {}\n"
    make(tmp_path, **{"lib/response.js": sent, "test/res.send.js": "var a\n", "test/res.gone.js": "var b\n"})
    async with fronted(tmp_path) as (front, _):
        for asked, found in (("res.send", "lib/response.js"), ("res.gone", "test/res.gone.js")):
            answer = await front.call("symbols", {"path": asked})
            assert [file.path for file in answer.files] == [found], asked


@pytest.mark.parametrize(
    ("listed", "meant"),
    [
        (["./a.js", f"{ROOT}/b.js"], "{./a.js,b.js}"),
        (["a.js", ""], "{a.js,.}"),
        (["a.js", ROOT], "{a.js,.}"),
        (["src/", "/etc"], "{src,/etc}"),
    ],
)
def test_each_path_of_a_list_is_taken_as_a_single_one_is(listed, meant):
    question, words = taken("search", {"query": "x", "path": listed}, ROOT)
    assert (question.path, words) == (meant, (f'path as "{meant}"',))
