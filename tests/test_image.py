"""The image: what a profile hides is not in it, nobody can change it, and its tables are what the documents say."""

import fcntl
import mmap
import os
import re
import subprocess
import tempfile
import tomllib
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from itertools import product
from pathlib import Path

import duckdb
import msgspec
import pytest
from conftest import serve_command
from running import CALLS, PATIENCE, fronted, indexed

from fledgling.broker.indexing.failures import IndexingError
from fledgling.messages.generations import CODE, GRAPH
from fledgling.messages.profile import View
from fledgling.messages.questions import Dependencies, Explore, Query, Read, Search, Symbols
from fledgling.scope import Scope
from fledgling.security import memory_file
from fledgling.security import profile as profiles
from fledgling.worker.files.sweep import Sweeper
from fledgling.worker.files.text import content_hash
from fledgling.worker.gate.statement import Gate
from fledgling.worker.indexer.loading import Loading
from fledgling.worker.indexer.views import ViewError, Views
from fledgling.worker.store.database import (
    SYMBOLS_TOGETHER,
    TESTED,
    EngineError,
    check_engine,
    memory_share,
    open_sealed,
    start,
)
from fledgling.worker.store.symbols import Outlines

ROOT = Path(__file__).parent.parent
EMPTY = ROOT / "worker" / "store" / "empty.duckdb"

COLUMNS = {
    "files": "path absolute_path directory filename extension language size_bytes line_count modified_at is_binary "
    "is_generated content_hash skip_reason engine is_parsed encoding",
    "content": "path line_number line_text indent_level is_blank is_comment",
    "symbols": "path name kind line_start line_end parent_name signature docstring language visibility qualified_name "
    "content_hash purity purity_reason",
    "imports": "path line_number module alias is_relative is_stdlib resolved_path imported_names",
}


@asynccontextmanager
async def built(root, profile="fledgling-core"):
    async with indexed(root, profile) as indexing:
        await indexing.built()
        yield indexing


def descriptors(indexing):
    return msgspec.structs.astuple(indexing.images)


def raw(indexing):
    """Every byte of every image."""
    return b"".join(os.pread(fd, os.fstat(fd).st_size, 0) for fd in descriptors(indexing))


@contextmanager
def engine_over(indexing, image):
    """A DuckDB that has opened the images of a build as a worker does; statements mean the tables of one of them."""
    with closing(start()) as db:
        open_sealed(db, indexing.images, CODE, memory_share(indexing.images, CODE, indexing.profile.memory_limit))
        db.execute(f"USE {image}")
        yield db


TABLES = {
    "text": ["blocks", "files", "imports", "symbols"],
    "code": ["comments", "files", "imports", "names", "roots", "symbols"],
}


def as_text(indexing):
    """Every cell of every table, read back by the engine: what compression hides from a search of the bytes."""
    cells = []
    for image, expected in TABLES.items():
        with engine_over(indexing, image) as db:
            there = "SELECT table_name FROM duckdb_tables() WHERE database_name = $1"
            tables = [table for (table,) in db.execute(there, [image]).fetchall()]
            assert sorted(tables) == expected
            cells += [str(row) for table in tables for row in db.execute(f"FROM {table}").fetchall()]
    return "\n".join(cells)


# ---- what is hidden is absent ---------------------------------------------------------------------------------------

# profile, what is looked for, whether it is there
SEEN = [
    ("fledgling-core", "api_pb2", True),
    ("fledgling-core", "canary-91bc-generated", True),
    ("fledgling-core", ".env", True),
    ("fledgling-core", "-7f3a-", False),
    ("fledgling-core", "SECRET_TOKEN", False),
    ("fledgling-core", "drop.log", True),  # its name alone: answers say why it is not there
    ("fledgling-analyst", "-7f3a-", False),
    ("fledgling-outie", "process_batch", True),
    ("fledgling-outie", "api_pb2", False),
    ("fledgling-outie", "-91bc-", False),
    ("fledgling-outie", "protocol buffer", False),
    ("fledgling-outie", ".env", False),
    ("fledgling-outie", "-7f3a-", False),
    ("fledgling-outie", ".gitignore", False),
    ("fledgling-outie", "logo.png", False),
    ("fledgling-outie", "link.py", False),
]


