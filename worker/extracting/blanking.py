"""What readers share that look for declarations by the columns where they begin: code alone, and where it ends."""

import re

VISIBLE = re.compile(rb"[^\n]")
STEP = 256  # bytes looked at together for the last code before a place


def blanked(token: re.Pattern[bytes], source: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """The text with blanks in place of what matches, lines as they were; and the spans of the group `comment`."""
    comments: list[tuple[int, int]] = []

    def blank(match: re.Match[bytes]) -> bytes:
        if match.lastgroup == "comment":
            comments.append(match.span())
        return VISIBLE.sub(b" ", match[0])

    return token.sub(blank, source), comments


def code_end(code: bytes, start: int, end: int) -> int:
    """Where the last code in `code[start:end]` ends."""
    step = STEP
    while end > start:
        begin = max(end - step, start)
        if found := code[begin:end].rstrip():
            return begin + len(found)
        end, step = begin, 2 * step
    return start
