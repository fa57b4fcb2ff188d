"""The table of languages, read once at start, with every file that it names."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from fnmatch import translate
from typing import Any, TypeVar

import msgspec

from fledgling.messages.profile import Profile
from fledgling.worker.deferred import deferred
from fledgling.worker.dialect import Dialect
from fledgling.worker.language import FOLDER, PLACE, Language, LanguageError, Languages, own_text
from fledgling.worker.library import Library

OTHERS = "others.toml"
ROW = "*/language.toml"  # of a language that has a folder
GRAPH = "\n[graph"  # begins what the graph must know of a language, which stands last in its file

Shape = TypeVar("Shape")


class _OfGraph(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The end of a row."""

    graph: Dialect


def load_languages(profile: Profile | None = None, *, for_graph: bool = True) -> Languages:
    """Read the row of each folder, those of `others.toml`, and every file they name: nothing is opened later.

    Docstrings and comment lines are each a twentieth of the work, and no tool but `query` shows one: they are found
    only where `profile` lets somebody ask for them, or where none is given. What is read `for_graph` is half of all.
    Raises LanguageError.
    """
    tokens: dict[str, str] = _table("tokens.toml")
    rows = {name: _row(file, row, tokens) for name, file, row in sorted(_tables())}
    if profile and not profile.reads_all_of("symbols"):
        rows = {name: msgspec.structs.replace(row, docs=None) for name, row in rows.items()}
    if profile and not profile.reads_all_of("content"):
        rows = {name: msgspec.structs.replace(row, comment_lines=False) for name, row in rows.items()}
    languages = Languages(
        rows=rows,
        tokens=tokens,
        rules={name: own_text(name) for row in rows.values() for name in row.rules},
        by_extension={extension: name for name, row in rows.items() for extension in row.extensions},
        by_filename={filename: name for name, row in rows.items() for filename in row.filenames},
        by_interpreter={program: name for name, row in rows.items() for program in row.interpreters},
        manifests=_any_of(pattern for row in rows.values() for pattern in row.manifests),
    )
    return with_graph(languages) if for_graph else languages


def with_graph(languages: Languages) -> Languages:
    """Return the languages with what the graph must know of them, and the files that this names."""
    graphs = {path.parent.name: _graph(f"{path.parent.name}/{path.name}") for path in FOLDER.glob(ROW)}
    rules = {name: own_text(name) for graph in graphs.values() for name in (*graph.rules, *graph.last_rules)}
    return msgspec.structs.replace(
        languages,
        rows={
            name: msgspec.structs.replace(row, graph=graphs[name]) if name in graphs else row
            for name, row in languages.rows.items()
        },
        rules=languages.rules | rules,
    )


def _tables() -> Iterator[tuple[str, str, object]]:
    """The name of each language, the file that describes it, and what that says but for the graph."""
    others = _table(OTHERS)
    yield from ((name, OTHERS, row) for name, row in others.items())
    for path in FOLDER.glob(ROW):
        name, file = path.parent.name, f"{path.parent.name}/{path.name}"
        if name in others:
            raise LanguageError(f"{PLACE}/{OTHERS}", f"{name} has a folder; take its table out here")
        yield name, file, _parsed(file, own_text(file).partition(GRAPH)[0])


def _table(file: str) -> dict[str, Any]:
    return _parsed(file, own_text(file))


def _parsed(file: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise LanguageError(f"{PLACE}/{file}", problem) from problem


def _graph(file: str) -> Dialect:
    """What a file says for the graph; its lines keep their numbers."""
    before, begin, text = own_text(file).partition(GRAPH)
    if not begin:
        return Dialect()
    return _converted(file, _parsed(file, "\n" * before.count("\n") + begin + text), _OfGraph).graph


def _row(file: str, row: object, tokens: Iterable[str]) -> Language:
    """What a table says, if it says what a row may."""
    language = _converted(file, row, Language)
    if unknown := {*language.comments, *language.strings}.difference(tokens):
        raise LanguageError(f"{PLACE}/{file}", f"tokens.toml has no token {min(unknown)}")
    return language


def _converted(file: str, table: object, shape: type[Shape]) -> Shape:
    try:
        return msgspec.convert(table, shape, dec_hook=_library)
    except msgspec.ValidationError as problem:
        raise LanguageError(f"{PLACE}/{file}", problem) from problem


def _library(_type: type, file: str) -> Library:
    """What is said of a language's library, by the name of the file."""
    return Library(own_text(file))


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return deferred("|".join(map(translate, patterns)) or "(?!)")
