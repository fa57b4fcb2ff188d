"""What an index would give the graph of some files: their facts, and where their imports lead."""

from collections.abc import Mapping

from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.graph.reading.facts import FactsExtractor
from fledgling.worker.graph.tables import GraphFile
from fledgling.worker.languages.table import load_languages
from fledgling.worker.resolving.project import Declared, declared
from fledgling.worker.resolving.resolve import Resolution

LANGUAGES = load_languages()
EXTRACTOR = Extractor(LANGUAGES)
FACTS = FactsExtractor(LANGUAGES)


def prepare() -> None:
    """Compile what all languages look for in texts, three CPU seconds: who is forked then does not do it again."""
    for name in LANGUAGES.rows:
        EXTRACTOR.prepare(name)
        FACTS.facts_of(name, b"\n")


def read(
    sources: Mapping[str, bytes], languages: Mapping[str, str | None], manifests: Mapping[str, str]
) -> list[GraphFile]:
    """Read sources, by path; `languages` are those of all files of their project, which imports may lead to."""
    found, declarations = {}, dict[str, Declared]()
    for path, source in sources.items():
        found[path] = EXTRACTOR.extract(languages[path], source)
        if declaration := declared(LANGUAGES.rows[languages[path]], found[path].symbols, found[path].imports):
            declarations[path] = declaration
    imported = [(path, rows.imports) for path, rows in found.items()]
    resolution = Resolution(LANGUAGES, languages, manifests, declarations, imported=lambda: imported)
    return [
        GraphFile(path, languages[path], facts, resolution.of(path, found[path].imports))
        for path, source in sources.items()
        if (facts := FACTS.facts_of(languages[path], source))
    ]
