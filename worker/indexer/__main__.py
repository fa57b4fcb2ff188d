"""The indexer's main. What it needs to fork the others is loaded here; all else while they walk and load."""

if __name__ == "__main__":
    from fledgling.worker.process.begin import begin

    begin()

from fledgling import refusals
from fledgling.messages.control import Build, Relate
from fledgling.messages.questions import Search
from fledgling.pipe import Pipe
from fledgling.standing_in import load_numpy
from fledgling.worker.extractor.pool import Extractors
from fledgling.worker.language import LanguageError
from fledgling.worker.languages.table import load_languages, with_graph
from fledgling.worker.lister.process import Lister
from fledgling.worker.process.fault import ended


def main() -> None:
    """Run one build: read Build from standard input, report on standard output."""
    pipe: Pipe[Build | Relate] = Pipe(Build | Relate)
    order = pipe.receive()
    if isinstance(order, Build):
        try:
            if order.sought:
                _seek(pipe, order, order.sought)
            else:
                _index(pipe, order)
        except LanguageError as wrong:
            pipe.send(refusals.unfit(str(wrong)))


def _seek(pipe: Pipe[Build | Relate], order: Build, question: Search) -> None:
    lister = Lister(order, None)  # it walks while languages are read: nobody asks for a listing
    languages = load_languages(order.profile, for_graph=False)
    parsers = Extractors(languages, order.confining, order.profile.memory_limit, processes=1, parse_only=True)
    from fledgling.worker.indexer.seek import seek  # noqa: PLC0415  (no DuckDB, which takes as long as a search)

    seek(pipe, order, question, languages, lister, parsers)


def _index(pipe: Pipe[Build | Relate], order: Build) -> None:
    languages = load_languages(order.profile, for_graph=False)
    lister = Lister(order, languages)
    languages = with_graph(languages) if order.for_graph else languages  # the lister needs nothing of it
    load_numpy()  # which extractors then need not load
    from fledgling.worker.store import ngram_writer  # noqa: F401, PLC0415  (likewise)

    extractors = Extractors(languages, order.confining, order.profile.memory_limit)
    from fledgling.worker.store.database import Starting, start  # noqa: PLC0415

    starting = Starting(start)
    if order.for_graph:
        from fledgling.worker.indexer import relating  # noqa: F401, PLC0415  (see Starting)
    from fledgling.worker.indexer.run import index  # noqa: PLC0415  (see Starting)

    index(pipe, order, languages, lister, extractors, starting.wait)


if __name__ == "__main__":
    ended(main)
