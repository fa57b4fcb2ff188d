"""How far a build is, in percent and in words."""

from fledgling.messages.control import Progress

# How far along a build is when a stage begins and when it ends, in percent of its time on a large project.
STAGES = {
    "walk": (0, 5),
    "read": (5, 20),
    "extract": (20, 60),
    "seal": (60, 62),
    "words": (62, 65),
    "relate": (65, 95),
    "fill": (95, 100),
}
AT_WORK = {  # what a build does in each stage
    "walk": "files are being listed",
    "read": "files are being read",
    "extract": "files are being parsed",
    "seal": "it is being finished",
    "words": "words are being counted",
    "relate": "uses of definitions are being resolved",
    "fill": "tables of uses are being filled",
}


def percent(at: Progress) -> float:
    """Return how far a build is: `percent(Progress("extract", 400, 800))` is 40.0."""
    begin, end = STAGES[at.stage]
    return begin + (end - begin) * min(at.done / max(at.total, 1), 1)


def in_words(at: Progress) -> str:
    """Say what a build does: "files are being parsed, 400 of 812 files"."""
    counted = f", {at.done:,} of {at.total:,} files" if at.total else ""  # unknown, or not to be told
    return f"{AT_WORK[at.stage]}{counted}"
