"""Why an answer is empty: what was looked through, and what was not."""

import re
from collections.abc import Set
from difflib import get_close_matches
from typing import NamedTuple

import msgspec

from fledgling.messages.questions import Search, Symbols
from fledgling.plain import by_depth, counted
from fledgling.worker.deferred import deferred
from fledgling.worker.matching import globs, prefilter
from fledgling.worker.matching import lines as matching
from fledgling.worker.store.symbols import DEFINITIONS
from fledgling.worker.tools import paths, unknown, unlisted
from fledgling.worker.tools.request import Request

_NAME = deferred(r"[^\W\d]\w*")  # a query that may be one
_OF_MODULE = deferred(r"\w+(?:(?:\.|::)\w+)*")

SHOWN_LANGUAGES = 5  # in a note
MAX_NEAR = 64  # characters of a name that is compared with others, which takes the square of them: few are longer
MOST_NEAR = 3  # names that are shown: who misspelled one knows it among so few
LENGTHS = 4  # a name is nearly as long as another if they differ by a quarter of it, as by a letter of `load`
LEAST_PART = 4  # letters of a word that is looked for within names: shorter ones resemble too many
PREFIX = 2  # letters that a name has to hold for its words to be compared: who misspells a word rarely begins it so
SIMILARITY = 0.9  # by Jaro and Winkler, at least: a letter too many, or two in the wrong order, and no other word
_AROUND = deferred(r"\*{0,2}([^*?\[{]+)\*{0,2}")  # a glob that asks for one text of a name


class _Near(NamedTuple):
    name: str


class _Named(NamedTuple):
    total: int
    row: int | None


class _Covered(NamedTuple):
    language: str | None
    skip_reason: str | None
    files: int


def of_text(request: Request, question: Search, asked: unknown.Searched, tagged: Set[int] | None = None) -> str | None:
    """Say where text was looked for, if in `tagged` files alone: `Nothing found in 812 files. Not looked into: ...`"""
    if not request.opened.generation.has_content:
        return unknown.NO_TEXT
    covered = _covered(request, question.path, question.language)
    if not covered:
        return _nothing_left(request, question.path, question.language)
    searched = sum(row.files for row in covered if row.skip_reason is None)
    if tagged is not None:
        searched = sum(1 for _ in asked.files(request, sorted(tagged)))
    if empty := _empty_file(request, asked):
        return empty
    is_name = bool(request.outlines and _NAME.fullmatch(question.query)) and not (question.path or question.language)
    return unknown.joined(
        f"Nothing found in {counted(searched, 'file')}." if searched or tagged is None else None,
        unknown.of_paths(request, question.path),
        nearest_names(request, question.query) if is_name else None,
        _skipped(covered),
        unlisted.of_filter(request, question.path),
        unknown.of_encodings(request, asked),
        unknown.of_notebooks(request, asked),
        request.partial,
    )


def of_symbols(request: Request, question: Search | Symbols) -> str | None:
    """Say where definitions were looked for, and which languages have none in the index."""
    path, language = question.path, question.language
    covered = _covered(request, path, language)
    if not covered:
        return _nothing_left(request, path, language)
    defined = request.opened.generation.defined
    searched = sum(row.files for row in covered if row.language in defined and row.skip_reason is None)
    others = [row for row in covered if row.language not in defined and row.skip_reason is None]
    asked = unknown.scope(request, path, language)
    about = asked.about(request, name_of(question))
    if empty := _empty_file(request, asked):
        return empty
    searched -= len(unknown.given_up(request, asked))
    return unknown.joined(
        f"Nothing found in the definitions of {counted(searched, 'file')}." if searched else "Nothing found.",
        unknown.of_paths(request, path),
        unknown.of_parsing(
            request,
            unknown.naming(request, about, unknown.not_whole(request, about, question.kind)),
            "search() finds their text",
        ),
        nearest_names(request, _one_text(question)) or _nearest_parts(request, question),
        _undefined(others) if others else None,
        _skipped(covered),
        unlisted.of_filter(request, path),
        request.partial,
    )


def ways_to(request: Request, symbol: str) -> str:
    """Say what else to ask where nothing has a name, if that finds something; the name may be that of a file.

    >>> ways_to(request, "Engine.main")
    'symbols(name_pattern="*main*") lists names that hold it; search(query="main") finds text.'
    """
    if request.blocks.find(symbol):
        return f'It is a file: symbols(path="{symbol}") lists what it defines.'
    words = re.findall(r"\w+", symbol)
    word = words[-1] if words else symbol
    query = msgspec.json.encode(word).decode()
    ways = [
        f'symbols(name_pattern="*{word}*") lists names that hold it' if words and _is_in_names(request, word) else "",
        f"search(query={query}) finds text" if _is_in_text(request, word) else "",
    ]
    said = "; ".join(filter(None, ways)) or f"No name and no line of the index holds {query}"
    return " ".join(filter(None, (_as_module(request, symbol), f"{said}.")))


def _as_module(request: Request, symbol: str) -> str | None:
    """Say which files of code have a name, as that of a module: `pelican.signals`, `core::queue`."""
    if not _OF_MODULE.fullmatch(symbol):
        return None
    name = globs.literal(symbol.replace("::", "/").replace(".", "/"))
    found = map(request.blocks.find, paths.matching(request, rf"(^|/){name}\.[^./]+$"))
    code = request.opened.generation.code
    files = sorted([file.path for file in found if file and file.language in code], key=by_depth)
    if not files:
        return None
    return f'It is the name of {unknown.listed(files)}: symbols(path="{files[0]}") lists what that defines.'


