"""The explore tool: the map of a directory."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

from fledgling.messages.answers import Architecture, Directory, Exploration, FileEntry, Summaries, Summary
from fledgling.messages.cursors import offset_of
from fledgling.messages.questions import Explore
from fledgling.plain import counted
from fledgling.worker.matching import lines as matching
from fledgling.worker.store.text import UNCOUNTED, Blocks
from fledgling.worker.tools import architecture, paths, summaries, unknown, unlisted
from fledgling.worker.tools.request import Refused, Request, continuing, cut_page


def explore(request: Request, question: Explore) -> Exploration | Summaries | Architecture:
    """Answer with the directories and files below `path`, and totals of everything below it; or what they are about.

    All pages of an answer are made of one generation: another would say more of some files than of the rest.
    """
    if question.continues is not None and question.continues < request.map_generation:
        request.go_back(question.continues)
    path = paths.inside(question.path)
    if question.detail == "summary" and (file := request.blocks.find(path)):
        return summaries.of_file(request, question, file)
    prefix = f"{path}/" if path else ""
    pattern = paths.pattern(question.pattern)
    numbers = _below(request, path, prefix, pattern)
    if question.detail == "architecture":
        return architecture.architecture(request, prefix, numbers)
    if question.detail == "summary":
        levels = [*_levels(request, numbers, prefix, question.depth)]
        levels.sort(key=lambda entry: isinstance(entry, int))  # directories first, as in a map
        return summaries.of_directory(request, question, prefix, levels)
    directories: list[Directory] = []
    files: list[FileEntry] = []
    for found in _levels(request, numbers, prefix, question.depth):
        if isinstance(found, int):
            files.append(_file(request, found))
        else:
            directories.append(_directory(request, *found))
    entries: list[Directory | FileEntry] = [*directories, *files]
    offset = offset_of(question.cursor)
    page = cut_page(entries[offset:], request)
    return Exploration(
        path=prefix,
        directories=[entry for entry in page if isinstance(entry, Directory)],
        files=[entry for entry in page if isinstance(entry, FileEntry)],
        summary=_summary(request, numbers),
        next=continuing(request, question, offset + len(page), len(entries)),
        note=_note(request, question, path, numbers),
    )


def _below(request: Request, path: str, prefix: str, pattern: str) -> Sequence[int]:
    """Return the numbers of the files below a directory whose path from there matches; refuse what is no directory."""
    blocks = request.blocks
    numbers = blocks.files[blocks.first(prefix) : blocks.first(path + paths.BEHIND_SLASH)] if path else blocks.files
    if path and not numbers:
        _refuse(request, path)
    if not (pattern and numbers):
        return numbers
    start = len(prefix.encode())
    asked = b"\n".join([blocks.raw_path(number)[start:] for number in numbers])
    return [numbers[place] for place in matching.places(matching.of_pattern(pattern), asked)]


def _levels(
    request: Request, numbers: Sequence[int], prefix: str, depth: int
) -> Iterator[int | tuple[str, Sequence[int]]]:
    """Yield, in the order of paths, the files on the first levels below a directory, and the directories with theirs.

    It looks at no file further down: the next that is not in the same directory is found by its place in the order.
    """
    blocks, at = request.blocks, 0
    while at < len(numbers):
        name, slash, _ = blocks.path(numbers[at]).removeprefix(prefix).partition("/")
        if not slash:
            yield numbers[at]
            at += 1
            continue
        request.check()
        end = bisect_left(numbers, prefix + name + paths.BEHIND_SLASH, at, key=blocks.path)
        inside = numbers[at:end]
        yield f"{prefix}{name}/", inside
        if depth > 1:
            yield from _levels(request, inside, f"{prefix}{name}/", depth - 1)
        at = end


def _refuse(request: Request, path: str) -> None:
    if request.blocks.find(path):
        raise Refused("invalid", f"{path} is a file", f'Call read(path="{path}") or symbols(path="{path}").')
    raise paths.not_found(request, path)


def _of(column: Sequence[int], numbers: Sequence[int]) -> Sequence[int]:
    """Return what a column says of some files."""
    if isinstance(numbers, range):
        return column[numbers.start : numbers.stop]
    return [column[number] for number in numbers]


def _lines(request: Request, numbers: Sequence[int]) -> int | None:
    """Return how many lines some files have together; None while that is not known."""
    if request.is_listing:
        return None
    return sum(lines for lines in _of(request.blocks.lines, numbers) if lines != UNCOUNTED)


def _directory(request: Request, path: str, numbers: Sequence[int]) -> Directory:
    blocks = request.blocks
    files_in = Counter(_of(blocks.languages, numbers))
    languages = {name: files for place, files in files_in.items() if (name := blocks.names[place])}
    return Directory(path=path, files=len(numbers), lines=_lines(request, numbers), languages=_most_first(languages))


def _most_first(files_of: dict[str, int]) -> dict[str, int]:
    return dict(sorted(files_of.items(), key=lambda item: (-item[1], item[0])))


def _file(request: Request, number: int) -> FileEntry:
    file = request.blocks.file(number)
    symbols = request.outlines.count(file) if request.outlines else 0
    return FileEntry(file.path, file.language, file.line_count, symbols, file.skip_reason)


def _summary(request: Request, numbers: Sequence[int]) -> Summary:
    blocks = request.blocks
    languages: dict[str, int] = {}
    skipped: dict[str, int] = {}
    for language, reason, files in _groups(blocks, numbers):
        if language:
            languages[language] = languages.get(language, 0) + files
        if reason:
            skipped[reason] = skipped.get(reason, 0) + files
    sizes = zip(_of(blocks.lines, numbers), numbers, strict=True)
    lines, largest = max((pair for pair in sizes if pair[0] != UNCOUNTED), default=(0, 0))
    return Summary(
        total_files=len(numbers),
        total_lines=_lines(request, numbers),
        total_bytes=sum(_of(blocks.sizes, numbers)),
        languages=_most_first(languages),
        largest_file=f"{blocks.path(largest)} ({counted(lines, 'line')})" if lines else None,
        skipped=skipped,
    )


def _groups(blocks: Blocks, numbers: Sequence[int]) -> list[tuple[str | None, str | None, int]]:
    """Return how many files there are of each language, by why they have no content; the largest group first."""
    files_of = Counter(zip(_of(blocks.languages, numbers), _of(blocks.reasons, numbers), strict=True))
    groups = [(blocks.names[language], blocks.names[reason], files) for (language, reason), files in files_of.items()]
    return sorted(groups, key=lambda group: (-group[2], *((name is None, name or "") for name in group[:2])))


def _note(request: Request, question: Explore, path: str, numbers: Sequence[int]) -> str | None:
    known = set(numbers) if question.pattern else None
    unparsed = unknown.not_whole(request, unknown.scope(request, path))
    return unknown.joined(
        request.partial,
        request.pending,
        unknown.of_parsing(
            request, (file for file in unparsed if known is None or file.number in known), "definitions may be missing"
        ),
        unlisted.of_directory(request, f"{path}/" if path else ""),
        _empty(request, question, numbers),
    )


def _empty(request: Request, question: Explore, numbers: Sequence[int]) -> str | None:
    if not request.blocks.files:
        return "The index holds no file: the project is empty, or everything in it is ignored or excluded."
    if not numbers:
        return f"No file here matches the pattern {question.pattern!r}; call explore without it to see what is there."
    return None
