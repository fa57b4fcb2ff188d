"""Definitions and imports of Clojure by its own reader's rules: https://clojure.org/reference/reader.

`_FormReader` reads text into forms, in time linear in the text and down to MAX_DEPTH; `Namespace` says what the
top-level ones define. Quoted, discarded and `comment` forms define nothing; all branches of a reader conditional do.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence

from msgspec import Struct

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.outline import Definition, FileOutline, FoundImport
from fledgling.worker.language import own_text

RULES = tomllib.loads(own_text("clojure/forms.toml"))
KINDS: dict[str, str] = RULES["kinds"]
FORMS: dict[str, frozenset[str]] = {use: frozenset(names) for use, names in RULES["forms"].items()}

MAX_DEPTH = 6  # what is nested deeper is balanced, not kept: no definition or import has its parts there
MAX_FORMS = 200_000  # half a second's work, for a megabyte of ordinary text
ATOM = rb"""[^\s,()\[\]{}";@^`~\\]"""
TOKEN = deferred(
    rb"(?P<blank>[\s,]++)"
    rb"|(?P<comment>;[^\n]*+|#![^\n]*+)"
    rb'|(?P<text>\#?"(?>(?:[^"\\]++|\\.)*)(?P<quote>"?))'
    rb"|(?P<char>\\.(?:" + ATOM + rb")*+)"
    rb"|(?P<open>\#\?@?\s*+\(|\#\(|\#\{|\#::?" + ATOM + rb"*+\s*+\{|[(\[{])"
    rb"|(?P<close>[)\]}])"
    rb"|(?P<prefix>\#_|\#'|\#\^|\#=|\#\#|['`@^]|~@?|\#(?=" + ATOM + rb"))"
    rb"|(?P<atom>" + ATOM + rb"++)"
    rb"|(?P<unknown>.)",
    re.DOTALL,
)
DEEP = deferred(
    rb"(?P<blank>(?>(?:[^\"\\;()\[\]{}\#]++|\#(?!!))+))"
    rb"|(?P<comment>;[^\n]*+|#![^\n]*+)"
    rb'|(?P<text>"(?>(?:[^"\\]++|\\.)*)(?P<quote>"?))'
    rb"|(?P<char>\\(?:.|\Z))"
    rb"|(?P<open>[(\[{])"
    rb"|(?P<close>[)\]}])",
    re.DOTALL,
)
CLOSING = {b"(": b")", b"[": b"]", b"{": b"}"}
TWO = (b"^", b"#^", b"#")  # prefixes before two forms: metadata or a tag, and what has it
ESCAPE = deferred(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class _Form(Struct):
    """`source[start:end]`: an atom, text, a collection of forms, or forms behind a prefix; `mark` is its first token.

    Metadata is not a form of its own, but kept in `meta` of what has it.
    """

    mark: bytes
    start: int
    end: int
    forms: list["_Form"] = []
    meta: list["_Form"] = []

    @property
    def name(self) -> str:
        """A symbol or keyword as it is written; "" for anything else."""
        return self.mark.decode(errors="replace") if self.mark[:1] not in b"([{\"#\\'`@~" else ""

    @property
    def head(self) -> str:
        """The first symbol of a list without its namespace: `defn` of `(s/defn f [])`, else ""."""
        name = self.forms[0].name if self.mark == b"(" and self.forms else ""
        return name.rpartition("/")[2] or name


# ---- the reader ------------------------------------------------------------------------------------------------------


class _FormReader:
    """Reads a text into its top-level forms."""

    def __init__(self, source: bytes, *, by_column: bool) -> None:
        self._source = source
        self._by_column = by_column
        self._open: list[_Form] = []
        self._deep = bytearray()  # the brackets open beyond MAX_DEPTH
        self.forms: list[_Form] = []
        self.comments: list[tuple[int, int]] = []
        self.balanced = True
        self.position = 0

    def read(self) -> None:
        """Read all; with `by_column`, a bracket at the start of a line closes what is still open."""
        forms = 0
        while self.position < len(self._source) and forms < MAX_FORMS:
            start = self.position
            match = (DEEP if self._deep else TOKEN).match(self._source, start)
            if not match:
                break
            self.position = match.end()
            if match.lastgroup == "comment":
                self.comments.append(match.span())
            elif match.lastgroup != "blank":
                forms += 1
                if match.lastgroup == "open" and self._by_column and self._source[start - 1 : start] in (b"", b"\n"):
                    self._close_all(start)
                self._add(match.lastgroup or "", match)
        self._close_all(len(self._source.rstrip()))
        self.balanced = self.balanced and self.position == len(self._source)

    def _add(self, kind: str, match: re.Match[bytes]) -> None:
        token, (start, end) = match[0], match.span()
        self.balanced = self.balanced and kind != "unknown" and match["quote"] != b""
        if kind == "close" and self._deep:
            self._close_deep(token, end)
        elif kind == "close":
            self._close(token, end)
        elif kind == "open" and (self._deep or len(self._open) > MAX_DEPTH):
            self._deep += token[-1:]
        elif kind in ("open", "prefix"):
            self._open.append(_Form(b"".join(token.split()), start, end))
        elif not self._deep:
            self._done(_Form(token[:1] if kind == "char" else token, start, end))

    def _close_deep(self, token: bytes, end: int) -> None:
        self.balanced = self.balanced and CLOSING[bytes(self._deep[-1:])] == token
        del self._deep[-1]
        if not self._deep:
            self._done(_Form(b"[", end, end))  # in place of what was skipped

    def _close(self, token: bytes, end: int) -> None:
        while self._open and self._open[-1].mark[-1:] not in CLOSING:  # a prefix with nothing behind it
            self._open.pop()
            self.balanced = False
        if not self._open:
            self.balanced = False
            return
        form = self._open.pop()
        form.end = end
        self.balanced = self.balanced and CLOSING[form.mark[-1:]] == token
        self._done(form)

    def _close_all(self, end: int) -> None:
        self._deep.clear()
        while self._open:
            form = self._open.pop()
            form.end = end
            self.balanced = False
            if form.mark[-1:] in CLOSING:
                self._done(form)

    def _done(self, form: _Form) -> None:
        """Hand a form to what holds it: brackets, or prefixes, which may be complete by it."""
        while self._open and self._open[-1].mark[-1:] not in CLOSING:
            prefix = self._open[-1]
            prefix.forms.append(form)
            if len(prefix.forms) < (2 if prefix.mark in TWO else 1):
                return
            self._open.pop()
            prefix.end = form.end
            if prefix.mark == b"#_":
                return
            if prefix.mark in (b"^", b"#^"):
                prefix.forms[0].meta = []  # nobody asks for it, and it may nest without end
                form.meta.append(prefix.forms[0])
                form.start = prefix.start
            else:
                prefix.forms = form.forms if form.mark[-1:] not in CLOSING and form.forms else [form]  # ''a is 'a
                form = prefix
        if not self._open:
            self.forms.append(form)
        elif len(self._open) <= MAX_DEPTH:
            self._open[-1].forms.append(form)


def outline(source: bytes) -> FileOutline:
    """What a file defines and imports; where brackets do not balance, each at the start of a line begins anew."""
    reader = _FormReader(source, by_column=False)
    reader.read()
    complete = reader.balanced
    if not complete and reader.position == len(source):
        reader = _FormReader(source, by_column=True)
        reader.read()
    namespace = Namespace()
    for form in reader.forms:
        namespace.add(form)
    return FileOutline(namespace.definitions, reader.comments, complete, namespace.imports)


def branches(forms: Sequence[_Form]) -> Iterator[_Form]:
    """The forms with those of all branches in place of reader conditionals: `a #?(:clj b :cljs c)` is a, b, c."""
    todo = list(reversed(forms))
    while todo:
        form = todo.pop()
        if form.mark == b"#?(":
            todo += form.forms[1::2][::-1]
        elif form.mark == b"#?@(":
            todo += [inner for branch in form.forms[1::2] for inner in branch.forms][::-1]
        else:
            yield form


# ---- definitions -----------------------------------------------------------------------------------------------------


class Namespace:
    """What top-level forms say, in order: `(ns a.b)` and `(in-ns 'a.b)` name what follows."""

    def __init__(self) -> None:
        self._name: str | None = None
        self.definitions: list[Definition] = []
        self.imports: list[FoundImport] = []

    def add(self, form: _Form) -> None:
        """Look at a top-level form and at those it holds."""
        todo = [form]
        while todo:
            for found in branches([todo.pop()]):
                head = found.head
                if head in FORMS["transparent"]:
                    todo += found.forms[:0:-1]
                elif head in FORMS["imports"]:
                    self.imports += clause_imports(found.forms, head)
                elif head == "in-ns" and len(found.forms) > 1:
                    self._name = unquoted(found.forms[1]).name or self._name
                elif head in KINDS or (head.startswith("def") and head not in FORMS["no_definition"]):
                    self._define(found, head, list(branches(found.forms[1:])))

    def _define(self, form: _Form, head: str, arguments: list[_Form]) -> None:
        name = arguments[0].name if arguments else ""
        if not name or name[0] in ":0123456789" or name == "nil":
            return
        if head == "ns":
            self._name = name
            for clause in branches(arguments[1:]):
                first = clause.forms[0].name if clause.forms else ""
                if first[:1] == ":" and first[1:] in FORMS["imports"]:
                    self.imports += clause_imports(clause.forms, first[1:])
        doc, rest = documented(arguments[1:], head)
        described = arguments[1 : len(arguments) - len(rest)]
        maps = [*arguments[0].meta, *form.meta, *(found for found in arguments[1:3] if found.mark == b"{")]
        parameters = next((found for found in rest if is_parameters(found)), None)
        kind = KINDS.get(head) or ("function" if parameters else "variable")
        is_private = head in FORMS["private"] or any(has(found, ":private") for found in maps)
        if kind == "variable" and any(has(found, ":const") for found in maps):
            kind = "constant"
        text = doc or next(
            (value for found in maps if (value := entry(found, ":doc")) and value.mark[:1] == b'"'), None
        )
        definition = Definition(
            name=name,
            kind=kind,
            start=form.start,
            end=form.end,
            head=form.forms[0].start - 1,
            inside=arguments[0].end,
            doc=repr(string(text).strip()) if text else None,
            visibility="private" if is_private else None,
            parent=None if head == "ns" else self._name,
            gap=(described[0].start, described[-1].end) if described else None,
        )
        if kind in ("variable", "constant"):
            definition.value = rest[0].start if rest else None
        elif parameters and head not in ("ns", "defprotocol", "definterface"):
            vector = parameters if parameters.mark == b"[" else parameters.forms[0]
            definition.body = vector.end
        else:
            definition.body = rest[0].start if rest and head != "defmulti" else None
        self.definitions.append(definition)
        if kind in ("interface", "class"):
            self.definitions += methods(rest, documented=kind == "interface")


def methods(forms: Sequence[_Form], *, documented: bool) -> Iterator[Definition]:
    """Methods in the body of a protocol or record: `(area [shape] "Its area.")`."""
    for form in branches(forms):
        if form.mark == b"(" and len(form.forms) > 1 and form.forms[0].name:
            parameters = next((found for found in form.forms[1:] if found.mark == b"["), None)
            if parameters:
                text = form.forms[-1] if documented and form.forms[-1].mark[:1] == b'"' else None
                yield Definition(
                    name=form.forms[0].name,
                    kind="method",
                    start=form.start,
                    end=form.end,
                    head=form.start,
                    inside=parameters.end,
                    body=parameters.end,
                    doc=repr(string(text).strip()) if text else None,
                )


def documented(arguments: list[_Form], head: str) -> tuple[_Form | None, list[_Form]]:
    """The docstring and what comes behind it and the map of attributes."""
    doc = None
    is_documented = head not in FORMS["undocumented"] and arguments and arguments[0].mark[:1] == b'"'
    if is_documented and (len(arguments) > 1 or head in ("ns", "defprotocol")):
        doc, arguments = arguments[0], arguments[1:]
    if head not in ("def", "defonce") and arguments and arguments[0].mark == b"{":
        arguments = arguments[1:]
    return doc, arguments


def is_parameters(form: _Form) -> bool:
    """Whether a form is a vector, or a list that begins with one: one of several arities."""
    return form.mark == b"[" or (form.mark == b"(" and bool(form.forms) and form.forms[0].mark == b"[")


def has(meta: _Form, key: str) -> bool:
    """Whether metadata sets a key: `^:private`, `^{:private true}`."""
    value = entry(meta, key)
    return meta.name == key or (value is not None and value.name not in ("false", "nil"))


def entry(meta: _Form, key: str) -> _Form | None:
    """The value of a key in a map."""
    if meta.mark != b"{":
        return None
    return next(
        (value for name, value in zip(meta.forms[::2], meta.forms[1::2], strict=False) if name.name == key), None
    )


def string(form: _Form) -> str:
    """The value of a string: without its quotes and escapes."""
    text = form.mark.decode(errors="replace")[1:].removesuffix('"')
    return ESCAPE.sub(unescaped, text)


def unescaped(match: re.Match[str]) -> str:
    r"""The character of an escape: `\n` is a line feed."""
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else ESCAPED.get(code, code)


def unquoted(form: _Form) -> _Form:
    """`'a` is a."""
    while form.mark in (b"'", b"`") and form.forms:
        form = form.forms[0]
    return form


# ---- imports ---------------------------------------------------------------------------------------------------------


def clause_imports(forms: Sequence[_Form], verb: str) -> Iterator[FoundImport]:
    """What `(:require ...)`, `(:use ...)`, `(:import ...)` or the functions of these names import."""
    for quoted in branches(forms[1:]):
        form = unquoted(quoted)
        if verb == "import":
            yield from class_imports(form)
        else:
            yield from libraries(form, "", uses=verb.startswith("use"))


def class_imports(form: _Form) -> Iterator[FoundImport]:
    """`java.util.Date` and `(java.util Date List)`."""
    if form.mark in (b"(", b"["):
        package, *classes = (found.name for found in branches(form.forms)) if form.forms else ("",)
        if package:
            yield FoundImport(package, form.start, form.end, [(name, None) for name in classes if name])
    elif form.name and form.name[0] != ":":
        package, _, name = form.name.rpartition(".")
        yield FoundImport(package or name, form.start, form.end, [(name, None)] if package else [])


def libraries(form: _Form, prefix: str, *, uses: bool) -> Iterator[FoundImport]:
    """`a.b`, `[a.b :as b :refer [c]]`, `"react"`, and `(a [b :as c] d)`, which means a.b and a.d."""
    name = form.name or (string(form) if form.mark[:1] == b'"' else "")
    if name and name[0] != ":":
        yield FoundImport(prefix + name, form.start, form.end, [("*", None)] if uses else [])
    elif form.mark in (b"(", b"["):
        first, *rest = list(branches(form.forms)) or [form]
        name = first.name or (string(first) if first.mark[:1] == b'"' else "")
        if name and rest and rest[0].name[:1] != ":" and not prefix:
            for inner in rest:
                yield from libraries(inner, f"{name}.", uses=uses)
        elif name:
            yield FoundImport(prefix + name, form.start, form.end, list(options(rest, uses=uses)))


def options(forms: list[_Form], *, uses: bool) -> Iterator[tuple[str | None, str | None]]:
    """Pairs of a name and what it is called here, of `:as b :refer [c d] :rename {d e}`."""
    given = {key.name: value for key, value in zip(forms[::2], forms[1::2], strict=False)}
    for key in (":as", ":as-alias"):
        if key in given and given[key].name:
            yield None, given[key].name
    renamed = given.get(":rename")
    names = [found.name for found in renamed.forms] if renamed and renamed.mark == b"{" else []
    new = dict(zip(names[::2], names[1::2], strict=False))
    listed = [given[key] for key in (":refer", ":only", ":refer-macros") if key in given]
    for found in listed:
        if found.name == ":all":
            yield "*", None
        yield from ((inner.name, new.get(inner.name)) for inner in found.forms if inner.name)
    if uses and not listed:
        yield "*", None
