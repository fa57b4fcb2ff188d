"""What is installed, and what is released: every dependency by its hash, and the same bytes from every clone."""

import fnmatch
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import time
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from fledgling.worker.languages.table import load_languages

ROOT = Path(__file__).parent.parent
CONSTRAINTS = (ROOT / "constraints.txt").read_text()
LINTERS = (ROOT / ".ci/check-requirements.txt").read_text()  # and mypy: what `make check` installs beside
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PYTHONS = ("3.11", "3.12", "3.13", "3.14")  # of Linux, where all is tested
PLATFORM = {"sys_platform": "linux", "platform_system": "Linux", "implementation_name": "cpython"}

# The first release without a hole that is known, and the hole. It is looked up by hand: no test has a network.
FIXED = {
    "click": ("8.3.3", "CVE-2026-7246"),
    "h11": ("0.16.0", "CVE-2025-43859"),
    "mcp": ("2.2.0", "CVE-2026-59951, CVE-2026-116686"),
    "msgspec": ("0.21.1", "leaks and crashes while decoding"),
    "pydantic": ("2.4.0", "CVE-2024-3772"),
    "pytest": ("9.0.3", "CVE-2025-71176"),
    "python-multipart": ("0.0.27", "CVE-2026-40347, CVE-2026-42561"),
    "pygments": ("2.20.0", "CVE-2026-4539"),
    "cryptography": ("46.0.6", "CVE-2026-34073"),
    "pyyaml": ("5.4", "CVE-2020-14343"),
    "setuptools": ("83.0.0", "CVE-2026-59890"),
    "starlette": ("1.3.1", "CVE-2026-48710, CVE-2026-48818, CVE-2026-54282, CVE-2026-54283"),
}


def pinned(python, pins=CONSTRAINTS):
    """Name -> version that is installed under a Python."""
    found = {}
    for line in pins.splitlines():
        if "==" in line:
            requirement = Requirement(line.rstrip(" \\"))
            environment = {**PLATFORM, "python_version": python, "python_full_version": f"{python}.0"}
            if not requirement.marker or requirement.marker.evaluate(environment):
                [specifier] = requirement.specifier
                assert (specifier.operator, requirement.name in found) == ("==", False)
                found[canonicalize_name(requirement.name)] = Version(specifier.version)
    return found


def wanted():
    """What pyproject asks for, to build, to run and to test."""
    project = PROJECT["project"]
    lines = [*PROJECT["build-system"]["requires"], *project["dependencies"], *project["optional-dependencies"]["test"]]
    return [Requirement(line) for line in lines]


def linters():
    """What it asks for to check."""
    return [Requirement(line) for line in PROJECT["dependency-groups"]["check"]]


def installed(requirements):
    """Every distribution that is here because something asks for it, and what is asked of it."""
    asked, known = list(requirements), set()
    while asked:
        requirement = asked.pop()
        name = canonicalize_name(requirement.name)
        yield name, requirement
        key = (name, *sorted(requirement.extras))
        if key not in known:
            known.add(key)
            for line in metadata.requires(name) or ():
                further = Requirement(line)
                extras = ("", *requirement.extras)
                if not further.marker or any(further.marker.evaluate({"extra": extra}) for extra in extras):
                    asked.append(further)


@pytest.mark.parametrize("python", PYTHONS)
def test_every_pin_is_in_its_range(python):
    for asked, pins in ((wanted(), pinned(python)), (linters(), pinned(python, LINTERS))):
        for requirement in asked:
            name = canonicalize_name(requirement.name)
            assert name in pins, f"{requirement} has no pin: make pins"
            assert pins[name] in requirement.specifier, requirement


@pytest.mark.parametrize("python", PYTHONS)
def test_linters_need_no_other_version_of_what_is_there(python):
    there, needed = pinned(python), pinned(python, LINTERS)
    both = there.keys() & needed.keys()
    assert both
    assert [name for name in both if there[name] != needed[name]] == [], "make pins"


def test_every_grammar_that_a_language_names_is_asked_for():
    """Else it is there where it was tried, and nowhere else."""
    rows = load_languages(for_graph=False).rows.values()
    named = {grammar.partition(".")[0].replace("_", "-") for row in rows for grammar in row.grammars}
    asked = {Requirement(line).name for line in PROJECT["project"]["dependencies"]}
    assert named == {name for name in asked if name.startswith("tree-sitter-")}, "make pins"