SERVED = ("fledgling-core", "fledgling-analyst", "fledgling-outie")


@pytest.fixture(scope="module")
async def served(project):
    """A front and an index of the project under each of some profiles."""
    async with AsyncExitStack() as stack:
        served = {profile: await stack.enter_async_context(fronted(project, profile)) for profile in SERVED}
        for _, indexing in served.values():
            await indexing.built()
        yield served


@pytest.mark.anyio
@pytest.mark.parametrize("profile", SERVED)
async def test_what_the_profile_hides_is_nowhere_in_the_image(served, profile):
    """And the engine holds text only for SQL: the other tools read it where it is mapped."""
    _, indexing = served[profile]
    image, text = raw(indexing), as_text(indexing)
    with engine_over(indexing, "text") as db:
        assert db.execute("SELECT count(text) > 0 FROM blocks").fetchone() == (profile == "fledgling-analyst",)
    for _, word, is_there in [row for row in SEEN if row[0] == profile]:
        assert (word in text or word.encode() in image) == is_there, word
        if not is_there:
            assert not [form for form in ("utf-8", "utf-16-le", "utf-16-be") if word.encode(form) in image], word


@pytest.mark.anyio
async def test_secret_content_is_not_found_and_a_generated_file_is(served):
    front, _ = served["fledgling-core"]
    for query, total in (("canary-91bc-generated", 1), ("canary-7f3a-secret", 0), ("SECRET_TOKEN", 0)):
        assert (await front.ask(Search(query))).total == total
    assert "secret" in (await front.ask(Explore(pattern=".env"))).summary.skipped


@pytest.mark.anyio
async def test_image_of_what_is_visible_is_the_image_of_a_project_without_the_rest(project, served, tmp_path):
    """No trace in names, counts or order: an oracle on what is hidden has nothing to ask."""
    hidden = ("api_pb2.py", ".env", ".gitignore", "logo.png", "link.py")
    for file in project.rglob("*"):
        if ".git" not in file.parts and file.name not in (*hidden, "drop.log", "out.py") and file.is_file():
            target = tmp_path / file.relative_to(project)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
            os.utime(target, ns=(0, file.stat().st_mtime_ns))
    _, whole = served["fledgling-outie"]
    async with built(tmp_path, "fledgling-outie") as rest:
        assert as_text(whole) == as_text(rest)


# ---- nobody can change it -------------------------------------------------------------------------------------------


def write_through_a_new_descriptor(fd):
    again = os.open(f"/proc/self/fd/{fd}", os.O_RDWR)
    try:
        os.pwrite(again, b"x", 0)
    finally:
        os.close(again)


CHANGES = {
    "write": lambda fd: os.pwrite(fd, b"x", 0),
    "write behind the end": lambda fd: os.pwrite(fd, b"x", os.fstat(fd).st_size),
    "grow": lambda fd: os.ftruncate(fd, os.fstat(fd).st_size + 1),
    "shrink": lambda fd: os.ftruncate(fd, 0),
    "reserve": lambda fd: os.posix_fallocate(fd, os.fstat(fd).st_size, 1),
    "map shared for writing": lambda fd: mmap.mmap(fd, 1, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE),
    "open it anew and write": write_through_a_new_descriptor,
    "open it anew and truncate": lambda fd: os.open(f"/proc/self/fd/{fd}", os.O_RDWR | os.O_TRUNC),
    "another seal": lambda fd: fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW),
}


@pytest.mark.anyio
async def test_nobody_can_change_a_sealed_image(served):
    _, indexing = served["fledgling-core"]
    await indexing.sealed(GRAPH)
    before = raw(indexing)
    empty = {indexing.images.listing, indexing.images.edges}  # so small a project has no listing, and core no SQL
    images = [fd for fd in descriptors(indexing) if fd not in empty]
    assert all(map(memory_file.is_sealed, empty))
    for fd, (name, change) in product(images, CHANGES.items()):
        with pytest.raises(PermissionError):
            pytest.fail(f"{name}: {change(fd)}")
    with engine_over(indexing, "code") as db:
        for statement in (
            "INSERT INTO files (path) VALUES ('x')",
            "DROP TABLE files",
            "CREATE TABLE x (y INTEGER)",
        ):
            with pytest.raises(duckdb.InvalidInputException, match="read-only"):
                db.execute(statement)
    assert raw(indexing) == before


