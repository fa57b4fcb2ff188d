"""Top-level keys of the documents of a YAML stream (https://yaml.org/spec/1.2.2/), read line by line.

A text is cut where its block structure is: keys, dashes, scalars of one or more lines, flow collections. What is
nested deeper than the top is only read to know where it ends. Lines of templates, `{{ ... }}` and `{% ... %}`, are left
out.
"""

import re

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.keys import key, unquoted
from fledgling.worker.extracting.outline import Definition, FileOutline
from fledgling.worker.languages.json.reader import members

NO_KEYS = -1  # no column: the document is no mapping

QUOTED = rb"\"(?>(?:[^\"\\]++|\\.)*)\"|'(?>(?:[^']++|'')*)'"
LINE_QUOTED = rb"\"(?>(?:[^\"\\\n]++|\\.)*)\"|'(?>(?:[^'\n]++|'')*)'"
MARKER = deferred(rb"(?:---|\.\.\.)(?=\s|\Z)")
TEMPLATE = deferred(rb"\{[{%#]")
COMMENT = deferred(rb"[ \t]*+(#[^\n]*+)")
BLANK = deferred(rb"\s*+")
SPACES = deferred(rb"[ \t]*+")
INDICATOR = deferred(rb"[-?:](?:[ \t]++|(?=[\r\n]|\Z))")
PROPERTIES = deferred(rb"(?>(?:[&!]\S*+(?:[ \t]++|(?=[\r\n]|\Z)))*)")
KEY = deferred(
    rb"(" + LINE_QUOTED + rb"|(?:[^\s,\[\]{}#&*!|>'\"%@`?:-]|[?:-](?=\S))(?>(?:[^:#\r\n]++|:(?!\s|\Z)|(?<!\s)#)*))"
    rb"[ \t]*+:(?:[ \t]++|(?=[\r\n]|\Z))",
    re.DOTALL,
)
BLOCK = deferred(rb"[|>][-+\d]{0,2}+(?:[ \t]++#[^\n]*+|[ \t]*+)\r?+(?:\n|\Z)")
PLAIN = deferred(rb"(?>(?:[^\s#]++|[ \t\r\f\v]++(?!#)|(?<!\s)#)*)")
SCALAR = deferred(LINE_QUOTED + rb"|[^\s\[\]{}#&*!|>'\"%@`-]" + PLAIN.pattern)
STRING = deferred(QUOTED, re.DOTALL)
# Nested lines that hold a key or an item with nothing more to it, each before another such line: most of what there is.
NESTED = deferred(
    rb"(?>(?:(?: ++|(?=- ))(?>(?:- ++)*)(?:[\w./-]++:(?:(?= *+[\r\n])| ++(?=[\w./'\"]))|(?<=- )(?=[\w./]))"
    rb"(?:[\w./][^\n#]*+|'[^'\n]*+'|\"[^\"\\\n]*+\")? *+\r?+\n(?= *+(?:- ++)?[\w./-]++:[ \r\n]))*)"
)
FLOW = deferred(
    rb"(?P<comment>(?<!\S)#[^\n]*+)|(?<![^\s,:\[{])(?:" + QUOTED + rb")|(?P<open>[\[{])|(?P<close>[\]}])"
    rb"|[^\s,\[\]{}#:](?>(?:[^,\[\]{}:#\n]++|:(?![\s,\[\]{}])|(?<=\S)#)*)",
    re.DOTALL,
)


