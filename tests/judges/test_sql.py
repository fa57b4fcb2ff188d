"""Judges: PostgreSQL's parser, SQLite, DuckDB and MariaDB, over the schemas of Debian's packages. Needs apt.

An engine runs a file statement by statement, and its catalog says what each has made. Statements that fail - a file of
upgrades has no tables to change - or make nothing, `IF NOT EXISTS`, are not judged; how many is printed. PostgreSQL's
parser (pglast) judges all that it can read. Names are compared as engines do, without case; a definition starts at its
CREATE and ends with its terminator.

What they find differently, for what reason:

- PostgreSQL: in two of its own tests, `COPY ... FROM stdin` fails on purpose and has no data; Fledgling reads some
  until `\\.`. Commands of psql in the middle of a line, which the judge cuts otherwise.
- MySQL: a statement that the client sends with other white space than was written may not be found by the judge.
"""

import gzip
import re
import shutil
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb
import pytest
from corpora import fetch, unpack
from test_outlines import package

from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.languages.table import load_languages

F1, LAST_LINE = 0.99, 0.99
MAX_BYTES = 1 << 20
DEBIAN = (
    "cacti", "freeradius-config", "gammu-smsd", "icinga2-ido-mysql", "icinga2-ido-pgsql", "icingaweb2",
    "mariadb-server-core", "mediawiki", "pdns-backend-mysql", "pdns-backend-pgsql", "pdns-backend-sqlite3",
    "phpmyadmin",
    "roundcube-core", "tt-rss", "zabbix-proxy-sqlite3", "zabbix-server-mysql", "zabbix-server-pgsql",
)  # fmt: skip
# Where packages keep a dialect's files, by path below the package.
PATHS = {
    "postgres": r"pgsql|postgres",
    "sqlite": r"sqlite",
    "mysql": r"(?<!versions/)mysql|cacti|phpmyadmin|mediawiki/maintenance/(?!postgres|sqlite)",
}
NOT_CODE = re.compile(r"--[^\n]*|^\s*#[^\n]*|/\*(?!!).*?\*/", re.DOTALL | re.MULTILINE)
CREATE = re.compile(r"(?:/\*!\d*\s*)?(create)\b", re.IGNORECASE)

pytestmark = [pytest.mark.long, pytest.mark.judge]


class Statement(NamedTuple):
    """`text[start:stop]` and what it makes, (kind, name); None where the judge cannot say."""

    start: int
    stop: int
    made: tuple[str, str] | None


def blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


# PostgreSQL


def without_psql(text: str) -> str:
    """A text without psql's commands and the data of COPY, of the same length."""
    text = re.sub(r"(?ims)(?<=stdin;\n).*?^\\\.$", blank, text)
    text = re.sub(r"(?m)^[ \t]*\\[^\n]*", blank, text)
    return re.sub(r"\\(?:g(?:set|exec|desc|x)?|crosstabview|bind)\b[^\n]*", lambda found: ";" + blank(found)[1:], text)


def of_postgres(text: str) -> Iterator[Statement]:
    """What its parser finds."""
    pglast = pytest.importorskip("pglast")
    try:
        slices = pglast.split(text, with_parser=False, only_slices=True)
    except pglast.Error:
        yield Statement(0, len(text), None)
        return
    for place in slices:
        try:
            trees = pglast.parse_sql(text[place])
        except pglast.Error:
            yield Statement(place.start, place.stop, None)
            continue
        for tree in trees:
            if made := made_by(tree.stmt):
                yield Statement(place.start, place.stop, made)


