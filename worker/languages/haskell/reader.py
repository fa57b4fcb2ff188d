"""Declarations of Haskell, which begin at the margin: https://www.haskell.org/onlinereport/haskell2010/haskellch10.html.

A signature and the equations of the same name that follow are one definition.
"""

import re
from collections.abc import Iterator

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.blanking import blanked, code_end
from fledgling.worker.extracting.outline import Definition, FileOutline, FoundImport

NESTED = rb"\{-(?!\#)(?>(?:[^{-]++|-(?!\})|\{(?!-)|\{-(?>(?:[^-]++|-(?!\}))*)(?:-\}|\Z))*)(?:-\}|\Z)"
TOKEN = deferred(
    rb"(?P<comment>" + NESTED + rb"|(?<![!#$%&*+./<=>?@\\^|~:-])--+(?![!#$%&*+./<=>?@\\^|~:])[^\n]*+)"
    rb"|(?P<string>\"(?>(?:[^\"\\\n]++|\\\s++\\|\\.)*)\"?+|(?<![\w'])'(?:[^'\\\n]|\\[^\n][^'\n]{0,8})')"
    rb"|(?P<directive>^\#[^\n]*+|\{-\#.*?(?:\#-\}|\Z))",
    re.MULTILINE | re.DOTALL,
)
DECLARATION = deferred(
    rb"^(?P<first>[^\s#}\])])(?>[^\n]*)(?>(?:\n(?:[ \t][^\n]*+|(?=\n)|[}\])][^\n]*+))*)", re.MULTILINE
)
OPERATOR = rb"[!#$%&*+./<=>?@\\^|~:-]++"
NAME = rb"(?:[a-z_][\w']*+\#*+|\( *+" + OPERATOR + rb" *+\))"
HEADS = [
    ("module", deferred(rb"module\s++(?P<name>[A-Z][\w.']*+)")),
    ("interface", deferred(rb"class\b(?:(?![^\n]*=>)|.*?=>)\s*+(?P<name>[A-Z][\w']*+)", re.DOTALL)),
    ("type", deferred(rb"type\s++(?:family\s++|data\s++)?+(?!instance\b|role\b)(?P<name>[A-Z][\w']*+)")),
    (
        "struct",
        deferred(rb"(?:data|newtype)\s++(?:family\s++)?+(?!instance\b)(?:[^=\n]*?=>\s*+)??(?P<name>[A-Z][\w']*+)"),
    ),
    ("function", deferred(rb"foreign\s++import\b.*?(?P<name>[a-z_][\w']*+)\s*+::", re.DOTALL)),
    ("function", deferred(rb"pattern\s++(?P<name>[A-Z][\w']*+)")),
]
SIGNATURE = deferred(rb"(?P<names>" + NAME + rb"(?>(?:\s*+,\s*+" + NAME + rb")*))\s*+::")
WORDS = deferred(NAME)
OTHER = deferred(rb"(?:instance|deriving|default|infix[lr]?|import|foreign|type|data|newtype|class|module|pattern)\b")
INFIX = deferred(
    rb"(?:[a-z_][\w']*+|[A-Z][\w.']*+|\([^()\n]*+(?:\([^()\n]*+\)[^()\n]*+)*+\)|\[[^\[\]\n]*+\])\s*+"
    rb"(?:`(?P<word>[a-z_][\w']*+)`|(?P<operator>(?!(?:=|\||::|<-|->|@|!|~)[^!#$%&*+./<=>?@\\^|~:-])"
    + OPERATOR
    + rb")(?=\s|[\w(\[]))"
)
EQUATION = deferred(rb"(?P<name>" + NAME + rb")(?=\s|[({\[\"!~=|@])")
IMPORT = deferred(
    rb"import\s++(?:safe\s++)?+(?:qualified\s++)?+(?:\"[^\"\n]*+\"\s*+)?+(?P<module>[A-Z][\w.']*+)(?:\s++qualified)?+"
    rb"(?:\s++as\s++(?P<alias>[A-Z][\w.']*+))?(?:\s*+(?P<hiding>hiding)?\s*+\((?P<names>(?>(?:[^()]++|\([^()]*+\))*)))?"
)
IMPORTED = deferred(rb"(?:^|[,(])\s*+(?:type\s++|pattern\s++)?+\(?+\s*+(?P<name>(?!\.\.\s*+\))[^\s,()]++)")
CONSTRUCTOR = deferred(
    rb"(?:=|\|)\s*+(?:forall\b[^.\n]*+\.\s*+)?+(?:[^=|\n{]*?=>\s*+)??(?P<name>[A-Z][\w']*+)(?!\s*+=>)"
)
GADT = deferred(rb"^[ \t]++(?P<names>[A-Z][\w']*+(?>(?:\s*+,\s*+[A-Z][\w']*+)*))\s*+::", re.MULTILINE)
FIELDS = deferred(rb"\{(?P<fields>[^{}]*+)\}")
FIELD = deferred(rb"(?:^|,)\s*+(?P<names>[a-z_][\w']*+(?>(?:\s*+,\s*+[a-z_][\w']*+)*))\s*+::")
METHOD = deferred(
    rb"(?:^[ \t]++|\bwhere[ \t]++)(?:default\s++)?+(?P<names>" + NAME + rb"(?>(?:\s*+,\s*+" + NAME + rb")*))\s*+::",
    re.MULTILINE,
)
ASSOCIATED = deferred(
    rb"^[ \t]++(?P<kind>type|data)\s++(?:family\s++)?+(?!instance\b)(?P<name>[A-Z][\w']*+)", re.MULTILINE
)