def test_empty_database_is_the_one_that_the_engine_makes(tmp_path):
    duckdb.connect(str(tmp_path / "made")).close()

    def pages(file):
        """Three headers of 4 KiB, each without its checksum and the identifier that every database gets by chance.

        Nor with the release that made it: each opens what another has made.
        """
        data = re.sub(rb"v2\.0\.\d|\b[0-9a-f]{10}\b", lambda found: bytes(len(found[0])), file.read_bytes())
        return [data[at + 8 : at + 124] + data[at + 140 : at + 4096] for at in range(0, len(data), 4096)]

    assert pages(tmp_path / "made") == pages(EMPTY)


def test_releases_of_duckdb_that_fix_a_tested_one_may_be_installed_and_no_others():
    said = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert f"duckdb>={TESTED[0]},<2.1" in said
    assert duckdb.__version__ in TESTED
    assert [check_engine(release) for release in TESTED] == [None] * len(TESTED)
    assert "tested with 2.0.0 and 2.0.1" in check_engine("2.0.9")
    for other in ("1.5.6", "2.1.0", "20.0.0", ""):
        with pytest.raises(EngineError, match="works with duckdb 2"):
            check_engine(other)


# ---- what is in it --------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_two_builds_give_the_same_answers_to_the_byte(project, served):
    async def answers(front):
        return [msgspec.json.encode(await front.call(tool, arguments)) for tool, arguments in CALLS]

    first, _ = served["fledgling-core"]
    async with fronted(project) as (second, _):
        assert await answers(first) == await answers(second)


@pytest.mark.anyio
async def test_tables_have_their_columns_and_keys(served):
    front, _ = served["fledgling-analyst"]

    async def rows(sql):
        return (await front.ask(Query(sql))).rows

    for table, columns in COLUMNS.items():
        assert [name for name, *_ in await rows(f"DESCRIBE {table}")] == columns.split()
    for table, key in {"files": "path", "content": "path, line_number"}.items():
        [[count, distinct]] = await rows(f"SELECT count(*), count(DISTINCT ({key})) FROM {table}")
        assert count == distinct > 10
    [[lines]] = await rows("SELECT sum(line_count) FROM files")
    assert await rows("SELECT count(*) FROM content") == [[lines]]
    assert await rows("SELECT count(*) FROM files WHERE absolute_path IS NOT NULL") == [[0]]


@pytest.mark.anyio
async def test_a_file_of_any_time_costs_nothing():
    """A tmpfs holds times that no message does: they count as the earliest or latest, and are no change."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        for name, seconds in {"early.py": -(2**40), "late.py": 2**40}.items():
            (Path(place) / name).touch()
            os.utime(Path(place) / name, (seconds, seconds))
        fd = os.open(place, os.O_RDONLY)
        sweeper = Sweeper(fd, Scope(), names=9, is_whole=False)
        assert not sweeper.look().changed
        os.close(fd)
        async with fronted(Path(place), "fledgling-analyst") as (front, _):
            answer = await front.ask(Query("SELECT path, year(modified_at) FROM files ORDER BY path"))
    assert answer.rows == [["early.py", 1677], ["late.py", 2554]]


@pytest.mark.anyio
async def test_a_file_of_gigabytes_behind_thousands_of_small_ones_costs_nothing(tmp_path):
    """Of a column of Python's own values, an engine that guesses looks at a thousand: then 2**32 is no number."""
    for number in range(2_001):
        (tmp_path / f"a{number:04}.py").touch()
    (tmp_path / "weights.bin").touch()
    os.truncate(tmp_path / "weights.bin", 2**32)
    async with fronted(tmp_path, "fledgling-analyst") as (front, _):
        answer = await front.ask(Query("SELECT count(*), max(size_bytes) FROM files"))
    assert answer.rows == [[2_002, 2**32]]


