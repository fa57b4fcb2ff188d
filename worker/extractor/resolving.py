"""The process that resolves: facts of all files in, their graph out.

It is forked for one graph by the process above the extractors, and is held as that is: it opens nothing. Where it meets
its limit the indexer hears `TooLarge`, and asks again for half of the files; `Lost` where it ends otherwise.
"""

import time
from collections.abc import Callable, Mapping, Sequence

import msgspec

from fledgling.pipe import Pipe
from fledgling.worker.extractor.at_work import AtWork, Stage
from fledgling.worker.extractor.messages import (
    FromResolver,
    GraphMade,
    GraphPart,
    ReadFile,
    Resolve,
    TooLarge,
    ToResolver,
    Visited,
    imports_of,
)
from fledgling.worker.extractor.process import AT_REST
from fledgling.worker.extractor.row_makers import RowMakers
from fledgling.worker.graph.columns import packed, unpacked
from fledgling.worker.graph.resolve import Resolving
from fledgling.worker.graph.solving.budget import GraphBudget
from fledgling.worker.graph.tables import GraphFile
from fledgling.worker.language import Language

PART_BYTES = 2**20  # of a graph in one message
TELL_SECONDS = 0.05  # between two messages that say how far it is


class Resolver:
    """The process at work.

    >>> Resolver(pipe, at_work, languages.rows, lambda room: RowMakers(claims, confine, memory_limit, room)).serve()
    """

    def __init__(
        self,
        pipe: Pipe[ToResolver],
        at_work: AtWork,
        languages: Mapping[str, Language],
        makers: Callable[[int], RowMakers],
    ) -> None:
        """`makers` gives what makes rows, all of whose processes may hold so many bytes."""
        self._pipe, self._at_work, self._languages, self._makers = pipe, at_work, languages, makers
        self._told = 0.0

    def serve(self) -> int:
        """Take files, and make the graph that is asked for of them; return the exit status."""
        self._at_work.enter(Stage.WITHIN_FRAME)
        files: list[ReadFile] = []
        while isinstance(asked := self._pipe.receive(), ReadFile):
            files.append(asked)
        if asked is None:
            return 0
        self._at_work.enter(Stage.WORKING)
        try:
            self._resolve(files, asked)
        except MemoryError:
            self._send(TooLarge())
        self._at_work.enter(Stage.WAITING)
        return AT_REST

    def _resolve(self, files: Sequence[ReadFile], asked: Resolve) -> None:
        resolving = Resolving(
            [GraphFile(file.path, file.language, file.facts, imports_of(file.imports)) for file in files],
            budget=GraphBudget(asked.evaluations, asked.follows_arguments),
            languages=self._languages,
            is_partial=asked.is_partial,
            tell=self._tell,
            make_rows=self._makers(asked.room).rows,
        )
        kept = {at: msgspec.msgpack.decode(said, type=dict[str, bytes]) for at, said in enumerate(asked.known) if said}
        known = {at: unpacked(said) for at, said in kept.items()}
        for at, graph in enumerate(resolving.graphs(known)):
            is_known = graph is known.get(at)
            for field, held in () if is_known else packed(graph):
                for begin in range(0, len(held), PART_BYTES):
                    self._send(GraphPart(field, bytes(held[begin : begin + PART_BYTES])))
            self._send(GraphMade(is_known))

    def _tell(self, visited: int) -> None:
        if time.monotonic() - self._told > TELL_SECONDS:
            self._told = time.monotonic()
            self._pipe.send(Visited(visited))  # a few bytes are written whole or not at all, whenever this is ended

    def _send(self, message: FromResolver) -> None:
        self._at_work.enter(Stage.WITHIN_FRAME)
        self._pipe.send(message)
        self._at_work.enter(Stage.WORKING)
