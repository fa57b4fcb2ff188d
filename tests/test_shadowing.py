"""A project full of modules named like libraries: whichever way the command line is started in it, none is imported."""

import os
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from running import PATIENCE

from fledgling.broker.setup import install

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
MODULE, _, FUNCTION = PROJECT["scripts"]["fledgling"].partition(":")
SCRIPT = [sys.executable, "-P", "-c", f"from {MODULE} import {FUNCTION}; {FUNCTION}()"]  # as pip writes the command
VERSION = ["--version"]
MAIN = "from fledgling.broker.cli.main import main; main()"
MODULES = ["fledgling", "fledgling.broker.cli.main", "fledgling.broker.setup.bundle", "fledgling.worker.indexer"]
MODULES += ["fledgling.worker.query", "fledgling.security.audit.probes"]

# What Python itself has loaded before anything of ours: from PYTHONPATH these come before the first line of a program.
STARTUP = {
    "encodings",
    "site",
    "sitecustomize",
    "usercustomize",
    "codecs",
    "io",
    "abc",
    "os",
    "stat",
    "posixpath",
    "re",
}
STARTUP |= {"nt", "_winapi"}  # which it looks for everywhere


@pytest.fixture(scope="module")
def libraries():
    """The names of all libraries that are installed, and of all that come with Python."""
    return set(metadata.packages_distributions()) | set(sys.stdlib_module_names) | {"sitecustomize", "usercustomize"}


@pytest.fixture(scope="module")
def planted_once(tmp_path_factory, libraries):
    return planted(tmp_path_factory.mktemp("projects") / "hostile", libraries - {"fledgling"})


@pytest.fixture
def hostile(planted_once):
    (planted_once / "imported").unlink(missing_ok=True)
    return planted_once


@pytest.fixture(scope="module")
def late(tmp_path_factory, libraries):
    """The same without what is loaded with Python itself."""
    loaded = run([sys.executable, "-c", "import sys; print(*sys.modules)"], "/").stdout.split()
    names = libraries - STARTUP - {name.partition(".")[0] for name in loaded} - {"fledgling", "__main__"}
    return planted(tmp_path_factory.mktemp("projects") / "late", names)


def planted(directory, names):
    directory.mkdir()
    trap = f"open({str(directory / 'imported')!r}, 'a').write(__name__ + chr(10))\n"
    for name in names:
        (directory / f"{name}.py").write_text(trap)
    (directory / "planted.pth").write_text(f"import sys; {trap}")
    return directory


def run(command, cwd, **environment):
    return subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def imported(directory):
    file = directory / "imported"
    return file.read_text().split() if file.exists() else []


REFUSED = {f"-m {module}": [sys.executable, "-m", module] for module in MODULES}
REFUSED |= {
    f"-m fledgling {option}": [sys.executable, option, "-m", "fledgling", "doctor"] for option in ("-B", "-E", "-s")
}
REFUSED |= {"-c": [sys.executable, "-c", MAIN], "-E -c": [sys.executable, "-E", "-c", MAIN]}


@pytest.mark.parametrize("name", REFUSED)
def test_started_so_that_a_project_could_be_imported_it_refuses(hostile, name):
    done = run(REFUSED[name], hostile)
    assert (done.returncode, done.stdout) == (2, "")
    assert "python -I -m fledgling" in done.stderr
    assert done.stderr.count("\n") == 1
    assert imported(hostile) == []


SERVED = {
    "the command": ([*SCRIPT, *VERSION], {}),
    "-I -m": ([sys.executable, "-I", "-m", "fledgling", *VERSION], {}),
    "-P -m": ([sys.executable, "-P", "-m", "fledgling", *VERSION], {}),
    "-m, and PYTHONSAFEPATH": ([sys.executable, "-m", "fledgling", *VERSION], {"PYTHONSAFEPATH": "1"}),
    "-I -c": ([sys.executable, "-I", "-c", MAIN, *VERSION], {}),
    "the command, and PYTHONSTARTUP": ([*SCRIPT, *VERSION], {"PYTHONSTARTUP": "click.py"}),
}


@pytest.mark.parametrize("name", SERVED)
def test_started_otherwise_it_imports_nothing_of_a_project(hostile, name):
    command, environment = SERVED[name]
    done = run(command, hostile, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("fledgling, version")
    assert imported(hostile) == []


HEEDED = [(SCRIPT, value) for value in ("{}", ".", ":", "/nowhere:{}")]
HEEDED += [([sys.executable, "-P", "-m", "fledgling"], "{}")]


@pytest.mark.parametrize(("command", "value"), HEEDED, ids=[f"{row[0][-1][:9]} {row[1]}" for row in HEEDED])
def test_what_python_is_told_to_import_from_is_not_heeded(late, command, value):
    """But for what is loaded with Python itself: nobody can see to that from inside."""
    done = run([*command, *VERSION], late, PYTHONPATH=value.format(late))
    assert done.returncode == 0, done.stderr
    assert imported(late) == []


def test_the_command_line_works_from_within_a_hostile_project(hostile):
    done = run([*SCRIPT, "explore", "--root", "."], hostile)
    assert done.returncode == 0, done.stderr
    assert "click.py" in done.stdout
    assert imported(hostile) == []


def test_what_is_written_into_a_clients_file_is_isolated():
    assert install.COMMAND[1:] == ["-I", "-m", "fledgling"]