def test_constraints_name_all_that_is_installed():
    pins = pinned(f"{sys.version_info.major}.{sys.version_info.minor}")
    for name, requirement in installed(wanted()):
        assert name in pins, f"{requirement} has no pin: make pins"
        assert pins[name] in requirement.specifier, requirement


@pytest.mark.parametrize("pins", [CONSTRAINTS, LINTERS], ids=["tests", "linters"])
def test_every_pin_has_its_hashes_and_no_place_to_come_from(pins):
    entries = re.split(r"\n(?=\S)", pins)
    assert all(
        re.search(r"==\S+.*( \\\n    --hash=sha256:[0-9a-f]{64})+\s*$", entry) for entry in entries if "==" in entry
    )
    assert "://" not in pins
    assert not re.search(r"^\s*-[^-]|--(?!hash=)", pins, re.MULTILINE)


@pytest.mark.parametrize("name", FIXED)
def test_neither_a_range_nor_a_pin_admits_a_known_hole(name):
    fixed, hole = FIXED[name]
    for requirement in wanted():
        if canonicalize_name(requirement.name) == name:
            floors = [Version(part.version) for part in requirement.specifier if part.operator in (">=", "==")]
            assert max(floors) >= Version(fixed), f"{requirement} admits {hole}"
    assert pinned("3.11")[name] >= Version(fixed), f"{name} has {hole}"


def clone(place, umask):
    """A clone of the last commit by somebody with other habits: other modes, and other times of files."""
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", ROOT, place], check=True, umask=umask, capture_output=True)
    for path in place.rglob("*.py"):
        os.utime(path, (umask, umask), follow_symlinks=False)
    return place


HABITS = [  # umask, and what else is different where it is built
    (0o022, {"TZ": "UTC", "LANG": "C"}),
    (0o077, {"TZ": "Asia/Kathmandu", "LANG": "C.UTF-8", "PYTHONHASHSEED": "7", "SOURCE_DATE_EPOCH": "7"}),
]


def dist(place, umask, environment):
    """The wheel and the sdist that are built there."""
    root = clone(place / "clone", umask)
    (root / ".ci/dist.py").write_bytes((ROOT / ".ci/dist.py").read_bytes())
    command = [sys.executable, root / ".ci/dist.py", "dist"]
    subprocess.run(command, cwd=root, check=True, umask=umask, env={**os.environ, **environment}, capture_output=True)
    files = sorted((root / "dist").iterdir())
    assert [path.suffix for path in files] == [".whl", ".gz"]
    return files


@pytest.mark.long  # what could make them differ is looked for in one build below
def test_two_builds_from_two_clones_are_the_same_bytes(tmp_path):
    built = [dist(tmp_path / f"habit{umask}", umask, environment) for umask, environment in HABITS]
    one, two = ({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files} for files in built)
    assert one == two


@pytest.mark.long  # a wheel is built in tests/test_contracts.py, and CI builds both
def test_a_build_tells_nothing_of_whoever_built_it_and_has_what_is_needed(tmp_path):
    """Order, time, modes and owners are those of the commit, whatever the habits."""
    wheel, sdist = dist(tmp_path, *HABITS[1])
    told = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True, capture_output=True, text=True)
    of_commit = int(told.stdout)
    with zipfile.ZipFile(wheel) as zipped:
        packed = zipped.infolist()
    even = of_commit - of_commit % 2  # a zip counts in two seconds
    assert {member.date_time for member in packed} == {time.gmtime(even)[:6]}
    assert {member.external_attr >> 16 & 0o777 for member in packed} == {0o644, 0o664}  # the latter: RECORD
    assert int.from_bytes(sdist.read_bytes()[4:8], "little") == of_commit  # in the header of gzip
    with tarfile.open(sdist) as tar:
        members = tar.getmembers()
    assert [member.name for member in members] == sorted(member.name for member in members)
    assert {(member.mtime, member.uid, member.gid, member.uname, member.gname) for member in members} == {
        (of_commit, 0, 0, "", "")
    }
    assert {member.mode & 0o777 for member in members} == {0o644, 0o755}
    names = {member.name.partition("/")[2] for member in members}
    assert names >= {"pyproject.toml", "README.md", "fledgling/pipe.py", "security/secret_files.txt"}
    wanted_too = [pattern for pattern in (ROOT / "MANIFEST.in").read_text().split() if pattern != "include"]
    assert [pattern for pattern in wanted_too if not fnmatch.filter(names, pattern)] == []
