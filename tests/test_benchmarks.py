"""The benchmark's tables are well formed, and it starts; its figures are no test."""

import subprocess
import sys
from pathlib import Path

import pytest
from trees import git, make

FOLDER = Path(__file__).parent.parent / "benchmarks"

# Run in a process of its own: the benchmark's modules are no package, and it reads its tables into Structs.
TABLES = """
import corpora, peers, report, tomllib
goals, names, tools = report.goals(), corpora.load(), peers.load()
for goal in goals:
    assert goal.limit
    for key in () if goal.growth else filter(None, (goal.figure, goal.against)):
        corpus, tool, _ = key.split("/")
        assert corpus in names and tool in {"source", "fledgling", "bare", *tools}, key
    assert not goal.growth or names.keys() >= set(goal.growth.over)
for name, row in names.items():
    origins = (row.sdist, row.npm, row.debian_source, row.debian_package, row.parts, row.generated)
    assert sum(map(bool, origins)) == 1, name
    assert names.keys() >= row.parts.keys()
assert all(peer.index or peer.search for peer in tools.values())
assert tomllib.load(open("exam/questions.toml", "rb")).keys() <= names.keys(), "the exam knows its projects"
"""

# What two corpora of several say of growth is how they differ: much of Django is translations, which nothing parses.
GROWTH = """
import pathlib, figures, report
known = figures.Figures(pathlib.Path("{}"), resume=False)
growth = report.Growth("bytes", ["a", "b", "c"])
for name, size, seconds in (("a", 1e6, 1.0), ("b", 1e7, 100.0), ("c", 1e8, 100.0)):
    print(report.exponent("wall", growth, known))
    known.add(f"{{name}}/source", {{"bytes": size}})
    known.add(f"{{name}}/fledgling", {{"wall": seconds}})
print(round(report.exponent("wall", growth, known), 3))
"""


def run(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=FOLDER, check=True, capture_output=True, text=True).stdout


def test_tables_are_well_formed():
    run("-c", TABLES)


def test_growth_is_told_where_all_its_corpora_were_measured(tmp_path):
    assert run("-c", GROWTH.format(tmp_path / "figures.json")).split() == ["None", "None", "None", "1.0"]


# Programs, and an option that the help of each shows; all in one process, since each loads the same for a second.
PROGRAMS = {
    "bench.py": "--corpora",
    "changes.py": "--profile",
    "exam/exam.py": "--only",
    "fleet.py": "--keep",
    "held_out.py": "--projects",
    "meaning.py": "--projects",
    "renewal.py": "--pairs",
}
HELPED = """
import os, runpy, sys
from contextlib import suppress
for program in sys.argv[1:]:
    sys.path.insert(1, os.path.dirname(program))
    sys.argv = [program, "--help"]
    print(end=f"\\0{program}\\n")
    with suppress(SystemExit):
        runpy.run_path(program, run_name="__main__")
import meaning
print(end="\\0" + str(meaning.ndcg(["b.py", "src/a.py"], ["a.py"])))
"""


def test_each_starts_and_search_by_meaning_is_measured_as_documented():
    *said, measured = run("-c", HELPED, *PROGRAMS).split("\0")
    for program, option in PROGRAMS.items():
        assert [option in text for text in said if text.startswith(f"{program}\n")] == [True], program
    assert measured.startswith("0.63")


@pytest.mark.long
def test_searches_of_a_project_that_changes_are_measured(tmp_path):
    """With fewer changes than a benchmark makes, none of them to a binary; a smaller project is refused."""
    text = "# Return the number of this module\ndef number_{0}_of_a_module():\n    return {0}\n"
    files = {f"m{number}.py": text.format(number) for number in range(12)}
    files["m1.z.mo"] = "\0"  # the first that is edited by itself, were it text
    git(make(tmp_path, **files), "init", "--quiet")
    git(tmp_path, "add", ".")
    fewer = (
        "import changes; changes.EDITED, changes.MOST_EDITED, changes.MOVED = 1, {}, 3; "
        "changes.SINGLE = changes.REPEATED = 2; changes.IDLE_SECONDS = 1.0; changes.main()"
    )
    rows = run("-c", fewer.format(2), str(tmp_path)).splitlines()
    single = [f"{name}_{figure}" for name in ("edit", "edit_largest") for figure in ("cpu", "p50", "p95")]
    assert [row.split()[0] for row in rows] == ["idle_cpu", *single] + [
        f"{step}_{share}"
        for step in ("unchanged", "overlay_1", "overlay_2", "moved", "moved_overlay_1")
        for share in ("p50", "p95")
    ]
    with pytest.raises(subprocess.CalledProcessError):
        run("-c", fewer.format(11), str(tmp_path))


def test_fleets_are_generated_alike_and_all_different(tmp_path):
    """Two runs have the same repositories, and no two of these share a file."""
    written = (
        "import fleet, pathlib, sys; [fleet.write_repository(pathlib.Path(sys.argv[1]) / str(n), n) for n in (1, 2)]"
    )
    for name in ("first", "again"):
        run("-c", written, str(tmp_path / name))
    first, again = ([*(tmp_path / name).rglob("*.py")] for name in ("first", "again"))
    assert sorted(path.read_bytes() for path in first) == sorted(path.read_bytes() for path in again)
    assert len({path.read_bytes() for path in first}) == len(first) == 50


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["0"], "a fleet has a repository at least"),
        (["400", "--distinct", "100"], "400 cannot be made out of 100: "),
        pytest.param(["400", "--distinct", "250"], "400 cannot be made out of 250: ", marks=pytest.mark.long),
        pytest.param(["450", "--distinct", "200"], "450 cannot be made out of 200: ", marks=pytest.mark.long),
        pytest.param(["100", "500", "--distinct", "-1"], "100 cannot be made out of -1: ", marks=pytest.mark.long),
        (["2", "--keep", "{kept}"], "shards-2 has 3 repositories already"),
    ],
)
def test_fleets_that_cannot_be_made_are_refused(tmp_path, arguments, reason):
    (tmp_path / "shards-2").mkdir()
    for name in "abc":
        (tmp_path / "shards-2" / f"{name}.shard").touch()
    command = [sys.executable, "fleet.py", *(each.format(kept=tmp_path) for each in arguments)]
    done = subprocess.run(command, cwd=FOLDER, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
