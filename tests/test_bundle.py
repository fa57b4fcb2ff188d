"""The bundle for desktop clients: a manifest that says what the server does, and npm's own validator for its form."""

import runpy
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from fledgling import __version__
from fledgling.config import Settings
from fledgling.security import profile

BUNDLE = Path(__file__).parent.parent / "broker" / "setup" / "bundle.py"


def test_manifest_says_what_the_server_does() -> None:
    made = runpy.run_path(str(BUNDLE))
    manifest, project = made["manifest"](), tomllib.loads(made["project"]())
    assert [tool["name"] for tool in manifest["tools"]] == list(profile.load(Settings().profile).tools)
    assert manifest["version"] == project["project"]["version"] == __version__
    asked = {f"${{user_config.{name}}}" for name in manifest["user_config"]}
    assert asked == {word for word in manifest["server"]["mcp_config"]["args"] if word.startswith("${user_config.")}
    assert manifest["user_config"]["root"]["required"]
    assert manifest["compatibility"]["runtimes"]["python"] == project["project"]["requires-python"]
    assert project["tool"]["uv"]["sources"]["fledgling"]["path"] == made["WHEEL"]


@pytest.mark.long
@pytest.mark.skipif(shutil.which("npx") is None, reason="needs npm")
def test_bundle_is_what_the_validator_takes(tmp_path: Path) -> None:
    bundle = tmp_path / "fledgling.mcpb"
    subprocess.run([sys.executable, "-m", "fledgling.broker.setup.bundle", str(bundle)], check=True)
    zipfile.ZipFile(bundle).extractall(tmp_path / "unpacked")
    names = {path.name for path in (tmp_path / "unpacked").iterdir()}
    assert names == {"manifest.json", "pyproject.toml", f"fledgling-{__version__}-py3-none-any.whl"}
    validate = ["npx", "--yes", "@anthropic-ai/mcpb", "validate", "unpacked/manifest.json"]
    done = subprocess.run(validate, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "validation passes" in done.stdout, done.stdout + done.stderr
