"""How much of an answer by meaning fits in its tokens: that of one project, and one merged of several."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice

from msgspec.structs import replace

from fledgling.messages.answers import Passage
from fledgling.messages.bounded import MAX_OTHERS

TOKENS = 600  # of an answer of which no number of passages is asked for, each of four characters, as text
SHOWN_WITH_LINES = 3  # passages whose best lines are shown: it is one of them in nine of ten questions
OTHERS = 1  # definitions that are named beside the best of a file whose lines are not shown; of others MAX_OTHERS are
HEAD_CHARS, NOTE_CHARS, OTHER_CHARS = 70, 3, 8  # of the first line of an answer, and around a note and definitions


def room(note: str | None) -> int:
    """Return how many characters an answer with a note has for passages."""
    return TOKENS * 4 - HEAD_CHARS - NOTE_CHARS - len(note or "")


def filled(found: Sequence[Passage], others: Iterable[Iterable[tuple[int, str]]], room: float) -> Iterator[Passage]:
    """Yield the first passages, with further definitions of their files, as many characters as there is room for: at
    least one passage, others before definitions, and those of the first files before those of the next.

    `others` are those of each passage, by their lines, the best first.
    """
    ends = [*accumulate(map(_chars, found))]
    kept = [passage for passage, end in zip(found, ends, strict=True) if end <= max(room, ends[0])]
    room -= ends[len(kept) - 1] if kept else 0
    for at, (passage, further) in enumerate(zip(kept, others, strict=False)):
        named: list[tuple[int, str]] = []
        for line, name in islice(further, MAX_OTHERS if at < SHOWN_WITH_LINES else OTHERS):
            room -= len(f"{line} {name}, ") + (0 if named else OTHER_CHARS)
            if room < 0:
                break
            named.append((line, name))
        yield replace(passage, others=named)


def _chars(passage: Passage) -> int:
    """Return how many characters a passage has as text, without further definitions and what explains it."""
    first, last = passage.lines
    named = passage.signature or f"{passage.kind} {passage.name}"
    best = sum(len(f"  {number}: {line} ") for number, line in passage.best)
    return len(f"{passage.path}:{first}-{last}  {named}  [0.00] ") + best
