"""Text of a project, or about it, so that nobody can take it for more than that, and no terminal obeys it."""

import re

MAX_SAID_CHARS = 2**13  # of a sentence of ours: a path may be half as long
MAX_SHOWN = 40  # characters of an unknown name or a wrong value in a message: the longest setting has 18, a tool 17
MAX_SHOWN_PATH = 200  # characters of a path that somebody has typed in a message: who reads it knows the path

# Characters that a terminal obeys or hides, but for those below U+0020, as a part of a class of a regular expression:
# DEL and C1, and what formats, joins, or turns around what stands beside it (CVE-2021-42574).
HIDDEN = (
    r"\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e0fff"
)
WILDCARD = re.compile(r"[*?\[{]")  # of a glob: a path filter without one is a path
_OBEYED = re.compile(rf"[\x00-\x08\x0b-\x1f{HIDDEN}]")


def one_line(text: str) -> str:
    r"""Return a name or a cell on one line, so that it cannot pass for lines of ours.

    >>> one_line("a\nb")
    'a\\nb'

    A line break, and every other character that is not printable, is escaped as in Python.
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def said(text: str) -> str:
    """Return a sentence as a message may carry it: on one line, and cut where it is too long."""
    line = one_line(text)
    return line if len(line) <= MAX_SAID_CHARS else f"{line[: MAX_SAID_CHARS - 1]}…"


def counted(number: int, noun: str) -> str:
    """Return a number of things: `counted(1, "file")` is `1 file`, `counted(2000, "file")` is `2,000 files`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def lines_in_short(first: int, last: int) -> str:
    """Return a range of lines: `lines_in_short(5, 9)` is `5-9`, and `lines_in_short(5, 5)` is `5`."""
    return str(first) if first == last else f"{first}-{last}"


def visible(text: str) -> str:
    r"""Return text for a terminal: `visible("\x1b[2J")` is `\x1b[2J` in eight characters; lines and tabs stay."""
    return _OBEYED.sub(lambda found: ascii(found[0])[1:-1], text)


def visible_json(text: str) -> str:
    r"""Return the same JSON for a terminal: `visible_json('"\u202e"')` is `"\u202e"` in eight characters."""
    if not _OBEYED.search(text):
        return text
    import json  # noqa: PLC0415  (few texts hold such a character)

    return _OBEYED.sub(lambda found: json.dumps(found[0])[1:-1], text)


def plain_path(path: str) -> str:
    """Return a path as answers have it: `plain_path("./src//a.py/")` is `src/a.py`."""
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def in_sentence(path: str) -> str:
    """Return a path as a sentence names it: in quotes where words of it could be taken for a call or an argument.

    >>> in_sentence("a depth=2.py")
    "'a depth=2.py'"
    """
    return repr(path) if re.search(r"[\s()='\"]", path) else path


def by_depth(path: str) -> tuple[int, str]:
    """Return what sorts paths by how near to the root they are, then by name: `by_depth("a/b")` is (1, "a/b")."""
    return path.count("/"), path