def made_by(tree) -> tuple[str, str] | None:
    """The kind and the name of what a tree of pglast creates, the name with its schema."""
    kinds = {
        "CreateTrigStmt": "trigger", "CreateEventTrigStmt": "trigger", "IndexStmt": "index",
        "CompositeTypeStmt": "type",
        "CreateEnumStmt": "type", "CreateRangeStmt": "type", "CreateDomainStmt": "type", "CreateSchemaStmt": "schema",
        "CreatedbStmt": "schema", "CreateSeqStmt": "sequence", "CreateStmt": "table", "CreateForeignTableStmt": "table",
        "ViewStmt": "view", "CreateFunctionStmt": "function", "CreateTableAsStmt": "table", "DefineStmt": "type",
    }  # fmt: skip
    what = type(tree).__name__
    if what not in kinds or getattr(tree, "is_select_into", False):
        return None
    kind = kinds[what]
    if what == "CreateFunctionStmt" and tree.is_procedure:
        kind = "procedure"
    elif what == "CreateTableAsStmt" and tree.objtype.name == "OBJECT_MATVIEW":
        kind = "view"
    elif what == "DefineStmt" and tree.kind.name != "OBJECT_TYPE":
        if tree.kind.name != "OBJECT_AGGREGATE":
            return None
        kind = "function"
    for field in ("trigname", "funcname", "defnames", "domainname", "typeName", "idxname", "schemaname", "dbname"):
        if value := getattr(tree, field, None):
            return kind, value if isinstance(value, str) else ".".join(part.sval for part in value)
    base = getattr(tree, "base", tree)
    holder = getattr(tree, "into", None)
    for relation in (getattr(base, name, None) for name in ("sequence", "view", "typevar", "relation")):
        if relation and kind != "index":
            return kind, ".".join(filter(None, (relation.schemaname, relation.relname)))
    return (kind, ".".join(filter(None, (holder.rel.schemaname, holder.rel.relname)))) if holder else None


# SQLite


def of_sqlite(text: str) -> Iterator[Statement]:
    """What it asks leave to create, while it runs a statement."""
    kinds = {
        sqlite3.SQLITE_CREATE_TABLE: "table", sqlite3.SQLITE_CREATE_TEMP_TABLE: "table",
        sqlite3.SQLITE_CREATE_VTABLE: "table", sqlite3.SQLITE_CREATE_VIEW: "view",
        sqlite3.SQLITE_CREATE_TEMP_VIEW: "view", sqlite3.SQLITE_CREATE_INDEX: "index",
        sqlite3.SQLITE_CREATE_TEMP_INDEX: "index", sqlite3.SQLITE_CREATE_TRIGGER: "trigger",
        sqlite3.SQLITE_CREATE_TEMP_TRIGGER: "trigger",
    }  # fmt: skip
    asked: list[tuple[str, str]] = []

    def leave(action: int, name: str | None, *_: object) -> int:
        if action in kinds and name:
            asked.append((kinds[action], name))
        return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK

    engine = sqlite3.connect(":memory:", isolation_level=None)
    engine.set_authorizer(leave)
    start = 0
    for end in [found.end() for found in re.finditer(";", text)]:
        if not sqlite3.complete_statement(text[start:end]):
            continue
        asked.clear()
        try:
            engine.execute(text[start:end])
        except sqlite3.Error:
            asked.clear()
        yield Statement(start, end - 1, asked[0] if asked else None)
        start = end


# DuckDB

CATALOG = """
select 'table', table_name from duckdb_tables() where not internal
union all select 'view', view_name from duckdb_views() where not internal
union all select 'function', function_name from duckdb_functions() where not internal
union all select 'index', index_name from duckdb_indexes()
union all select 'type', type_name from duckdb_types() where not internal
union all select 'sequence', sequence_name from duckdb_sequences()
union all select 'schema', schema_name from duckdb_schemas() where not internal
"""


def of_duckdb(text: str) -> Iterator[Statement]:
    """What is new in its catalog behind a statement."""
    with duckdb.connect(config={"enable_external_access": False}) as engine:
        try:
            statements = engine.extract_statements(text)
        except duckdb.Error:
            yield Statement(0, len(text), None)
            return
        had, end = set(engine.sql(CATALOG).fetchall()), 0
        for statement in statements:
            words = statement.query.strip().rstrip(";").rstrip()
            start = text.index(words, end)
            end = start + len(words)
            try:
                engine.execute(statement)
                now = set(engine.sql(CATALOG).fetchall())
            except duckdb.Error:
                now = had
            yield Statement(start, end, next(iter(now - had), None))
            had = now


# MySQL

