"""Words that programs often write for others: `remove` for "delete", `db` for "database".

They are a general list of what programmers write, and fitted to no question: in synonyms.txt each line is a word that
may be asked for, and what may stand in its place.
"""

from functools import cache
from pathlib import Path

from fledgling.worker.words import stem

MOST = 8  # of a word: each is looked up wherever that is

_LINES = Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines()  # before the process is confined


def synonyms(word: bytes) -> tuple[bytes, ...]:
    """Return what may be written for a word without its ending.

    >>> synonyms(b"abort")
    (b'cancel', b'stop')
    """
    return _table().get(word, ())


@cache
def _table() -> dict[bytes, tuple[bytes, ...]]:
    table: dict[bytes, dict[bytes, None]] = {}
    for line in _LINES:
        asked, *others = line.encode().split()
        nouns = [asked[:-1] + b"ion"] if asked.endswith(b"ate") else []  # which has another stem: "allocation"
        for word in map(stem, [asked, *nouns]):
            table.setdefault(word, {}).update(dict.fromkeys(other for other in map(stem, others) if other != word))
    return {word: tuple(others)[:MOST] for word, others in table.items()}
