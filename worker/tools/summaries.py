"""Summaries: what directories, files and definitions say of themselves, and what they define. Nothing is made up."""

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter

from fledgling.messages.answers import Summaries, Summarized
from fledgling.messages.cursors import offset_of
from fledgling.messages.questions import Explore
from fledgling.plain import said
from fledgling.worker.ranking import sentences
from fledgling.worker.ranking.sentences import Sentence
from fledgling.worker.store.symbols import Row
from fledgling.worker.store.text import File
from fledgling.worker.tools import tags, unknown
from fledgling.worker.tools.request import Request, continuing, cut_page, shown

PAGE = 200  # summaries that are made for a page: each reads the top of a file
NAMED = 5  # definitions of a file that are named
FILES_OF_DIRECTORY = 300  # whose definitions are looked at for those of a directory
NAME_CHARS = 60
MAX_LINE_BYTES = 2000  # of a line that is looked at
CLASSES = ("class", "interface", "struct", "trait", "enum", "type", "table")
OTHERS = ("function", "method", "module", "macro", "procedure", "view")
# Files that speak for their directory, the first that is there.
_DOCUMENTS = ("readme.md", "readme.rst", "readme.adoc", "readme.txt", "readme")
_MODULES = ("__init__.py", "mod.rs", "lib.rs", "doc.go", "package-info.java", "index.ts", "index.js", "index.tsx")


def of_directory(
    request: Request, question: Explore, prefix: str, entries: Sequence[int | tuple[str, Sequence[int]]]
) -> Summaries:
    """Answer with the summaries of files and directories, given as in a map."""
    offset = offset_of(question.cursor)
    made = [
        _of_file(request, request.blocks.file(entry)) if isinstance(entry, int) else _of_directory(request, *entry)
        for entry in entries[offset : offset + PAGE]
    ]
    page = cut_page(made, request)
    following = continuing(request, question, offset + len(page), len(entries))
    return Summaries(prefix, page, len(entries), following, _note(request, prefix))


def of_file(request: Request, question: Explore, file: File) -> Summaries:
    """Answer with the summary of a file, and those of what it defines."""
    assert request.outlines, "asked of the second generation"
    rows = [row for row in request.outlines.definitions(file) if row.kind in (*CLASSES, *OTHERS, "section")]
    offset, total = offset_of(question.cursor), 1 + len(rows)
    places = range(offset, min(offset + PAGE, total))
    made = [_of_row(request, file, rows[at - 1]) if at else _of_file(request, file) for at in places]
    page = cut_page(made, request)
    return Summaries(
        file.path, page, total, continuing(request, question, offset + len(page), total), _note(request, file.path)
    )


def _note(request: Request, path: str) -> str | None:
    unparsed = unknown.not_whole(request, unknown.scope(request, path))
    return unknown.joined(request.partial, unknown.of_parsing(request, unparsed, "definitions may be missing"))


def _of_file(request: Request, file: File) -> Summarized:
    request.check()
    found = sentence_of(request, file)
    return Summarized(
        path=file.path,
        language=file.language,
        says=said(found.text) if found else None,
        source=found.source if found else None,
        defines=[shown(row.name, NAME_CHARS) for row in _foremost(request, [file])],
        tags=[said(str(tag)) for tag in tags.of_files(request).get(file.number, ())],
    )


def _of_directory(request: Request, path: str, numbers: Sequence[int]) -> Summarized:
    request.check()
    files = [*map(request.blocks.file, numbers[:FILES_OF_DIRECTORY])]
    speaker = speaking(path, files)
    found = sentence_of(request, speaker) if speaker else None
    return Summarized(
        path=path,
        files=len(numbers),
        says=said(found.text) if found else None,
        source=speaker.path.removeprefix(path) if found and speaker else None,
        defines=[shown(row.name, NAME_CHARS) for row in _foremost(request, files)],
    )


def _of_row(request: Request, file: File, row: Row) -> Summarized:
    request.check()
    above = lines_of(request, file, max(row.line_start - sentences.ABOVE_LINES, 1), row.line_start - 1)
    head = lines_of(request, file, row.line_start, row.line_start + sentences.HEAD_LINES + sentences.ABOVE_LINES)
    found = sentences.of_definition(above, head, has_docstring=file.language == "python")
    return Summarized(
        path=file.path,
        name=row.qualified_name,
        kind=row.kind,
        lines=(row.line_start, row.line_end),
        says=said(found.text) if found else None,
        source=found.source if found else None,
    )


def speaking(path: str, files: Iterable[File]) -> File | None:
    """Return the file that speaks for its directory: `src/README.md` for `src/`."""
    here = {file.path.removeprefix(path).lower(): file for file in files if "/" not in file.path.removeprefix(path)}
    own = f"{path.rstrip('/').rpartition('/')[2].lower()}.go"
    return next((here[name] for name in (*_DOCUMENTS, *_MODULES, own) if name in here), None)


def sentence_of(request: Request, file: File) -> Sentence | None:
    """Return what the top of a file says of it; of data nothing."""
    known = request.opened.generation
    is_document = file.language in known.documents
    if not file.blocks or not (is_document or file.language in known.code):
        return None
    return sentences.of_file(_top(request, file), is_document=is_document)


def _top(request: Request, file: File) -> bytes:
    texts: list[bytes] = []
    for block in range(file.block, file.block + file.blocks):
        texts.append(request.blocks.text(block)[: sentences.TOP_BYTES])
        if sum(map(len, texts)) > sentences.TOP_BYTES:
            break
    return b"\n".join(texts)


def lines_of(request: Request, file: File, first: int, last: int) -> list[str]:
    """Return some lines of a file, each as far as it is shown."""
    found: list[str] = []
    for block in request.blocks.holding(file, first, last) if first <= last else ():
        at = request.blocks.first_lines[block]
        lines = request.blocks.text(block).split(b"\n")[max(first - at, 0) : last - at + 1]
        found += [line[:MAX_LINE_BYTES].decode(errors="replace") for line in lines]
    return found


def _foremost(request: Request, files: Sequence[File]) -> list[Row]:
    """Return the definitions that some files are about: what is named as its file, then classes, then the longest."""
    ranked: list[tuple[bool, bool, int, str, int, Row]] = []
    for file in files:
        base = file.path.rpartition("/")[2].partition(".")[0].lower().replace("_", "").replace("-", "")
        for row in _outermost(request, file):
            is_named = row.name.lower().replace("_", "") == base
            lines = row.line_end - row.line_start
            ranked.append((not is_named, row.kind not in CLASSES, -lines, file.path, row.line_start, row))
    return [*{each[-1].name: each[-1] for each in sorted(ranked, key=lambda each: each[:-1])}.values()][:NAMED]


def _outermost(request: Request, file: File) -> Iterator[Row]:
    """Yield the public definitions of a file of code that are in no other but a module."""
    assert request.outlines, "asked of the second generation"
    if file.language not in request.opened.generation.code:
        return
    end = 0
    for row in sorted(request.outlines.definitions(file), key=attrgetter("line_start")):
        if row.kind not in (*CLASSES, *OTHERS) or row.line_start <= end:
            continue
        if row.kind != "module":
            end = row.line_end
            if not row.name.startswith("_"):
                yield row
