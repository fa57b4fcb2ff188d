"""Real projects as their authors published them: fetched once into pytest's cache, unpacked and put under git."""

import subprocess
import sys
import tarfile
from pathlib import Path

from conftest import git

SDISTS = {"flask": "3.1.3", "django": "5.2.19"}
NPM = {"express": "express@5"}


class FetchError(Exception):
    """The registry gave nothing; a test that needs the project cannot say anything."""


def fetch(name: str, cache: Path) -> Path:
    """Return the archive of a project, `cache/flask/flask-3.1.3.tar.gz`; ask its registry where it is not there yet."""
    folder = cache / name
    folder.mkdir(exist_ok=True)
    archives = _archives(folder)
    if not archives:
        _run(_command(name, folder))
        archives = _archives(folder)
    if not archives:
        raise FetchError(f"{name}: the download left no archive in {folder}")
    return archives[0]


def _archives(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.iterdir()) if path.name.endswith((".tar.gz", ".tgz"))]


def _command(name: str, folder: Path) -> list[str]:
    if name in NPM:
        return ["npm", "pack", "--silent", "--pack-destination", str(folder), NPM[name]]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
    return [*pip, "--no-deps", "--no-binary", name, "--dest", str(folder), f"{name}=={SDISTS[name]}"]


def _run(command: list[str]) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise FetchError(f"{' '.join(command)} failed, and without it this test proves nothing:\n{done.stderr[-2000:]}")


def plant(archive: Path, folder: Path) -> Path:
    """Unpack an archive with one folder in it, and commit that to a repository of its own."""
    with tarfile.open(archive) as packed:
        packed.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))  # 3.11.4 or newer
    (root,) = folder.iterdir()
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "as published")
    return root
