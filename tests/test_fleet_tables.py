"""Parquet files beside shards, read by DuckDB, which is the judge: all that a profile shows, and nothing else."""

import json
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest
from forking import fledgling
from test_fleet import NAMES, TEXT, write_repositories
from test_fleet_bundles import HOSTILE, left_running, with_table

from fledgling.broker.fleet import bundling, exporting
from fledgling.broker.fleet.exporting import NO_TABLES, TABLES
from fledgling.broker.fleet.verified import ShardError
from fledgling.messages.control import CONFINED
from fledgling.security import profile as profiles

HIDING = """
SET extends = 'fledgling-analyst';
CREATE VIEW visible_files AS SELECT * FROM files WHERE path NOT LIKE '%.md';
"""
MADE_UNDER = {
    "hiding.sql": {"api": "api", "lib": "lib"},
    "fledgling-analyst": {"web": "web"},
    "fledgling-core": {"plain": "web"},
}
DOCUMENTED = Path(__file__).parents[1] / "docs" / "fleet.md"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Repositories, and the shards of some under a profile that hides documents, of others under wider ones."""
    place = tmp_path_factory.mktemp("fleet")
    write_repositories(place)
    (place / "web" / "src" / "use.py").write_text(
        "from src.main import run_web\n\n\ndef use():\n    return run_web(1)\n"
    )
    (place / "hiding.sql").write_text(HIDING)
    (place / "shards").mkdir(mode=0o700)

    def shard(profile: str) -> None:
        named = [f"{name}={place / root}" for name, root in MADE_UNDER[profile].items()]
        under = str(place / profile) if profile.endswith(".sql") else profile
        done = fledgling("fleet", "shard", *named, "--out", str(place / "shards"), "--profile", under)
        assert done.returncode == 0, done.stderr

    with ThreadPoolExecutor() as pool:
        list(pool.map(shard, MADE_UNDER))
    return place


@pytest.fixture(scope="module")
def tables(place: Path) -> Path:
    """What the command writes under a profile that hides nothing."""
    out = place / "tables"
    out.mkdir(mode=0o750)
    done = fledgling("fleet", "parquet", str(place / "shards"), "--out", str(out), "--profile", "fledgling-analyst")
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout.splitlines() == ["1 file of each table, 1 of them made", f"plain: left out: {NO_TABLES}"]
    return out


def test_rows_are_those_of_the_project(tables: Path, engine: duckdb.DuckDBPyConnection) -> None:
    def rows(sql: str) -> list[tuple[object, ...]]:
        return engine.sql(re.sub(r"\{(\w+)\}", rf"'{tables}/\1/*.parquet'", sql)).fetchall()

    lines = [
        (name, "src/main.py", number, text)
        for name in NAMES
        for number, text in enumerate(TEXT.format(name=name, title=name.title()).splitlines(), 1)
    ]
    assert rows("SELECT repository, path, line_number, line_text FROM {content} WHERE path = 'src/main.py'") == lines
    files = [
        (name, path) for name in NAMES for path in ("README.md", "src/main.py") if name == "web" or "md" not in path
    ]
    assert rows("SELECT repository, path FROM {files}") == [*files, ("web", "src/use.py")]
    found = rows(
        "SELECT name, repository, kind FROM {symbols} WHERE path LIKE '%.py' AND kind IN ('class', 'function')"
    )
    made = {("run_" + name, name, "function") for name in NAMES} | {(name.title(), name, "class") for name in NAMES}
    assert found == sorted(made | {("use", "web", "function")}), "sorted by name"
    assert rows("SELECT repository, module, resolved_path FROM {imports} WHERE module <> 'os'") == [
        ("web", "src.main", "src/main.py")
    ]
    assert rows("SELECT repository, caller, callee_name, callee_path, confidence FROM {calls}") == [
        ("web", "use", "run_web", "src/main.py", "certain")
    ]
    assert {path.stat().st_mode & 0o777 for path in tables.glob("*/*.parquet")} == {0o640}, "as the directory"


def test_what_a_profile_hides_is_in_no_file(place: Path, tmp_path: Path, engine: duckdb.DuckDBPyConnection) -> None:
    out = tmp_path / "tables"
    out.mkdir(mode=0o700)
    hiding = profiles.load(str(place / "hiding.sql"))
    found = exporting.export(place / "shards", out, hiding, CONFINED)
    assert found.refused.keys() == {"plain", "web"}
    assert "other views" in found.refused["web"]
    for table in TABLES:
        read = engine.sql(f"SELECT DISTINCT repository, path FROM '{out / table}/*.parquet'").fetchall()
        assert {*read} <= {("api", "src/main.py"), ("lib", "src/main.py")}
    before = {path: path.read_bytes() for path in out.glob("*/*.parquet")}
    assert exporting.export(place / "shards", out, hiding, CONFINED).made == 0
    (out / "parts.json").write_text("{")
    again = exporting.export(place / "shards", out, hiding, CONFINED)
    assert (again.parts, again.made) == (1, 1), "what is not known is made again"
    assert {path: path.read_bytes() for path in out.glob("*/*.parquet")} == before
    (out / "parts.json").write_text('{"00007": {"made_of": "' + 64 * "0" + '"}}')
    for table in TABLES:
        os.rename(out / table / "00000.parquet", out / table / "00007.parquet")
        (out / table / "00008.parquet").touch()
    exporting.export(place / "shards", out, hiding, CONFINED)
    assert {path.name for path in out.glob("*/*")} == {"00000.parquet", "00008.parquet"}, "others' files stay"


def test_what_must_not_be_shown_any_more_is_removed(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shards, out = Path(shutil.copytree(place / "shards", tmp_path / "shards")), tmp_path / "tables"
    out.mkdir(mode=0o700)
    copied = bundling.copied_shards

    def parts() -> dict[str, object]:
        found: dict[str, object] = json.loads((out / "parts.json").read_text())
        return found

    def stand_there(part: str) -> None:
        """As a process leaves it that was killed."""
        (out / "parts.json").write_text(json.dumps({part: {"made_of": "0" * 64}, "00008": {"made_of": None}}))
        for table in TABLES:
            (out / table).mkdir(exist_ok=True)
            (out / table / f"{part}.parquet").touch()
        (out / "calls" / "00008.parquet").touch()

    def replaced(*arguments: object) -> bundling.CopiedShards:
        (shards / "api.shard").write_bytes((shards / "web.shard").read_bytes())
        return copied(*arguments)  # type: ignore[arg-type]

    stand_there("00000")
    monkeypatch.setattr(bundling, "copied_shards", replaced)
    hiding = profiles.load(str(place / "hiding.sql"))
    found = exporting.export(shards, out, hiding, CONFINED)
    assert (found.parts, found.made) == (0, 0)
    assert "was replaced meanwhile" in found.failed["00000"]
    assert (parts(), [*out.glob("*/*")]) == ({}, [])
    stand_there("00000")
    (tmp_path / "narrow.sql").write_text(HIDING.replace(".md", ".py"))
    with pytest.raises(ShardError, match="no shard can be exported"):
        exporting.export(shards, out, profiles.load(str(tmp_path / "narrow.sql")), CONFINED)
    assert (parts(), [*out.glob("*/*")]) == ({}, [])


@pytest.mark.parametrize(
    ("rows", "seconds", "reason"),
    [pytest.param(*row, id=name, marks=[] if name == "long" else pytest.mark.long) for name, row in HOSTILE.items()],
)  # the others cost many seconds, and bundles, which take tables in the same way, meet them in a plain test
def test_hostile_shard_costs_itself_alone(
    place: Path,
    tmp_path: Path,
    engine: duckdb.DuckDBPyConnection,
    monkeypatch: pytest.MonkeyPatch,
    rows: str,
    seconds: float,
    reason: str,
) -> None:
    shards, out = Path(shutil.copytree(place / "shards", tmp_path / "shards")), tmp_path / "tables"
    out.mkdir(mode=0o700)
    with_table(shards / "api.shard", tmp_path / "edges", "edges", "calls", rows)
    monkeypatch.setattr(bundling, "TAKING_SECONDS", seconds)
    found = exporting.export(shards, out, profiles.load("fledgling-analyst"), CONFINED)
    assert (found.parts, found.made, found.failed) == (1, 1, {})
    assert found.refused["api"].startswith(reason)
    read = engine.sql(f"SELECT DISTINCT repository FROM '{out}/symbols/*.parquet' ORDER BY ALL").fetchall()
    assert read == [("lib",), ("web",)]
    again = exporting.export(shards, out, profiles.load("fledgling-analyst"), CONFINED)
    assert again.refused == found.refused
    assert again.made == (0 if reason == "its tables cannot be read" else 1), "the machine may have been busy"
    assert not left_running()


@pytest.mark.long  # of bundles, whose tables are taken in the same way, a plain test says so
def test_shards_that_cost_too_many_processes_cost_the_file(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shards, out = Path(shutil.copytree(place / "shards", tmp_path / "shards")), tmp_path / "tables"
    out.mkdir(mode=0o700)
    for name in ("api", "lib"):
        with_table(shards / f"{name}.shard", tmp_path / name, "edges", "calls", HOSTILE["many"][0])
    monkeypatch.setattr(bundling, "MAX_LEFT_OUT", 1)
    found = exporting.export(shards, out, profiles.load("fledgling-analyst"), CONFINED)
    assert (found.parts, found.made, [*out.glob("*/*")]) == (0, 0, [])
    assert found.failed["00000"].startswith(HOSTILE["many"][2])
    monkeypatch.undo()
    found = exporting.export(shards, out, profiles.load("fledgling-analyst"), CONFINED)
    assert (found.parts, found.failed, found.refused.keys()) == (1, {}, {"api", "lib", "plain"})


INSIDE = {
    "inside": ("api", "fledgling-analyst", 0o700, "inside the repository api"),
    "inside one that is left out": ("web", "hiding.sql", 0o700, "inside the repository plain"),
    "open": ("", "fledgling-analyst", 0o777, "others may write"),
}


@pytest.mark.parametrize(("repository", "profile", "mode", "reason"), INSIDE.values(), ids=INSIDE)
def test_tables_go_where_nobody_else_writes(
    place: Path, tmp_path: Path, repository: str, profile: str, mode: int, reason: str
) -> None:
    out = place / repository / "src" if repository else tmp_path
    out.chmod(mode)
    before = sorted(out.iterdir())
    shown = profiles.load(str(place / profile) if profile.endswith(".sql") else profile)
    with pytest.raises(ShardError, match=reason):
        exporting.export(place / "shards", out, shown, CONFINED)
    assert sorted(out.iterdir()) == before


def test_tables_are_written_through_no_link(place: Path, tmp_path: Path) -> None:
    (tmp_path / "symbols").symlink_to(place / "api")
    before = sorted((place / "api").iterdir())
    with pytest.raises(ShardError, match="the directory cannot be opened"):
        exporting.export(place / "shards", tmp_path, profiles.load("fledgling-analyst"), CONFINED)
    assert sorted((place / "api").iterdir()) == before


def test_documented_queries_are_answered(tables: Path, engine: duckdb.DuckDBPyConnection) -> None:
    section = DOCUMENTED.read_text().partition("## Tables")[2].partition("\n## ")[0]
    queries = [query for block in re.findall(r"```sql\n(.*?)```", section, re.DOTALL) for query in block.split(";")]
    answers = [engine.sql(query.replace("/srv/tables", str(tables))).fetchall() for query in queries if query.strip()]
    assert len(answers) == 3
    assert all(answers)
