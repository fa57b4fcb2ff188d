"""Every occurrence of a name in the text, as `grep -ow` counts them, and what each of them is: an answer accounts for
all, so that "none" is no silence.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from fledgling.messages.languages import Unnamed
from fledgling.worker.deferred import deferred
from fledgling.worker.matching import prefilter
from fledgling.worker.of_tests import is_test
from fledgling.worker.rows import OF_MANY_OVERLOADS, WIDEST
from fledgling.worker.store.graph import (
    ANY_OF_LINE,
    GIVEN_UP,
    IN_PART,
    LEFT_OUT,
    NO_GRAPH,
    Graph,
    GraphDefinition,
    Occurrence,
)
from fledgling.worker.store.symbols import Row
from fledgling.worker.store.text import File
from fledgling.worker.tools import unknown
from fledgling.worker.tools.accounts import MOST, TEXTS, Account
from fledgling.worker.tools.request import Request
from fledgling.worker.unnamed import MAX_ABOVE

TYPES = ("class", "enum", "interface", "struct", "trait")
MADE = ("class", "enum", "struct")  # kinds that `new()` may make: C# admits no interface there
CALLABLE = ("function", "method", *TYPES)  # kinds whose names some languages let a use spell in any case
UNKNOWN = {GIVEN_UP: "not parsed", LEFT_OUT: "not in the graph"}
ITS_DEFINITION, ITS_TYPE = "its definition", "its type"
APART = {"field": "field", "module or namespace": "module"}  # reasons of classes of their own, and these
UNSEEN = {  # what may mean a definition, and was not looked at for it, where the graph lacks one of the two
    ITS_DEFINITION: ("text", "external", "local", *APART.values()),
    ITS_TYPE: ("external",),
}
NEW = deferred(rb"(?<![0-9A-Za-z_@])new[ \t]*\(")  # what makes an object without the name of its type
# What a line has before a value, if anything: no prose.
BEFORE_VALUE = (*(each.encode() for each in "=(,?:{[&|>;"), b"return")
NAMED = deferred(rb"[0-9A-Za-z_$\x80-\xff]*")  # what a name is at most, in UTF-8
# What stands behind a name that is read before it is written.
UPDATED = deferred(rb"\s*(?:(?:[-+*/%&|^@.~]|\*\*|//|<<|>>>?|&&|\|\||\?[?:])=(?!=)|\+\+|--)")
MOST_COMPARED = 2_000  # places in texts of which the most telling are looked for: some ten microseconds each
# What tells in a text that a name is one of the program: quotes, or what a path, a symbol or a class has before it.
TELLING = rb"[\"'`#@:.\\]%b(?![0-9A-Za-z_$])"


class NamePlace(NamedTuple):
    """Where a name stands in the text; the column is in bytes, from 0."""

    file: File
    line: int
    column: int
    is_as_asked: bool = True  # and not in another case


def account(request: Request, name: str, asked: Collection[GraphDefinition], *, of_texts: bool = False) -> Account:
    """Return what each occurrence of a name is, seen from some definitions of it; `of_texts` the most telling first."""
    classes: Counter[str] = Counter()
    unresolved: dict[str, list[str]] = {}
    texts: dict[str, list[NamePlace]] = {}
    lacks = {_lacks(request, each) for each in asked}
    lacking = None if None in lacks else next((each for each in UNSEEN if each in lacks), None)
    in_any_case = any(_goes_by_any_case(request, each, name) for each in asked)
    families = {unknown.family(request, request.blocks.file(each.file)) for each in asked}
    meant = {each._replace(place=place) for each in asked for place in (each.place, ANY_OF_LINE)}
    places = [*islice(_places(request, name, any_case=in_any_case), MOST + 1)]
    for place in places[:MOST]:
        kind, reason = _class(request, place, meant)
        if lacking and kind in UNSEEN[lacking]:
            kind, reason = "unresolved", f"{lacking} is not in the graph"
        if (reason or kind == "keyword") and _is_of_others(request, place.file, families):
            kind, reason = "elsewhere", None
        classes[kind] += 1
        if reason:
            unresolved.setdefault(reason, []).append(f"{place.file.path}:{place.line}")
        elif kind in TEXTS or kind == "keyword":
            texts.setdefault(kind, []).append(place)
    aliased = _aliased(request, name, asked)
    differ = not all(place.is_as_asked for place in places)
    made, inferred = _made(request, name, asked), _inferred(request, asked)
    if of_texts:
        texts |= {kind: _telling(request, texts[kind], name, asked) for kind in TEXTS if kind in texts}
    in_texts = {kind: [f"{place.file.path}:{place.line}" for place in some] for kind, some in texts.items()}
    others = in_texts, _computed(request, asked)
    return Account(
        name, classes.total(), len(places) <= MOST, classes, unresolved, aliased, differ, made, inferred, *others
    )


def _telling(
    request: Request, places: Sequence[NamePlace], name: str, asked: Collection[GraphDefinition]
) -> list[NamePlace]:
    """Return where a name stands in texts: first beside what holds a definition of it, `[A::class, "b"]`, then as
    names of a program stand in texts, `"b"`, `:b`, `"a#b"`; what tests say last of these.
    """
    assert request.outlines
    holders = set[bytes]()
    for each in asked:
        file = request.blocks.file(each.file)
        rows = [row for row in request.outlines.beginning(file, each.line) if row.name == name]
        stem = file.path.rpartition("/")[2].partition(".")[0]
        holders |= {(row.parent_name or stem).rpartition(".")[2].lower().encode() for row in rows}
    beside = [pattern(holder) for holder in holders if holder and holder != name.lower().encode()]
    telling = re.compile(TELLING % re.escape(name.encode()))

    def rank(place: NamePlace) -> tuple[int, bool]:
        request.check()
        line = line_of(request, place.file, place.line)
        is_beside = any(each.search(line.lower()) for each in beside)
        return (0 if is_beside else 1 if telling.search(line) else 2), is_test(place.file.path)

    return [*sorted(places[:MOST_COMPARED], key=rank), *places[MOST_COMPARED:]]


def _made(request: Request, name: str, asked: Collection[GraphDefinition]) -> list[str]:
    """Return where a name is made that may be this one: `getattr(a, "b_" + c)`."""
    assert request.graph
    making = request.graph.making(name, _classes_related(request, asked))
    return [f"{request.blocks.file(file).path}:{line}" for file, line in islice(making, MOST + 1)]


def _computed(request: Request, asked: Collection[GraphDefinition]) -> list[str]:
    """Return where any name is computed in languages that may use what is defined, those in the same file first."""
    assert request.graph
    own = {each.file for each in asked}
    known = {unknown.family(request, request.blocks.file(each)) for each in own}
    found: dict[int, list[int]] = {}  # file -> lines
    for file, line in request.graph.computing():
        found.setdefault(file, []).append(line)
    of_family = (file for file in found if unknown.family(request, request.blocks.file(file)) in known)
    in_order = sorted(of_family, key=lambda file: (file not in own, file))
    places = ((file, line) for file in in_order for line in sorted({*found[file]}))
    return [f"{request.blocks.file(file).path}:{line}" for file, line in islice(places, MOST + 1)]


def _classes_related(request: Request, asked: Collection[GraphDefinition]) -> set[GraphDefinition]:
    """Return the classes whose objects may have what is defined in some: those around, above and below; of what
    stands in none, the modules.
    """
    graph, found = request.graph, set[GraphDefinition]()
    assert graph
    found |= {GraphDefinition(each.file, 0) for each in asked if not any(_types_around(request, each))}
    around = {place for each in asked for place in _types_around(request, each)}
    for step in (graph.bases, graph.derived):
        reached = around
        while reached:
            request.check()
            found |= {each._replace(place=ANY_OF_LINE) for each in reached}
            reached = {
                place for each in reached for place in step(each) if place._replace(place=ANY_OF_LINE) not in found
            }
    return found


def _types_around(request: Request, asked: GraphDefinition) -> Iterator[GraphDefinition]:
    """Yield the types around a definition."""
    assert request.outlines
    file = request.blocks.file(asked.file)
    for row in request.outlines.definitions(file):
        if row.kind in TYPES and row.line_start <= asked.line <= row.line_end:
            yield GraphDefinition(asked.file, row.line_start, request.lines.together(file, row.line_start).place(row))


def is_derived_from(request: Request, asked: GraphDefinition) -> bool:
    """Return whether something is derived from a type around a definition."""
    assert request.graph
    return any(map(request.graph.derived, _types_around(request, asked)))


def _inferred(request: Request, asked: Collection[GraphDefinition]) -> list[str]:
    """Return where an object is made whose type is neither written nor told by the graph, if it may be one of these."""
    languages = request.opened.generation.infers_new
    if not any(_is_made(request, each, languages) for each in asked):
        return []
    places = (place for place in _places(request, "new", any_case=False, found=NEW) if place.file.language in languages)
    untold = (place for place in places if _is_untold(request, place))
    return [f"{place.file.path}:{place.line}" for place in islice(untold, MOST)]


def _is_untold(request: Request, place: NamePlace) -> bool:
    """Return whether a value may stand at a place, as far as its line tells, of which the graph knows nothing."""
    assert request.graph
    if request.graph.at(place.file.number, place.line, place.column):
        return False
    before = line_of(request, place.file, place.line)[: place.column].rstrip()
    return not before or before.endswith(BEFORE_VALUE)


def _is_made(request: Request, definition: GraphDefinition, languages: Collection[str]) -> bool:
    """Return whether `new` makes what is defined, or calls it: a type, or a constructor."""
    assert request.outlines
    file = request.blocks.file(definition.file)
    here = request.outlines.beginning(file, definition.line) if file.language in languages else ()
    return any(row.kind in MADE or is_constructor(row) for row in here)


def is_constructor(row: Row) -> bool:
    """Return whether a definition has the name of the class that it is in."""
    return row.qualified_name.split(".")[-2:] == [row.name, row.name]


def _places(
    request: Request, name: str, *, any_case: bool, found: re.Pattern[bytes] | None = None
) -> Iterator[NamePlace]:
    """Yield where a name stands as a whole word, in `any_case` where the language of a file admits that; or where
    there is what is to be `found`, which begins with the name.
    """
    assert request.signatures
    needed = prefilter.of_literal(name, case_sensitive=not any_case)
    blocks = request.blocks.in_order() if needed is None else request.signatures.holding(needed)
    word = name.encode()
    as_asked, in_small = found or pattern(word), pattern(word.lower())
    file: File | None = None
    for block in blocks:
        request.check()
        text = request.blocks.text(block)
        if file and not file.block <= block < file.block + file.blocks:
            file = None
        if any_case:
            file = file or request.blocks.file_of(block)
        is_small = file is not None and any_case and _any_case(request, file)
        line, counted = request.blocks.first_lines[block], 0
        for match in in_small.finditer(text.lower()) if is_small else as_asked.finditer(text):
            start = match.start()
            file = file or request.blocks.file_of(block)
            line += text.count(b"\n", counted, start)
            counted = start
            yield NamePlace(file, line, start - text.rfind(b"\n", 0, start) - 1, text.startswith(word, start))


def _any_case(request: Request, file: File) -> bool:
    """Return whether uses in a file may spell a name in another case."""
    return file.language in request.opened.generation.any_case


def _goes_by_any_case(request: Request, definition: GraphDefinition, name: str) -> bool:
    """Return whether uses may spell the name of a definition in another case: not that of a constant or a field."""
    assert request.outlines
    file = request.blocks.file(definition.file)
    here = request.outlines.beginning(file, definition.line)
    return _any_case(request, file) and any(row.name == name and row.kind in CALLABLE for row in here)


def _spelled(request: Request, file: File, name: bytes) -> bytes:
    """Return a name as names in a file are compared: in small letters, where they may be in any case."""
    return name.lower() if _any_case(request, file) else name


def pattern(word: bytes) -> re.Pattern[bytes]:
    r"""Return what finds a word in a text, as `grep -w` does: no letter, digit or `_` of ASCII is beside it.

    >>> [match.start() for match in pattern(b"run").finditer(b"run rerun run()")]
    [0, 10]
    """
    literal = re.escape(word)
    return re.compile(rb"%b(?![0-9A-Za-z_])(?<![0-9A-Za-z_]%b)" % (literal, literal))


def _class(request: Request, place: NamePlace, asked: Collection[GraphDefinition]) -> tuple[str, str | None]:
    """Return what an occurrence is, and the reason why nobody can tell."""
    graph = request.graph
    assert graph
    far = graph.how_far(place.file.number)
    if far in (NO_GRAPH, GIVEN_UP, LEFT_OUT):
        return _unparsed(request, place.file, far)
    if place.column > WIDEST:
        return "unresolved", f"beyond byte {WIDEST:,} of a line"
    rows = graph.at(place.file.number, place.line, place.column)
    if not rows:
        return ("unresolved", "parsed in part") if far == IN_PART else ("text", None)
    told = [row for row in rows if row.target in asked] or [row for row in rows if row.confidence == "unresolved"]
    if is_definition(next((row for row in told or rows if row.target), rows[0])):
        return "definition", None
    if rows[0].use in ("import", "keyword"):
        return rows[0].use, None
    return _resolved(graph, rows, asked)


def _is_of_others(request: Request, file: File, families: Collection[str]) -> bool:
    """Return whether a file is of a language with uses that cannot name what others of some families define."""
    graph = request.graph
    assert graph
    return graph.how_far(file.number) != NO_GRAPH and unknown.family(request, file) not in families


def _lacks(request: Request, asked: GraphDefinition) -> str | None:
    """Return what the graph lacks: a definition, or, where a text is parsed in part, a type around it."""
    graph = request.graph
    assert graph
    if not graph.leading_to(asked):
        return ITS_DEFINITION
    if graph.how_far(asked.file) != IN_PART:
        return None
    return None if all(map(graph.leading_to, _types_around(request, asked))) else ITS_TYPE


def _resolved(graph: Graph, rows: Sequence[Occurrence], asked: Collection[GraphDefinition]) -> tuple[str, str | None]:
    meant = [row for row in rows if row.target in asked]
    for confidence in ("certain", "likely", "possible"):
        if any(row.confidence == confidence for row in meant):
            return ("likely" if means_one_of(rows, asked) else confidence), None
    first = rows[0]
    if first.confidence == "unresolved":  # which is so, too, where it has more targets than are kept
        return "unresolved", graph.reasons[first.reason]
    kind = APART.get(graph.reasons[first.reason], first.confidence)
    return (kind, None) if first.confidence in ("local", "external") else ("other", None)


def means_one_of(rows: Sequence[Occurrence], asked: Collection[GraphDefinition]) -> bool:
    """Return whether what may mean many overloads surely means one of some: all overloads of a name, asked together."""
    return all(row.reason == OF_MANY_OVERLOADS and row.target in asked for row in rows)


def _unparsed(request: Request, file: File, far: int) -> tuple[str, str | None]:
    if far in UNKNOWN:
        return "unresolved", UNKNOWN[far]
    known = request.opened.generation
    is_code = file.language not in known.documents and file.language in {*known.undefined, *known.modules}
    return ("unresolved", f"no graph for {file.language}") if is_code else ("document", None)


def is_definition(row: Occurrence) -> bool:
    """Return whether a row is where what it means is defined: a variable is where it is assigned."""
    return row.target is not None and (row.use == "definition" or (row.use == "write" and row.target[:2] == row[1:3]))


def _aliased(request: Request, name: str, asked: Collection[GraphDefinition]) -> int:
    """Return how many uses of definitions go by another name: `from a import run as go`."""
    assert request.graph
    rows = (row for each in asked for row in request.graph.leading_to(each) if row.confidence != "possible")
    return sum(not stands_at(request, row, name) for row in rows)


def unnamed_of(request: Request, file: File) -> Unnamed:
    """Return what the language of a file runs or gives without a name."""
    return request.opened.generation.unnamed.get(file.language or "", Unnamed())


def head(request: Request, file: File, row: Row) -> Iterator[str]:
    """Yield the lines that a definition begins on: what stands above it, if anything does."""
    for line in range(row.line_start, min(row.line_end + 1, row.line_start + MAX_ABOVE)):
        yield line_of(request, file, line).decode().strip()


def word_at(request: Request, row: Occurrence) -> str:
    """Return the name that stands where a row is."""
    found = NAMED.match(line_of(request, request.blocks.file(row.file), row.line), row.column)
    assert found  # nothing matches as well
    line = found[0].decode()
    end = next((place for place, char in enumerate(line) if not (char.isalnum() or char in "_$")), len(line))
    return line[:end]


def is_read_too(request: Request, row: Occurrence) -> bool:
    """Return whether what is written where a row is, is read before: `a.b += c`, `a.b++`, `a.b ??= c`."""
    line = line_of(request, request.blocks.file(row.file), row.line)[row.column :]
    return UPDATED.match(line[len(word_at(request, row).encode()) :]) is not None


def stands_at(request: Request, row: Occurrence, name: str) -> bool:
    """Return whether a row is where a name stands."""
    file = request.blocks.file(row.file)
    line = line_of(request, file, row.line)[row.column :]
    return _spelled(request, file, line).startswith(_spelled(request, file, name.encode()))


def line_of(request: Request, file: File, line: int) -> bytes:
    """Return a line of a file in UTF-8; nothing of one that a view hides."""
    for block in request.blocks.holding(file, line, line):
        at = line - request.blocks.first_lines[block]
        return b"".join(request.blocks.text(block).split(b"\n")[at : at + 1])
    return b""


def of_parsing(request: Request, files: Sequence[File]) -> str | None:
    """Say which of some files were not parsed whole: uses in them may be missing."""
    assert request.graph
    names = [*dict.fromkeys(file.path for file in files if request.graph.how_far(file.number) == IN_PART)]
    return f"Parsed in part: {unknown.listed(names)}; uses may be missing there." if names else None
