"""What the graph of a project costs, beside a bare parse by tree-sitter and beside ty: `graph.py ROOT [--rounds 3]`.

All in one process and in turns, so that a busy machine hits each alike: read the ratios. ty, if it is on PATH, checks
the types of the Python in the project, for which it has to resolve every name, too.
"""

import argparse
import gc
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tree_sitter import Parser

from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.extracting.grammar import load_grammar
from fledgling.worker.graph.reading.facts import FactsExtractor
from fledgling.worker.graph.resolve import resolved
from fledgling.worker.graph.solving.budget import GraphBudget
from fledgling.worker.graph.tables import GraphFile
from fledgling.worker.language import Languages
from fledgling.worker.languages.table import load_languages
from fledgling.worker.resolving.project import declared
from fledgling.worker.resolving.resolve import Resolution
from fledgling.worker.rows import ImportRow

MAX_BYTES = 2**20  # of a file


class ResolvedFile(NamedTuple):
    """A file with what its imports lead to."""

    path: str
    language: str
    text: bytes
    imports: list[ImportRow]


def read(root: Path, languages: Languages) -> list[ResolvedFile]:
    """Return the files of all languages with a graph, as an index would have them."""
    extractor = Extractor(languages)
    files = [path for path in sorted(root.rglob("*")) if path.is_file() and path.stat().st_size < MAX_BYTES]
    texts = {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
    manifests = {path: text.decode() for path, text in texts.items() if languages.is_manifest(path)}
    names = {path: languages.detect(Path(path).name, b"") for path in texts.keys() - manifests.keys()}
    kinds = {path: name for path, name in sorted(names.items()) if name in languages.graphed()}
    found = {path: extractor.extract(language, texts[path]) for path, language in kinds.items()}
    said = {path: declared(languages.rows[kinds[path]], rows.symbols, rows.imports) for path, rows in found.items()}
    resolution = Resolution(languages, {**names}, manifests, {path: one for path, one in said.items() if one})
    return [ResolvedFile(path, kinds[path], texts[path], [*resolution.of(path, found[path].imports)]) for path in kinds]


def seconds(run: Callable[[], object]) -> float:
    """Return the processor seconds of a step."""
    gc.collect()
    begun = time.process_time()
    run()
    return time.process_time() - begun


def of_ty(root: Path) -> float:
    """Return the processor seconds of ty, all its threads together."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ["ty", "check", "--exit-zero", "--quiet", str(root)]
    subprocess.run(command, check=False, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    gc.disable()  # as in the processes of a build
    languages = load_languages()
    extractor = FactsExtractor(languages)
    files = read(asked.root, languages)
    parsers = {file.language: Parser(load_grammar(languages.rows[file.language].grammars[0])) for file in files}
    for name in parsers:
        extractor.facts_of(name, b"\n")  # compiles its query
    lines = sum(file.text.count(b"\n") for file in files) / 1000
    graphed: list[GraphFile] = []

    def facts() -> None:
        found = [(file, extractor.facts_of(file.language, file.text)) for file in files]
        graphed[:] = [GraphFile(file.path, file.language, packed, file.imports) for file, packed in found if packed]

    def resolve(*, follows_arguments: bool) -> None:
        resolved(graphed, budget=GraphBudget(follows_arguments=follows_arguments), languages=languages.rows)

    steps: dict[str, Callable[[], object]] = {
        "tree-sitter, parse": lambda: [parsers[file.language].parse(file.text) for file in files],
        "facts, with the parse": facts,
        "resolving": lambda: resolve(follows_arguments=True),
        "resolving, no arguments": lambda: resolve(follows_arguments=False),
    }
    took: dict[str, list[float]] = {}
    for _ in range(asked.rounds):
        for name, step in steps.items():
            took.setdefault(name, []).append(seconds(step))
        if shutil.which("ty"):
            took.setdefault("ty check", []).append(of_ty(asked.root))
    bare = median(took["tree-sitter, parse"])
    sys.stdout.write(f"{asked.root.name}: {len(files):,} files, {lines:,.1f} thousand lines\n")
    for name, each in took.items():
        sys.stdout.write(
            f"{name:24} {median(each):7.2f} s  {1000 * median(each) / lines:6.1f} ms/kl  {median(each) / bare:6.1f}x\n"
        )


if __name__ == "__main__":
    main()