def outline(source: bytes) -> FileOutline:
    """What a module declares: `outline(b"f :: Int\\nf = 1\\n")` has `f`, of two lines."""
    code, comments = blanked(TOKEN, source)
    found = FileOutline([], comments)
    functions: dict[str, Definition] = {}
    for declaration in DECLARATION.finditer(code):
        text, start = declaration[0], declaration.start()
        end = code_end(code, start, declaration.end())
        if imported := IMPORT.match(text):
            found.imports.append(import_of(imported, start, end))
            continue
        made = list(declared(text, start, end)) or functions_of(text, start, end, functions)
        found.definitions += made
    if found.definitions and found.definitions[0].kind == "module":
        found.definitions[0].end = code_end(code, 0, len(code))
    return found


def import_of(match: re.Match[bytes], start: int, end: int) -> FoundImport:
    """`import qualified A.B as C (d, E(..))` is the module A.B, its alias or its names."""
    names = [(name(one["name"]), None) for one in IMPORTED.finditer(match["names"] or b"") if not match["hiding"]]
    pairs: list[tuple[str | None, str | None]] = [*names]
    if match["alias"] and not pairs:
        pairs = [(None, name(match["alias"]))]
    return FoundImport(name(match["module"]), start, end, pairs)


def declared(text: bytes, start: int, end: int) -> Iterator[Definition]:
    """What a declaration with a word of its own says: a module, a type with its parts, a class with its methods."""
    for kind, head in HEADS:
        if match := head.match(text):
            body = (
                text.find(b"=" if kind == "struct" else b"where", match.end())
                if kind in ("struct", "interface")
                else -1
            )
            whole = Definition(
                name(match["name"]), kind, start, end, start, start + match.end(), start + body if body >= 0 else end
            )
            if kind == "module":
                whole.body, whole.inside = start + match.end(), end
            yield whole
            yield from parts(kind, text, start, match.end())
            return


def parts(kind: str, text: bytes, start: int, at: int) -> Iterator[Definition]:
    """Constructors and fields of a type, methods of a class."""
    if kind == "struct":
        for one in CONSTRUCTOR.finditer(text, at):
            yield part(one, "constant", start)
        for one in GADT.finditer(text, at):
            yield from several(one, "constant", start, line_end(text, one.end()))
        for fields in FIELDS.finditer(text, at):
            for one in FIELD.finditer(fields["fields"]):
                yield from several(
                    one, "property", start + fields.start("fields"), line_end(fields["fields"], one.end())
                )
    elif kind == "interface":
        for one in METHOD.finditer(text, at):
            yield from several(one, "method", start, line_end(text, one.end()))
        for one in ASSOCIATED.finditer(text, at):
            yield part(one, "type", start)


def part(match: re.Match[bytes], kind: str, start: int) -> Definition:
    """What a match names in a text that begins at `start`."""
    begin, end = start + match.start("name"), start + match.end()
    return Definition(name(match["name"]), kind, begin, end, begin, end, end)


def several(match: re.Match[bytes], kind: str, start: int, end: int) -> Iterator[Definition]:
    """Each name of a match in a text that begins at `start`: `a, b :: Int` to the `end`."""
    begin = start + match.start("names")
    for word in match["names"].split(b","):
        yield Definition(name(word), kind, begin, start + end, begin, start + end, start + end)


def line_end(text: bytes, at: int) -> int:
    """Where the line that holds a place ends, without the comma behind a field."""
    newline = text.find(b"\n", at)
    end = len(text) if newline < 0 else newline
    return at + len(text[at : min(end, at + 400)].rstrip(b" \t,"))


def functions_of(text: bytes, start: int, end: int, known: dict[str, Definition]) -> list[Definition]:
    """What a signature or an equation names first; what it names again goes on."""
    signature = SIGNATURE.match(text)
    if signature:
        names = [name(word) for word in signature["names"].split(b",")]
    elif OTHER.match(text) or not (equation := equation_of(text)):
        return []
    else:
        names = [equation]
    body = end if signature else start + max(text.find(b"="), 0)
    made = []
    for word in names:
        if before := known.get(word):
            before.end = end
        else:
            known[word] = Definition(word, "function", start, end, start, end, body)
            made.append(known[word])
    return made


def equation_of(text: bytes) -> str | None:
    """The name that an equation is for: `f` of `f x = 1`, `<+>` of `a <+> b = 1`."""
    if b"=" not in text and b"|" not in text:
        return None
    if infix := INFIX.match(text):
        return name(infix["word"] or infix["operator"])
    match = EQUATION.match(text)
    return name(match["name"]) if match else None


def name(word: bytes) -> str:
    """A name without brackets: `<>` of `(<>)`."""
    return word.decode(errors="replace").strip("() \t\n")
