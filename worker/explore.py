"""The explore tool: the map of a directory."""

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from fledgling.wire import Directory, Exploration, Explore, File, Summary
from fledgling.worker import paths
from fledgling.worker.index import Asking, Refused, continuing, cut_page

SHOWN_GIVEN_UP = 5  # names of files that could not be parsed, in a note


class _Totals(NamedTuple):
    total_files: int
    total_lines: int
    total_bytes: int
    largest_path: str | None
    largest_lines: int | None


class _Group(NamedTuple):
    language: str | None
    skip_reason: str | None
    files: int


class _DirectoryLanguage(NamedTuple):
    path: str
    language: str | None
    files: int
    lines: int


class _GivenUp(NamedTuple):
    paths: list[str] | None
    files: int


class _File(NamedTuple):
    path: str
    language: str | None
    lines: int
    symbols: int
    skip_reason: str | None


def explore(asking: Asking, question: Explore) -> Exploration:
    """Answer with the directories and files below `path`, and totals of everything below it."""
    path = paths.inside(question.path)
    prefix = f"{path}/" if path else ""
    pattern = paths.pattern(question.pattern)
    if path and not next(asking.blocks.below(prefix), None):
        _refuse(asking, path)
    where = {"prefix": prefix, "pattern": pattern}
    directories = _directories(asking.rows("explore_directories", _DirectoryLanguage, depth=question.depth, **where))
    files = [
        File(row.path, row.language, row.lines, row.symbols, row.skip_reason)
        for row in asking.rows("explore_files", _File, depth=question.depth, **where)
    ]
    entries: list[Directory | File] = [*directories, *files]
    offset = int(question.cursor or 0)
    page = cut_page(entries[offset:], asking)
    summary = _summary(asking, where)
    return Exploration(
        path=prefix,
        directories=[entry for entry in page if isinstance(entry, Directory)],
        files=[entry for entry in page if isinstance(entry, File)],
        summary=summary,
        next=continuing(question, offset + len(page), len(entries)),
        note=_note(
            asking,
            question,
            summary,
            asking.rows("given_up", _GivenUp, shown=SHOWN_GIVEN_UP, **where)[0],
        ),
    )


def _refuse(asking: Asking, path: str) -> None:
    if asking.blocks.find(path):
        raise Refused("invalid", f"{path} is a file", f'Call read(path="{path}") or symbols(path="{path}").')
    raise paths.not_found(asking, path)


def _directories(rows: Iterable[_DirectoryLanguage]) -> list[Directory]:
    directories = []
    for path, group in groupby(rows, key=lambda row: row.path):
        languages = list(group)
        directories.append(
            Directory(
                path,
                sum(row.files for row in languages),
                sum(row.lines for row in languages),
                {row.language: row.files for row in languages if row.language},
            )
        )
    return directories


def _summary(asking: Asking, where: dict[str, str]) -> Summary:
    totals = asking.rows("explore_summary", _Totals, **where)[0]
    languages: dict[str, int] = {}
    skipped: dict[str, int] = {}
    for row in asking.rows("explore_groups", _Group, **where):
        if row.language:
            languages[row.language] = languages.get(row.language, 0) + row.files
        if row.skip_reason:
            skipped[row.skip_reason] = skipped.get(row.skip_reason, 0) + row.files
    largest = f"{totals.largest_path} ({totals.largest_lines} lines)" if totals.largest_lines else None
    return Summary(totals.total_files, totals.total_lines, totals.total_bytes, languages, largest, skipped)


def _note(asking: Asking, question: Explore, summary: Summary, given_up: _GivenUp) -> str | None:
    notes = [asking.partial] if asking.partial else []
    if given_up.paths:
        more = ", ..." if given_up.files > len(given_up.paths) else ""
        notes.append(
            f"Parsing took too long or too much memory in {given_up.files} files ({', '.join(given_up.paths)}{more}): "
            "no definitions or imports of theirs are known; their text can be read and searched."
        )
    if not next(asking.blocks.below(""), None):
        notes.append("The index holds no file: the project is empty, or everything in it is ignored or excluded.")
    elif not summary.total_files:
        notes.append(
            f"No file here matches the pattern {question.pattern!r}; call explore without it to see what is there."
        )
    return " ".join(notes) or None
