"""The command line where something is missing: it works, or one line says what is wrong and what to do."""

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from forking import fledgling
from running import PATIENCE

from fledgling.broker import surroundings
from fledgling.broker.indexing.failures import IndexingError
from fledgling.broker.indexing.indexing import Indexing
from fledgling.security import profile
from fledgling.settings import Settings

FLEDGLING = f"{sys.executable} -I -B -m fledgling"
ALONE = "bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev"
BEHIND_LOCALE = f"{sys.executable} -P -B -m fledgling"  # heeds what the environment says of encodings
STRANGER = (  # somebody else than root, whom no limit on processes holds; pytest's directories are closed to them
    "setpriv --reuid 12345 --regid 12345 --clear-groups --inh-caps +dac_read_search --ambient-caps +dac_read_search"
)
FOUND, USAGE = 0, 2

# What is run in a shell, its exit code, and a part of what it says: on standard output where it works, else in the one
# line on standard error. {tmp} holds the project `p`; {run} is the command line, and {explore} explores that project.
CASES = {
    # -- user namespaces of one id, as of bubblewrap and in some CI
    "a namespace of one id": ("unshare --user --map-root-user {explore}", FOUND, "a.py  python"),
    "a namespace of one id, as oneself": ("unshare --user --map-current-user {explore}", FOUND, "a.py  python"),
    "bubblewrap": (f"{ALONE} {{explore}}", FOUND, "a.py  python"),
    "bubblewrap, another id": (f"{ALONE} --uid 1000 --gid 1000 {{explore}}", FOUND, "a.py  python"),
    "bubblewrap, a new /tmp": (f"{ALONE} --tmpfs /dev/shm {{explore}}", FOUND, "a.py  python"),
    "no /proc": ("bwrap --ro-bind / / --tmpfs /proc --dev /dev {explore}", USAGE, "/proc: it is not mounted"),
    # -- limits
    "24 open files": ("ulimit -n 24; {explore}", USAGE, "ulimit -n: 24 open files are too few; allow 64 or more"),
    "5 open files": ("ulimit -n 5; {explore}", USAGE, "allow 64 or more"),
    "24 open files that may be more": ("ulimit -Sn 24; {explore}", FOUND, "a.py  python"),
    "64 open files": ("ulimit -n 64; {explore}", FOUND, "a.py  python"),
    "100 MB of address space": ("ulimit -v 100000; {explore}", USAGE, "ulimit -v: 100000 KiB of address space"),
    "1 GB of address space": ("ulimit -v 1000000; {explore}", FOUND, "a.py  python"),
    "files of 100 KiB": ("ulimit -f 100; {explore}", USAGE, "ulimit -f: 100 KiB in a file are too few; allow 1048576"),
    "files of 100 KiB that may be longer": ("ulimit -Sf 100; {run} search x --root {tmp}/p", FOUND, "1 hit in 1 file"),
    "stacks of 64 MiB, and a profile of 128 MB": (
        "echo \"SET tools = 'explore'; SET memory_limit = '128MB';\" > {tmp}/small.sql; "
        "ulimit -Ss 65536; {explore} --profile {tmp}/small.sql",
        FOUND,
        "a.py  python",
    ),
    "2 processes": (
        f"{STRANGER} bash -c 'ulimit -u 2; {{run}} explore --root /usr/share'",
        1,
        "allow more processes (ulimit -u)",
    ),
    # -- descriptors
    "no standard input": ("{explore} 0<&-", FOUND, "a.py  python"),
    "no standard output": ("{explore} 1>&-", FOUND, ""),
    "no standard error": ("{explore} 2>&-", FOUND, "a.py  python"),
    "a shell without input": ("{run} shell --root {tmp}/p 0<&-", FOUND, ""),
    "none of the three": ("{explore} 0<&- 1>&- 2>&-", FOUND, ""),
    "a server without input": ("{run} serve --root {tmp}/p --log-level error 0<&-", FOUND, ""),
    "a server without output": ("{run} serve --root {tmp}/p --log-level error 1>&- </dev/null", FOUND, ""),
    "a server without any": ("{run} serve --root {tmp}/p 0<&- 1>&- 2>&-", FOUND, ""),
    "no room for what is printed": ("{explore} >/dev/full", 1, "No space left on device"),
    # -- the root
    "a file": ("{run} explore --root {tmp}/p/a.py", USAGE, "is not a directory but a file; give the directory"),
    "a link": ("ln -s p {tmp}/link; {run} explore --root {tmp}/link", FOUND, "a.py  python"),
    "everything": ("{run} explore --root /", USAGE, "say --yes-really"),
    "one that may not be read": (
        "mkdir -m 700 {tmp}/secret; chown 12345 {tmp}/secret; "
        "setpriv --bounding-set=-dac_override,-dac_read_search {run} explore --root {tmp}/secret",
        USAGE,
        "may not be read by this user",
    ),
    # -- the working directory, the environment, the locale
    "a working directory that is gone": ("mkdir {tmp}/w; cd {tmp}/w; rmdir {tmp}/w; {explore}", FOUND, "a.py  python"),
    "24 open files, ASCII alone and no working directory": (
        "mkdir {tmp}/u; cd {tmp}/u; rmdir {tmp}/u; ulimit -Sn 24; "
        f"LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 {BEHIND_LOCALE} read é.py --root {{tmp}}/p",
        FOUND,
        "1\té = 1",
    ),
    "and no root": ("mkdir {tmp}/v; cd {tmp}/v; rmdir {tmp}/v; {run} explore", USAGE, "give"),
    "an empty environment": ("env -i {explore}", FOUND, "a.py  python"),
    "a home that is a file": ("HOME=/etc/passwd {explore}", FOUND, "a.py  python"),
    "no directory for temporary files": ("TMPDIR=/nowhere TEMP= TMP= {explore}", FOUND, "a.py  python"),
    "a file system that is read-only": ("bwrap --ro-bind / / --proc /proc --dev /dev {explore}", FOUND, "a.py  python"),
    "no terminal's name": ("env -u TERM {explore}", FOUND, "a.py  python"),
    "the locale C": ("LC_ALL=C {run} read é.py --root {tmp}/p", FOUND, "1\té = 1"),
    "ASCII alone": (
        f"LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 {BEHIND_LOCALE} read é.py --root {{tmp}}/p",
        FOUND,
        "1\té = 1",
    ),
    "an argument that is not UTF-8": ("{run} read $'\\xff' --root {tmp}/p", USAGE, "path holds what is not UTF-8"),
}


