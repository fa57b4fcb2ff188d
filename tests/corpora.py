"""Real projects as their authors published them: fetched once into pytest's cache, unpacked and put under git."""

import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from functools import cache as once
from pathlib import Path

from conftest import git

SDISTS = {
    "click": "8.2.1",
    "flask": "3.1.3",
    "pycg": "0.0.8",
    "orjson": "3.13.0",
    "django": "5.2.19",
    "sympy": "1.14.0",
    "ansible-core": "2.17.5",
    "lxml": "6.1.3",
    "cattrs": "26.2.1",
    "docutils": "0.23",
    "httpx": "0.28.1",
    "jinja2": "3.1.6",
    "duckdb": "2.0.0",
}
NPM = {
    "express": "express@5",
    "typescript": "typescript@5.9.3",
    "handlebars": "handlebars@4.7",
    "rxjs": "rxjs@7.8.2",
    "preact": "preact@10.29.8",
    "zod": "zod@4.6.7",
    "effect": "effect@4.1.0",
    "vitest": "vitest@4.1.12",
    "vitest-expect": "@vitest/expect@4.1.12",
    "vitest-runner": "@vitest/runner@4.1.12",
    "bootstrap": "bootstrap@5.3.3",
    "antd": "antd@4.24.16",
}
DEBIAN = {
    "btrfs-progs": "btrfs-progs",
    "cobra": "golang-github-spf13-cobra",
    "commons-collections": "libcommons-collections4-java",
    "commons-lang": "libcommons-lang3-java",
    "git": "git",
    "gson": "libgoogle-gson-java",
    "hugo": "hugo",
    "jackson-core": "jackson-core",
    "jackson-databind": "jackson-databind",
    "jq": "jq",
    "jsoup": "jsoup",
    "kubernetes": "kubernetes",
    "leveldb": "leveldb",
    "lua": "lua5.4",
    "mux": "golang-github-gorilla-mux",
    "postgresql": "postgresql-15",
    "prometheus": "prometheus",
    "re2": "re2",
    "redis": "redis",
    "ripgrep": "rust-ripgrep",
    "scala": "scala",
    "twig": "php-twig",
    "viper": "golang-github-spf13-viper",
    "typescript-src": "node-typescript",  # the package on npm holds only what is built from its sources
    "zlib": "zlib",
}
APT_LISTS = Path("/etc/apt")  # where the machine says which packages it takes from where
ARCHIVES = (".tar.gz", ".tgz", ".orig.tar.xz", ".orig.tar.bz2")


class FetchError(Exception):
    """The registry gave nothing; a test that needs the project cannot say anything."""


def fetch(name: str, cache: Path) -> Path:
    """Return the archive of a project, `cache/flask/flask-3.1.3.tar.gz`; ask its registry where it is not there yet."""
    folder = cache / name
    folder.mkdir(exist_ok=True)
    archives = _archives(folder)
    if not archives:
        for command in _commands(name, folder):
            try:
                _run(command, folder)
                break
            except FetchError as error:
                failed = error
        else:
            raise failed
        archives = _archives(folder)
    if not archives:
        raise FetchError(f"{name}: the download left no archive in {folder}")
    return archives[0]


def _archives(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.iterdir()) if path.name.endswith(ARCHIVES)]


def _commands(name: str, folder: Path) -> Iterator[list[str]]:
    """Yield what fetches a project, one after the other until one does: a mirror may list what it has not."""
    if name in DEBIAN:
        options = _with_sources(folder.parent)
        versions = ["apt-cache", *options, "madison", DEBIAN[name]]
        listed = subprocess.run(versions, check=False, capture_output=True, text=True).stdout.splitlines()
        source = ["apt-get", *options, "source", "--quiet", "--download-only"]
        yield [*source, DEBIAN[name]]
        yield from ([*source, f"{DEBIAN[name]}={line.split('|')[1].strip()}"] for line in listed)
    elif name in NPM:
        yield ["npm", "pack", "--silent", "--pack-destination", str(folder), NPM[name]]
    else:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
        yield [*pip, "--no-deps", "--no-binary", name, "--dest", str(folder), f"{name}=={SDISTS[name]}"]


@once
def _with_sources(cache: Path) -> list[str]:
    """Return options by which apt knows the sources of the machine's packages: few machines list them of themselves."""
    own = cache / "apt"
    for name in ("parts", "lists/partial", "cache/archives/partial"):
        (own / name).mkdir(parents=True, exist_ok=True)
    for listed in (APT_LISTS / "sources.list", *sorted((APT_LISTS / "sources.list.d").glob("*"))):
        if listed.suffix in (".list", ".sources") and listed.is_file():
            text = re.sub(r"(?m)^deb(?=[ \t])", "deb-src", listed.read_text())
            (own / "parts" / listed.name).write_text(re.sub(r"(?m)^Types:.*", "Types: deb-src", text))
    places = {"Etc::sourcelist": "/dev/null", "Etc::sourceparts": own / "parts"}
    places |= {"State::lists": own / "lists", "Cache": own / "cache"}
    options = [part for name, place in places.items() for part in ("-o", f"Dir::{name}={place}")]
    _run(["apt-get", *options, "-o", "APT::Sandbox::User=", "update", "--quiet"], own)
    return options


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    if done.returncode:
        raise FetchError(f"{' '.join(command)} failed, and without it this test proves nothing:\n{done.stderr[-2000:]}")


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack an archive with one folder in it."""
    with tarfile.open(archive) as packed:
        packed.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))  # 3.11.4 or newer
    (root,) = folder.iterdir()
    return root


def plant(archive: Path, folder: Path) -> Path:
    """Unpack an archive, and commit what it holds to a repository of its own."""
    root = unpack(archive, folder)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "as published")
    return root
