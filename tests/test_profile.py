import hashlib
import os
import random
import re
from pathlib import Path

import duckdb
import msgspec
import pytest
from tables import cases

from fledgling.messages.aliases import ALIASES
from fledgling.messages.operations import OPERATIONS
from fledgling.messages.profile import Profile
from fledgling.messages.questions import QUESTIONS
from fledgling.plain import MAX_SHOWN_PATH
from fledgling.security.profile import DIRECTIVES, KB, UNITS, VIEWS, ProfileError, describe, diff, load, shipped
from fledgling.security.sql_text import Setting, SqlTextError, parse

TABLES = Path(__file__).parent / "profiles"
PROFILES = Path(__file__).parent.parent / "profiles"


def loaded(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return load(str(folder / "mine.sql"))


def check(profile, case):
    for field, value in case.get("fields", {}).items():
        assert getattr(profile, field) == (tuple(value) if isinstance(value, list) else value), field
    if "views" in case:
        views = [[view.name, view.select, view.line] for view in profile.views]
        assert [view[: len(expected)] for view, expected in zip(views, case["views"], strict=True)] == case["views"]


@pytest.mark.parametrize("case", cases(TABLES / "refused.toml"))
def test_refused(case, tmp_path):
    with pytest.raises(ProfileError) as error:
        loaded(tmp_path, {"mine.sql": case["text"].encode(case.get("encoding", "utf-8"))})
    assert str(error.value).startswith(f"mine.sql:{case['line']}: ")
    assert case["says"].replace("{tools}", ", ".join(QUESTIONS)) in str(error.value)
    assert error.value.fix
    assert str(error.value).isprintable()


@pytest.mark.parametrize("case", cases(TABLES / "accepted.toml"))
def test_accepted(case, tmp_path):
    check(loaded(tmp_path, {"mine.sql": case["text"]}), case)


BOUNDS = re.compile(r"a (size|number|whole number) from '?([0-9.]+)([KMG]B)?'? to '?([0-9.]+)([KMG]B)?")
CHOICES = re.compile(r"'\w+'(?: or '\w+')*")


def said(directive):
    """Values that a directive says it takes, and some that it does not, as a profile writes them."""
    expects = directive.literal.expects
    if bounds := BOUNDS.match(expects):
        kind, low, low_unit, high, high_unit = bounds.groups()
        if kind == "size":
            least, most = int(low) * UNITS[low_unit], int(high) * UNITS[high_unit]
            return [f"'{low}{low_unit}'", f"'{high}{high_unit}'"], [f"'{least // KB - 1}KB'", f"'{most // KB + 1}KB'"]
        step = 1 if kind == "whole number" else 0.01
        return [low, high], [f"{float(low) - step:g}", f"{float(high) + step:.10g}", f"'{low}'"]
    if CHOICES.fullmatch(expects):
        return expects.split(" or "), ["'so'", "1"]
    return None


def test_a_directive_takes_what_it_says_that_it_takes(tmp_path):
    """Bounds and choices of every row, as documents and refusals have them: a new one needs no case of its own."""
    rows = {name: values for name, directive in DIRECTIVES.items() if (values := said(directive))}
    assert DIRECTIVES.keys() - rows == {"extends", "tools", "tags", "extensions"}, "what these take is in the tables"
    for name, (taken, refused) in rows.items():
        fields = []
        for value in taken:
            profile = loaded(tmp_path, {"mine.sql": f"SET tools = 'read'; SET {name} = {value};"})
            fields.append(getattr(profile, name, value))
        assert len({*fields}) == len(taken)
        for value in refused:
            with pytest.raises(ProfileError, match=re.escape(f"write {DIRECTIVES[name].literal.expects}")):
                loaded(tmp_path, {"mine.sql": f"SET tools = 'read'; SET {name} = {value};"})


@pytest.mark.parametrize("case", cases(TABLES / "extends.toml"))
def test_extends(case, tmp_path):
    if "says" not in case:
        check(loaded(tmp_path, case["files"]), case)
        return
    with pytest.raises(ProfileError) as error:
        loaded(tmp_path, case["files"])
    assert str(error.value).startswith(f"{case['at']}: ")
    assert case["says"] in str(error.value)


# ---- where profiles come from


def test_a_directive_has_a_field_or_means_nothing_to_any_process():
    assert DIRECTIVES.keys() - {field.name for field in msgspec.structs.fields(Profile)} == {
        "extends",
        "access_mode",
        "extensions",
    }


def test_the_shipped_profiles():
    assert shipped() == tuple(sorted(path.stem for path in PROFILES.glob("*.sql")))
    assert tuple(load(name).name for name in shipped()) == shipped()
    analyst, core, expert, operator, outie = map(
        load, ("fledgling-analyst", "fledgling-core", "fledgling-expert", "fledgling-operator", "fledgling-outie")
    )
    assert expert == msgspec.structs.replace(
        core, name=expert.name, file=expert.file, digest=expert.digest, tools=(*core.tools, *ALIASES)
    )
    assert operator.tools == (*core.tools, *OPERATIONS)
    assert set(analyst.tools) == set(QUESTIONS), "fledgling-analyst has every tool: make docs"
    assert core.tools == outie.tools == ("explore", "read", "search", "symbols", "dependencies")
    assert (core.memory_limit, core.query_timeout, core.views) == (2_000_000_000, 30, ())
    assert (analyst.memory_limit, analyst.query_timeout, analyst.views) == (4_000_000_000, 60, ())
    assert not any(profile.absolute_paths for profile in (analyst, core, outie))


@pytest.mark.parametrize("limit", ["memory_limit", "query_timeout", "max_rows", "max_result_bytes"])
def test_outie_is_the_strictest(limit):
    outie, others = load("fledgling-outie"), [load(name) for name in shipped() if name != "fledgling-outie"]
    assert all(getattr(outie, limit) < getattr(other, limit) for other in others)


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_profile_states_its_mode_limits_and_tools(name):
    text = (PROFILES / f"{name}.sql").read_text(encoding="utf-8")
    stated = {statement.name.text for statement in parse(text) if isinstance(statement, Setting)}
    assert stated >= {"access_mode", "memory_limit", "query_timeout", "tools"}


@pytest.mark.parametrize(
    "wanted", ["fledgling-core.sql", "mine", "core", "", "no/such", "./fledgling-core", "/", "a\0.sql"]
)
def test_a_name_never_looks_into_the_directory_it_runs_in(wanted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for decoy in ("fledgling-core.sql", "mine", "mine.sql", "core.sql"):
        Path(decoy).write_text("SET tools = 'query';", encoding="utf-8")
    with pytest.raises(ProfileError) as error:
        load(wanted)
    assert error.value.line is None
    assert "fledgling-core" in str(error.value)


@pytest.mark.parametrize("wanted", ["x" * 5000, "x" * 5000 + ".sql", "a/" + "x" * 5000, "a\0/" + "x" * 5000])
def test_a_message_names_so_much_of_a_name_or_path(wanted, tmp_path):
    """Whoever asks for it, and whatever is wrong with it: the operator, or a profile that extends it."""
    (tmp_path / "mine.sql").write_text(f"SET extends = '{wanted}';", encoding="utf-8")
    for asked in (wanted, str(tmp_path / "mine.sql")):
        with pytest.raises(ProfileError) as error:
            load(asked)
        assert len(str(error.value)) < 2 * MAX_SHOWN_PATH + 300


def test_a_shipped_name_wins_over_a_file_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for decoy in ("fledgling-core", "fledgling-core.sql"):
        Path(decoy).write_text("SET tools = 'query';", encoding="utf-8")
    assert "query" not in load("fledgling-core").tools
    assert load("./fledgling-core.sql").tools == ("query",)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "mine.sql")
    with pytest.raises(ProfileError, match=r"mine\.sql: it is not a file"):
        load(str(tmp_path / "mine.sql"))


def test_a_large_file_is_refused(tmp_path):
    head = "SET tools = 'read';\n"
    assert loaded(tmp_path, {"mine.sql": head + " " * (64 * 1024 - len(head))}).tools == ("read",)
    with pytest.raises(ProfileError, match=r"mine\.sql:1: the file is larger than 65536 bytes"):
        loaded(tmp_path, {"mine.sql": head + " " * (64 * 1024 - len(head) + 1)})


# ---- what is said about a profile


def test_the_digest_is_that_of_the_file_and_of_what_it_extends(tmp_path):
    text = "SET extends = 'base.sql';"
    alone = loaded(tmp_path, {"mine.sql": "SET tools = 'read';"}).digest
    assert alone == hashlib.sha256(b"SET tools = 'read';").hexdigest()
    one = loaded(tmp_path, {"mine.sql": text, "base.sql": "SET tools = 'read';"}).digest
    other = loaded(tmp_path, {"mine.sql": text, "base.sql": "SET tools = 'read'; "}).digest
    assert len({alone, one, other}) == 3


def test_no_absolute_path_is_in_a_profile(tmp_path):
    profile = loaded(tmp_path, {"mine.sql": "SET extends = 'base.sql';", "base.sql": "SET tools = 'read';"})
    assert str(tmp_path) not in str(profile)


def test_every_field_of_a_profile_is_described():
    described = dict(describe(load("fledgling-outie")))
    assert set(Profile.__struct_fields__) - {"views"} == {field for field in described if not field.startswith("view ")}
    assert described["memory_limit"] == "1GB"
    assert described["max_result_bytes"] == "64KB"
    assert described["view visible_files"].startswith("SELECT *")


def test_every_directive_is_a_field_or_ends_in_the_loader():
    assert set(DIRECTIVES) - set(Profile.__struct_fields__) == {"extends", "access_mode", "extensions"}


def test_diff_shows_what_differs_and_nothing_else():
    core, outie = load("fledgling-core"), load("fledgling-outie")
    assert diff(core, core) == []
    differences = {field: (a, b) for field, a, b in diff(core, outie)}
    assert differences["memory_limit"] == ("2GB", "1GB")
    assert differences["view visible_files"][0] == ""
    assert "tools" not in differences


# ---- the views


@pytest.mark.parametrize("case", cases(TABLES / "outie.toml"))
def test_outie_sees(case):
    db = duckdb.connect()
    db.execute("CREATE TABLE files (path VARCHAR, is_binary BOOLEAN, is_generated BOOLEAN, skip_reason VARCHAR)")
    flags = [case.get("is_binary", False), case.get("is_generated", False), case.get("skip_reason")]
    db.execute("INSERT INTO files VALUES (?, ?, ?, ?)", [case["path"], *flags])
    (view,) = load("fledgling-outie").views
    assert view.name == "visible_files"
    assert bool(db.execute(view.select).fetchall()) == case["seen"]


# ---- soup

VERBS = "SET CREATE DROP VIEW OR REPLACE TEMP AS SELECT FROM WITH IF EXISTS TO GLOBAL MACRO TABLE SECRET DELETE"
OTHERS = "ATTACH COPY INSTALL LOAD PRAGMA CALL BEGIN"
SIGNS = "= ; ; ; ( ) , . * :: 1 30 0.5 - -- /* */ \\ \\' é \0 \ud7ff"
TEXTS = "' '' 'read' 'on' 'read_only' '2GB' 'a;b' 'fledgling-core' \" \"\" \"a;b\" E' x' U&' $$ $a$ $1"
WORDS = (
    *" ".join((VERBS, OTHERS, SIGNS, TEXTS)).split(),
    *("\n", " ", "\t", "\r", "\u00a0", "\u2028", "-- c\n", "/* c */", "/* /* */", "9" * 400),
    *DIRECTIVES,
    *VIEWS,
)
SOUND = (
    "SET tools = 'read';",
    "SET memory_limit = '1GB';",
    "SET max_rows TO 5;",
    "SET extends = 'fledgling-core';",
    "CREATE VIEW files AS SELECT * FROM files WHERE path <> 'a;--b' -- no\n;",
    'CREATE OR REPLACE TEMP VIEW content AS WITH c AS (FROM content) SELECT "path" /* a;b */ FROM c;',
    "DROP VIEW IF EXISTS symbols;",
)


def soup(chance):
    """Yield profiles: sound statements with a few words put in or taken out, and words alone."""
    while True:
        pieces = [piece for text in chance.sample(SOUND, 3) for piece in text.partition(chance.choice(text))]
        for _ in range(chance.randrange(4)):
            pieces.insert(chance.randrange(len(pieces) + 1), chance.choice(WORDS))
        if chance.random() < 0.2:
            pieces = chance.choices(WORDS, k=chance.randrange(12))
        yield chance.choice(("", " ")).join(pieces)


@pytest.mark.parametrize("count", [800, pytest.param(8_000, marks=pytest.mark.long)])
def test_soup_raises_nothing_but_profile_errors_that_name_file_and_line(tmp_path, count):
    path, texts = tmp_path / "mine.sql", soup(random.Random(1))
    outcomes = {True: 0, False: 0}
    for _ in range(count):
        path.write_bytes(next(texts).encode())
        try:
            profile, error = load(str(path)), None
        except ProfileError as e:
            profile, error = None, e
        outcomes[profile is not None] += 1
        assert error is None or (error.file == "mine.sql" and error.line)
        assert profile is None or {view.name for view in profile.views} <= set(VIEWS)
    assert min(outcomes.values()) > count // 20, "the soup is too thick or too thin to say anything"


@pytest.mark.parametrize("count", [4_000, pytest.param(40_000, marks=pytest.mark.long)])
def test_soup_that_is_admitted_holds_the_statements_that_duckdb_sees(count):
    """The two lexers agree where statements end: else a view's text could hold a second one."""
    db, texts, agreed = duckdb.connect(), soup(random.Random(2)), 0
    for _ in range(count):
        text = next(texts)
        try:
            statements = list(parse(text))
            seen = db.extract_statements(text)
        except (SqlTextError, duckdb.Error):
            continue
        assert len(seen) == len(statements), text
        kinds = [
            "SET" if isinstance(statement, Setting) else type(statement).__name__.upper() for statement in statements
        ]
        assert [statement.type.name for statement in seen] == kinds, text
        for select in [statement.select for statement in statements if hasattr(statement, "select")]:
            assert [part.type.name for part in db.extract_statements(f"FROM ({select})")] == ["SELECT"], text
        agreed += 1
    assert agreed > count // 10, "the soup is too thin to say anything"
