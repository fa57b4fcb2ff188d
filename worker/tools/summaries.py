"""Summaries: what directories, files and definitions say of themselves, and what they define. Nothing is made up."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from operator import attrgetter, itemgetter

from fledgling.messages.answers import Summaries, Summarized
from fledgling.messages.cursors import offset_of
from fledgling.messages.questions import Explore
from fledgling.plain import said
from fledgling.worker.deferred import deferred
from fledgling.worker.ranking import comments, documents
from fledgling.worker.ranking.sentences import TOP_BYTES, Sentence
from fledgling.worker.store.symbols import CODES, Row
from fledgling.worker.store.text import File
from fledgling.worker.tools import tags, unknown, unlisted
from fledgling.worker.tools.kept_tags import TagsOfFiles
from fledgling.worker.tools.request import Request, continuing, cut_page, shown

PAGE = 200  # summaries that are made for a page: each reads the top of a file
NAMED = 5  # definitions of a file that are named
FILES_OF_DIRECTORY = 300  # whose definitions are looked at for those of a directory
NAME_CHARS = 60
SPLIT = 4  # blocks whose lines are known while one definition after the other is looked at
MAX_LINE_BYTES = 2000  # of a line that is looked at
CLASSES = ("class", "interface", "struct", "trait", "enum", "type", "table")
OTHERS = ("function", "method", "module", "macro", "procedure", "view")
TOLD = (*CLASSES, *OTHERS, "section")  # kinds of definitions that have a summary
_GUARD = deferred(r"\w+_(?:H|HH|HPP|HXX|INCLUDED)_*")  # the macro that keeps a header from being read twice
_TESTS = ("test", "tests")  # a module of those that stand beside the code
# Files that speak for their directory, the first that is there, before those that do in a language.
_DOCUMENTS = ("readme.md", "readme.rst", "readme.adoc", "readme.asciidoc", "readme.txt", "readme")


def of_directory(
    request: Request, question: Explore, prefix: str, entries: Sequence[int | tuple[str, Sequence[int]]]
) -> Summaries:
    """Answer with the summaries of files and directories, given as in a map."""
    offset, foremost = offset_of(question.cursor), Foremost(request)
    made = [
        _of_file(request, foremost, request.blocks.file(entry), tags.of_files(request))
        if isinstance(entry, int)
        else _of_directory(request, foremost, *entry)
        for entry in entries[offset : offset + PAGE]
    ]
    page = cut_page(made, request)
    following = continuing(request, question, offset + len(page), len(entries))
    return Summaries(prefix, page, len(entries), following, _note(request, prefix))


def of_file(request: Request, question: Explore, file: File) -> Summaries:
    """Answer with the summary of a file, and those of what it defines."""
    rows = _told(request, file)
    offset, total = offset_of(question.cursor), 1 + len(rows)
    places = range(offset, min(offset + PAGE, total))
    made = [
        _of_row(request, file, rows[at - 1])
        if at
        else _of_file(request, Foremost(request), file, tags.of_files(request))
        for at in places
    ]
    page = cut_page(made, request)
    return Summaries(
        file.path, page, total, continuing(request, question, offset + len(page), total), _note(request, file.path)
    )


def of_all(request: Request, *, has_definitions: bool) -> Iterator[Summarized]:
    """Yield the summaries of all directories, files and, if wanted, definitions: without tags."""
    foremost, below = Foremost(request), dict[str, list[int]]()
    split = lru_cache(SPLIT)(partial(_split, request))
    for number in request.blocks.files:
        file = request.blocks.file(number)
        yield _of_file(request, foremost, file, {})
        for row in _told(request, file) if has_definitions else ():
            yield _of_row(request, file, row, split)
        for end in (at + 1 for at, sign in enumerate(file.path) if sign == "/"):
            below.setdefault(file.path[:end], []).append(number)
    for path, numbers in below.items():
        yield _of_directory(request, foremost, path, numbers)


def definitions(request: Request) -> int:
    """Return how many definitions there are that may have a summary."""
    assert request.outlines, "asked of the second generation"
    codes = bytes(CODES[kind] for kind in TOLD)
    kinds = (request.outlines.outline(number).kinds for number in request.blocks.files)
    return sum(len(each) - len(each.translate(None, codes)) for each in kinds)


def _told(request: Request, file: File) -> list[Row]:
    assert request.outlines, "asked of the second generation"
    return [row for row in request.outlines.definitions(file) if row.kind in TOLD]


def _note(request: Request, path: str) -> str | None:
    unparsed = unknown.not_whole(request, unknown.scope(request, path))
    return unknown.joined(
        None if request.opened.generation.has_content else unknown.NO_TEXT,
        request.partial,
        unlisted.of_directory(request, path) if path.endswith("/") or not path else None,
        unknown.of_parsing(request, unparsed, "definitions may be missing"),
    )


def _of_file(request: Request, foremost: "Foremost", file: File, tagged: TagsOfFiles) -> Summarized:
    request.check()
    found = sentence_of(request, file)
    return Summarized(
        path=file.path,
        language=file.language,
        says=said(found.text) if found else None,
        source=found.source if found else None,
        defines=[shown(row.name, NAME_CHARS) for row in foremost.of([file])],
        tags=[said(str(tag)) for tag in tagged.get(file.number, ())],
    )


def _of_directory(request: Request, foremost: "Foremost", path: str, numbers: Sequence[int]) -> Summarized:
    request.check()
    files = [*map(request.blocks.file, numbers[:FILES_OF_DIRECTORY])]
    speaker = speaking(request, path, files)
    found = sentence_of(request, speaker) if speaker else None
    return Summarized(
        path=path,
        files=len(numbers),
        says=said(found.text) if found else None,
        source=speaker.path.removeprefix(path) if found and speaker else None,
        defines=[shown(row.name, NAME_CHARS) for row in foremost.of(files)],
    )


def _of_row(request: Request, file: File, row: Row, split: Callable[[int], list[bytes]] | None = None) -> Summarized:
    request.check()
    above = lines_of(request, file, max(row.line_start - comments.ABOVE_LINES, 1), row.line_start - 1, split)
    last = row.line_start + comments.HEAD_LINES + comments.ABOVE_LINES
    head = lines_of(request, file, row.line_start, last, split)
    found = comments.of_definition(above, head, has_docstring=request.conventions(file.language).docstrings)
    return Summarized(
        path=file.path,
        name=row.qualified_name,
        kind=row.kind,
        lines=(row.line_start, row.line_end),
        says=said(found.text) if found else None,
        source=found.source if found else None,
    )


def speaking(request: Request, path: str, files: Iterable[File]) -> File | None:
    """Return the file that speaks for its directory: `src/README.md` for `src/`."""
    here = {file.path.removeprefix(path).lower(): file for file in files if "/" not in file.path.removeprefix(path)}
    own_name = path.rstrip("/").rpartition("/")[2].lower()
    modules = (name for each in request.opened.generation.conventions.values() for name in each.speaks)
    names = (*_DOCUMENTS, *(name.replace("NAME", own_name) for name in modules))
    return next((here[name] for name in names if name in here), None)


def sentence_of(request: Request, file: File) -> Sentence | None:
    """Return what the top of a file says of it; of data nothing."""
    known = request.opened.generation
    if file.language == unknown.NOTEBOOK:
        return documents.of_notebook(_top(request, file))
    if file.blocks and file.language in known.documents:
        return documents.of_document(_top(request, file), has_references=file.language == "restructuredtext")
    return comments.of_code(_top(request, file)) if file.blocks and file.language in known.code else None


def _top(request: Request, file: File) -> bytes:
    texts: list[bytes] = []
    for block in range(file.block, file.block + file.blocks):
        texts.append(request.blocks.text(block)[:TOP_BYTES])
        if sum(map(len, texts)) > TOP_BYTES:
            break
    return b"\n".join(texts)


def lines_of(
    request: Request, file: File, first: int, last: int, split: Callable[[int], list[bytes]] | None = None
) -> list[str]:
    """Return some lines of a file, each as far as it is shown; `split` may know the lines of a block."""
    found: list[str] = []
    split = split or partial(_split, request)
    for block in request.blocks.holding(file, first, last) if first <= last else ():
        at = request.blocks.first_lines[block]
        lines = split(block)[max(first - at, 0) : last - at + 1]
        found += [line[:MAX_LINE_BYTES].decode(errors="replace") for line in lines]
    return found


def _split(request: Request, block: int) -> list[bytes]:
    return request.blocks.text(block).split(b"\n")


class Foremost:
    """The definitions that files are about: what is named as its file, then classes, then the longest."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._known: dict[int, list[_Ranked]] = {}  # of files: each may be asked for by all directories above it

    def of(self, files: Iterable[File]) -> list[Row]:
        """Return those that some files are about together."""
        return [each[-1] for each in _first(each for file in files for each in self._of_file(file))]

    def _of_file(self, file: File) -> "list[_Ranked]":
        if file.number not in self._known:
            self._known[file.number] = _first(_ranked(self._request, file))
        return self._known[file.number]


