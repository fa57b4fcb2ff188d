"""An index that a profile narrows is the whole one, filtered, and that of a tree where what is hidden never existed."""

import shutil
import tomllib
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pytest
from conftest import write_project
from running import indexed
from test_hidden_files import HIDDEN_FILES, VIEWS, plant
from test_image import FEW_COLUMNS, HEAD, NARROWED, ODD

from fledgling.broker.indexing.indexing import Indexing
from fledgling.messages.generations import CODE
from fledgling.security import memory_file
from fledgling.security import profile as profiles
from fledgling.worker.store.database import SQL, memory_share, open_sealed, start
from fledgling.worker.store.sections import HOLDS, Sections
from fledgling.worker.store.symbols import Outlines
from fledgling.worker.store.text import Blocks

Tables = dict[str, list[tuple[Any, ...]]]
Contents = tuple[dict[str, bytes], Tables]
PROFILES = Path(__file__).parent / "profiles"
TABLES = ("files", "content", "symbols", "imports")
CONTENT_HASH = 11  # which column of symbols it is
EVERYTHING = "\n".join(f"CREATE VIEW {name} AS SELECT * FROM {name};" for name in TABLES)
HIDDEN = ("before all others", "beside all others", "of what imports mean", "manifests", "secret and generated")
SOME = """
CREATE VIEW content AS SELECT * FROM content WHERE line_number % 7 <> 3 AND line_text NOT LIKE '%secret%';
CREATE VIEW symbols AS SELECT s.* FROM symbols s JOIN files f ON s.path = f.path WHERE f.line_count > 2;
CREATE VIEW imports AS SELECT * REPLACE (NULL AS alias) FROM imports WHERE module <> 'os';
"""
COUNTED = """
CREATE VIEW files AS SELECT * FROM files WHERE path NOT LIKE '%hid%';
CREATE VIEW content AS SELECT * FROM content WHERE line_number < (SELECT count(*) FROM files);
CREATE VIEW symbols AS SELECT * FROM symbols WHERE line_start < (SELECT count(*) FROM files WHERE language = 'python');
"""


async def index_of(root: Path, profile: str) -> Contents:
    async with indexed(root, profile) as indexing:
        await indexing.built()
        return contents(indexing)


def contents(indexing: Indexing) -> Contents:
    """Every section of the mapped files of an index, and the rows of every table as they lie in it."""
    images = indexing.images
    mapped = {
        "text": images.blocks,
        "symbols": images.outlines,
        "ngrams": images.signatures,
        "words": images.words,
    }
    assert mapped.keys() == {*HOLDS} - {
        "kept",
        "facts",
        "graph",
        "level",
    }  # of no worker, of what comes later, of bundles
    sections = {
        f"{holds}.{name}": bytes(read.column(name))
        for holds, fd in mapped.items()
        for read in [Sections(memory_file.mapped(fd), holds)]
        for name in read.table
    }
    unlisted = sections.pop("text.unlisted")  # whose names no view decides about
    assert unlisted == msgspec.msgpack.encode([]) or not indexing.profile.narrows_files
    with closing(start()) as db:
        open_sealed(db, images, CODE, memory_share(images, CODE, indexing.profile.memory_limit))
        names = db.execute("SELECT database_name, table_name FROM duckdb_tables() ORDER BY ALL").fetchall()
        rows = {f"{image}.{name}": db.execute(f"FROM {image}.{name}").fetchall() for image, name in names}
        if "query" in indexing.profile.tools:  # lines that statements read
            rows["content"] = db.execute("FROM content").fetchall()
    assert rows["code.files"]
    return sections, rows


def same(one: Contents, other: Contents) -> None:
    for mine, theirs in zip(one, other, strict=True):
        assert mine.keys() == theirs.keys()
        assert [name for name in mine if mine[name] != theirs[name]] == []