@pytest.mark.anyio
@pytest.mark.parametrize("profile", [pytest.param("fledgling-core", marks=pytest.mark.long), "fledgling-analyst"])
async def test_symbols_are_all_there_and_in_order_where_they_fill_several_groups_of_the_engine(tmp_path, profile):
    count = SYMBOLS_TOGETHER // 2 + 1000
    for file in range(4):
        (tmp_path / f"{file}.h").write_text("".join(f"#define NAME_{number} 1\n" for number in range(count)))
    async with built(tmp_path, profile) as indexing:
        with engine_over(indexing, "code") as db:
            names = db.execute("SELECT file, name FROM names").fetchall()
            found = db.execute("SELECT path, name, line_start FROM symbols").fetchall()
        outlines = Outlines(memory_file.mapped(indexing.images.outlines))
    everything = [(file, f"NAME_{number}", number + 1) for file in range(4) for number in range(count)]
    assert names == [(file, name) for file, name, _ in everything]
    in_engine = everything if profile == "fledgling-analyst" else []  # it has the rows for SQL alone
    assert found == [(f"{file}.h", name, line) for file, name, line in in_engine]
    assert [(outlines.file_of(at), *outlines.row(at)[::2][:2]) for at in range(len(names))] == everything
    assert [outlines.row(number).line_start for number in outlines.named(f"NAME_{count - 1}")] == [count] * 4


COMMENTED = b"# one\ndef f():\n    'Say two.'  # three\n    # four\n"


@pytest.mark.anyio
@pytest.mark.parametrize(
    "profile",
    [
        pytest.param("SET extends = 'fledgling-analyst';", marks=pytest.mark.long),  # statements ask for all of it
        "SET extends = 'fledgling-core';",
        pytest.param(  # the last reads docstrings, too
            "SET extends = 'fledgling-core'; CREATE VIEW symbols AS SELECT * FROM symbols WHERE docstring LIKE 'Say%';",
            marks=pytest.mark.long,
        ),
        "SET extends = 'fledgling-core'; CREATE VIEW content AS SELECT * FROM content WHERE NOT is_comment;",
        f"SET extends = 'fledgling-core'; CREATE VIEW symbols AS SELECT symbols.* FROM symbols JOIN files USING (path) "
        f"WHERE docstring LIKE 'Say%' AND files.content_hash = '{content_hash(COMMENTED)}';",
    ],
)
async def test_symbols_hashes_docstrings_and_comment_lines_are_in_the_engine_where_somebody_may_ask(tmp_path, profile):
    mine = tmp_path / "mine.sql"
    mine.write_text(profile)
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/a.py").write_bytes(COMMENTED)
    async with built(tmp_path / "tree", str(mine)) as indexing:
        with engine_over(indexing, "code") as db:
            symbols = db.execute("FROM symbols SELECT name").fetchall()
            docstrings = db.execute("FROM symbols SELECT docstring").fetchall()
            comments = db.execute("FROM comments SELECT lines").fetchall()
            [[hashed]] = db.execute("FROM files SELECT content_hash").fetchall()
        assert (b"# one" in raw(indexing)) == ("VIEW content" not in profile)
    assert symbols == ([("f",)] if "analyst" in profile or "VIEW" in profile else [])
    assert docstrings == [("Say two." if "analyst" in profile or "VIEW symbols" in profile else None,)] * len(symbols)
    assert comments == ([([1, 4],)] if "analyst" in profile else [])
    assert hashed == (content_hash(COMMENTED) if "analyst" in profile or "VIEW" in profile else None)


# ---- a profile's own views ------------------------------------------------------------------------------------------

HEAD = "SET tools = 'explore, read, search, symbols, dependencies, query';\n"

SMALL = """
CREATE VIEW content AS SELECT * FROM content WHERE path LIKE 'src/%' AND NOT is_comment;
CREATE VIEW symbols AS SELECT * FROM symbols WHERE kind = 'class';
CREATE VIEW imports AS SELECT * FROM imports WHERE NOT is_stdlib;
"""