_Ranked = tuple[bool, bool, int, str, int, Row]


def _ranked(request: Request, file: File) -> Iterator[_Ranked]:
    base = file.path.rpartition("/")[2].partition(".")[0].lower().replace("_", "").replace("-", "")
    for row in _outermost(request, file):
        is_named = row.name.lower().replace("_", "") == base
        lines = row.line_end - row.line_start
        is_class = row.kind in CLASSES and len(row.name) > 1  # a `t` of Elixir or OCaml tells nothing
        yield not is_named, not is_class, -lines, file.path, row.line_start, row


def _first(ranked: Iterable[_Ranked]) -> list[_Ranked]:
    """Return the first definitions of so many names, each where it stands first."""
    found: dict[str, _Ranked] = {}
    for each in sorted(ranked, key=itemgetter(slice(-1))):
        found.setdefault(each[-1].name, each)
    return [*found.values()][:NAMED]


def _outermost(request: Request, file: File) -> Iterator[Row]:
    """Yield the public definitions of a file of code that are in no other but a module."""
    assert request.outlines, "asked of the second generation"
    if file.language not in request.opened.generation.code:
        return
    end = 0
    for row in sorted(request.outlines.definitions(file), key=attrgetter("line_start")):
        if row.kind not in (*CLASSES, *OTHERS) or row.line_start <= end:
            continue
        is_guard = row.kind == "macro" and _GUARD.fullmatch(row.name)
        if row.kind != "module" or row.name in _TESTS:
            end = row.line_end
        if row.kind != "module" and not is_guard and not row.name.startswith("_"):
            yield row