def written(folder: Path, text: str) -> str:
    file = folder / "mine.sql"
    file.write_text(text)
    return str(file)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with much to hide: by git, as secret, generated or binary, or by name."""
    root = write_project(tmp_path_factory.mktemp("tree"))
    (root / "link.py").unlink()
    plant(root, {path: text for name in HIDDEN for path, text in HIDDEN_FILES[name].items()})
    (root / "ignored.log").write_text("ignored")
    (root / "long.py").write_text("".join(f"def f{n}(a):  # {n}\n    'Say {n}.'\n    # why\n\n" for n in range(900)))
    (root / "lines.py").write_bytes(b"a = 1\r\r\nb = 2\r\n\n\n# c\n\n")
    (root / "export.ts").write_text("export const a = 1, b = a;\nexport default a;\nexport {a as c};\n")
    (root / "empty.py").touch()
    return root


@pytest.fixture(scope="module")
async def whole(anyio_backend: str, tree: Path) -> Contents:
    """Of that project, the index that no view narrows."""
    return await index_of(tree, "fledgling-analyst")


# ---- what is hidden never existed -----------------------------------------------------------------------------------

ACCEPTED = tomllib.loads((PROFILES / "accepted.toml").read_text())["case"]
PLAIN = {case["name"]: case["text"] for case in ACCEPTED if not case.get("views")}  # the others' are no views of tables
OWN = {
    **{f"hidden: {name}": f"SET extends = 'fledgling-analyst';\n{views}" for name, views in VIEWS.items()},
    **{f"narrowed: {name}": f"{HEAD}{views}" for name, (views, _) in NARROWED.items()},
    "few columns": HEAD + FEW_COLUMNS,
    "odd values": HEAD + ODD,
    "everything": HEAD + EVERYTHING,
    "some lines, symbols and imports": HEAD + SOME,
    "as many as there are files": HEAD + COUNTED,
    "some, and no SQL": f"SET extends = 'fledgling-outie';\n{SOME}",
}
VIEWED = ("fledgling-core",)  # of the others, two are what those below extend, and two are it with further tools
FEW = ("hidden: all, joined with files", "as many as there are files", "some, and no SQL")


@pytest.mark.anyio
@pytest.mark.parametrize(
    "profile",
    [
        *(name if name in VIEWED else pytest.param(name, marks=pytest.mark.long) for name in profiles.shipped()),
        *(name if name in FEW else pytest.param(name, marks=pytest.mark.long) for name in OWN),
        *(pytest.param(name, marks=pytest.mark.long) for name in PLAIN),
    ],
)
async def test_an_index_is_the_one_of_a_tree_in_which_what_is_hidden_never_existed(
    tree: Path, tmp_path: Path, profile: str
) -> None:
    root = tmp_path / "tree"
    shutil.copytree(tree, root, symlinks=True)
    if profile in OWN or profile in PLAIN:
        profile = written(tmp_path, OWN.get(profile) or PLAIN[profile])
    whole = await index_of(root, profile)
    seen = {path for path, *_ in whole[1]["text.files"]}
    hidden = [
        path
        for path in root.rglob("*")
        if (path.is_symlink() or path.is_file()) and path.relative_to(root).parts[0] != ".git"
        if str(path.relative_to(root)) not in seen
    ]
    assert hidden
    for path in hidden:
        path.unlink()
    same(await index_of(root, profile), whole)


# ---- a profile that narrows is the same stream, filtered ------------------------------------------------------------


@pytest.mark.anyio
@pytest.mark.parametrize("tools", ["fledgling-analyst", pytest.param("fledgling-core", marks=pytest.mark.long)])
async def test_views_that_leave_everything_leave_the_index_as_it_is(
    tree: Path, tmp_path: Path, whole: Contents, tools: str
) -> None:
    sections, rows = whole if tools == "fledgling-analyst" else await index_of(tree, tools)
    plain = {**sections}, {**rows}
    narrowed = await index_of(tree, written(tmp_path, f"SET extends = '{tools}';\n{EVERYTHING}"))
    assert 0 < len(narrowed[0]["words.keys"]) < len(plain[0]["words.keys"])  # of comments and imports there are none
    for sections, _ in (plain, narrowed):
        for name in [name for name in sections if name.startswith("words.")]:
            del sections[name]
    if tools == "fledgling-core":  # rows that only views or statements read
        return same((plain[0], {}), (narrowed[0], {}))
    plain[1]["code.symbols"] = unhashed(plain[1]["code.symbols"])
    return same(narrowed, plain)


def filtered(whole: Tables, views: str) -> Tables:
    """What views leave of the rows of a whole index, as another DuckDB computes it."""
    rows = {"content": whole["content"], **{name: whole[f"code.{name}"] for name in ("files", "symbols", "imports")}}
    left = {}
    with duckdb.connect() as db:
        db.execute("CREATE SCHEMA image; SET search_path = 'main,image'")
        for table in ("schema", "schema_blocks", "schema_comments", "schema_content"):
            db.execute(SQL[table])
        for table in TABLES:
            db.execute(f"CREATE TABLE main.{table} AS FROM image.{table} LIMIT 0")
            columns = zip(*rows[table], strict=True)
            unnested = ", ".join(f"unnest(${place})" for place, _ in enumerate(rows[table][0], 1))
            db.execute(f"INSERT INTO main.{table} SELECT {unnested}", [[*column] for column in columns])
        for view in views.strip().removesuffix(";").split(";"):
            name, _, select = view.partition(" AS ")
            left[name.split()[-1]] = db.execute(select).fetchall()
    return left


def unhashed(symbols: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows of symbols as they are where a view of content may hide lines: their hashes would tell of those."""
    return [(*row[:CONTENT_HASH], None, *row[CONTENT_HASH + 1 :]) for row in symbols]


def in_order(symbols: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(symbols, key=lambda row: (row[0], row[3], -row[4], row[1]))


@pytest.mark.anyio
async def test_what_views_leave_of_the_rows_of_a_whole_index_is_what_a_narrowed_one_holds(
    tree: Path, tmp_path: Path, whole: Contents
) -> None:
    _, of_all = whole
    left = filtered(of_all, SOME)
    async with indexed(tree, written(tmp_path, HEAD + SOME)) as indexing:
        await indexing.built()
        text = Blocks(memory_file.mapped(indexing.images.blocks))
        symbols = Outlines(memory_file.mapped(indexing.images.outlines))
        _, rows = contents(indexing)
    assert rows["code.files"] == of_all["code.files"]
    assert rows["content"] == left["content"] != of_all["content"]
    assert rows["code.symbols"] == unhashed(in_order(left["symbols"])) != unhashed(of_all["code.symbols"])
    assert rows["code.imports"] == left["imports"] != of_all["code.imports"]
    lines = [
        (text.file_of(block).path, line, said)
        for block in range(text.count)
        for line, said in enumerate(text.text(block).decode().split("\n"), text.first_lines[block])
    ]
    assert lines == [row[:3] for row in left["content"]]
    found = [symbols.row(number) for number in range(len(rows["code.names"]))]
    paths = [text.path(symbols.file_of(number)) for number in range(len(found))]
    read = [(path, *row[:4]) for path, row in zip(paths, found, strict=True)]
    assert read == [row[:5] for row in rows["code.symbols"]]
