"""The rows of the four tables, as the indexer makes them, and the words of a file beside them.

Field order is column order (worker/store/sql/schema.sql).
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import accumulate, pairwise
from typing import Literal

from msgspec import Struct
from msgspec.structs import astuple

Engine = Literal["tree-sitter", "rules", "reader", "none"]  # what has found the definitions

MAX_TARGETS = 64  # definitions that one occurrence of a name is said to mean: the surest, as many as a cell has values
MAX_GUESSED = 16  # of them, where the further ones are merely possible
MAX_CROWDED = 10_000  # occurrences with more than that in a project: a hostile file has a call in every four bytes
MAX_BY_MADE_NAMES = 20_000  # rows of a project beyond that, by names that are made: a dispatcher has some hundreds
WIDEST = 2**16 - 1  # the last column, in bytes, in which an occurrence is resolved: longer lines are minified or data
OF_MANY_OVERLOADS, OF_OVERLOADS = 12, 41  # codes of reasons: one of more overloads than are likely, and of few
LEAST_LIKELY = 29  # the code of a reason from which on it is more than possible (graph/reasons.py)


class Stamp(Struct, frozen=True, array_like=True, gc=False):
    """By what a file is known again: it is another where one of these is."""

    size: int
    modified_ns: int
    changed_ns: int
    inode: int


class FileRow(Struct, frozen=True):
    """A file: `files`. `skip_reason` says why there is no content; None means the content is in the image.

    `encoding` is that of the text on disk, None for UTF-8.
    """

    path: str
    absolute_path: str | None
    directory: str
    filename: str
    extension: str
    language: str | None
    size_bytes: int
    line_count: int | None
    modified_at: datetime
    is_binary: bool
    is_generated: bool
    content_hash: str | None
    skip_reason: str | None
    encoding: str | None = None


class SymbolRow(Struct, frozen=True, gc=False):
    """A definition, import or export: `symbols` without its path, its language, and what its effects are.

    `content_hash` is that of its lines, where a table of symbols is asked for (worker/extractor/hashing.py).
    """

    name: str
    kind: str
    line_start: int
    line_end: int
    parent_name: str | None
    signature: str | None
    docstring: str | None
    visibility: str
    qualified_name: str
    content_hash: str | None = None


class SymbolColumns(Struct, frozen=True):
    """Symbols of one file after the other, one list for each field of SymbolRow: what DuckDB loads fastest."""

    name: list[str] = []
    kind: list[str] = []
    line_start: list[int] = []
    line_end: list[int] = []
    parent_name: list[str | None] = []
    signature: list[str | None] = []
    docstring: list[str | None] = []
    visibility: list[str] = []
    qualified_name: list[str] = []
    content_hash: list[str | None] = []

    def one_by_one(self, counts: Iterable[int]) -> "list[SymbolColumns]":
        """Return the symbols of each file by themselves, of which each has so many."""
        ends = pairwise(accumulate(counts, initial=0))
        return [SymbolColumns(*(column[begin:end] for column in astuple(self))) for begin, end in ends]


assert SymbolColumns.__struct_fields__ == SymbolRow.__struct_fields__


class ImportRow(Struct, frozen=True, gc=False):
    """An import statement's module: `imports` without its path. Resolution fills `is_stdlib` and `resolved_path`."""

    line_number: int
    module: str
    alias: str | None
    is_relative: bool
    is_stdlib: bool
    resolved_path: str | None
    imported_names: tuple[str, ...]


class Extraction(Struct, frozen=True):
    """What one file's text says: definitions, imports, and the lines that hold nothing but comment.

    `engine` is "none" for a language without any. `complete` is False where the text did not parse or the time budget
    ended, so something may be missing. `comments` are the places of all comments, and `docs` documentation strings.
    `header` is what stands at the top where that is no comment: the first Markdown cell.
    """

    symbols: list[SymbolRow]
    imports: list[ImportRow]
    comment_lines: frozenset[int]
    engine: Engine
    complete: bool
    comments: Sequence[tuple[int, int]] = ()
    docs: Sequence[str] = ()
    header: str = ""


class FileWords(Struct, frozen=True, array_like=True):
    """The words of one file: keys of words in fields, how often each is there, and how many words each field has, as
    arrays; and the words of its names, a line each.
    """

    keys: bytes
    counts: bytes
    lengths: bytes
    names: bytes = b""


def surer(reason: int, other: int) -> int:
    """Return the surer of two ways to what is derived or overridden: 0 is sure, of others a larger code is."""
    return max(reason, other) if reason and other else 0
