"""What is published: the bundle for desktop clients, judged by npm's own validator, and the registry's entry."""

import json
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from fledgling import __version__
from fledgling.security import profile
from fledgling.settings import Settings

ROOT = Path(__file__).parent.parent
BUNDLE = ROOT / "broker" / "setup" / "bundle.py"


def test_manifest_says_what_the_server_does() -> None:
    made = runpy.run_path(str(BUNDLE))
    manifest, project = made["manifest"](), tomllib.loads(made["project"]())
    assert [tool["name"] for tool in manifest["tools"]] == list(profile.load(Settings().profile).tools)
    assert manifest["version"] == project["project"]["version"] == __version__
    asked = {f"${{user_config.{name}}}" for name in manifest["user_config"]}
    assert asked == {word for word in manifest["server"]["mcp_config"]["args"] if word.startswith("${user_config.")}
    assert manifest["user_config"]["root"]["required"]
    assert manifest["server"]["mcp_config"]["env"] == {"UV_COMPILE_BYTECODE": "1"}
    assert manifest["compatibility"]["runtimes"]["python"] == project["project"]["requires-python"]
    assert project["tool"]["uv"]["sources"]["fledgling-lens"]["path"] == made["WHEEL"]


def test_registry_entry_says_what_the_project_says() -> None:
    """The registry wants the README to name the entry, and a description of up to 100 characters."""
    entry = json.loads((ROOT / "server.json").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert re.findall(r"<!-- mcp-name: (\S+) -->", (ROOT / project["readme"]).read_text()) == [entry["name"]]
    assert (entry["description"], entry["version"]) == (project["description"], __version__)
    assert len(entry["description"]) <= 100
    assert entry["repository"]["url"] == project["urls"]["Homepage"]
    [package] = entry["packages"]
    assert (package["registryType"], package["identifier"], package["version"]) == (
        "pypi",
        project["name"],
        __version__,
    )
    # Clients run `uvx NAME ARGUMENTS`, and uvx a command of the name of the package.
    assert (package["runtimeHint"], project["scripts"][project["name"]]) == ("uvx", project["scripts"]["fledgling"])
    assert [(each["name"], each["value"]) for each in package["environmentVariables"]] == [("UV_COMPILE_BYTECODE", "1")]
    *fixed, root, under = package["packageArguments"]
    assert [fixed[0]["value"], fixed[1]["name"], fixed[1]["value"]] == ["serve", "--answers", "text"]
    assert (root["name"], under["name"], under["default"]) == ("--root", "--profile", Settings().profile)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("npx") is None, reason="needs npm")
def test_bundle_is_what_the_validator_takes(tmp_path: Path) -> None:
    bundle = tmp_path / "fledgling.mcpb"
    subprocess.run([sys.executable, "-I", str(BUNDLE), str(bundle)], check=True)
    zipfile.ZipFile(bundle).extractall(tmp_path / "unpacked")
    names = {path.name for path in (tmp_path / "unpacked").iterdir()}
    assert names == {"manifest.json", "pyproject.toml", f"fledgling_lens-{__version__}-py3-none-any.whl"}
    validate = ["npx", "--yes", "@anthropic-ai/mcpb", "validate", "unpacked/manifest.json"]
    done = subprocess.run(validate, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "validation passes" in done.stdout, done.stdout + done.stderr