# views, statement about what is left, answer
NARROWED = {
    "visible_files decides about every table": (
        "CREATE VIEW visible_files AS SELECT path FROM files WHERE path LIKE 'src/core/%';",
        {
            "FROM files SELECT count(*)": 4,
            "FROM content SELECT count(DISTINCT path)": 4,
            "FROM symbols SELECT count(*) WHERE path NOT LIKE 'src/core/%'": 0,
            "FROM imports SELECT count(*) WHERE path NOT LIKE 'src/core/%'": 0,
            "FROM imports SELECT count(*) WHERE resolved_path NOT LIKE 'src/core/%'": 0,
        },
    ),
    "a view of files does too": (
        "CREATE VIEW files AS SELECT * FROM files WHERE path NOT LIKE 'web/%';",
        {
            "FROM files SELECT count(*) WHERE path LIKE 'web/%'": 0,
            "FROM content SELECT count(*) WHERE path LIKE 'web/%'": 0,
            "FROM symbols SELECT count(*) WHERE path LIKE 'web/%'": 0,
        },
    ),
    "views of the others decide about their own": (
        SMALL,
        {
            "FROM files SELECT count(*)": 20,
            "FROM content SELECT count(*) WHERE is_comment OR path NOT LIKE 'src/%'": 0,
            "FROM content SELECT count(*) WHERE line_text LIKE 'def process_batch%'": 1,
            "FROM symbols SELECT string_agg(DISTINCT kind, ' ')": "class",
            "FROM imports SELECT count(*) WHERE is_stdlib": 0,
            "FROM imports SELECT count(*) WHERE module = 'requests'": 1,
        },
    ),
}


@pytest.mark.anyio
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if "the others" in name else [pytest.mark.long]) for name in NARROWED]
)
async def test_a_view_narrows_its_table(project, tmp_path, name):
    views, answers = NARROWED[name]
    profile = tmp_path / "mine.sql"
    profile.write_text(f"{HEAD}{views}\n")
    async with fronted(project, profile) as (front, _):
        for statement, expected in answers.items():
            assert (await front.ask(Query(statement))).rows == [[expected]], statement


FEW_COLUMNS = """
CREATE VIEW files AS SELECT path FROM files UNION ALL SELECT path FROM files;
CREATE VIEW symbols AS SELECT path, name, kind FROM symbols;
CREATE VIEW imports AS SELECT path, resolved_path, is_relative FROM imports;
CREATE VIEW content AS SELECT path, line_number, line_text, is_comment FROM content
    UNION ALL SELECT 'no file', 1, 'a line of no file', false;
"""


ODD = """
CREATE VIEW files AS SELECT * REPLACE (-1 AS line_count, -1 AS size_bytes) FROM files
    UNION ALL BY NAME SELECT NULL AS path;
CREATE VIEW symbols AS SELECT * REPLACE (-5 AS line_start, -7 AS line_end) FROM symbols
    UNION ALL BY NAME SELECT path, 'no kind' AS kind FROM symbols UNION ALL BY NAME SELECT path FROM symbols;
"""


@pytest.mark.anyio
@pytest.mark.parametrize("views", [FEW_COLUMNS, ODD], ids=["few columns", "odd values"])
async def test_tools_answer_where_views_leave_out_columns_or_say_what_is_not(project, tmp_path, views):
    profile = tmp_path / "mine.sql"
    profile.write_text(HEAD + views)
    engine = "src/core/engine.py"
    questions = [
        Explore(),
        Explore(path="src", depth=9),
        Read(engine),
        Read(engine, symbol="Engine"),
        Search("timeout"),
        Search("Engine", kind="class"),
        Symbols(path=engine),
        Symbols(name_pattern="Engine"),
        Dependencies(engine, depth=3),
    ]
    async with fronted(project, profile) as (front, _):
        for question in questions:
            found = await front.ask(question)
            assert getattr(found, "kind", None) != "failed", (question, found)
        assert (await front.ask(Search("a line of no file"))).total == 0


