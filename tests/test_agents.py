"""The file of agents: who may write and read it, what it says, and what a server makes of it."""

import hashlib
import os
import re
import socket
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import serve_command
from forking import fledgling
from running import PATIENCE

from fledgling.broker.protocol.http import agents
from fledgling.config import ConfigError
from fledgling.security.profile import ProfileError

HASH = "a" * 64
TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "agents.yaml"


def written(file: Path, text: str, mode: int = 0o600) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    file.chmod(mode)
    return file


def test_added_listed_revoked(file: Path) -> None:
    first, second = agents.add(file, "a", "fledgling-core"), agents.add(file, "b-2", "fledgling-analyst")
    assert first != second
    assert TOKEN.fullmatch(first)
    assert agents.read(file) == {
        "a": agents.AgentEntry("fledgling-core", hashlib.sha256(first.encode()).hexdigest()),
        "b-2": agents.AgentEntry("fledgling-analyst", hashlib.sha256(second.encode()).hexdigest()),
    }
    assert first not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    agents.revoke(file, "a")
    assert list(agents.read(file)) == ["b-2"]
    assert os.listdir(file.parent) == ["agents.yaml"]


def test_projects_of_an_agent_are_kept_and_listed(file: Path) -> None:
    agents.add(file, "a", "fledgling-core", None, ("api", "web"))
    agents.add(file, "b", "fledgling-core", "sub")
    assert [entry.projects for entry in agents.read(file).values()] == [("api", "web"), ()]
    assert "a  fledgling-core  api, web\n" in fledgling("agents", "list", "--agents", str(file)).stdout
    assert [agent.projects for agent in agents.served(file, {"api": "/srv", "web": "/usr"}).agents] == [
        ("api", "web"),
        (),
    ]
    for roots in ({"": "/srv"}, {"api": "/srv"}):
        with pytest.raises(ConfigError, match=r"a has the project '(api|web)', which this server has not"):
            agents.served(file, roots)


def test_names_and_paths_stay_what_they_are(file: Path, tmp_path: Path) -> None:
    """YAML takes `null`, `1.5` and `yes` for something else; a path may hold anything."""
    profile = tmp_path / 'it\'s "a": \u00e9 # [profile].sql'
    profile.write_text("SET tools = 'explore';\n")
    for name in ("null", "1.5", "yes"):
        agents.add(file, name, str(profile))
    assert {name: entry.profile for name, entry in agents.read(file).items()} == dict.fromkeys(
        ("null", "1.5", "yes"), str(profile)
    )


BAD_NAMES = ["", "a b", "-a", "a" * 65, "a\n", "\u0430", "a: b", "../a", "#a"]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_no_name(file: Path, name: str) -> None:
    with pytest.raises(ConfigError):
        agents.add(file, name, "fledgling-core")
    assert not file.exists()


def test_adding_refuses(file: Path) -> None:
    agents.add(file, "a", "fledgling-core")
    before = file.read_bytes()
    with pytest.raises(ConfigError, match="there already"):
        agents.add(file, "a", "fledgling-analyst")
    with pytest.raises(ProfileError):
        agents.add(file, "b", "no-such-profile")
    with pytest.raises(ConfigError, match="no agent is called 'b'"):
        agents.revoke(file, "b")
    assert file.read_bytes() == before
    for number in range(agents.MAX_AGENTS - 1):
        agents.add(file, f"n{number}", "fledgling-core")
    with pytest.raises(ConfigError, match=f"{agents.MAX_AGENTS} agents"):
        agents.add(file, "one-more", "fledgling-core")


UNFIT = {
    "no list": "a: fledgling-core",
    "one text": "a: [fledgling-core]",
    "a project that is no text": f"a: [fledgling-core, {HASH}, [x]]",
    "no hash": "a: [fledgling-core, abc]",
    "a hash in capitals": f"a: [fledgling-core, {HASH.upper()}]",
    "a token instead of its hash": f"a: [fledgling-core, {'A' * 43}]",
    "no name": f'"a b": [fledgling-core, {HASH}]',
    "a name twice": f"a: [fledgling-core, {HASH}]\na: [fledgling-core, {'b' * 64}]",
    "a token twice": f"a: [fledgling-core, {HASH}]\nb: [fledgling-analyst, {HASH}]",
    "a profile where the server happens to start": f"a: [./mine.sql, {HASH}]",
    "a tag": f"a: !!python/object:os.system [fledgling-core, {HASH}]",
    "an alias": f"a: &x [fledgling-core, {HASH}]\nb: *x",
    "no YAML": "{",
    "too long": "# " + "x" * 70_000,
}


