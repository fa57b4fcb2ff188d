"""Packages, subs, constants and attributes of Perl: https://perldoc.perl.org/perlsyn.

Only Perl can parse Perl: what a quote or a `/` begins depends on what was run before. Declarations begin lines, though,
and what is in braces ends with the first line that has a brace where the declaration begins.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.blanking import VISIBLE, code_end
from fledgling.worker.extracting.outline import Definition, FileOutline, FoundImport

POD = deferred(rb"^=[a-zA-Z].*?(?:^=cut\b[^\n]*+|\Z)|^__(?:END|DATA)__\b.*", re.MULTILINE | re.DOTALL)
HEREDOC = deferred(rb"<<~?+(?:\"(?P<double>[^\"\n]++)\"|'(?P<single>[^'\n]++)'|(?P<bare>[A-Z_]\w*+))[^\n]*+\n")
LINE = deferred(rb"^[ \t]*+(?P<text>\S[^\n]*+)$", re.MULTILINE)
CLOSING = deferred(rb"^(?P<indent>[ \t]*+)[})]", re.MULTILINE)
HEAD = deferred(
    rb"""^(?P<indent>[ \t]*+) (?:
        (?P<package>package|class|role) [ \t]++ (?P<module>[A-Za-z_][\w:]*+) [^;{\n]*+ (?P<ends>[;{]|$)
        | (?>(?:(?:my|our|state|async) [ \t]++)*) (?:sub|method|fun) [ \t]++ (?P<sub>[A-Za-z_][\w:']*+) (?! [ \t]*+ ;)
        | use [ \t]++ constant [ \t]*+ (?: (?P<constants>\{) | ["']?+ (?P<constant>[A-Za-z_]\w*+) )
        | has [ \t]*+ \(?+ [ \t]*+
          (?: \[ [ \t]*+ qw\W (?P<listed>[\w\s]++)
          | ["']?+ \+?+ (?P<attribute>[A-Za-z_]\w*+) ["']?+ [ \t]*+ (?:=>|,|;|[ \t]*+$) )
        | our [ \t]++ (?: \( (?P<variables>[^()\n]*+) \) | (?P<variable>[$@%]\w++) )
        | (?:use|require) [ \t]++ (?P<used>[A-Za-z_][\w:]*+) (?P<names>[^;\n]*+)
    )""",
    re.MULTILINE | re.VERBOSE,
)
KEY = deferred(rb"^[ \t]*+[\"']?+([A-Za-z_]\w*+)[\"']?+[ \t]*+=>|[{,][ \t]*+([A-Za-z_]\w*+)[ \t]*+=>", re.MULTILINE)
WORD = deferred(rb"[\w:]++")
QUOTED = deferred(rb"qw\W([^)\]}>/|\n]*+)|[\"']([\w:]++)[\"']")
KINDS = {b"package": "module", b"class": "class", b"role": "trait"}


class PerlText:
    """A text with blanks where there is documentation, or what is between here documents; and its lines that close."""

    def __init__(self, source: bytes) -> None:
        self.code = without_heredocs(POD.sub(lambda match: VISIBLE.sub(b" ", match[0]), source))
        self._closing = defaultdict[bytes, list[int]](list)  # by the blanks before the bracket, where it is
        for line in CLOSING.finditer(self.code):
            self._closing[line["indent"]].append(line.end())

    def end(self, start: int, indent: bytes) -> int:
        """Where a declaration that begins here ends: on its line, or with the next closing line as far in."""
        newline = self.code.find(b"\n", start)
        stop = len(self.code) if newline < 0 else newline
        line = self.code[start:stop].rstrip()
        if line.endswith((b";", b"}")) and line.count(b"{") <= line.count(b"}"):
            return start + len(line)
        closing = self._closing[indent]
        at = bisect_left(closing, stop)
        if at == len(closing):
            return start + len(line)
        after = self.code.find(b"\n", closing[at])
        return closing[at] + (self.code[closing[at] : closing[at] + 1] == b";") if after != closing[at] else closing[at]


def without_heredocs(source: bytes) -> bytes:
    """The text with blanks in place of here documents whose end there is."""
    lines = defaultdict[bytes, list[tuple[int, int]]](list)
    for line in LINE.finditer(source):
        lines[line["text"].rstrip()].append((line.start(), line.end()))
    text, at = bytearray(source), 0
    while heredoc := HEREDOC.search(source, at):
        at = heredoc.end()
        word = heredoc["double"] or heredoc["single"] or heredoc["bare"]
        index = bisect_left(lines[word], (at, 0)) if word in lines else 0
        if index < len(lines.get(word, ())):
            start, end = lines[word][index]
            text[at:start] = VISIBLE.sub(b" ", source[at:start])
            at = end
    return bytes(text)


def outline(source: bytes) -> FileOutline:
    """What a file defines and uses: `outline(b"package A;\\nsub f { 1 }\\n")` has `A` and `f` of `A`."""
    text = PerlText(source)
    found = FileOutline([])
    package: Definition | None = None  # goes on to the next that has no block
    size = code_end(text.code, 0, len(text.code))
    for head in HEAD.finditer(text.code):
        if head["used"]:
            found.imports += used(head)
        made = list(definitions(text, head))
        if head["package"] and head["ends"] == b";":
            if package:
                package.end = code_end(text.code, package.start, made[0].start)
            package = made[0]
            package.end = size
        found.definitions += made
    return found


def definitions(text: PerlText, head: re.Match[bytes]) -> Iterator[Definition]:
    """What a head declares."""
    start = head.end("indent")
    if head["package"]:
        yield definition(text, head, "module", KINDS[head["package"]], body=head.start("ends"))
    elif head["sub"]:
        brace = text.code.find(b"{", head.end(), head.end() + 1000)
        yield definition(text, head, "sub", "function", body=brace if brace >= 0 else head.end())
    elif head["constants"]:
        end = text.end(start, head["indent"])
        for key in KEY.finditer(text.code, start, end):
            yield Definition(
                name(key[1] or key[2]),
                "constant",
                key.start(key.lastindex or 1),
                key.end(),
                key.start(key.lastindex or 1),
                key.end(),
            )
    elif head["constant"] and head["constant"] != b"constant":
        yield definition(text, head, "constant", "constant", value=start)
    elif head["attribute"]:
        yield definition(text, head, "attribute", "property", value=start)
    elif head["variable"]:
        yield definition(text, head, "variable", "variable", value=start)
    for group, kind in (("listed", "property"), ("variables", "variable")):
        for word in (head[group] or b"").replace(b",", b" ").split():
            yield definition(text, head, group, kind, word, value=start)


def definition(
    text: PerlText,
    head: re.Match[bytes],
    group: str,
    kind: str,
    word: bytes = b"",
    *,
    body: int | None = None,
    value: int | None = None,
) -> Definition:
    """What the group of a head names."""
    start = head.end("indent")
    *owner, last = (
        (word or head[group]).replace(b"'", b"::").split(b"::") if kind == "function" else [word or head[group]]
    )
    end = text.end(start, head["indent"]) if kind != "module" or head["ends"] == b"{" else head.end()
    parent = name(b"::".join(owner)) or None
    return Definition(
        name(last),
        kind,
        start,
        end,
        start,
        head.end(),
        body,
        value,
        parent=parent,
        is_global=bool(parent or head["package"]),
    )


def used(head: re.Match[bytes]) -> Iterator[FoundImport]:
    """What `use A::B qw(c d)` and `use parent 'A'` import."""
    start, end = head.end("indent"), head.end()
    module = head["used"]
    quoted = (word for one in QUOTED.finditer(head["names"]) for word in WORD.findall(one[1] or one[2] or b""))
    if module in (b"parent", b"base"):
        yield from (FoundImport(name(word), start, end) for word in quoted)
    elif not re.fullmatch(rb"v?[0-9.]+", module):
        yield FoundImport(name(module), start, end, [(name(word), None) for word in quoted])


def name(word: bytes) -> str:
    """A name as text."""
    return word.decode(errors="replace")
