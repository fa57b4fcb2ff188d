"""The imports of a project as Fledgling resolves them, to be compared with a compiler's."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.languages.table import load_languages
from fledgling.worker.resolving.project import Declared, declared
from fledgling.worker.resolving.resolve import Resolution
from fledgling.worker.rows import ImportRow

MAX_BYTES = 2 << 20


class Edge(NamedTuple):
    """A file, what it says (the line, or the module), and the file that this leads to, or None."""

    path: str
    said: int | str
    target: str | None


class Score(NamedTuple):
    """Edges of ours that the judge has too, ours that it has not, and its that we have not."""

    right: int
    wrong: list[Edge]
    missing: list[Edge]

    @property
    def f1(self) -> float:
        return 2 * self.right / max(1, 2 * self.right + len(self.wrong) + len(self.missing))


def imports(root: Path, *languages: str, part: str = "") -> dict[str, list[ImportRow]]:
    """What the files of some languages in a part of a project import, resolved among all its files."""
    known = load_languages()
    extractor = Extractor(known)
    paths = [path for path in sorted(root.rglob("*")) if path.is_file() and ".git" not in path.parts]
    files = {str(path.relative_to(root)): known.detect(path.name, b"") for path in paths}
    manifests = {path: (root / path).read_text(errors="replace") for path in files if known.is_manifest(path)}
    found: dict[str, list[ImportRow]] = {}
    declarations: dict[str, Declared] = {}
    for path, language in files.items():
        if language in languages and path.startswith(part) and (root / path).stat().st_size < MAX_BYTES:
            extraction = extractor.extract(language, (root / path).read_bytes())
            found[path] = extraction.imports
            if declaration := declared(known.rows[language], extraction.symbols, extraction.imports):
                declarations[path] = declaration
    resolution = Resolution(known, files, manifests, declarations)
    return {path: resolution.of(path, rows) for path, rows in found.items()}


def score(ours: Iterable[Edge], theirs: Iterable[Edge]) -> Score:
    """Compare edges; what leads nowhere is no edge."""
    ours = {edge for edge in ours if edge.target}
    theirs = {edge for edge in theirs if edge.target}
    return Score(len(ours & theirs), sorted(ours - theirs), sorted(theirs - ours))


def report(name: str, result: Score) -> None:
    """Print a line of a table, and some of what differs."""
    total = result.right + len(result.missing)
    print(f"{name}: {total} edges, F1 {result.f1:.4f}")  # noqa: T201
    for label, edges in (("wrong", result.wrong), ("missing", result.missing)):
        for edge in edges[:20]:
            print(f"  {label}: {edge.path}:{edge.said} -> {edge.target}")  # noqa: T201