SYSTEM = "('mysql', 'information_schema', 'performance_schema')"
MADE = f"""
select concat_ws(' ', kind, hex(name)) from (
select 0 place, 'schema' kind, schema_name name from information_schema.schemata where schema_name not in {SYSTEM}
union all select 1, if(table_type = 'BASE TABLE', 'table', lower(table_type)), table_name from information_schema.tables
    where table_schema not in {SYSTEM}
union all select 2, lower(routine_type), routine_name from information_schema.routines
    where routine_schema not in {SYSTEM}
union all select 3, 'trigger', trigger_name from information_schema.triggers where trigger_schema not in {SYSTEM}
union all select distinct 4, 'index', concat(index_name, '@', table_name) from information_schema.statistics
    where table_schema not in {SYSTEM}
) made order by place"""


class Server:
    """MariaDB without network, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        data, self.socket = folder / "data", folder / "socket"
        install = ["mariadb-install-db", f"--datadir={data}", "--auth-root-authentication-method=normal", "--user=root"]
        subprocess.run(install, check=True, capture_output=True)
        options = [
            f"--datadir={data}",
            f"--socket={self.socket}",
            "--skip-networking",
            "--skip-grant-tables",
            "--user=root",
        ]
        options += ["--general-log=0", "--log-output=TABLE", "--lower-case-table-names=0"]
        with (folder / "log").open("w") as log:
            self.process = subprocess.Popen(["mariadbd", "--no-defaults", *options], stdout=log, stderr=log)
        while self.process.poll() is None and not self.socket.exists():
            time.sleep(0.1)
        self.run("drop database if exists sys; drop database if exists test;")

    def run(self, script: str, *options: str) -> str:
        command = ["mariadb", "--no-defaults", f"--socket={self.socket}", "--force", "--batch", "--skip-column-names"]
        command += ["--default-character-set=utf8mb4", "--comments", "--binary-mode=0", *options]
        return subprocess.run(command, check=False, input=script, capture_output=True, text=True, timeout=60).stdout

    def statements(self, text: str) -> list[tuple[str, str]]:
        """(command, argument) of all that the client sends for a file: it is the authority on DELIMITER."""
        self.run("truncate mysql.general_log; set global general_log = 1;")
        self.run(f"create database judged;\nuse judged;\n{text}")
        self.run("set global general_log = 0;")
        rows = self.run("select command_type, hex(argument) from mysql.general_log").splitlines()
        found = [row.split("\t") for row in rows if row.startswith(("Query", "Init DB"))]
        self.clean()
        return [(kind, bytes.fromhex(argument).decode()) for kind, argument in found]

    def clean(self) -> None:
        names = self.run(f"select schema_name from information_schema.schemata where schema_name not in {SYSTEM}")
        self.run("".join(f"drop database `{name}`;" for name in names.split()))

    def of_mysql(self, text: str) -> Iterator[Statement]:
        """What is new in its catalog behind a statement."""
        script = ["create database judged;\nuse judged;\nset foreign_key_checks = 0;\ndelimiter ~~~~"]
        places: list[tuple[int, int]] = []
        end = 0
        for kind, argument in self.statements(text):
            if kind == "Init DB":
                script.append(f"use `{argument}` ~~~~")
                continue
            code = NOT_CODE.sub(" ", argument).lstrip()
            if not CREATE.match(code):
                if not re.match(r"(?i)insert|replace|select|set global", code):
                    script.append(f"{argument}\n~~~~")
                continue
            words = map(re.escape, re.findall(r"\w+|[^\w\s]", argument))  # the client moves white space
            found = re.compile(r"\s*".join(words)).search(text, end)
            if found:
                end = found.end()
                places.append(found.span())
                script += [f"select '>{len(places)}'", MADE, argument, f"select '<{len(places)}'", MADE]
        answers = self.run("\n~~~~\n".join(script) + "\n~~~~\n")
        self.clean()
        parts = re.split(r"^(?=[<>]\d+$)", answers, flags=re.MULTILINE)
        seen = {part.partition("\n")[0]: part.splitlines()[1:] for part in parts}
        for number, (start, stop) in enumerate(places, 1):
            had = set(seen.get(f">{number}", ()))
            new = [row.split() for row in seen.get(f"<{number}", ()) if row not in had]
            made = (new[0][0], bytes.fromhex(new[0][1]).decode().partition("@")[0]) if new else None
            yield Statement(start, stop, made)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = Server(tmp_path_factory.mktemp("mariadb"))
    yield started
    started.process.terminate()
    started.process.wait()


# The comparison


def files(folder: Path, dialect: str) -> dict[str, str]:
    """The SQL of a dialect in Debian's packages, by path."""
    found = {}
    for name in DEBIAN:
        root = package(folder, name)
        for path in sorted([*root.rglob("*.sql"), *root.rglob("*.sql.gz")]):
            where = str(path.relative_to(folder))
            if path.is_file() and not path.is_symlink() and re.search(PATHS[dialect], where):
                source = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
                found[where] = source
    return readable(found)


