"""The process above the extractors, which forks one where text comes, and another where one is lost.

It keeps the sockets of the indexer and reads none. An extractor that rests ends by itself: what has met hostile text
does not stay. Whoever serves the last socket resolves, where there is a graph.
"""

import gc
import os
import select
import socket
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import NoReturn

from fledgling.messages.control import Confining
from fledgling.pipe import MAX_FRAME_BYTES, Pipe
from fledgling.plain import said
from fledgling.security import lifeline, limits
from fledgling.security.confinement import ConfinementError, confine
from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.extractor.at_work import AtWork, Noted, Stage
from fledgling.worker.extractor.messages import Confined, Lost, ToExtractor, ToResolver, Unfit
from fledgling.worker.extractor.process import AT_REST, REST_SECONDS, Parsers, facts_extractor, graph_of, prepare, serve
from fledgling.worker.language import LanguageError, Languages

UNCONFINED = 3  # exit status: another would end in the same way
LOOK_SECONDS = 0.02  # between two looks at whether an extractor has ended, or the indexer


def replace_forever(
    languages: Languages,
    expected: Noted,
    ends: Sequence[socket.socket],
    indexer: int,
    confining: Confining,
    memory_limit: int,
    *,
    parse_only: bool,
) -> NoReturn:
    """Fork an extractor for each socket that is written to, or what resolves; be gone when the indexer has closed them.

    This process reads nothing that is hostile: what it loads, it loads before it is confined, for all that it forks.
    What the languages need that are `expected`, it compiles while those sign that were forked first.
    """
    pipes: list[Pipe[ToExtractor]] = [Pipe(ToExtractor, end.fileno(), end.fileno()) for end in ends]
    parsers = _loaded(languages, pipes[0], parse_only=parse_only)
    at_work = [AtWork([*languages.rows, *map(graph_of, languages.rows)]) for _ in ends]
    below = Below(languages, parsers, ends, at_work, confining, memory_limit, limits.of_extractor(memory_limit))
    try:
        highest = limits.above_extractors(memory_limit)
        pipes[0].send(Confined(confine("extractor's parent", confining, parent=indexer, lowered=highest)))
    except ConfinementError as absent:
        pipes[0].send(Confined(problem=str(absent)))
        os._exit(1)
    resting = [*range(len(ends))]  # sockets without an extractor, until something comes
    running: dict[int, int] = {}  # processes, and which socket each serves
    prepared: set[str] = set()  # languages that were expected
    while resting or running:
        unprepared = [language for language in expected.noted() if language not in prepared] if running else []
        seconds = 0 if unprepared else LOOK_SECONDS if running else REST_SECONDS
        for place in _asked([(place, ends[place]) for place in resting], seconds):
            if (child := os.fork()) == 0:
                below.run(place)
            running[child] = place
            resting.remove(place)
        if os.getppid() != indexer:
            os._exit(0)  # the kernel then ends the extractors, also one that is stopped, or whose code was taken over
        _prepare(parsers, unprepared[:1], prepared)
        while running and (ended := os.waitpid(-1, os.WNOHANG))[0]:
            child, status = ended
            place = running.pop(child)
            if code := os.waitstatus_to_exitcode(status):
                if code != AT_REST:
                    _tell_lost(code, pipes[place], at_work[place])
                # One of a build rests when all is signed or parsed, one that parses what has changed between changes.
                is_over = code == AT_REST and not parse_only
                _prepare(parsers, (expected if is_over else at_work[place].met).noted(), prepared)
                resting.append(place)
    os._exit(0)


