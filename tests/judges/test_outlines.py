"""Judge: the own parsers of Ruby, Lua, Bash and Clojure, over Debian's packages. Needs apt, npm, node, ruby and java.

What they find differently, for what reason:

- Ruby: `def ~@` is named as it is written; the judge overlooks `define_method(:f, &method)`.
- Lua: a function in brackets, `f = (function() end)`, defines nothing.
- Bash: where the grammar fails on a construct, what follows may be missing, and the file is not complete.
"""

import json
import shutil
import subprocess
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.languages.table import load_languages
from fledgling.worker.rows import SymbolRow

HERE = Path(__file__).parent
MAX_BYTES = 1 << 20
DEBIAN = {
    "ruby": ("libruby3.1", "jekyll", "ruby-sinatra", "ruby-activerecord"),
    "lua": ("lua-penlight", "prosody", "rspamd"),
    "bash": ("dracut-core", "debootstrap", "initramfs-tools-core", "git-extras", "bash-completion"),
    "clojure": ("libclojure-java", "libcore-async-clojure", "leiningen", "puppetdb"),
}
NPM = {"lua": "luaparse@0.3.1", "bash": "mvdan-sh@0.10.1"}
CLASSPATH = ("libclojure-java", "libspec-alpha-clojure", "libcore-specs-alpha-clojure", "libtools-reader-clojure")
SUFFIXES = {"ruby": (".rb",), "lua": (".lua",), "bash": (".sh", ".bash"), "clojure": (".clj", ".cljs", ".cljc")}

pytestmark = [
    pytest.mark.long,
    pytest.mark.judge,
    pytest.mark.skipif(not all(map(shutil.which, ("apt-get", "npm", "node", "ruby", "java"))), reason="no parsers"),
]


def run(folder: Path, *command: str, given: str = "") -> str:
    done = subprocess.run(command, cwd=folder, check=True, input=given, capture_output=True, text=True)
    return done.stdout


def package(folder: Path, name: str) -> Path:
    """A Debian package, unpacked with the sources in its jars."""
    place = folder / name
    if not place.exists():
        run(folder, "apt-get", "download", "--quiet", name)
        run(folder, "dpkg", "-x", str(next(folder.glob(f"{name}_*.deb"))), str(place))
        for jar in [path for path in place.rglob("*.jar") if path.is_file() and not path.is_symlink()]:
            with zipfile.ZipFile(jar) as archive:
                sources = [entry for entry in archive.namelist() if entry.endswith(SUFFIXES["clojure"])]
                archive.extractall(jar.with_suffix(".sources"), sources)
    return place


def parser(folder: Path, language: str) -> list[str]:
    """The command that reads paths and writes a line of JSON for each."""
    if language == "ruby":
        return ["ruby", str(HERE / "outline.rb")]
    if language == "clojure":
        jars = [str(jar) for name in CLASSPATH for jar in (package(folder, name) / "usr/share/java").glob("*.jar")]
        return ["java", "-cp", ":".join(jars), "clojure.main", str(HERE / "outline.clj")]
    archive = folder / run(folder, "npm", "pack", "--silent", NPM[language]).split()[-1]
    with tarfile.open(archive) as packed:
        packed.extractall(folder / language, filter="data")
    return ["node", str(HERE / f"{language}.cjs"), str(folder / language / "package")]


def sources(folder: Path, language: str) -> list[Path]:
    """The files of a language in its packages, without those that are no UTF-8."""
    found = [path for name in DEBIAN[language] for path in sorted(package(folder, name).rglob("*"))]
    return [
        path
        for path in found
        if path.suffix in SUFFIXES[language]
        and path.is_file()
        and not path.is_symlink()
        and path.stat().st_size < MAX_BYTES
        and is_text(path)
    ]


def is_text(path: Path) -> bool:
    try:
        return bool(path.read_text())
    except UnicodeDecodeError:
        return False


Row = tuple[str, str, int, int]


def expected(language: str, outline) -> Iterator[Row]:
    """(qualified name, kind, first line, last line) of what the judge says; a variable counts where it comes first."""
    if language == "clojure":
        for space, name, kind, first, last, _, _ in outline:
            yield ".".join(part for part in ((space or "").rstrip("."), name) if part), kind, first, last
        return
    variables: set[str] = set()
    for name, kind, first, last, *_ in sorted(outline["definitions"], key=lambda row: row[2]):
        if language == "lua" and kind == "variable" and name in variables:
            continue
        variables |= {name} if kind == "variable" else set()
        yield name, kind, first, last


KINDS = {"lua": {"module": "variable", "constant": "variable"}, "clojure": {"constant": "variable"}}


def found(language: str, symbols: Sequence[SymbolRow]) -> Iterator[Row]:
    same = KINDS.get(language, {})
    for row in symbols:
        if row.kind not in ("import", "export"):
            yield row.qualified_name, same.get(row.kind, row.kind), row.line_start, row.line_end


@pytest.mark.parametrize("language", DEBIAN)
def test_definitions_are_those_of_the_parser(tmp_path_factory: pytest.TempPathFactory, language: str) -> None:
    folder = tmp_path_factory.getbasetemp() / "outlines"
    folder.mkdir(exist_ok=True)
    extractor = Extractor(load_languages())
    paths = sources(folder, language)
    answers = run(folder, *parser(folder, language), given="\n".join(map(str, paths))).splitlines()
    ours, theirs, whole = Counter[tuple[str, ...]](), Counter[tuple[str, ...]](), 0
    for path, answer in zip(paths, answers, strict=True):
        outline = json.loads(answer)
        if outline is None:
            continue
        symbols = extractor.extract(language, path.read_bytes()).symbols
        mine, judged = Counter(found(language, symbols)), Counter(expected(language, outline))
        ours.update((str(path), *map(str, row[:3])) for row in mine.elements())
        theirs.update((str(path), *map(str, row[:3])) for row in judged.elements())
        whole += (mine & judged).total()
    both = (ours & theirs).total()
    precision, recall = both / ours.total(), both / theirs.total()
    f1 = 2 * precision * recall / (precision + recall)
    shown = f"P {precision:.4f} R {recall:.4f} F1 {f1:.4f}, last line {whole / both:.4f}"
    print(f"\n{language}: {len(paths)} files, {theirs.total()} definitions, {shown}")  # noqa: T201
    assert f1 >= 0.99
    assert whole / both >= 0.999