def below(root: Path) -> dict[str, str]:
    return readable({str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*.sql"))})


def readable(found: dict[str, bytes]) -> dict[str, str]:
    texts = {}
    for where, source in found.items():
        try:
            texts[where] = source.decode() if len(source) < MAX_BYTES else ""
        except UnicodeDecodeError:
            continue
    return {where: text for where, text in texts.items() if text}


def judge(name: str, texts: dict[str, str], judged: Callable[[str], Iterator[Statement]]) -> None:
    extractor = Extractor(load_languages())
    ours: Counter[tuple[str, ...]] = Counter()
    theirs: Counter[tuple[str, ...]] = Counter()
    exact = left_out = 0
    for where, text in texts.items():
        unknown: set[int] = set()
        expected: Counter[tuple[str, str, int, int]] = Counter()
        rows = extractor.extract("sql", text.encode()).symbols
        if name == "postgres":
            text = without_psql(text)
        for start, stop, made in judged(text):
            behind = NOT_CODE.sub(blank, text[start:stop])
            end = stop + len(text[stop:]) - len(text[stop:].lstrip())
            start, behind = start + len(behind) - len(behind.lstrip()), behind.lstrip()
            create = CREATE.match(behind) if made else None
            first, last = text.count("\n", 0, start) + 1, text.count("\n", 0, min(end, len(text.rstrip()))) + 1
            if create and made:
                expected[made[0], made[1].lower(), text.count("\n", 0, start + create.start(1)) + 1, last] += 1
            elif made is None:
                unknown.update(range(first, last + 1))
                left_out += bool(CREATE.match(behind))
        found = Counter(
            (row.kind, (row.qualified_name if name == "postgres" else row.name).lower(), row.line_start, row.line_end)
            for row in rows
            if row.line_start not in unknown
        )
        ours.update((where, *map(str, row[:3])) for row in found.elements())
        theirs.update((where, *map(str, row[:3])) for row in expected.elements())
        exact += (found & expected).total()
    both = (ours & theirs).total()
    kinds = dict(Counter(row[1] for row in theirs.elements()).most_common())
    f1, last_line = 2 * both / (ours.total() + theirs.total()), exact / both
    print(f"\n{name}: {len(texts)} files, {theirs.total():,} definitions {kinds}, {left_out:,} left out")  # noqa: T201
    print(f"  P {both / ours.total():.4f} R {both / theirs.total():.4f} F1 {f1:.4f}, last line {last_line:.4f}")  # noqa: T201
    assert f1 >= F1
    assert last_line >= LAST_LINE


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("apt-get"):
        pytest.skip("no apt")
    return tmp_path_factory.mktemp("packages")


def test_postgres_agrees_with_its_parser(packages: Path) -> None:
    judge("postgres", files(packages, "postgres"), of_postgres)


def test_postgres_agrees_on_its_own_sources(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    judge("postgres", below(unpack(fetch("postgresql", request.config.cache.mkdir("corpora")), tmp_path)), of_postgres)


def test_sqlite_agrees_with_the_engine(packages: Path) -> None:
    judge("sqlite", files(packages, "sqlite"), of_sqlite)


def test_duckdb_agrees_with_the_engine(packages: Path, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Its own sources, and the schemas of others that it accepts."""
    own = below(unpack(fetch("duckdb", request.config.cache.mkdir("corpora")), tmp_path))
    judge("duckdb", own | files(packages, "postgres") | files(packages, "sqlite"), of_duckdb)


@pytest.mark.skipif(not all(map(shutil.which, ("mariadbd", "mariadb", "mariadb-install-db"))), reason="no MariaDB")
def test_mysql_agrees_with_mariadb(packages: Path, server: Server) -> None:
    judge("mysql", files(packages, "mysql"), server.of_mysql)
