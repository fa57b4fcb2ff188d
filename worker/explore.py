"""The explore tool: the map of a directory."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from fledgling.wire import Directory, Exploration, Explore, File, Summary
from fledgling.worker import matching, paths
from fledgling.worker.blocks import File as Found
from fledgling.worker.index import Asking, Refused, continuing, cut_page

SHOWN_GIVEN_UP = 5  # names of files that could not be parsed, in a note


class _Totals(NamedTuple):
    language: str | None
    skip_reason: str | None
    files: int
    lines: int
    bytes: int
    largest_lines: int
    largest_path: str
    given_up: int


class _DirectoryLanguage(NamedTuple):
    path: str
    language: str | None
    files: int
    lines: int


def explore(asking: Asking, question: Explore) -> Exploration:
    """Answer with the directories and files below `path`, and totals of everything below it."""
    path = paths.inside(question.path)
    prefix = f"{path}/" if path else ""
    pattern = paths.pattern(question.pattern)
    if path and not next(asking.blocks.below(prefix), None):
        _refuse(asking, path)
    where = {"prefix": prefix, "pattern": pattern}
    directories = _directories(asking.rows("explore_directories", _DirectoryLanguage, depth=question.depth, **where))
    files = [_file(asking, file) for file in _files(asking, prefix, question)]
    entries: list[Directory | File] = [*directories, *files]
    offset = int(question.cursor or 0)
    page = cut_page(entries[offset:], asking)
    totals = asking.rows("explore_totals", _Totals, **where)
    return Exploration(
        path=prefix,
        directories=[entry for entry in page if isinstance(entry, Directory)],
        files=[entry for entry in page if isinstance(entry, File)],
        summary=_summary(totals),
        next=continuing(question, offset + len(page), len(entries)),
        note=_note(asking, question, where, totals),
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


def _files(asking: Asking, prefix: str, question: Explore) -> Iterator[Found]:
    """Yield the files on the first levels below a directory, without a look at those further down."""
    blocks, matches = asking.blocks, matching.in_path(paths.pattern(question.pattern))
    number = blocks.first(prefix)
    while number < len(blocks.files) and (file := blocks.file(number)).path.startswith(prefix):
        parts = file.path.removeprefix(prefix).split("/", question.depth)
        if len(parts) > question.depth:
            number = blocks.first(prefix + "/".join(parts[:-1]) + paths.BEHIND_SLASH)
            continue
        if matches(file.path.removeprefix(prefix)):
            yield file
        number += 1


def _file(asking: Asking, file: Found) -> File:
    symbols = asking.outlines.count(file) if asking.outlines else 0
    return File(file.path, file.language, file.line_count or 0, symbols, file.skip_reason)


def _summary(totals: Sequence[_Totals]) -> Summary:
    languages: dict[str, int] = {}
    skipped: dict[str, int] = {}
    for row in totals:
        if row.language:
            languages[row.language] = languages.get(row.language, 0) + row.files
        if row.skip_reason:
            skipped[row.skip_reason] = skipped.get(row.skip_reason, 0) + row.files
    lines, path = max(((row.largest_lines, row.largest_path) for row in totals), default=(0, ""))
    return Summary(
        sum(row.files for row in totals),
        sum(row.lines for row in totals),
        sum(row.bytes for row in totals),
        languages,
        f"{path} ({lines} lines)" if lines else None,
        skipped,
    )


def _note(asking: Asking, question: Explore, where: dict[str, str], totals: Sequence[_Totals]) -> str | None:
    notes = [asking.partial] if asking.partial else []
    if given_up := sum(row.given_up for row in totals):
        named = [row.path for row in asking.rows("given_up", paths.Suggestion, shown=SHOWN_GIVEN_UP, **where)]
        more = ", ..." if given_up > len(named) else ""
        notes.append(
            f"Parsing took too long or too much memory in {given_up} files ({', '.join(named)}{more}): "
            "no definitions or imports of theirs are known; their text can be read and searched."
        )
    if not next(asking.blocks.below(""), None):
        notes.append("The index holds no file: the project is empty, or everything in it is ignored or excluded.")
    elif not totals:
        notes.append(
            f"No file here matches the pattern {question.pattern!r}; call explore without it to see what is there."
        )
    return " ".join(notes) or None
