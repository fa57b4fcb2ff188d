"""Classes and ids that rules of CSS, SCSS and Less are for, with mixins, functions, keyframes and variables.

CSS as in https://www.w3.org/TR/css-syntax-3/. A name that is put together, `.col-#{$i}`, is no name; `&-title` inside
`.card` is `.card-title`.
"""

import re

from msgspec import Struct

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.outline import Definition, FileOutline

MAX_NESTING = 1000  # blocks in each other; nobody writes a tenth of it
MAX_SUFFIXED = 16  # names that `&-x` may stand for; each level of nesting can multiply them

STRING = rb"\"(?>(?:[^\"\\\n]++|\\.)*)\"?+|'(?>(?:[^'\\\n]++|\\.)*)'?+"
URL = rb"(?<=url)\(\s*+[^\"'\s()][^()\n]*+\)"
COMMENT = rb"/\*.*?(?:\*/|\Z)"
TOKEN = rb"[^\"'/\\#@{};()]*+(?:(?P<blank>%b)|(?P<inner>[#@]\{[^{}]*+\})|\\.|(?P<mark>[{};()])|[/#@\\]|\Z)"
CSS = deferred(TOKEN % b"|".join([STRING, URL, COMMENT]), re.DOTALL | re.IGNORECASE)
LESS_OR_SCSS = deferred(TOKEN % b"|".join([STRING, URL, COMMENT, rb"//[^\n]*+"]), re.DOTALL | re.IGNORECASE)
INNER = b"\x01"  # in place of each byte of an interpolation

PART = rb"(?>(?:[\w\x80-\xff-]++|\\[^\n])*)"
NAME = rb"(?:--|-?(?:[a-zA-Z_\x80-\xff]|\\[^\n]))" + PART + rb"(?!\x01)"
SUFFIX = rb"&(?P<suffix>(?=[\w\x80-\xff-])" + PART + rb")(?!\x01)"
SELECTOR = deferred(
    rb"\[[^\[\]]*+\]|:not\([^()]*+\)|(?P<name>(?:[.#]|(?<!\w)%)" + NAME + rb")|" + SUFFIX + rb"|(?P<end>,|\Z)"
)
AT_RULE = deferred(rb"@(?:-\w+-)?(?P<rule>mixin|function|keyframes)\s++(?P<name>" + NAME + rb")", re.IGNORECASE)
MIXIN = deferred(rb"(?P<name>[.#]" + NAME + rb")\s*+\(")
VARIABLE = deferred(rb"(?P<name>--[\w\x80-\xff-]++|[$@][a-zA-Z_\x80-\xff-][\w\x80-\xff-]*+)\s*+:\s*+")
ESCAPE = deferred(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))")
KINDS = {b"mixin": "macro", b"function": "function", b"keyframes": "macro"}


class _OpenRule(Struct):
    """An open `{`: what its head defines, whether it is for `:root`, and the names that `&` stands for in it."""

    defined: list[Definition]
    is_root: bool
    names: list[str]


class Sheet:
    """A stylesheet that is read token by token; in `code` comments, strings and interpolations are blank."""

    def __init__(self, source: bytes, token: re.Pattern[bytes]) -> None:
        self._source = source
        self._code = bytearray(source)
        self._token = token
        self._open: list[_OpenRule] = []
        self.found = FileOutline([])

    def read(self) -> None:
        """Cut the text at braces and semicolons: each statement ends in a block or in itself."""
        start = depth = 0
        for token in self._token.finditer(self._source):
            mark = token["mark"]
            if token.lastgroup in ("blank", "inner"):
                begin, end = token.span(token.lastgroup)
                self._code[begin:end] = (b" " if token.lastgroup == "blank" else INNER) * (end - begin)
            elif mark == b"(" or (mark == b")" and depth):
                depth += 1 if mark == b"(" else -1
            elif mark == b";" and depth:
                continue
            elif len(self._open) > MAX_NESTING:
                break
            elif mark in (b"{", b"}", b";"):
                self._statement(mark, start, token.end() - 1)
                start, depth = token.end(), 0
        for block in self._open:
            self._end(block, len(self._source))
        self.found.complete = not self._open

    def _statement(self, mark: bytes, start: int, end: int) -> None:
        text = bytes(self._code[start:end])
        start += len(text) - len(text.lstrip())
        text = text.strip()
        if mark == b"{":
            self._block(text, start, end)
        else:
            self._declaration(text, start)
        if mark == b"}" and self._open:
            self._end(self._open.pop(), end + 1)

    def _end(self, block: _OpenRule, end: int) -> None:
        for found in block.defined:
            found.end = end

    def _block(self, head: bytes, start: int, end: int) -> None:
        """The head of a block: an at-rule, a mixin of Less, or selectors."""
        around = self._open[-1].names if self._open else []
        defined, names = {}, around
        if rule := AT_RULE.match(head):
            defined = {unescaped(rule["name"]): KINDS[rule["rule"].lower()]}
        elif mixin := MIXIN.match(head) if self._token is LESS_OR_SCSS else None:
            defined = {unescaped(mixin["name"]): "macro"}
        elif not head.startswith((b"@", b"--", b"$")) or head.startswith(b"@at-root"):
            selectors, names = selected(head, around)
            defined = dict.fromkeys(selectors, "selector")
        made = [
            Definition(name, kind, start, -1, start, end + 1, end, is_global=True) for name, kind in defined.items()
        ]
        self.found.definitions += made
        self._open.append(_OpenRule(made, b":root" in head, names))

    def _declaration(self, text: bytes, start: int) -> None:
        """A variable of the sheet: `$x` and `@x` outside of blocks, `--x` of `:root`."""
        variable = VARIABLE.match(text)
        if variable and (self._open[-1].is_root if text[:1] == b"-" and self._open else not self._open):
            name, value, end = variable["name"].decode(errors="replace"), start + variable.end(), start + len(text)
            self.found.definitions.append(Definition(name, "variable", start, end, start, end, value=value))


def selected(head: bytes, around: list[str]) -> tuple[list[str], list[str]]:
    """The classes and ids of a head, and those that its selectors end with: what `&-x` inside adds to."""
    found, ending, last, last_end = [], [], [], -1
    for match in SELECTOR.finditer(head):
        if match["name"] is not None:
            last, last_end = [unescaped(match["name"])], match.end()
        elif match["suffix"] is not None:
            suffix = unescaped(match["suffix"])
            last, last_end = [name + suffix for name in around], match.end()
        elif match["end"] is not None:
            words = head[: match.start()].rstrip()
            ending += last if last_end == len(words) else around if words.endswith(b"&") else []
            last = []
            continue
        else:
            continue
        found += last
    return found, ending if len(ending) <= MAX_SUFFIXED else []


def unescaped(name: bytes) -> str:
    """A name without the escapes of CSS: `.md\\:flex` is `.md:flex`."""
    text = name.decode(errors="replace")
    return ESCAPE.sub(lambda match: chr(int(match[1], 16) % 0xD800) if match[1] else match[2], text)


def outline(source: bytes, token: re.Pattern[bytes] = CSS) -> FileOutline:
    """The definitions of a stylesheet: `outline(b".a, #b { color: red }")` has `.a` and `#b`."""
    sheet = Sheet(source, token)
    sheet.read()
    return sheet.found
