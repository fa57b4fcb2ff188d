"""What becomes of the clients' own files: text before, text after, and what is refused untouched."""

import json
import os
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from forking import fledgling

from fledgling.broker.setup import check, install, json_text
from fledgling.broker.setup.clients import CLIENTS, entry, place
from fledgling.config import ConfigError

CASES = {case["name"]: case for case in tomllib.loads((Path(__file__).parent / "install.toml").read_text())["case"]}
CHANGES = {name: case for name, case in CASES.items() if "after" in case}
REFUSED = {name: case for name, case in CASES.items() if "says" in case}
COMMAND = ["/opt/python", "-m", "fledgling"]


def entry_of(client: str) -> dict[str, object]:
    root = "/srv/app" if CLIENTS[client].needs_root else None
    return entry(CLIENTS[client], COMMAND, None, [root] if root else [])


def meaning(client: str, text: str) -> Any:
    if CLIENTS[client].form == "toml":
        return tomllib.loads(text)
    return json_text.value(text) if text.strip() else {}


def is_strict(text: str) -> bool:
    """Whether a client without a taste for comments and trailing commas reads it."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def without_empty(read: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in read.items() if value != {}}


@pytest.mark.parametrize("name", CHANGES)
def test_entry_is_added_and_nothing_else_changes(name: str) -> None:
    case = CHANGES[name]
    client = CLIENTS[case["client"]]
    after = install.changed(client, case["before"], entry_of(case["client"]))
    assert after == case["after"]
    assert install.changed(client, after, entry_of(case["client"])) == after
    back = install.changed(client, after, None)
    assert install.changed(client, back, None) == back
    expected = case.get("back", case["before"])
    assert without_empty(meaning(case["client"], back)) == without_empty(meaning(case["client"], expected))
    if is_strict(case["before"]):
        assert is_strict(after)
        assert is_strict(back)
    for kept in case.get("keeps", ()):
        assert kept in after
        assert kept in back


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_untouched(name: str, tmp_path: Path) -> None:
    case = REFUSED[name]
    base, file = place(CLIENTS[case["client"]], {"HOME": str(tmp_path)})
    path = base / file
    path.parent.mkdir(parents=True, exist_ok=True)
    before = bytes(case["bytes"]) if "bytes" in case else case["before"].encode()
    path.write_bytes(before)
    for given in (entry_of(case["client"]), None):
        with pytest.raises(ConfigError) as refused:
            install.plan(CLIENTS[case["client"]], {"HOME": str(tmp_path)}, given)
        assert case["says"] in str(refused.value)
    assert path.read_bytes() == before
    assert len(list(path.parent.iterdir())) == 1


@pytest.mark.parametrize("name", CLIENTS)
def test_written_file_has_its_mode_and_a_copy_beside(name: str, tmp_path: Path) -> None:
    client, environment = CLIENTS[name], {"HOME": str(tmp_path)}
    base, file = place(client, environment)
    path = base / file
    fresh = install.plan(client, environment, entry_of(name))
    assert fresh.before is None
    assert install.write(fresh, client, environment) is None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    os.chmod(path, 0o640)
    installed = path.read_text()
    copy = install.write(install.plan(client, environment, None), client, environment)
    assert copy is not None
    assert copy.read_text() == installed
    assert [stat.S_IMODE(p.stat().st_mode) for p in (path, copy)] == [0o640, 0o640]
    assert without_empty(meaning(name, path.read_text())) == {}
    assert {p.name for p in path.parent.iterdir() if p.is_file()} == {path.name, copy.name}


LINKS = {"the file": ".codex/config.toml", "a directory above it": ".codex"}


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
def test_link_is_not_followed(link: str, tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "config.toml").write_text("a = 1\n")
    (home / link).parent.mkdir(parents=True)
    (home / link).symlink_to(elsewhere / "config.toml" if link.endswith(".toml") else elsewhere)
    with pytest.raises(ConfigError, match="links are not followed"):
        install.plan(CLIENTS["codex"], {"HOME": str(home)}, entry_of("codex"))
    assert [p.name for p in elsewhere.iterdir()] == ["config.toml"]
    assert (elsewhere / "config.toml").read_text() == "a = 1\n"


def test_file_that_is_no_file_or_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / ".codex" / "config.toml"
    path.parent.mkdir()
    os.mkfifo(path)
    with pytest.raises(ConfigError, match="not a regular file"):
        install.plan(CLIENTS["codex"], {"HOME": str(tmp_path)}, entry_of("codex"))
    path.unlink()
    path.write_bytes(b"#" * 101)
    monkeypatch.setattr(install, "MAX_FILE_BYTES", 100)
    with pytest.raises(ConfigError, match="larger than 100 bytes"):
        install.plan(CLIENTS["codex"], {"HOME": str(tmp_path)}, entry_of("codex"))


@pytest.mark.parametrize("before", [None, "a = 1\n"])
def test_what_changed_since_it_was_read_is_left_alone(before: str | None, tmp_path: Path) -> None:
    client, environment = CLIENTS["codex"], {"HOME": str(tmp_path)}
    path = tmp_path / ".codex" / "config.toml"
    path.parent.mkdir()
    if before:
        path.write_text(before)
    planned = install.plan(client, environment, entry_of("codex"))
    path.write_text("a = 2\n")
    with pytest.raises(ConfigError, match="changed meanwhile"):
        install.write(planned, client, environment)
    assert path.read_text() == "a = 2\n"
    assert not list(path.parent.glob(".config*"))


PLACES = {
    "claude-code": ("CLAUDE_CONFIG_DIR", ".claude.json", ".claude.json"),
    "codex": ("CODEX_HOME", ".codex/config.toml", "config.toml"),
    "cursor": (None, ".cursor/mcp.json", None),
    "gemini": (None, ".gemini/settings.json", None),
    "zed": ("XDG_CONFIG_HOME", ".config/zed/settings.json", "zed/settings.json"),
    "opencode": ("XDG_CONFIG_HOME", ".config/opencode/opencode.json", "opencode/opencode.json"),
    "windsurf": (None, ".codeium/windsurf/mcp_config.json", None),
    "cline": (
        "CLINE_DIR",
        ".cline/data/settings/cline_mcp_settings.json",
        "data/settings/cline_mcp_settings.json",
    ),
    "copilot-cli": ("COPILOT_HOME", ".copilot/mcp-config.json", "mcp-config.json"),
    "jetbrains": (None, ".junie/mcp/mcp.json", None),
}


@pytest.mark.parametrize("name", PLACES)
def test_place_is_where_the_client_looks(name: str) -> None:
    variable, at_home, below = PLACES[name]
    for environment in ({"HOME": "/h"}, {"HOME": "/h", variable or "X": "relative"}):
        base, file = place(CLIENTS[name], environment)
        assert base / file == Path("/h", at_home)
    if variable and below:
        base, file = place(CLIENTS[name], {"HOME": "/h", variable: "/v"})
        assert base / file == Path("/v", below)
    with pytest.raises(ConfigError, match="environment HOME"):
        place(CLIENTS[name], {})


HOSTILE_JSON = {
    "deep": "[" * 100_000,
    "deep objects": '{"a":' * 100_000,
    "an endless comment": "/*" * 100_000,
    "an endless string": '"' + "\\\\" * 100_000,
    "commas": "[" + "," * 100_000,
    "nothing": "",
    "half": '{"a"',
    "no value": '{"a":}',
    "two values": "{} {}",
    "a control character": '"\x00"',
    "a bare word": "{a: 1}",
    "a number that is none": '{"a": 1.2.3}',
    "no comma": '{"a": 1 "b": 2}',
}


@pytest.mark.parametrize("text", HOSTILE_JSON.values(), ids=HOSTILE_JSON)
def test_what_is_no_json_is_said_to_be_none(text: str) -> None:
    with pytest.raises(json_text.JSONTextError):
        json_text.value(text)


def test_command_shows_by_default_and_writes_when_told(tmp_path: Path) -> None:
    home, root = {"HOME": str(tmp_path)}, tmp_path / "project"
    root.mkdir()
    given = ("install", "--client", "gemini", "--profile", "fledgling-outie", "--root", str(root))
    for shown in (fledgling(*given, **home), fledgling(*given, "--dry-run", **home)):
        assert shown.returncode == 0, shown.stderr
        assert '"--profile", "fledgling-outie", "--root"' in shown.stdout
        assert "add --write" in shown.stderr
        assert list(tmp_path.iterdir()) == [root]
    written = fledgling(*given, "--write", **home)
    assert written.returncode == 0, written.stderr
    told = json.loads((tmp_path / ".gemini" / "settings.json").read_text())["mcpServers"]["fledgling"]
    assert told["args"][-4:] == ["--profile", "fledgling-outie", "--root", str(root)]
    assert "nothing to change" in fledgling(*given, "--write", **home).stdout
    assert fledgling("uninstall", "--client", "gemini", "--write", **home).returncode == 0
    assert json.loads((tmp_path / ".gemini" / "settings.json").read_text()) == {"mcpServers": {}}
    named = ("--root", f"a={root}", "--root", f"b={root}")
    shown = fledgling("install", "--client", "gemini", *named, **home)
    assert (shown.returncode, ", ".join(f'"{word}"' for word in named) in shown.stdout) == (0, True), shown
    refused = fledgling("install", "--client", "claude-desktop", **home)
    assert (refused.returncode, "with --root" in refused.stderr) == (2, True)


def entry_that(**changes: Any) -> dict[str, Any]:
    """An entry of this installation, with what is changed."""
    return {"command": sys.executable, "args": ["-I", "-m", "fledgling", "serve"], **changes}


TOLD: dict[str, tuple[str, Any, str, str] | tuple[str, Any, str, str, str]] = {
    "this installation": ("gemini", entry_that(), "good", f"it starts {sys.executable}"),
    "a client's own variable is no root": (
        "cursor",
        entry_that(args=["serve", "--root", "${workspaceFolder}"]),
        "good",
        "it starts",
    ),
    "one list": ("opencode", {"command": [sys.executable, "-m", "fledgling"]}, "good", "it starts"),
    "an environment that is gone": (
        "gemini",
        entry_that(command="/gone/bin/python"),
        "broken",
        "/gone/bin/python is not there or cannot be run",
        "fledgling install --client gemini --write",
    ),
    "a command that reads like a sentence of ours": (
        "gemini",
        entry_that(command="/gone; run: this"),
        "broken",
        "/gone; run: this is not there or cannot be run",
        "fledgling install --client gemini --write",
    ),
    "an environment that is gone, of an entry with options": (
        "windsurf",
        entry_that(command="/gone/bin/python", args=["serve", "--profile", "fledgling-core", "--root", "/usr/my lib"]),
        "broken",
        "/gone/bin/python is not there or cannot be run",
        "fledgling install --client windsurf --profile fledgling-core --root '/usr/my lib' --write",
    ),
    "another installation": ("gemini", entry_that(command="/bin/sh", args=["x"]), "another", "it starts /bin/sh"),
    "a root that is gone": (
        "gemini",
        entry_that(args=["--root", "/gone"]),
        "broken",
        "the root /gone is not there",
        "fledgling install --client gemini --root DIR --write",
    ),
    "several roots, in both spellings": (
        "gemini",
        entry_that(args=["--root", "a=/usr", "--root=b=/tmp"]),
        "good",
        "it",
    ),
    "an environment that is gone, of an entry with several roots": (
        "gemini",
        entry_that(
            command="/gone/bin/python", args=["--root", "a=/usr", "--root=b=/tmp", "--profile=x", "--root=c=$C"]
        ),
        "broken",
        "/gone/bin/python is not there or cannot be run",
        "fledgling install --client gemini --profile x --root a=/usr --root b=/tmp --root c=DIR --write",
    ),
    "one of several roots that is gone": (
        "gemini",
        entry_that(args=["--root=a=/gone", "--root", "b=/tmp"]),
        "broken",
        "the root a=/gone is not there",
        "fledgling install --client gemini --root a=DIR --root b=/tmp --write",
    ),
    "a profile that is gone": (
        "gemini",
        entry_that(args=["--profile", "/gone.sql"]),
        "broken",
        "the profile /gone.sql is not there",
        "fledgling install --client gemini --profile PROFILE --write",
    ),
    "an entry without a command": ("gemini", {}, "broken", "its command is not there"),
    "a command that is none": ("opencode", {"command": [1, {}]}, "broken", "its command is not there"),
    "a file that cannot be read": ("gemini", None, "broken", "it cannot be changed safely"),
}


@pytest.mark.parametrize("name", TOLD)
def test_check_says_what_clients_would_start(name: str, tmp_path: Path) -> None:
    client, entry, state, detail, *run = TOLD[name]
    base, file = place(CLIENTS[client], {"HOME": str(tmp_path)})
    (base / file).parent.mkdir(parents=True)
    (base / file).write_text("{" if entry is None else json.dumps({CLIENTS[client].key: {"fledgling": entry}}))
    [found] = check.told({"HOME": str(tmp_path)})
    assert (found.client, found.file, found.state) == (client, str(base / file), state)
    assert found.detail.startswith(detail)
    if run:
        assert [found.run] == run


def test_environment_that_lost_fledgling_is_told_from_one_that_has_it(tmp_path: Path) -> None:
    program = tmp_path / "venv/bin/python"
    site = tmp_path / "venv/lib/python3.11/site-packages"
    for folder in (program.parent, site):
        folder.mkdir(parents=True)
    program.symlink_to(sys.executable)
    (tmp_path / "venv/pyvenv.cfg").touch()
    (tmp_path / ".gemini").mkdir()
    told = {"mcpServers": {"fledgling": entry_that(command=str(program))}}
    (tmp_path / ".gemini/settings.json").write_text(json.dumps(told))
    states = [next(check.told({"HOME": str(tmp_path)})).state]
    (site / "fledgling_lens-0.1.0.dist-info").mkdir()
    states.append(next(check.told({"HOME": str(tmp_path)})).state)
    assert states == ["broken", "another"]


def test_check_is_a_command_and_a_part_of_doctor(tmp_path: Path, project: Path) -> None:
    home = {"HOME": str(tmp_path)}
    untold = fledgling("install", "--check", **home)
    assert (untold.returncode, "`fledgling install --client CLIENT --write`" in untold.stdout) == (0, True)
    assert "it is one of claude-code, " in fledgling("install", **home).stderr
    assert fledgling("install", "--client", "copilot-cli", "--write", **home).returncode == 0
    good = fledgling("install", "--check", "--json", **home)
    assert [each["state"] for each in json.loads(good.stdout)["clients"]] == ["good"]
    (tmp_path / ".gemini").mkdir()
    told = {"mcpServers": {"fledgling": entry_that(command="/gone/python")}}
    (tmp_path / ".gemini/settings.json").write_text(json.dumps(told))
    bad = fledgling("install", "--check", **home)
    assert bad.returncode == 1
    lines = ["/gone/python is not there or cannot be run", "run: fledgling install --client gemini --write"]
    assert ["gemini: broken", f"  {tmp_path}/.gemini/settings.json", *(f"  {line}" for line in lines)] == (
        bad.stdout.splitlines()[:4]
    )
    assert f"  {lines[1]}" in fledgling("install", "--check", COLUMNS="2", **home).stdout.splitlines()
    asked = fledgling("doctor", "--root", str(project), "--json", **home)
    looked = {each["what"]: each["state"] for each in json.loads(asked.stdout)["checks"]}
    assert asked.returncode == 1
    assert looked == {
        "settings": "good",
        "duckdb": "good",
        "mcp": "good",
        "tree-sitter": "good",
        "numpy": "good",
        "PATH": looked["PATH"],
        "client gemini": "wrong",
        "client copilot-cli": "good",
    }
    assert fledgling("install", **home).returncode == 2