# The others that are served meet nothing but what these meet, and each takes a second; 5 files are too few as 24 are.
# Who works in bubblewrap, in a namespace of one id, a test below asks.
SERVED = {"24 open files, ASCII alone and no working directory", "a server without any"}
LONG = {name for name, (_, code, _) in CASES.items() if code == FOUND} - SERVED | {"5 open files"}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    (tmp_path / "p").mkdir()
    (tmp_path / "p/a.py").write_text("x = 1\n")
    (tmp_path / "p/é.py").write_text("é = 1\n")
    return tmp_path


def run(command: str, directory: Path) -> "subprocess.CompletedProcess[str]":
    given = {"tmp": str(directory), "run": FLEDGLING, "explore": f"{FLEDGLING} explore --root {directory}/p"}
    for name, value in given.items():
        command = command.replace(f"{{{name}}}", value)
    clean = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        ["bash", "-c", command], cwd="/", env=clean, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def lacking(command: str) -> str | None:
    """Why a command cannot be tried here; None where it can."""
    for tool, probe in (("bwrap", f"{ALONE} true"), ("unshare", "unshare --user --map-root-user true")):
        if command.startswith(tool) and (
            not shutil.which(tool) or subprocess.run(probe.split(), check=False).returncode
        ):
            return f"no {tool} here, or it may make no namespace"
    if "setpriv" in command and (os.geteuid() != 0 or not shutil.which("setpriv")):
        return "only root can become another user"
    return None


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] if name in LONG else []) for name in CASES]
)
def test_it_works_or_one_line_says_why_not(directory: Path, name: str) -> None:
    command, code, said = CASES[name]
    if why := lacking(command):
        pytest.skip(why)
    done = run(command, directory)
    assert done.returncode == code, done.stderr
    if code == FOUND:
        assert said in done.stdout
        assert done.stderr == ""
    else:
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
        assert done.stderr.startswith("fledgling: ")


