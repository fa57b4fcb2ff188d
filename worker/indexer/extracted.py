"""What the parsers found, as it comes: totals, and imports, resolved as soon as what they lead to is known."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from fledgling.messages.control import LanguageStats
from fledgling.worker.extractor.messages import Batch, ExtractedBatch
from fledgling.worker.language import Languages
from fledgling.worker.resolving.project import Declared
from fledgling.worker.resolving.resolve import Resolution, UnresolvedError
from fledgling.worker.rows import ImportRow


class Extracted:
    """What the parsers found, as far as it is not loaded as it is: totals, and imports, resolved as soon as can be."""

    def __init__(
        self,
        languages: Languages,
        files: Mapping[str, str | None],
        manifests: Mapping[str, str],
        links: Mapping[str, str],
    ) -> None:
        self.seconds: dict[str, float] = {}
        self.prose: dict[str, bytes] = {}  # of which words will be made, by path
        self._symbols = Counter[str]()  # definitions by language
        self._took = defaultdict[str, float](float)  # seconds by language
        self.files: list[tuple[str, str | None, bool]] = []  # path, engine, is it parsed whole
        self.unresolved: set[str] = set()  # paths of files whose imports are not known, for a fault of ours
        self._declared: dict[str, Declared] = {}
        self._waiting: dict[str, list[ImportRow]] = {}
        self._resolution = Resolution(languages, files, manifests, self._declared, links, self._waiting.items)

    def add(self, batch: Batch, found: ExtractedBatch) -> list[tuple[str, ImportRow]]:
        """Add a batch, and return its imports, resolved, but those that wait; each with the path of its file."""
        imports = []
        for source, facts in zip(batch.sources, found.facts, strict=True):
            self.files.append((source.path, facts.engine, facts.complete))
            self.seconds[source.path] = facts.seconds
            self._symbols[source.language] += facts.definitions
            self._took[source.language] += facts.seconds
            if facts.prose:
                self.prose[source.path] = facts.prose
            if facts.declared:
                self._declared[source.path] = facts.declared
            if self._resolution.waits(source.path):
                self._waiting[source.path] = facts.imports
            else:
                imports += self._of(source.path, facts.imports)
        return imports

    def _of(self, path: str, rows: Sequence[ImportRow]) -> list[tuple[str, ImportRow]]:
        try:
            return [(path, row) for row in self._resolution.of(path, rows)]
        except UnresolvedError:
            self.unresolved.add(path)
            return []

    def parsed(self) -> list[tuple[str, str | None, bool]]:
        """Return of each file what has extracted it, and whether all of it is known; comes when nothing waits."""
        if not self.unresolved:
            return self.files
        return [(path, engine, whole and path not in self.unresolved) for path, engine, whole in self.files]

    def added(self, language: LanguageStats) -> LanguageStats:
        """Return what is known of a language, with what was found in its files."""
        return msgspec.structs.replace(
            language, symbols=self._symbols[language.language], seconds=self._took[language.language]
        )

    def waiting(self) -> Iterator[list[tuple[str, ImportRow]]]:
        """Yield the imports that have waited, file by file, when all batches are there."""
        for path, rows in self._waiting.items():
            yield self._of(path, rows)
        del self._resolution, self._waiting, self._declared  # room for what sealing needs
