"""Make an MCP bundle: a zip of a manifest, a wheel of this tree, and the project that uv installs it with.

    python -I broker/setup/bundle.py fledgling.mcpb

The manifest is version 0.4 of https://github.com/modelcontextprotocol/mcpb: a host that reads it has uv install the
wheel with what it depends on, and asks for the directory to index. Needs pip, which fetches what builds the wheel.
"""

import json
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

from fledgling import __version__
from fledgling.broker.protocol import schema
from fledgling.security import profile as profiles
from fledgling.settings import Settings

TREE = Path(__file__).resolve().parents[2]  # a clone: what is installed has no project file
PROJECT = tomllib.loads((TREE / "pyproject.toml").read_text("utf-8"))["project"]
WHEEL = f"{PROJECT['name'].replace('-', '_')}-{__version__}-py3-none-any.whl"
COMPILING = {"UV_COMPILE_BYTECODE": "1"}  # by uv, once: else each back process compiles what it loads, at each start
OLDEST = (1980, 1, 1, 0, 0, 0)  # the first date that a zip can hold


def main() -> None:
    """Write the bundle to the file that is named."""
    [target] = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder]
        subprocess.run([*pip, str(TREE)], check=True)
        wheel = Path(folder, WHEEL).read_bytes()
    files = {
        "manifest.json": json.dumps(manifest(), indent=2).encode(),
        "pyproject.toml": project().encode(),
        WHEEL: wheel,
    }
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, data in files.items():
            bundle.writestr(zipfile.ZipInfo(name, OLDEST), data, zipfile.ZIP_DEFLATED)


def manifest() -> dict[str, Any]:
    """Return what a host shows before it installs the bundle, and how it starts the server."""
    profile = Settings().profile
    return {
        "manifest_version": "0.4",
        "name": "fledgling",
        "display_name": "Fledgling",
        "version": __version__,
        "description": PROJECT["description"],
        "author": {"name": "The Fledgling authors"},
        "license": PROJECT["license"],
        "keywords": PROJECT["keywords"],
        "server": {
            "type": "uv",
            "entry_point": "pyproject.toml",
            "mcp_config": {
                "command": "uv",
                "args": [
                    *("run", "--directory", "${__dirname}", "--no-dev", "fledgling", "serve", "--answers", "text"),
                    *("--root", "${user_config.root}", "--profile", "${user_config.profile}"),
                ],
                "env": COMPILING,
            },
        },
        "tools": [
            {"name": tool, "description": schema.description(tool).split("\n")[0]}
            for tool in profiles.load(profile).tools
        ],
        "compatibility": {"platforms": ["linux"], "runtimes": {"python": PROJECT["requires-python"]}},
        "user_config": {
            "root": {
                "type": "directory",
                "title": "Project",
                "description": "The directory to index. Nothing in it is changed.",
                "required": True,
            },
            "profile": {
                "type": "string",
                "title": "Profile",
                "description": f"What the agent may do: {', '.join(profiles.shipped())}, or a profile's path.",
                "default": profile,
            },
        },
    }


def project() -> str:
    """Return the project that uv installs: the wheel beside it, and nothing of its own."""
    return (
        f'[project]\nname = "fledgling-bundle"\nversion = "{__version__}"\n'
        f'requires-python = "{PROJECT["requires-python"]}"\ndependencies = ["{PROJECT["name"]}"]\n\n'
        f'[tool.uv]\npackage = false\n\n[tool.uv.sources]\n{PROJECT["name"]} = {{ path = "{WHEEL}" }}\n'
    )


if __name__ == "__main__":
    main()