# A root that is none, and a part of the line on standard error.
ROOTS = {
    "nothing": ("{tmp}/nothing", "nothing' is not there; give the directory"),
    "a file within a file": ("{tmp}/p/a.py/b", "is not there"),
    "a FIFO": ("{tmp}/fifo", "is neither a directory nor a file"),
    "a device": ("/dev/null", "is neither a directory nor a file"),
    "a link that leads nowhere": ("{tmp}/dangling", "is not there"),
    "a circle of links": ("{tmp}/loop", "symbolic links"),
    "a name too long": (f"/{'a' * 300}", "(File name too long); give another directory"),
    "a path too long": ("/a" * 3000, "(File name too long); give another directory"),
    "a name that is not UTF-8": ("\udcff", "udcff' is not there"),
    "no name": ("", "root cannot be ''"),
}


@pytest.mark.parametrize("name", ROOTS)
def test_a_root_that_is_none_is_one_line(directory: Path, name: str) -> None:
    root, said = ROOTS[name]
    os.mkfifo(directory / "fifo")
    (directory / "dangling").symlink_to("x")
    (directory / "loop").symlink_to("loop")
    shown = fledgling("explore", "--root", root.replace("{tmp}", str(directory)))
    assert (shown.returncode, shown.stdout, shown.stderr.count("\n")) == (USAGE, "", 1)
    assert shown.stderr.startswith("fledgling: ")
    assert said in shown.stderr


# What the rows above meet only where an index takes long: progress is for a terminal, which is asked for then
HELD = """
import sys
from fledgling.broker.surroundings import hold_standard_descriptors
hold_standard_descriptors()
sys.exit(None in (sys.stdin, sys.stdout, sys.stderr))
"""


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_a_closed_stream_is_there(directory: Path, closed: str) -> None:
    (directory / "held.py").write_text(HELD)
    assert run(f"{sys.executable} -I {{tmp}}/held.py {closed}", directory).returncode == 0


def test_what_is_absent_in_a_namespace_of_one_id_is_said(directory: Path) -> None:
    """Every other layer holds, and the audit log has it as well."""
    if os.geteuid() != 0:
        pytest.skip("who is not root becomes no other user anyway")
    if why := lacking(ALONE):
        pytest.skip(why)
    shown = run(f"{ALONE} {{run}} doctor --root {{tmp}}/p", directory)
    assert shown.stdout.count("there is no other user in this user namespace") >= 2
    log = directory / "log.jsonl"
    served = f"bwrap --unshare-all --bind / / --proc /proc --dev /dev {FLEDGLING} serve --root {directory}/p"
    run(f"{served} --audit-log {log} </dev/null", directory)
    held = [json.loads(line) for line in log.read_text().splitlines()]
    found = {line["process"]: line["confinement"] for line in held if line["event"] == "process"}
    for process in ("lister", "extractors"):
        assert found[process].pop("user").startswith(("there is no other user", "the project belongs to root"))
        found[process].pop("chroot", None)  # bubblewrap may have taken the capability for it
        assert set(found[process].values()) == {"enforced"}


def test_a_root_that_goes_while_it_is_opened_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(IndexingError, match="cannot be opened: No such file"):
        Indexing(Settings(root=str(tmp_path / "gone")), profile.load("fledgling-core"))


UNLIMITED = resource.RLIM_INFINITY

# Descriptors that are allowed, softly and at most, and how many a server then has; few machines allow so many
DESCRIPTORS = [
    ((64, 128), 128),
    ((1_024, 65_535), 65_535),
    ((1_024, 65_537), 65_536),
    ((1_024, UNLIMITED), 65_536),
    ((70_000, UNLIMITED), 70_000),
    ((UNLIMITED, UNLIMITED), UNLIMITED),
]


@pytest.mark.parametrize(("limits", "has"), DESCRIPTORS)
def test_a_server_has_as_many_descriptors_as_it_may_and_can_use(monkeypatch, limits, has):
    """What the kernel allows and is told is said here."""
    now = dict.fromkeys((resource.RLIMIT_AS, resource.RLIMIT_FSIZE), (UNLIMITED, UNLIMITED))
    now[resource.RLIMIT_NOFILE] = limits
    monkeypatch.setattr(resource, "getrlimit", now.get)
    monkeypatch.setattr(resource, "setrlimit", now.__setitem__)
    surroundings.check()
    assert now[resource.RLIMIT_NOFILE] == (has, limits[1])
