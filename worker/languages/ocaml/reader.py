"""Items of OCaml's structures and signatures: https://ocaml.org/manual/5.2/moduleexamples.html.

Whether a `let` defines or is local, only its place tells: items of a structure begin their lines, all in one column. A
word of an item at the margin begins the file's own items again, whatever is open before it.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.blanking import blanked, code_end
from fledgling.worker.extracting.outline import Definition, FileOutline, FoundImport

MAX_COLUMN = 200  # what begins further right is no item
MAX_HEAD = 2000  # bytes of an item in which its signature ends
MAX_NESTING = 1000  # of brackets and blocks; nobody writes a tenth of it
DEEPER = rb"\(\*(?!\))(?>(?:[^(*]++|\*(?!\))|\((?!\*))*)(?:\*\)|\Z)"
NESTED = rb"\(\*(?!\))(?>(?:[^(*]++|\*(?!\))|\((?!\*)|" + DEEPER + rb")*)(?:\*\)|\Z)"
TOKEN = deferred(
    rb"(?P<comment>" + NESTED + rb")|(?P<string>\"(?>(?:[^\"\\]++|\\.)*)\"?|\{(?P<id>[a-z_]*+)\|.*?(?:\|(?P=id)\}|\Z)"
    rb"|'(?:[^'\\\n]|\\[^\n][^'\n]{0,4})')",
    re.DOTALL,
)
WORD = deferred(
    rb"(?P<opens>\b(?:struct|sig|object|begin)\b|[(\[{])|(?P<closes>\bend\b|[)\]}])"
    rb"|(?P<item>(?<![\w.'~?#])(?:let|and|val|external|type|module|exception|class|open|include|method)\b(?!'))"
)
NAME = rb"(?:(?!_\b)[a-z_][\w']*+|\( *+(?:let|and)?[^\w\s()]++ *+\)|\( *+(?:mod|land|lor|lxor|lsl|lsr|asr|or) *+\))"
LET = deferred(
    rb"(?:let|and)(?:%\w++)?(?:\s++rec\b)?\s*+(?P<name>"
    + NAME
    + rb")(?=[\s:=~?(])(?P<rest>(?>(?:[^=()]++|\((?>(?:[^()]++|\([^()]*+\))*)\))*))=(?P<value>\s*+(?:fun|function)\b)?"
)
HEADS = {
    b"val": ("variable", deferred(rb"val(?:\s++(?:mutable|virtual)\b)*+!?\s*+(?P<name>" + NAME + rb")")),
    b"external": ("function", deferred(rb"external\s++(?P<name>" + NAME + rb")")),
    b"method": ("method", deferred(rb"method!?(?:\s++(?:private|virtual)\b)*+\s++(?P<name>" + NAME + rb")")),
    b"exception": ("type", deferred(rb"exception\s++(?P<name>[A-Z][\w']*+)")),
    b"type": (
        "type",
        deferred(
            rb"(?:type|and)(?:\s++nonrec\b)?\s*+(?:\([^()]*+\)\s*+|[+-]?!?'\w++\s*+|_\s++)?(?P<name>(?!_\b)[a-z_][\w']*+)(?!\s*+[.+])"
        ),
    ),
    b"module": (
        "module",
        deferred(rb"(?:module|and)(?:\s++(?:rec\b|(?P<type>type)\b(?!\s++of)))?\s++(?P<name>(?!_\b)[A-Za-z_][\w']*+)"),
    ),
    b"class": (
        "class",
        deferred(rb"(?:class|and)(?:\s++type\b)?(?:\s++virtual\b)?\s*+(?:\[[^\[\]]*+\]\s*+)?(?P<name>[a-z_][\w']*+)"),
    ),
}
OPENED = deferred(rb"(?:open!?|include)\s++(?P<module>[A-Z][\w.']*+)")
CONSTRUCTOR = deferred(rb"(?:=|\|)\s*+(?:private\s++)?(?P<name>[A-Z][\w']*+)(?![\w'.])")
PARAMETER = deferred(rb"\(\s*+(?P<name>[A-Z][\w']*+)\s*+:")  # of a functor: `module Make (IO : S.IO) = struct`
FIELD = deferred(rb"[{;]\s*+(?:mutable\s++)?(?P<name>[a-z_][\w']*+)\s*+:")
STRUCTURES = (b"struct", b"sig", b"object")


class OpenBlock(Struct):
    """What is open: what opened it, and of a structure the column of its items, the last one, and the word of that."""

    opener: bytes
    column: int = -1
    items: list[Definition] = []
    word: bytes = b""


class Items:
    """A text that is read word by word."""

    def __init__(self, source: bytes) -> None:
        self.code, comments = blanked(TOKEN, source)
        self._blocks = [OpenBlock(b"", column=0)]
        self.found = FileOutline([], comments)

    def read(self) -> None:
        """Find the items of all structures."""
        behind = 0  # the end of a word that opens a structure
        for word in WORD.finditer(self.code):
            if word["opens"]:
                self._blocks.append(OpenBlock(word["opens"]))
                behind = word.end()
            elif word["closes"]:
                self._close(word["closes"], word.start())
            else:
                self._item(word, is_first=not self.code[behind : word.start()].strip() if behind else False)
                behind = 0
            if len(self._blocks) > MAX_NESTING:
                self.found.complete = False
                break
        while self._blocks:
            self._settle(self._blocks.pop(), len(self.code))

    def _close(self, closer: bytes, at: int) -> None:
        is_word = closer == b"end"
        if len(self._blocks) > 1 and (self._blocks[-1].opener in (b"(", b"[", b"{")) != is_word:
            self._settle(self._blocks.pop(), at)

    def _settle(self, block: OpenBlock, end: int) -> None:
        for found in block.items:
            found.end = max(found.end, code_end(self.code, found.start, end))
        block.items = []

    def _item(self, word: re.Match[bytes], *, is_first: bool) -> None:
        start = word.start()
        newline = self.code.rfind(b"\n", max(start - MAX_COLUMN, 0), start)
        if newline < 0 and start > MAX_COLUMN:
            return
        column = start - newline - 1
        if not is_first and self.code[newline + 1 : start].strip():
            return
        if column == 0 and self._blocks[-1].column != 0:
            while len(self._blocks) > 1:
                self._settle(self._blocks.pop(), start)
        block = self._blocks[-1]
        if block.opener and block.opener not in STRUCTURES:
            return
        if block.column < 0:
            block.column = column
        if column != block.column and not is_first:
            return
        self._settle(block, start)
        if word["item"] != b"and":
            block.word = word["item"]
        block.items = list(self._defined(block.word, start))
        self.found.definitions += block.items

    def _defined(self, word: bytes, start: int) -> Iterator[Definition]:
        """What the item that begins here defines."""
        code = self.code
        if word in (b"open", b"include"):
            if opened := OPENED.match(code, start):
                self.found.imports.append(FoundImport(opened["module"].decode(), start, opened.end(), [("*", None)]))
        elif word == b"let":
            if match := LET.match(code, start, start + MAX_HEAD):
                has_arguments = match["rest"].strip() and not match["rest"].lstrip().startswith(b":")
                kind = "function" if has_arguments or match["value"] else "variable"
                yield definition(match, kind, start, match.end("rest"))
        elif word in HEADS:
            kind, head = HEADS[word]
            if match := head.match(code, start):
                kind = "interface" if match.groupdict().get("type") else kind
                yield definition(match, kind, start, None)


def definition(match: re.Match[bytes], kind: str, start: int, body: int | None) -> Definition:
    """What a head names; its signature ends where its value begins."""
    word = match["name"].decode(errors="replace").strip("() ")
    return Definition(word, kind, start, match.end(), start, match.end(), body)


def outline(source: bytes) -> FileOutline:
    """The items of a file: `outline(b"let f x = x\\n")` has the function `f`."""
    items = Items(source)
    items.read()
    code = items.code
    items.found.imports = list(imported(items.found, code))
    for found in list(items.found.definitions):
        settle_signature(found, code)
        if found.kind == "type":
            items.found.definitions += members(found, code)
    return items.found


def imported(found: FileOutline, code: bytes) -> Iterator[FoundImport]:
    """What is opened and is no module of the file's own, nor a functor's parameter: those are bound where they end."""
    bound: dict[str, int] = {}
    for own in found.definitions:
        if own.kind in ("module", "interface"):
            bound[own.name] = min(own.end, bound.get(own.name, own.end))
    for match in PARAMETER.finditer(code):
        name = match["name"].decode(errors="replace")
        bound[name] = min(match.end(), bound.get(name, match.end()))
    for each in found.imports:
        if bound.get(each.module.partition(".")[0], each.start + 1) > each.start:
            yield each


def settle_signature(found: Definition, code: bytes) -> None:
    """Say where a signature ends: a value with an arrow in its type is a function; a type's first line is enough."""
    if found.body is not None:
        return
    limit = min(found.end, found.start + MAX_HEAD)
    if found.kind == "variable" and b"->" in code[found.start : limit]:
        found.kind = "function"
    if found.kind in ("module", "interface", "class", "type"):
        equals = code.find(b"=", found.inside, limit)
        colon = code.find(b": sig", found.inside, limit)
        ends = [at for at in (equals, colon) if at >= 0]
        found.body = min(ends, default=found.end)
    else:
        found.body = found.end


def members(found: Definition, code: bytes) -> Iterator[Definition]:
    """Constructors and fields of a type."""
    for pattern, kind in ((CONSTRUCTOR, "constant"), (FIELD, "property")):
        for match in pattern.finditer(code, found.inside, found.end):
            start, end = match.span("name")
            yield Definition(match["name"].decode(errors="replace"), kind, start, end, start, end, end)