class Stream:
    """A text read from the top: the reader stands `at` a byte, and what it last understood ends at `code`."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._at = self._code = 0
        self._root: int | None = None  # the column of the document's keys, once it is seen
        self._key: Definition | None = None
        self.found = FileOutline([])

    def read(self) -> None:
        """Read all lines."""
        while self._at < len(self._source):
            self._line(self._at)
        self._close()

    def _line(self, start: int) -> None:
        column = self._indent()
        if column is None:
            self._next_line()
        elif column == 0 and (marker := MARKER.match(self._source, start)):
            self._close()
            self._root = None
            self._at = marker.end()
            self._node(-1)
        elif TEMPLATE.match(self._source, start + column):
            self.found.complete = False
            self._next_line()
        elif column == 0 and self._root is None and self._source[start : start + 1] == b"%":
            self._next_line()
        else:
            self._entry(start, column)
            self._nested()

    def _nested(self) -> None:
        """Pass over lines that need no closer look, unless the keys of the document may be among them."""
        if (
            self._root is not None
            and self._root <= 0
            and (nested := NESTED.match(self._source, self._at))
            and nested[0]
        ):
            self._at = nested.end()
            self._code = nested.end() - 1

    def _indent(self) -> int | None:
        """The column of the first word of this line; None where it is blank or a comment."""
        end = self._source.find(b"\n", self._at)
        line = self._source[self._at : end if end >= 0 else len(self._source)]
        words = line.lstrip(b" ")
        if words[:1] in (b"#", b"\t") and (comment := COMMENT.match(self._source, self._at)):
            self.found.comments.append(comment.span(1))
            return None
        return len(line) - len(words) if words.strip() else None

    def _entry(self, start: int, column: int) -> None:
        """A line of block structure: dashes, a key, a node."""
        self._at, parent = start + column, column - 1
        is_key = False
        while indicator := INDICATOR.match(self._source, self._at):
            is_explicit = indicator[0][:1] == b"?"
            parent, before = self._at - start, self._root
            self._root = (parent if is_explicit else NO_KEYS) if before is None else before
            is_key = is_explicit and parent == self._root
            if is_key:
                self._close()
            self._code, self._at = self._at + 1, indicator.end()
        first = self._at
        self._skip(PROPERTIES)
        if pair := KEY.match(self._source, self._at):
            parent, self._at = first - start, pair.end()
            self._root = parent if self._root is None else self._root
            if parent == self._root:
                self._close()
                self._key = key(value(pair[1]), first, pair.end(), pair.end())
            self._code = pair.end(1) + 1
        elif is_key and (scalar := SCALAR.match(self._source, self._at)):
            self._key = key(value(scalar[0]), first, scalar.end(), scalar.end())
        elif self._root is None:
            self._root = NO_KEYS
            if self._source[self._at : self._at + 1] == b"{" and self._object():
                return
        self._node(parent)

    def _object(self) -> bool:
        """A document that is an object of JSON."""
        keys, end = members(self._source, self._at)
        if end is not None:
            self.found.definitions += keys
            self._end(end)
        return end is not None

    def _node(self, parent: int) -> None:
        """A scalar or flow collection, or nothing: then it is in the lines below."""
        self._skip(SPACES)
        self._skip(PROPERTIES)
        mark = self._source[self._at : self._at + 1]
        if block := BLOCK.match(self._source, self._at):
            self._at = block.end()
            self._block(parent)
        elif mark in (b'"', b"'"):
            string = STRING.match(self._source, self._at)
            self._end(string.end() if string else None)
        elif mark in (b"[", b"{") and not TEMPLATE.match(self._source, self._at):
            self._end(self._flow_end())
        elif mark in (b"", b"\r", b"\n", b"#"):
            self._next_line()
        else:
            self.found.complete = self.found.complete and mark != b"{"
            self._plain(parent)

    def _block(self, parent: int) -> None:
        """A literal or folded scalar: the lines below that are indented more than what holds it."""
        while self._at < len(self._source):
            end = self._source.find(b"\n", self._at) % (len(self._source) + 1)
            line = self._source[self._at : end]
            words = line.lstrip(b" ")
            if words.strip():
                if len(line) - len(words) <= parent or (parent < 0 and MARKER.match(line)):
                    return
                self._code = end
            self._at = end + 1

    def _plain(self, parent: int) -> None:
        """A scalar without quotes, and the lines below that go on with it."""
        while True:
            self._skip(PLAIN)
            self._code = self._at
            is_last = self._source[self._at : self._at + 1] == b"#"
            self._next_line()
            following = BLANK.match(self._source, self._at)
            if is_last or following is None or following.end() == len(self._source):
                return
            self._at = self._source.rfind(b"\n", 0, following.end()) + 1
            column = following.end() - self._at
            if column <= parent or self._source[following.end() : following.end() + 1] == b"#":
                return
            if column == 0 and MARKER.match(self._source, self._at):
                return
            self._at = following.end()

    def _flow_end(self) -> int | None:
        """Where the flow collection that starts here ends, if it does."""
        depth = 0
        for token in FLOW.finditer(self._source, self._at):
            if token["comment"]:
                self.found.comments.append(token.span())
            depth += bool(token["open"]) - bool(token["close"])
            if depth == 0:
                return token.end()
        return None

    def _end(self, end: int | None) -> None:
        """Go on behind a node; where it has no end, nothing more can be told."""
        if end is None:
            self.found.complete = False
            self._at = len(self._source)
        else:
            self._at = self._code = end
            self._next_line()

    def _next_line(self) -> None:
        end = self._source.find(b"\n", self._at)
        self._at = end + 1 if end >= 0 else len(self._source)

    def _skip(self, pattern: re.Pattern[bytes]) -> None:
        if match := pattern.match(self._source, self._at):
            self._at = match.end()

    def _close(self) -> None:
        """The value of the open key ends with what was understood last."""
        if self._key:
            self._key.end = self._key.inside = self._code
            self.found.definitions.append(self._key)
            self._key = None


def value(scalar: bytes) -> str:
    """What a plain or quoted scalar of one line says."""
    return unquoted(scalar).replace("''", "'") if scalar[:1] == b"'" else unquoted(scalar)


def outline(source: bytes) -> FileOutline:
    """The top-level keys of a stream: `outline(b"a:\\n  b: 1\\nc: 2\\n")` has `a` and `c`."""
    stream = Stream(source)
    stream.read()
    return stream.found
