"""Bodies of functions that define and import nothing, blank before a text is parsed: half of a parser's work.

Where one line of a body defines something, the statements before and behind that are left out; so are the tokens that a
macro of Rust is made of, which define nothing whatever they look like. In C and C++ the values of a variable count as a
body.

Where a body stands is told by lines, which is a guess: it may be in a comment. What is in it is not: it is made of
whole tokens and brackets that close, or it stays. So the tree is asked: where it has a body with nothing in it, from
bracket to bracket, there is one; where it does not, that text is parsed as it is; and where it has errors, only those
bodies stay away that cannot have made them. What a parser does not know within a body is then nobody's error, and never
taken for the end of a function.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from heapq import nlargest
from itertools import accumulate

import re2
from msgspec import Struct
from tree_sitter import Range

from fledgling.worker.extracting.source_text import Span, without
from fledgling.worker.language import Languages

SHORTEST = 30  # bytes of a body; a shorter one takes no longer to parse than to leave out
MOST_SKIPPED = 300  # bodies of a text that a parser need not look at: it goes through all for each word that it reads
DEEPEST = 40  # brackets within each other: the time to look at them is linear
WIDEST = 80  # blanks before the statements of a body; more are not looked for, as they are a pattern's length
HEAD = 200  # bytes before a brace in which a comment is looked for: what ends in it is no head of a function
MOST_LINES = 20  # of a head
NO_BRACKETS = bytes(set(range(256)) - set(b"(){}[]"))
INDENTED = rb"(?>(?:%s[^\n]*+\n|[ \t]*+(?:#[^\n]*+)?+\n)*)"
COMMENTS = b"/#"  # what they begin with, and no string
CONDITION = re.compile(rb"^[ \t]*+#[ \t]*+(?:(?P<begin>if)|(?P<turn>el)|en)", re.MULTILINE)  # #if, #else, #endif

Point = tuple[int, int]  # row and column, both from 0 on, in bytes


class Blanked(Struct, frozen=True):
    """A text with nothing in some bodies, every byte of the rest where it was; where they begin; comments in them.

    A parser need not read what is `blank`.
    """

    text: bytes
    bodies: frozenset[int] = frozenset()
    comments: list[Span] = []
    blank: list[Span] = []


class Bodies:
    """Finds the bodies in texts of one language. Made once per language.

    `Bodies(languages, "go").blanked(b"\\nfunc f(a, b int) {\\n...\\n}\\n").bodies == {18}` if it is long.
    """

    def __init__(self, languages: Languages, name: str) -> None:
        row = languages.rows[name]
        self._begin = re.compile(row.body.encode())
        tokens = [languages.tokens[token] for token in row.comments + row.strings]
        self._token = re.compile("|".join(tokens).encode(), re.DOTALL)  # without groups `re` is four times as fast
        self._with_comments = row.comment_lines
        self._defining = re2.compile(row.defining.encode())
        self._has_braces = r"\{" in row.body
        self._has_tokens = "tokens" in self._begin.groupindex
        self._statements = _braced_statements if self._has_braces else _lined_statements
        self._may_be_wrapped = "above" in self._begin.groupindex

    def blanked(self, source: bytes, only: frozenset[int] | None = None) -> Blanked:
        """Leave out what is in bodies; `only` in what begins there."""
        spans = [*self._plain(source, [*self._bodies(source)])]
        if only is not None:
            spans = [span for span in spans if span[0] in only]
        opening, closing = (b"{", b"}") if self._has_braces else (b"(", b")")
        parts: list[bytes] = []
        done = 0
        for start, end in spans:
            parts += source[done:start], opening, b" " * (end - start - 2), closing
            done = end
        parts.append(source[done:])
        comments = [*self._comments(source, spans)] if self._with_comments else []
        blank = [(start + 1, end - 1) for start, end in spans]
        return Blanked(b"".join(parts), frozenset(start for start, _ in spans), comments, blank)

    def sure(self, source: bytes, bodies: frozenset[int]) -> frozenset[int]:
        """Those that cannot have made an error of what is none.

        In a comment or a string that ends in a body further down, that body would take its end away. Without brackets,
        a body that is cut too short leaves `else` without `if`.
        """
        starts, ends = [], [0]
        for token in self._token.finditer(source):
            starts.append(token.start())
            ends.append(token.end())
        return frozenset(body for body in bodies if self._has_braces and ends[bisect_left(starts, body)] <= body)

    def _comments(self, source: bytes, spans: list[Span]) -> Iterator[Span]:
        """The comments in some bodies. Most have no byte that one could begin with: they are not looked through."""
        for start, end in spans:
            if source.find(b"/", start, end) >= 0 or source.find(b"#", start, end) >= 0:
                tokens = (token.span() for token in self._token.finditer(source, start, end))
                yield from (token for token in tokens if source[token[0]] in COMMENTS)

    def _bodies(self, source: bytes) -> Iterator[tuple[int, int, bool]]:
        """The spans that look like bodies, none in another: with their braces, or of lines that are indented alike.

        And whether what is in it is nothing but tokens, whatever they look like: the rules of a macro.
        """
        at = len(source) if self._has_braces and b"{" not in source else 0  # as most headers of registers
        endless = set[bytes]()
        while match := self._begin.search(source, at):
            at = match.end()
            indent = match["indent"] or b""
            if self._may_be_wrapped and match.end("indent") < at - 1:
                indent = _indent(source, match.start("indent"))
            if not self._has_braces:
                line = source.rfind(b"\n", 0, at) + 1
                more = source[line:at]
                is_deeper = more.isspace() and len(more) > len(indent)  # not so where the text ends in a comment
                lines = _indented(more).match(source, line) if is_deeper else None
                start, end = at, _code_end(source, at, lines.end() if lines else at)
            else:
                close = b"\n" + indent + b"}"
                head = source[max(0, at - HEAD) : at - 1].rstrip()
                is_comment = b"//" in head[head.rfind(b"\n") + 1 :]
                newline = -1 if is_comment or close in endless else source.find(close, at)
                if newline < 0 and not is_comment:
                    endless.add(close)
                start, end = at - 1, newline + len(close) if newline >= 0 else 0
            if end - start >= SHORTEST:
                yield start, end, self._has_tokens and match["tokens"] is not None
            at = max(at, end)

    def _plain(self, source: bytes, bodies: list[tuple[int, int, bool]]) -> Iterator[Span]:
        """The bodies that define and import nothing, and of others the runs of statements that do not."""
        spans = [(start + self._has_braces, end - self._has_braces) for start, end, _ in bodies]
        codes = [self._token.sub(b"", source[start:end] + b"\n.") for start, end in spans]
        defining = self._among(codes)
        for place, ((start, end, are_tokens), code) in enumerate(zip(bodies, codes, strict=True)):
            if are_tokens or place not in defining:
                if _is_whole(code):
                    yield start, end
            else:
                begin = start + 1 if self._has_braces else source.rfind(b"\n", 0, start) + 1
                yield from self._runs(source, begin, end - self._has_braces)

    def _among(self, codes: list[bytes]) -> set[int]:
        """Which of some bodies define something: RE2 looks through all at once, as asking it is what takes time."""
        text, ends = b"\n".join(codes), [*accumulate(len(code) + 1 for code in codes)]
        found, begin = set[int](), 0
        while begin < len(text) and (match := self._defining.search(text, begin)):
            found.add(place := bisect_right(ends, match.end() - 1))
            begin = ends[place]
        return found

    def _runs(self, source: bytes, start: int, end: int) -> Iterator[Span]:
        """What stands between the statements that define: other statements, as far as lines tell where one begins."""
        code = self._without_tokens(source, start, end)
        begin = len(code) - len(code.lstrip())
        indent = code[code.rfind(b"\n", 0, begin) + 1 : begin]
        if len(indent) > WIDEST:
            return
        cuts = [begin, *(match.end() for match in self._statements(indent).finditer(code, begin)), len(code)]
        run = 0
        for match in self._defining.finditer(code):
            statement = bisect_right(cuts, match.end() - 1) - 1
            if statement >= run:
                yield from self._run(source, code, start, cuts[run], cuts[statement])
                run = statement + 1
        yield from self._run(source, code, start, cuts[run], len(code))

    def _run(self, source: bytes, blanked: bytes, offset: int, begin: int, end: int) -> Iterator[Span]:
        """Some statements without the blanks behind them, if nothing in them is defined or goes on behind them."""
        start, length = offset + begin, len(blanked[begin:end].rstrip())
        end = start + length if self._has_braces else _code_end(source, start, offset + end)  # it may end in a string
        code = self._token.sub(b"", source[start:end] + b"\n.") if end - start >= SHORTEST else b""
        if code and not self._defining.search(code) and _is_whole(code):
            yield start, end

    def _without_tokens(self, source: bytes, start: int, end: int) -> bytes:
        text = source[start:end]
        return without(text, [token.span() for token in self._token.finditer(text)])


def between(text: bytes, blank: list[Span]) -> list[Range]:
    """What a parser reads: what stands between the longest of some spans that are blank, one maybe in another."""
    ranges: list[Range] = []
    begin, point = 0, (0, 0)
    for start, end in sorted(nlargest(MOST_SKIPPED, blank, key=lambda span: span[1] - span[0])):
        if start < begin:
            continue
        last = moved(point, text, begin, start)
        ranges.append(Range(point, last, begin, start))
        begin, point = end, moved(last, text, start, end)
    if ranges:
        ranges.append(Range(point, moved(point, text, begin, len(text)), begin, len(text)))
    return ranges


def moved(point: Point, text: bytes, start: int, end: int) -> Point:
    """The place of one byte, from that of another before it."""
    rows = text.count(b"\n", start, end)
    return point[0] + rows, end - 1 - text.rfind(b"\n", start, end) if rows else point[1] + end - start


@lru_cache(maxsize=64)
def _braced_statements(indent: bytes) -> re.Pattern[bytes]:
    """What stands before a statement that begins a line with an indentation."""
    return re.compile(rb"[;}]\s*+(?<=\n%s)(?![.?)\]},;:=+|]|&&|else\b)" % indent)


@lru_cache(maxsize=64)
def _lined_statements(indent: bytes) -> re.Pattern[bytes]:
    """The same where a statement ends with its line."""
    return re.compile(rb"(?<!\\)\n%s(?![\s)\]}]|(?:elif|else|except|finally)\b)" % indent)


@lru_cache(maxsize=64)
def _indented(indent: bytes) -> re.Pattern[bytes]:
    return re.compile(INDENTED % indent)


def _code_end(source: bytes, start: int, end: int) -> int:
    """Where the code of some lines ends: before lines that are blank or comments, which are no part of a block.

    `start` where the last lines could be a comment or the end of a string.
    """
    while end > start:
        begin = max(start, source.rfind(b"\n", start, end - 1) + 1)
        line = source[begin:end].strip()
        if line and not line.startswith(b"#"):
            return begin + len(source[begin:end].rstrip())
        if b"'" in line or b'"' in line:
            break
        end = begin
    return start


def _bracket(condition: re.Match[bytes]) -> bytes:
    """A directive as a bracket: none may end what began outside, and no branch may open what another closes."""
    return b"(" if condition["begin"] else b")(" if condition["turn"] else b")"


def _indent(source: bytes, line: int) -> bytes:
    """The blanks before a statement whose last line begins at `line`."""
    for _ in range(MOST_LINES):
        above = source.rfind(b"\n", 0, line - 1) + 1
        text = source[above : line - 1].strip() if line - above < HEAD else b""
        if not text or text[-1:] in b";{}" or text[:1] in b"#/" or (text[-1:] == b":" and text[-2:] != b"):"):
            break
        line = above
    head = source[line : line + WIDEST]
    return head[: len(head) - len(head.lstrip(b" \t"))]


def _is_whole(code: bytes) -> bool:
    """Whether no token and no bracket goes on behind what is followed here by a line with a dot."""
    conditions = CONDITION.sub(_bracket, code) if b"#" in code else code
    return (
        code.endswith(b"\n.") and not code.endswith(b"\\\n.") and _is_balanced(conditions.translate(None, NO_BRACKETS))
    )


def _is_balanced(brackets: bytes) -> bool:
    for _ in range(DEEPEST):
        if not brackets:
            return True
        rest = brackets.replace(b"()", b"").replace(b"{}", b"").replace(b"[]", b"")
        if len(rest) == len(brackets):
            return False
        brackets = rest
    return not brackets
