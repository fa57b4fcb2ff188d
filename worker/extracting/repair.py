"""From a text to the tree that says most of it: by the repairs that a language lists, and by other grammars.

A repair is a module in the folder of a language, and named in a row: `repairs = ["c.macros"]`. All of them keep every
byte of what they leave where it was. What one does, its function says:

    apart(text)              reads what needs no parser, and leaves it out, always: directives of C
    respelled(text)          in the graph, the text with signs that a grammar knows in the place of others, always
    first(text)              the spans to leave out at first; with errors left, the text is parsed with them as well
    given(text)              the same, by what they stand around: with errors left in that, without the others first
    repaired(text, unknown)  where errors are left, and where they stand; it counts if it leaves fewer
    others(text)             where a repair leaves out what another reading would hold: the texts of those
    decorators(text)         the spans with which the definition behind them begins, whatever a grammar says
    conditionals(text, changed)  the spans of those of which a repair has kept a branch, by where it changed the text
    systems(text)            from which line on it may be compiled on which systems (worker/systems.py)
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate, chain

import re2
from msgspec import Struct
from tree_sitter import Range, Tree

from fledgling.worker.extracting.captures import Captured
from fledgling.worker.extracting.elided_bodies import Blanked, between, moved
from fledgling.worker.extracting.grammar import Syntax, errors, unknown
from fledgling.worker.extracting.outline import Definition, FoundImport
from fledgling.worker.extracting.source_text import Span, without
from fledgling.worker.language import Language, own_module

STAGES = ("apart", "respelled", "first", "given", "repaired", "others", "decorators", "conditionals", "systems")
NEAR = 1000
IsLate = Callable[[], bool]  # whether so much time has gone that a text is to be taken as it is
SIGN = lru_cache(re2.compile)  # of another language, in the whole of a text: RE2 takes a twentieth of the time


class Apart(Struct):
    """A text without what was read apart from it: what that says, and what of the text is `blank` now."""

    text: bytes
    blank: Sequence[Span] = ()
    definitions: Sequence[Definition] = ()
    imports: Sequence[FoundImport] = ()
    comments: Sequence[Span] = ()
    decorators: Sequence[Span] = ()


class Repaired(Struct):
    """A repaired text; what of it no parser has seen is no part of a signature, but may hold comments."""

    text: bytes
    left_out: Sequence[Span] = ()
    comments: Sequence[Span] = ()


class Repairs(Struct, frozen=True):
    """The functions of the repairs that a row names, in its order: `repairs(row.repairs).apart`."""

    apart: list[Callable[[bytes], Apart]]
    respelled: list[Callable[[bytes], bytes]]
    first: list[Callable[[bytes], list[Span]]]
    given: list[Callable[[bytes], list[list[Span]]]]
    repaired: list[Callable[[bytes, Iterable[Span]], Repaired]]
    others: list[Callable[[bytes], Iterator[bytes]]]
    decorators: list[Callable[[bytes], list[Span]]]
    conditionals: list[Callable[[bytes, list[Span]], Iterator[Span]]]
    systems: list[Callable[[bytes], list[tuple[int, int]]]]


def never() -> bool:
    """For those who have all the time."""
    return False


@cache
def repairs(names: tuple[str, ...]) -> Repairs:
    """Import repairs by their names; a file is opened for that the first time only."""
    modules = [own_module(*name.partition(".")[::2]) for name in names]
    stages = [[getattr(module, stage) for module in modules if hasattr(module, stage)] for stage in STAGES]
    return Repairs(*stages)


class RepairedReading(Struct):
    """What a text says by the grammar that knows it best, and what of the text no parser has seen."""

    language: Language
    captured: Captured
    left_out: list[Span]


def read(syntaxes: list[Syntax], source: bytes, blanked: Blanked, is_late: IsLate) -> RepairedReading:
    """What a text says without some bodies, and the grammar that knows it."""
    in_order = in_turn(syntaxes, blanked.text)
    text, blank, parts = read_apart(in_order[0], blanked)
    syntax, tree, repaired = understand(in_order, blanked.text, text, between(text, blank), is_late)
    captured = syntax.find(source, tree)
    for part in parts:
        captured.take(part.definitions, part.imports, part.comments, part.decorators)
    captured.take(comments=[span for each in repaired for span in each.comments])
    return RepairedReading(syntax.row, captured, [span for each in repaired for span in each.left_out])


def read_others(syntaxes: list[Syntax], source: bytes, blanked: Blanked, is_late: IsLate) -> Iterator[RepairedReading]:
    """What it says where a repair has to leave something out, read in each of the other ways."""
    syntax = in_turn(syntaxes, blanked.text)[0]
    text, blank, _ = read_apart(syntax, blanked)
    for other in (other for others in repairs(syntax.row.repairs).others for other in others(text)):
        syntax, tree, repaired = understand([syntax], blanked.text, other, between(text, blank), is_late)
        left_out = [span for each in repaired for span in each.left_out]
        yield RepairedReading(syntax.row, syntax.find(source, tree), left_out)


def read_apart(syntax: Syntax, blanked: Blanked) -> tuple[bytes, list[Span], list[Apart]]:
    """The text that is for the parser, what of it is blank, and what needs no parser."""
    text, blank, parts = blanked.text, blanked.blank, []
    for apart in repairs(syntax.row.repairs).apart:
        parts.append(apart(text))
        text, blank = parts[-1].text, [*blank, *parts[-1].blank]
    return text, blank, parts


def understand(
    syntaxes: list[Syntax], source: bytes, text: bytes, ranges: list[Range], is_late: IsLate = never
) -> tuple[Syntax, Tree, list[Repaired]]:
    """The first grammar that parses the text without error, else the one with the fewest errors, with its tree.

    And the repairs that are in that; the text of the last one is what was parsed. None is begun once it `is_late`.
    """
    best, *others = syntaxes
    text, tree = at_first(best, text, ranges)
    fewest = errors(tree, source)
    made = [Repaired(text)]
    for repair in repairs(best.row.repairs).repaired:
        attempt = repair(text, unknown(tree)) if fewest and not is_late() else Repaired(text)
        if attempt.text != text:
            other = best.parse(attempt.text, ranges)
            if (count := errors(other, source)) < fewest:
                text, tree, fewest = attempt.text, other, count
                made.append(attempt)
    for syntax in others:
        if fewest and not is_late() and (syntax.row is syntaxes[0].row or looks_like(syntaxes[0].row, source)):
            other = syntax.parse(text, ranges)
            if (count := errors(other, source)) < fewest:
                best, tree, fewest = syntax, other, count
    return best, tree, made


def at_first(syntax: Syntax, source: bytes, ranges: list[Range]) -> tuple[bytes, Tree]:
    """The text without what is left out at first, and its tree, or that of all of the text if it has no more errors.

    Where something is given that the grammar knows, that has to have fewer.
    """
    joined, made = together(source, ranges), repairs(syntax.row.repairs)
    firsts = [*spread((span for first in made.first for span in first(joined)), ranges)]
    groups = [[*spread(group, ranges)] for given in made.given for group in given(joined)]
    spans = sorted([*firsts, *chain.from_iterable(groups)])
    text = without(source, spans) if spans else source
    tree = syntax.parse(text, ranges)
    if groups and tree.root_node.has_error and len(known := known_groups(groups, tree)) < len(groups):
        groups, spans = known, sorted([*firsts, *chain.from_iterable(known)])
        text = without(source, spans)
        tree = syntax.parse(text, ranges)
    if spans and (fewest := errors(tree, source)):
        attempt = syntax.parse(source, ranges, edited(tree, source, spans))
        tree = attempt if errors(attempt, source) <= fewest - bool(groups) else tree
    return text, tree


def known_groups(groups: list[list[Span]], tree: Tree) -> list[list[Span]]:
    """Those between whose first and last spans no error is."""
    places = sorted(unknown(tree))
    starts, ends = [start for start, _ in places], [*accumulate((end for _, end in places), max)]
    before = [bisect_right(starts, group[-1][1]) for group in groups]  # the errors that begin before it ends
    return [group for group, count in zip(groups, before, strict=True) if not count or ends[count - 1] < group[0][0]]


def together(source: bytes, ranges: list[Range]) -> bytes:
    """What a parser reads of a text, without what stands between: of C a third."""
    return b"".join(source[each.start_byte : each.end_byte] for each in ranges) if ranges else source


def spread(spans: Iterable[Span], ranges: list[Range]) -> Iterator[Span]:
    """Spans of what stands together as spans of the text."""
    ends = [*accumulate(each.end_byte - each.start_byte for each in ranges)]
    moves = [each.end_byte - end for each, end in zip(ranges, ends, strict=True)] or [0]
    for start, end in (span for span in spans if span[0] < span[1]):
        yield start + moves[bisect_right(ends, start)], end + moves[bisect_left(ends, end)]


def edited(tree: Tree, source: bytes, blanked: list[Span]) -> Tree:
    """The tree as it is to be when spans within lines are no longer blank: parsing on from it takes half the time."""
    edited = tree.copy()
    at, point = 0, (0, 0)
    for start, end in blanked:
        at, point = start, moved(point, source, at, start)
        last = point[0], point[1] + end - start
        edited.edit(start, end, end, point, last, last)
    return edited


def around(spans: Iterable[Span]) -> Iterator[Span]:
    """Where to look for what made errors, in order, none in another."""
    begin = end = 0
    for start, behind in sorted(spans):
        if start - NEAR > end:
            yield begin, end
            begin = start - NEAR
        end = max(end, behind + NEAR)
    yield begin, end


def left_out(match: re.Match[bytes]) -> Iterator[Span]:
    """The spans that a match of a gap leaves out: its groups, if there are any."""
    spans = [match.span(group) for group in range(1, match.re.groups + 1) if match.start(group) >= 0]
    yield from spans or [match.span()]


def in_turn(syntaxes: list[Syntax], source: bytes) -> list[Syntax]:
    """The grammars to try: first that of the text's own language, but where there is little doubt only another."""
    sign = syntaxes[0].row.fallback_sure
    return syntaxes[-1:] if sign and SIGN(sign.encode()).search(source) else syntaxes


def looks_like(row: Language, source: bytes) -> bool:
    """Whether a text shows a sign of the language that is tried when its own does not parse it."""
    return SIGN(row.fallback_sign.encode()).search(source) is not None