def _is_in_names(request: Request, word: str) -> bool:
    everywhere = {"first": None, "last": None, "path": "", "language": None, "code": None}
    found = request.rows(
        "list_names",
        _Named,
        **everywhere,
        name=globs.name_pattern(f"*{word}*"),
        definitions=DEFINITIONS,
        max_results=1,
        offset=0,
    )
    return found[0].total > 0


def _is_in_text(request: Request, word: str) -> bool:
    """Return whether a line holds a word; where lines are not known, that it may."""
    if not request.opened.generation.has_content or not request.signatures:
        return True
    finding, needed = matching.matcher(Search(word)), prefilter.of_literal(word, case_sensitive=False)
    for block in request.blocks.in_order() if needed is None else request.signatures.holding(needed):
        request.check()
        if matching.places(finding, request.blocks.text(block)):
            return True
    return False


def of_filters(request: Request, question: Search) -> str | None:
    """Say why nothing is ranked of what the filters of a question leave."""
    covered = _covered(request, question.path, question.language)
    if not covered:
        return _nothing_left(request, question.path, question.language)
    asked = unknown.scope(request, question.path, question.language)
    return unknown.joined(
        _empty_file(request, asked), _skipped(covered), unlisted.of_filter(request, question.path), request.partial
    )


def _empty_file(request: Request, asked: unknown.Searched) -> str | None:
    """Say that the one file that was asked for has no line."""
    files = [*asked.files(request, request.blocks.files)] if asked.end - asked.first == 1 else []
    return f"{files[0].path} is empty." if files and files[0].line_count == 0 else None


def name_of(question: Search | Symbols) -> str:
    """Return a text that every name holds which a question asks for; empty where there is none."""
    if isinstance(question, Symbols):
        return max(globs.literals(question.name_pattern or ""), key=len, default="")
    return "" if question.is_regex else question.query


def _one_text(question: Search | Symbols) -> str:
    """Return the one text of a name that a question asks for; empty where it asks for several, `get_*_by_*`."""
    if isinstance(question, Symbols):
        around = _AROUND.fullmatch(question.name_pattern or "")
        return around[1] if around else ""
    return name_of(question)


def nearest_names(request: Request, asked: str) -> str | None:
    """Name the definitions of the index whose names resemble one that no definition has, wherever they are."""
    name = asked.rpartition(".")[2]
    if not name or len(name) > MAX_NEAR or (request.outlines and request.outlines.defines(name)):
        return None
    bounds = {"most": MOST_NEAR, "lengths": LENGTHS, "similarity": SIMILARITY}
    near = request.rows("nearest_names", _Near, name=name, definitions=DEFINITIONS, **bounds)
    return f"The nearest names: {', '.join(each.name for each in near)}." if near else None


def _nearest_parts(request: Request, question: Search | Symbols) -> str | None:
    """Say which words of names resemble the one that names should hold: of `*Formattr*` those with `Formatter`."""
    part = _one_text(question)
    is_glob = isinstance(question, Symbols) and part != question.name_pattern
    if not is_glob or not LEAST_PART <= len(part) <= MAX_NEAR:
        return None
    bounds = {"most": 1, "lengths": LENGTHS, "similarity": SIMILARITY, "prefix": PREFIX}
    near = request.rows("nearest_parts", str, name=part, definitions=DEFINITIONS, **bounds)
    return f'symbols(name_pattern="*{near[0]}*") lists names that hold the nearest word.' if near else None


def _undefined(others: list[_Covered]) -> str:
    names = dict.fromkeys(row.language or "unknown" for row in others)
    more = ", ..." if len(names) > SHOWN_LANGUAGES else ""
    shown = ", ".join(list(names)[:SHOWN_LANGUAGES])
    files = counted(sum(row.files for row in others), "file")
    return f"Definitions are not extracted from {files} ({shown}{more}): search() finds their text."


def _covered(request: Request, path: str | None, language: str | None) -> list[_Covered]:
    return request.rows("coverage", _Covered, path=paths.pattern(path), language=language)


def _skipped(covered: list[_Covered]) -> str | None:
    counts: dict[str, int] = {}
    for row in covered:
        if row.skip_reason:
            counts[row.skip_reason] = counts.get(row.skip_reason, 0) + row.files
    reasons = ", ".join(f"{files} {reason}" for reason, files in counts.items())
    return f"Not looked into: {reasons}." if reasons else None


def _nothing_left(request: Request, path: str | None, language: str | None) -> str | None:
    filters = [f"{name} {value!r}" for name, value in (("path", path), ("language", language)) if value is not None]
    if not filters:
        return "The index holds no file: the project is empty, or everything in it is ignored or excluded."
    if left_out := unlisted.found(request, paths.inside(path or "").partition("*")[0].rstrip("/")):
        return f"{left_out[0]} is in the project, but not indexed: {left_out[1]}."
    return unknown.joined(
        f"No file of the index has {' and '.join(filters)}.",
        _nearest_language(request, language) if language else None,
        paths.nearest(request, path) if path else None,
        "explore() lists what is there.",
        request.partial,
    )


def _nearest_language(request: Request, language: str) -> str | None:
    """Name the language of the index that resembles what was asked for."""
    blocks = request.blocks
    known = [name for place in {*blocks.languages} if (name := blocks.names[place])]
    near = get_close_matches(language, sorted(known), 1)
    return f"Did you mean {near[0]}?" if near and near[0] != language else None
