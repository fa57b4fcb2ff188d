"""`fledgling doctor`: its verdict, and what it says of settings and projects. What confines a process it is asked in
tests/test_confinement.py.
"""

import json
import re
from pathlib import Path

import pytest
from forking import fledgling

from fledgling.broker.reporting import doctor
from fledgling.broker.reporting.doctor import ENFORCED, Check, Diagnosis, Finding, lines
from fledgling.security.confinement import LAYERS

PROCESSES = {"broker", "indexer", "lister", "extractors", "query worker"}
LAYER = "user"
HELD = Finding("indexer", 1, LAYER, ENFORCED)
LACKED = Finding("indexer", 1, LAYER, "the project belongs to root", LAYERS[LAYER])
UNHELD = Finding("broker", 1, "seccomp", "not on this system", LAYERS["seccomp"])
WRONG = Check("duckdb", "wrong", "1.0.0")
HOME = Check("root", "notice", "it is more than a project")


@pytest.mark.parametrize(
    ("found", "says", "is_well"),
    [
        (Diagnosis("Linux", (HELD,)), "WELL: a server starts here, and every layer holds.", True),
        (
            Diagnosis("Linux", (LACKED,)),
            "WELL: a server starts here, though some processes lack the layer user; ",
            True,
        ),
        (Diagnosis("macOS", (UNHELD,)), "UNCONFINED: a server starts here without seccomp, which Linux has; ", True),
        (
            Diagnosis("macOS", (UNHELD,), stops=("duckdb",), checks=(WRONG,)),
            "NOT WELL: a server does not start like this\\. What is wrong, and what to do, is below at: duckdb\\.$",
            False,
        ),
        (
            Diagnosis("Linux", (UNHELD,), wants=("seccomp",), stops=("duckdb",), checks=(WRONG,)),
            "NOT WELL: a server does not start like this\\. .* below at: duckdb\\. "
            "With that put right it would not start here either: seccomp cannot be enforced\\. ",
            False,
        ),
        (
            Diagnosis("Linux", (UNHELD,), wants=("seccomp",), checks=(WRONG,)),
            "NOT WELL: a server does not start here: seccomp cannot be enforced\\. .* below at: duckdb\\.",
            False,
        ),
        (Diagnosis("Linux", (HELD,), checks=(WRONG,)), "NOT WELL: .* below at: duckdb\\.", False),
        (Diagnosis("Linux", (HELD,), stops=("duckdb",), checks=(WRONG,)), "NOT WELL: .* below at: duckdb\\.", False),
        (Diagnosis("Linux", (HELD,), checks=(HOME,)), "WELL: a server starts in a project, and", True),
    ],
)
def test_it_begins_with_the_verdict_that_its_exit_code_gives(found: Diagnosis, says: str, is_well: bool) -> None:
    first = next(lines(found))
    assert re.match(says, first)
    assert doctor.is_well(found) is is_well


def test_it_begins_with_what_is_wrong_and_has_a_heading_for_each_process(project: Path, tmp_path: Path) -> None:
    """A client that starts nothing, as a real home has it."""
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini/settings.json").write_text('{"mcpServers": {"fledgling": {"command": "/gone/python"}}}')
    done = fledgling("doctor", "--root", str(project), HOME=str(tmp_path))
    assert (done.returncode, done.stderr) == (1, "")
    assert re.match("NOT WELL: a server starts here, .* below at: client gemini\\.\n", done.stdout)
    headed = re.findall(r"^(\S.*) \((forked by )?pid \d+\)$", done.stdout, re.MULTILINE)
    assert {name for name, _ in headed} == PROCESSES
    assert {name for name, forked in headed if forked} == {"lister", "extractors"}


PORT = {"FLEDGLING_PORT": "99999"}
NOT_OVER_HTTP = {"FLEDGLING_TRANSPORT": "http", "FLEDGLING_HOST": "h" * 400, "FLEDGLING_MONITOR": "9464"}
EMBEDDING = {
    "FLEDGLING_EMBEDDING_ENDPOINT": "http://127.0.0.1:9/api/embed",
    "FLEDGLING_PROFILE": "fledgling-analyst",
}
SEVERAL = {**PORT, **NOT_OVER_HTTP, f"FLEDGLING_{'LONG' * 99}": "1", "FLEDGLING_CONFIG": "/gone"}


