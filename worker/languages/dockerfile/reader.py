"""Build stages of a Dockerfile, with its arguments and variables: https://docs.docker.com/reference/dockerfile/.

A stage goes on to the next; one without a name defines nothing. Lines of a here document are no instructions.
"""

import re
from collections.abc import Iterator

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.outline import Definition, FileOutline

# A line, with those that go on behind a backslash, among which comments and lines with nothing may stand.
LINE = rb"(?>(?:[^\\\n]++|\\[ \t\r]*+\n(?>(?:[ \t]*+#[^\n]*+\n|[ \t\r]*+\n)*)|\\)*)"
INSTRUCTION = deferred(rb"^[ \t]*+(?P<word>[A-Za-z]++)(?P<rest>[ \t]" + LINE + rb")", re.MULTILINE)
STAGE = deferred(rb"\s*+(?>(?:--\S++\s++)*)\S++\s++AS\s++(?P<name>[\w.-]++)\s*+\Z", re.IGNORECASE)
VALUE = rb"(?>(?:\"(?>(?:[^\"\\]++|\\.)*)\"?+|'[^']*+'?+|\\.|[^\s\"'\\])*)"
COMMENT = deferred(rb"(?<=\n)[ \t]*+#[^\n]*+")
SET = deferred(rb"\s(?P<name>[A-Za-z_][\w.]*+)(?:=" + VALUE + rb"|(?=\s|\Z))", re.DOTALL)
HEREDOC = deferred(rb"<<-?+[\"']?+(?P<end>[A-Za-z_]\w*+)")
WORD_LINE = deferred(rb"^\t*+(\w++)\r?$", re.MULTILINE)


def outline(source: bytes) -> FileOutline:
    """The definitions of a Dockerfile: `outline(b"FROM alpine AS base\\nARG VERSION=1\\n")` has two."""
    found: list[Definition] = []
    stage: Definition | None = None
    at = 0
    while instruction := INSTRUCTION.search(source, at):
        start, at = instruction.start("word"), instruction.end()
        word = instruction["word"].upper()
        if word == b"FROM":
            if stage:
                stage.end = start
            named = STAGE.match(instruction["rest"])
            stage = Definition(named["name"].decode(), "module", start, len(source), start, at, at) if named else None
            found += [stage] if stage else []
        elif word in (b"ARG", b"ENV"):
            found += variables(instruction, once=word == b"ENV")
        elif word in (b"RUN", b"COPY", b"ADD"):
            at = behind_heredocs(source, instruction["rest"], at)
    return FileOutline(found)


def variables(instruction: re.Match[bytes], *, once: bool) -> Iterator[Definition]:
    """The variables of an instruction: `ARG A B=1`, `ENV A=1 B=2`; of the old `ENV A a value` the first word alone."""
    offset = instruction.start("rest")
    rest = COMMENT.sub(lambda comment: b" " * len(comment[0]), instruction["rest"])
    for found in SET.finditer(rest):
        start, end = offset + found.start("name"), offset + found.end()
        is_set = end > offset + found.end("name")
        stop = end if is_set or not once else instruction.end()
        yield Definition(found["name"].decode(), "variable", start, stop, start, stop, value=start, is_global=True)
        if once and not is_set:
            return


def behind_heredocs(source: bytes, rest: bytes, at: int) -> int:
    """Where the here documents that an instruction begins are over; `at`, where it begins none."""
    for heredoc in HEREDOC.finditer(rest):
        ends = (line.end() for line in WORD_LINE.finditer(source, at) if line[1] == heredoc["end"])
        at = next(ends, len(source))
    return at