class Below:
    """What is forked: an extractor for each socket, but for the last one, if there is anything that resolves.

    >>> below = Below(languages, parsers, ends, at_work, confining, memory_limit, limits.of_extractor(memory_limit))
    >>> if (child := os.fork()) == 0: below.run(place)
    """

    def __init__(
        self,
        languages: Languages,
        parsers: Parsers,
        ends: Sequence[socket.socket],
        at_work: Sequence[AtWork],
        confining: Confining,
        memory_limit: int,
        lowered: Mapping[int, int],
    ) -> None:
        """Make it in the process above, before that is confined: `lowered` are the limits of an extractor."""
        self._languages, self._parsers, self._ends, self._at_work = languages, parsers, ends, at_work
        self._confining, self._memory_limit, self._lowered = confining, memory_limit, lowered
        self._above = os.getpid()
        self._claims = os.pipe()  # for those who make rows (row_makers.py)
        os.set_blocking(self._claims[0], False)

    def run(self, place: int) -> NoReturn:
        """Be the process that serves a socket, until it rests."""
        end = self._ends[place]
        for other in {*self._ends} - {end}:
            other.close()
        if self._parsers.graph and end is self._ends[-1]:
            self._resolve(end, self._at_work[place])
        for claim in self._claims:
            os.close(claim)
        self._confine(self._above, self._lowered)
        longest = min(MAX_FRAME_BYTES, limits.frame_bytes(self._memory_limit))
        pipe: Pipe[ToExtractor] = Pipe(ToExtractor, end.fileno(), end.fileno())
        os._exit(serve(end, pipe, self._parsers, self._at_work[place], longest))

    def _resolve(self, end: socket.socket, at_work: AtWork) -> NoReturn:
        """Be the process that resolves, held as the one above; those that make rows are held as extractors are."""
        from fledgling.worker.extractor.resolving import Resolver  # noqa: PLC0415  (`_loaded` has loaded it)
        from fledgling.worker.extractor.row_makers import RowMakers  # noqa: PLC0415

        lifeline.tie(self._above)
        own = os.getpid()

        def confine_maker() -> None:
            end.close()
            self._confine(own, {})  # what was solved is more than an extractor may hold

        pipe: Pipe[ToResolver] = Pipe(ToResolver, end.fileno(), end.fileno())
        makers = partial(RowMakers, self._claims, confine_maker, self._memory_limit)
        os._exit(Resolver(pipe, at_work, self._languages.rows, makers).serve())

    def _confine(self, above: int, lowered: Mapping[int, int]) -> None:
        try:
            confine("extractor", self._confining, parent=above, lowered=lowered)
        except ConfinementError:
            os._exit(UNCONFINED)


def _loaded(languages: Languages, pipe: Pipe[ToExtractor], *, parse_only: bool) -> Parsers:
    """Load what parses. Where a row or query of a language does not compile, tell the indexer, and exit."""
    try:
        parsers = Parsers(Extractor(languages), None if parse_only else facts_extractor(languages))
    except LanguageError as wrong:
        pipe.send(Unfit(said(str(wrong))))
        os._exit(1)
    if parsers.graph:
        from fledgling.worker.extractor import resolving  # noqa: F401, PLC0415  (`Below` cannot load it once confined)
    gc.freeze()  # a collection looks at what comes after it only: serve() calls for one, begin() has forbidden others
    return parsers


def _asked(resting: Sequence[tuple[int, socket.socket]], seconds: float) -> list[int]:
    """Wait for a moment; return the places whose sockets have something to be read."""
    if not resting:
        time.sleep(seconds)
        return []
    readable, _, _ = select.select([end for _, end in resting], [], [], seconds)
    return [place for place, end in resting if end in readable]


def _prepare(parsers: Parsers, languages: Iterable[str], prepared: set[str]) -> None:
    """Compile what languages need that are not prepared; a query takes up to 0.3 seconds. All that follow have it."""
    for language in languages:
        if language not in prepared:
            prepared.add(language)
            with suppress(LanguageError):  # an extractor that meets it says so
                prepare(parsers, language)


def _tell_lost(status: int, pipe: Pipe[ToExtractor], at_work: AtWork) -> None:
    """Tell the indexer of the message that was the end of an extractor, if it had one."""
    if status == UNCONFINED:
        sys.stderr.write("an extractor could not be confined\n")
        os._exit(1)
    match at_work.stage():
        case Stage.WITHIN_FRAME:  # the next one would take the rest for a message of its own
            sys.stderr.write("an extractor ended within a message\n")
            os._exit(1)
        case Stage.WORKING:
            pipe.send(Lost(at_work.begun()))
            at_work.begin(None)
            at_work.enter(Stage.WAITING)