@pytest.mark.parametrize("name", UNFIT)
def test_unfit(file: Path, name: str) -> None:
    with pytest.raises(ConfigError):
        agents.read(written(file, UNFIT[name]))


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o604, 0o622])
def test_a_file_that_others_can_use_is_refused(file: Path, mode: int) -> None:
    with pytest.raises(ConfigError, match="chmod 600"):
        agents.read(written(file, f"a: [fledgling-core, {HASH}]", mode))


def test_other_things_than_files_are_refused(file: Path, tmp_path: Path) -> None:
    good = written(file, f"a: [fledgling-core, {HASH}]")
    (tmp_path / "link").symlink_to(good)
    os.mkfifo(tmp_path / "pipe", 0o600)
    for path in (tmp_path / "link", tmp_path / "pipe", tmp_path, tmp_path / "nothing"):
        with pytest.raises(ConfigError):
            agents.read(path)
    with pytest.raises(ConfigError):
        agents.add(tmp_path / "link", "b", "fledgling-core")
    assert list(agents.read(good)) == ["a"]


def test_served_only_from_outside_the_root(project: Path, tmp_path: Path) -> None:
    inside = tmp_path / "root" / "agents.yaml"
    agents.add(inside, "a", "fledgling-core")
    with pytest.raises(ConfigError, match="inside the root"):
        agents.served(inside, {"": str(tmp_path / "root")})
    assert [agent.profile.name for agent in agents.served(inside, {"": str(project)}).agents] == ["fledgling-core"]


def test_writers_take_turns(file: Path) -> None:
    command = ["agents", "add", "--agents", str(file)]
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda name: fledgling(*command, name), ["a", "b", "c", "d"]))
    assert [one.returncode for one in done] == [0] * 4
    assert sorted(agents.read(file)) == ["a", "b", "c", "d"]
    known = {entry.credential for entry in agents.read(file).values()}
    assert {agents.digest(one.stdout.strip()) for one in done} == known


def test_the_command(file: Path) -> None:
    assert fledgling("agents", "add", "a", "--agents", str(file), "--profile", "fledgling-analyst").returncode == 0
    assert fledgling("agents", "list", FLEDGLING_AGENTS=str(file)).stdout == "a  fledgling-analyst  all\n"
    assert fledgling("agents", "revoke", "a", "--agents", str(file)).returncode == 0
    assert fledgling("agents", "list", "--json", "--agents", str(file)).stdout == '{\n  "agents": []\n}\n'
    assert "give --agents FILE" in fledgling("agents", "list").stderr


# What a server refuses to start with, and what it says; {file} has one agent.
REFUSED = {
    "an address that others reach, alone": (["--host", "0.0.0.0"], "can be reached from other machines"),
    "an IPv6 one": (["--host", "::"], "can be reached from other machines"),
    "with agents and no hosts": (["--host", "0.0.0.0", "--agents", "{file}"], "--hosts"),
    "with hosts and no agents": (["--host", "0.0.0.0", "--hosts", "a.example:3000"], "--agents"),
    "a name": (["--host", "localhost"], "give an IP address"),
    "no agents in the file": (["--agents", "{empty}"], "it names 0 agents"),
    "no file": (["--agents", "{file}.not"], "it cannot be read"),
    "a port that is taken": (["--port", "{taken}"], "cannot be used"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_server_does_not_start_with(project: Path, file: Path, tmp_path: Path, name: str) -> None:
    options, expected = REFUSED[name]
    agents.add(file, "a", "fledgling-core")
    empty = written(tmp_path / "empty.yaml", "")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        values = {"file": file, "empty": empty, "taken": taken.getsockname()[1]}
        given = [option.format_map(values) for option in options]
        command = serve_command(project, "--transport", "http", *given)
        done = subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2
    assert expected in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