REFUSED = {
    "an unknown column": "visible_files AS SELECT * FROM files WHERE colour = 'red'",
    "an added column": "visible_files AS SELECT *, 1 AS one FROM files",
    "no path": "symbols AS SELECT name FROM symbols",
    "another table": "files AS SELECT * FROM symbols",
    "a file of the host": "visible_files AS SELECT content AS path FROM read_text('/etc/passwd')",
    "a table function of the engine": "visible_files AS SELECT * FROM duckdb_settings()",
    "the engine's own catalog": "visible_files AS SELECT * FROM information_schema.tables",
    "a write in a common table expression": "files AS WITH x AS (DELETE FROM files RETURNING *) SELECT * FROM x",
    "content without what lines are made of": "content AS SELECT path, line_number, line_text FROM content",
    "a variable": "visible_files AS SELECT getvariable('x') AS path FROM files",
}


async def refusal(opened, project, tmp_path, view):
    """How a view on the fourth line of a profile is refused before there is what `opened` waits for."""
    profile = tmp_path / "mine.sql"
    profile.write_text(f"{HEAD}\n\nCREATE VIEW {view};\n")
    with pytest.raises(IndexingError) as refused:
        async with opened(project, str(profile)):
            pytest.fail("it was not refused")
    found = refused.value.refusal
    assert found.kind == "invalid"
    assert found.reason.startswith("mine.sql:4: "), found
    return found


@pytest.mark.parametrize("name", REFUSED)
def test_a_view_that_is_no_narrowing_is_refused(name):
    view, _, select = REFUSED[name].partition(" AS ")
    profile = msgspec.structs.replace(profiles.load("fledgling-core"), views=(View(view, select, 4),))
    with closing(duckdb.connect()) as db, pytest.raises(ViewError) as refused:
        Views(Loading(db, profile.memory_limit), Gate(), profile)
    assert refused.value.line == 4
    assert refused.value.problem
    assert refused.value.fix


@pytest.mark.anyio
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == "no path" else pytest.mark.long) for name in REFUSED]
)
async def test_a_view_that_is_no_narrowing_is_refused_with_file_and_line(project, tmp_path, name):
    assert (await refusal(indexed, project, tmp_path, REFUSED[name])).next_step


# a view, and what no refusal may repeat of the project
FAILING = {
    "visible files": ("visible_files AS SELECT * FROM files WHERE CAST(filename AS INTEGER) = 1", "engine"),
    "a number too large for its column": ("files AS SELECT * REPLACE (10000000000 AS line_count) FROM files", "engine"),
    "content": ("content AS SELECT * FROM content WHERE CAST(line_text AS INTEGER) = 1", "import"),
    "lines below the first": ("content AS SELECT * REPLACE (line_number - 1000 AS line_number) FROM content", "import"),
    "symbols": ("symbols AS SELECT * REPLACE (CAST(name AS INTEGER) AS line_start) FROM symbols", "Engine"),
    "imports": ("imports AS SELECT * FROM imports WHERE regexp_matches(module, resolved_path || '(')", "core"),
}


BORNE_OUT = {"visible files", "content", "lines below the first", "symbols"}  # by those of files and imports


@pytest.mark.anyio
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] if name in BORNE_OUT else []) for name in FAILING]
)
async def test_a_view_that_fails_on_a_value_is_named_and_the_value_is_not(project, tmp_path, name):
    view, value = FAILING[name]
    found = await refusal(built, project, tmp_path, view)
    assert found.reason.startswith(f"mine.sql:4: the view {view.split()[0]} cannot be computed"), found
    assert value not in found.reason.partition(": ")[2].replace(view.split()[0], "")
    assert "TRY_CAST" in found.next_step


@pytest.mark.long  # cli.toml has what is said, test_agents.py that a server does not start
def test_server_under_a_refused_profile_does_not_start(project, tmp_path):
    profile = tmp_path / "mine.sql"
    profile.write_text(f"{HEAD}CREATE VIEW {REFUSED['a file of the host']};\n")
    command = serve_command(project, "--profile", str(profile))
    ended = subprocess.run(
        command, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False
    )
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert "mine.sql:2: the function read_text is not on the allowlist" in ended.stderr.decode()
    assert "Traceback" not in ended.stderr.decode()
