"""The process above the extractors, which forks one where text comes, and another where one is lost.

It keeps the sockets of the indexer and reads none. An extractor that rests ends by itself: what has met hostile text
does not stay.
"""

import gc
import os
import select
import socket
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NoReturn

from fledgling.messages.control import Confining
from fledgling.pipe import MAX_FRAME_BYTES, Pipe
from fledgling.plain import said
from fledgling.security import limits
from fledgling.security.confinement import ConfinementError, confine
from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.extractor.at_work import AtWork, Noted, Stage
from fledgling.worker.extractor.messages import Confined, Lost, ToExtractor, Unfit
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
    """Fork an extractor for each socket that is written to; be gone when the indexer has closed them.

    This process reads nothing that is hostile: what it loads, it loads before it is confined, for all that it forks.
    What the languages need that are `expected`, it compiles while those sign that were forked first.
    """
    above = os.getpid()
    pipes: list[Pipe[ToExtractor]] = [Pipe(ToExtractor, end.fileno(), end.fileno()) for end in ends]
    parsers = _loaded(languages, pipes[0], parse_only=parse_only)
    lowered, longest = limits.of_extractor(memory_limit), min(MAX_FRAME_BYTES, limits.frame_bytes(memory_limit))
    try:
        pipes[0].send(Confined(confine("extractor's parent", confining, parent=indexer, lowered=lowered)))
    except ConfinementError as absent:
        pipes[0].send(Confined(problem=str(absent)))
        os._exit(1)
    at_work = [AtWork([*languages.rows, *map(graph_of, languages.rows)]) for _ in ends]
    resting = [*range(len(ends))]  # sockets without an extractor, until something comes
    running: dict[int, int] = {}  # processes, and which socket each serves
    prepared: set[str] = set()  # languages that were expected
    while resting or running:
        unprepared = [language for language in expected.noted() if language not in prepared] if running else []
        seconds = 0 if unprepared else LOOK_SECONDS if running else REST_SECONDS
        for place in _asked([(place, ends[place]) for place in resting], seconds):
            if (child := os.fork()) == 0:
                for other in {*ends} - {ends[place]}:
                    other.close()
                _confine(confining, above)
                os._exit(serve(ends[place], pipes[place], parsers, at_work[place], longest))
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


def _loaded(languages: Languages, pipe: Pipe[ToExtractor], *, parse_only: bool) -> Parsers:
    """Load what parses. Where a row or query of a language does not compile, tell the indexer, and exit."""
    try:
        parsers = Parsers(Extractor(languages), None if parse_only else facts_extractor(languages))
    except LanguageError as wrong:
        pipe.send(Unfit(said(str(wrong))))
        os._exit(1)
    gc.freeze()  # a collection looks at what comes after it only: serve() calls for one, begin() has forbidden others
    return parsers


def _confine(confining: Confining, above: int) -> None:
    try:
        confine("extractor", confining, parent=above)
    except ConfinementError:
        os._exit(UNCONFINED)


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
