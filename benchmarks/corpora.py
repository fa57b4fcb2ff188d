"""Corpora: real projects fetched by name from the ordinary registries, and generated ones; each a git repository.

Links, files above 1 MiB and files that git ignores are taken out first, so that every tool is given the same files.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import msgspec

FILES_PER_FOLDER = 100  # of a generated corpus
MAX_FILE = 2**20  # bytes; Fledgling's own default
_VERBS = ("parse", "send", "open", "merge", "split", "count", "load", "store", "find", "close", "start", "check")
_NOUNS = ("packet", "header", "socket", "record", "branch", "window", "buffer", "cursor", "filter", "matrix", "engine")


class CorpusRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of corpora.toml: where it comes from, and whether it is big."""

    sdist: str | None = None
    npm: str | None = None
    debian_source: str | None = None
    debian_package: str | None = None
    parts: dict[str, list[str]] = {}
    without: list[str] = []
    generated: int = 0
    big: bool = False


class FetchError(Exception):
    """A corpus is not to be had; the message is what the registry's client said."""


def load() -> dict[str, CorpusRow]:
    """Return every row of corpora.toml by name."""
    text = (Path(__file__).parent / "corpora.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, CorpusRow])


def prepare(name: str, cache: Path) -> Path:
    """Return the corpus as a committed repository, `cache/corpora/flask`; make it where it is not there yet."""
    ready = cache / "corpora" / name
    if not ready.exists():
        making = cache / "making" / name
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir(parents=True)
        tree, origin = _tree(load()[name], making, cache)
        _commit(tree, origin)
        ready.parent.mkdir(exist_ok=True)
        tree.rename(ready)
        shutil.rmtree(making)
    return ready.resolve()


def origin(corpus: Path) -> str:
    """Return what a corpus was made from: `flask-3.1.3.tar.gz`."""
    return git(corpus, "log", "-1", "--format=%s").strip()


def size(corpus: Path) -> tuple[int, int]:
    """Return the number of files and their bytes."""
    paths = listed(corpus)
    return len(paths), sum((corpus / path).stat().st_size for path in paths)


def listed(corpus: Path) -> list[str]:
    """Return the paths of the files, sorted."""
    return git(corpus, "ls-files", "-z").split("\0")[:-1]


def warm(corpus: Path) -> None:
    """Read every file, so that whoever reads it next finds it in the page cache."""
    for path in listed(corpus):
        (corpus / path).read_bytes()


def git(folder: Path, *arguments: str) -> str:
    """Return what git says of a folder, without any configuration but the repository's own."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    return _run(["git", "-c", "user.name=benchmark", "-c", "user.email=", *arguments], folder, environment)


def _tree(corpus: CorpusRow, making: Path, cache: Path) -> tuple[Path, str]:
    """Return the unpacked tree and the name of what it came from."""
    if corpus.parts:
        return _assembled(corpus, making / "tree", cache), " ".join(corpus.parts)
    if corpus.generated:
        return _generated(corpus.generated, making / "tree"), f"{corpus.generated} generated files"
    if corpus.sdist:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
        project = corpus.sdist.partition("==")[0]
        _run([*pip, "--no-binary", project, "--dest", str(making), corpus.sdist])
        (archive,) = making.iterdir()
    elif corpus.npm:
        _run(["npm", "pack", "--silent", "--pack-destination", str(making), corpus.npm], making)
        (archive,) = making.glob("*.tgz")
    elif corpus.debian_source:
        apt = _apt(cache / "apt")
        _run(["apt-get", "source", "--quiet", "--download-only", corpus.debian_source], making, apt)
        (archive,) = making.glob("*.orig.tar.*")
    else:
        assert corpus.debian_package
        _run(["apt-get", "download", "--quiet", corpus.debian_package], making, _apt(cache / "apt"))
        (package,) = making.glob("*.deb")
        _run(["dpkg-deb", "--extract", str(package), str(making / "package")])
        (inside,) = (making / "package" / "usr" / "src").glob("*.tar.*")
        archive = inside.rename(making / package.with_suffix(".tar.xz").name)
    with tarfile.open(archive) as packed:
        plain = [member for member in packed if member.isfile() or member.isdir()]
        safely: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # 3.11.4 or newer
        packed.extractall(making / "unpacked", plain, **safely)  # noqa: S202
    (tree,) = (making / "unpacked").iterdir()
    for name in corpus.without:
        shutil.rmtree(tree / name)
    return tree, archive.name


def _apt(folder: Path) -> dict[str, str]:
    """Return the environment of an apt that knows source packages too, and leaves the machine's own apt as it is."""
    lists = folder / "lists"
    environment = {**os.environ, "APT_CONFIG": str(folder / "apt.conf")}
    if not lists.exists():
        form = "$(ORIGIN) $(REPO_URI) $(RELEASE) $(COMPONENT)"
        known = _run(["apt-get", "indextargets", "--format", form, "Created-By: Packages"]).splitlines()
        lines = {line.removeprefix("Debian ") for line in known if line.startswith("Debian ")}
        debian = sorted(lines, key=lambda line: ("security" in line, line))  # of equal versions the first is taken
        lists.mkdir(parents=True)
        (folder / "sources.list").write_text("".join(f"deb {line}\ndeb-src {line}\n" for line in debian))
        (folder / "apt.conf").write_text(
            f'Dir::Etc::sourcelist "{folder}/sources.list";\nDir::Etc::sourceparts "/dev/null";\n'
            f'Dir::State::Lists "{lists}";\nDir::Cache "{folder}/cache";\nAPT::Sandbox::User "";\n'
        )
        _run(["apt-get", "update", "--quiet"], environment=environment)
    return environment


def _assembled(corpus: CorpusRow, tree: Path, cache: Path) -> Path:
    leave_out = shutil.ignore_patterns(".git", *corpus.without)
    for name, folders in corpus.parts.items():
        source = prepare(name, cache)
        for folder in folders:
            shutil.copytree(source / folder, tree / name / folder, ignore=leave_out, dirs_exist_ok=True)
    return tree


def _generated(count: int, tree: Path) -> Path:
    for number in range(count):
        extension, text = (".py", _python(number, count)) if number % 2 else (".ts", _typescript(number, count))
        path = tree / _module(number).replace(".", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(extension).write_text(text, "utf-8")
    return tree


def _module(number: int) -> str:
    return f"package{number // FILES_PER_FOLDER:03}.module{number:05}"


def _names(number: int) -> Iterator[tuple[str, str, str]]:
    """Yield verb, noun and number of each function of a generated file."""
    random = Random(number)  # noqa: S311
    for _ in range(12):
        yield random.choice(_VERBS), random.choice(_NOUNS), str(random.randrange(10_000))


def _python(number: int, count: int) -> str:
    lines = [f"from {_module((number * 7 + step * 2) % count | 1)} import Keeper as Keeper{step}" for step in range(3)]
    lines += ["", "", "class Keeper:"]
    for verb, noun, serial in _names(number):
        lines += [
            f"    def {verb}_{noun}_{serial}(self, {noun}: int = {serial}) -> int:",
            f'        """{verb.title()} the {noun} and return it."""',
            f"        if {noun} > {serial}:",
            f'            raise ValueError("{verb} {noun} failed: {serial}")',
            f"        return {noun} + {serial}",
            "",
        ]
    return "\n".join(lines)


def _typescript(number: int, count: int) -> str:
    lines = []
    for step in range(3):
        other = _module((number * 7 + step * 2) % count & ~1).replace(".", "/")
        lines.append(f'import {{ Keeper as Keeper{step} }} from "../{other}";')
    lines += ["", "export class Keeper {"]
    for verb, noun, serial in _names(number):
        lines += [
            f"  /** {verb.title()} the {noun} and return it. */",
            f"  {verb}{noun.title()}{serial}({noun}: number = {serial}): number {{",
            f'    if ({noun} > {serial}) throw new Error("{verb} {noun} failed: {serial}");',
            f"    return {noun} + {serial};",
            "  }",
        ]
    return "\n".join([*lines, "}", ""])


def _commit(tree: Path, origin: str) -> None:
    for path in list(tree.rglob("*")):
        if path.is_file() and path.stat().st_size > MAX_FILE:
            path.unlink()
    ignored = tree / ".gitignore"
    if ignored.exists():  # Debian's kernel ignores all that is not Debian's
        kept = [line for line in ignored.read_bytes().splitlines(keepends=True) if line != b"/*\n"]
        ignored.write_bytes(b"".join(kept))
    git(tree, "init", "--quiet")
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message", origin)
    git(tree, "clean", "--quiet", "-dffX")


def _run(command: Sequence[str], folder: Path | None = None, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder, env=environment)
    if done.returncode:
        raise FetchError(f"{' '.join(command)}: {done.stderr[-2000:]}")
    return done.stdout