def test_it_names_all_that_is_wrong_and_cuts_what_is_long(tmp_path: Path) -> None:
    """Of a file, the environment and the command; what a server over HTTP alone refuses is among it."""
    done = fledgling("doctor", "--root", "/gone", "--profile", "p" * 400, HOME=str(tmp_path), **SEVERAL)
    said = [line.split(": ")[:2] for line in done.stdout.splitlines() if ": " in line]
    port, host, monitor = (f"environment FLEDGLING_{name}" for name in ("PORT", "HOST", "MONITOR"))
    wrong = ["/gone", port, host, "flag --root", "p" * 200, monitor]
    assert [place for what, place in said if what == "  wrong   settings"] == wrong
    ignored = f"environment FLEDGLING_{'LONG' * 10} is ignored"
    assert [place for what, place in said if what == "  notice  settings"] == [ignored]
    assert done.returncode == 1
    assert "hhhh" in done.stdout
    assert "h" * 100 not in done.stdout


def test_it_looks_at_the_embedding_endpoint_whatever_else_is_wrong(tmp_path: Path) -> None:
    done = fledgling("doctor", "--json", HOME=str(tmp_path), **PORT, **EMBEDDING)
    checks = json.loads(done.stdout)["checks"]
    wrong = {each["what"]: each["detail"] for each in checks if each["state"] == "wrong"}
    assert [*wrong] == ["settings", "embedding endpoint"]
    assert "embedding_endpoint is set, and embedding_model is not; name the model" in wrong["embedding endpoint"]


MISSET: dict[str, tuple[dict[str, str], list[str], str, str]] = {
    "a variable": (PORT, [], "wrong", "environment FLEDGLING_PORT: port cannot be '99999'; "),
    "a profile": ({}, ["--profile", "nobody"], "wrong", "nobody: no profile is named 'nobody'; known: "),
    "a root that is gone": ({}, ["--root", "/gone"], "wrong", "flag --root: root '/gone' is not there; "),
    "a root that is set to a home": (
        {"FLEDGLING_ROOT": "/"},
        [],
        "wrong",
        "environment FLEDGLING_ROOT: root '/' is more",
    ),
    "a home that nobody has set": ({}, [], "notice", "the working directory: root '/' is more than a project: "),
}


# Settings are refused above, too; here it is of which each kind is, and what the doctor says of one that is none.
KINDS = ("a variable", "a home that nobody has set")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in KINDS else [pytest.mark.long]) for name in MISSET]
)
def test_it_diagnoses_settings_that_are_wrong(name: str, tmp_path: Path) -> None:
    """Every process is looked at all the same; `fledgling` in tests runs in `/`, which is no project."""
    environment, arguments, state, detail = MISSET[name]
    done = fledgling("doctor", "--json", *arguments, HOME=str(tmp_path), **environment)
    found = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (int(state == "wrong"), "")
    assert found["serves"] == (state != "wrong")
    assert {row["process"] for row in found["findings"]} == PROCESSES
    assert [each for each in found["checks"] if each["state"] == state and each["detail"].startswith(detail)]


def test_it_starts_the_processes_of_each_project(project: Path, tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    roots = ("--root", f"api={project}", "--root", f"web={tmp_path / 'web'}")
    done = fledgling("doctor", "--json", *roots, HOME=str(tmp_path))
    found = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    started = {name: {row["process"] for row in found["findings"] if row["project"] == name} for name in ("api", "web")}
    assert started == dict.fromkeys(("api", "web"), PROCESSES - {"broker"})


def test_it_says_what_stands_in_for_a_project(tmp_path: Path) -> None:
    done = fledgling("doctor", HOME=str(tmp_path), FLEDGLING_MAX_FILES="1")
    assert done.stdout.startswith("WELL: a server starts in a project")
    assert "indexer of Fledgling's own directory, in place of a project (pid " in done.stdout
    assert "max_files by environment FLEDGLING_MAX_FILES" in done.stdout
