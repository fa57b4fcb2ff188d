"""What an answer does not know, in a sentence each: every tool says it in these words, and only where it matters.

A sentence is some ten words long, names SHOWN_FILES files at most, and stands once in an answer. It is made of files
that the profile shows, and of nothing else.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from fledgling.plain import counted, lines_in_short
from fledgling.worker.matching import globs, prefilter
from fledgling.worker.matching import lines as matching
from fledgling.worker.reasons import UNREAD
from fledgling.worker.store.symbols import GIVEN_UP, IN_PART
from fledgling.worker.store.text import File
from fledgling.worker.tools import paths
from fledgling.worker.tools.request import Request

NO_TEXT = "The index holds no text (index_content is off); symbols() and explore() still answer."
SHOWN_FILES = 3  # named in a sentence
NOTEBOOK = "jupyter"  # the language
OF_CODE = ("class", "interface", "struct", "trait", "enum", "type", "method")  # kinds that files of data do not define


class Searched(NamedTuple):
    """The files that a question is about: those numbered from `first` to `end` whose path matches, in one language.

    Where it is about a `name`, files matter whose text holds it in any case: `marked` has bits for blocks that may.
    """

    first: int
    end: int
    pattern: str = ""
    language: str | None = None
    name: str = ""
    marked: bytes | None = None

    def about(self, request: Request, name: str) -> "Searched":
        """Return the same files, of which those matter that may hold a name."""
        if not (name and request.signatures and request.opened.generation.has_content):
            return self
        needed = prefilter.of_literal(name, case_sensitive=False)
        marked = None if needed is None else request.signatures.marked(needed)
        return self._replace(name=name.lower(), marked=marked)

    def blocks(self, request: Request, number: int) -> Iterable[int]:
        """Return those of the blocks of a file that may hold the name."""
        blocks, marked = request.blocks.blocks_of(number), self.marked
        if marked is None:
            return blocks
        if not any(marked[blocks.start >> 3 : (blocks.stop + 7) >> 3]):  # as of most
            return ()
        return [at for at in blocks if marked[at >> 3] >> (at & 7) & 1]

    def files(self, request: Request, numbers: Sequence[int]) -> Iterator[File]:
        """Yield those of some files, whose numbers come in order, that the question is about."""
        is_path = matching.in_path(self.pattern)
        for number in numbers[bisect_left(numbers, self.first) : bisect_left(numbers, self.end)]:
            if self.marked is not None and not self.blocks(request, number):
                continue
            file = request.blocks.file(number)
            if self.language in (None, file.language) and is_path(file.path):
                yield file


def scope(request: Request, path: str | None, language: str | None = None) -> Searched:
    """Return what the filters of a question leave: `scope(request, "src/**", "python")`."""
    inside, blocks = paths.inside(path or ""), request.blocks
    if not inside or globs.plain(inside) is None:
        return Searched(0, len(blocks.files), paths.pattern(path), language)
    if file := blocks.find(inside):
        return Searched(file.number, file.number + 1, "", language)
    return Searched(blocks.first(f"{inside}/"), blocks.first(inside + paths.BEHIND_SLASH), "", language)


def joined(*sentences: str | None) -> str | None:
    """Return sentences as a note, each once; None where there is none."""
    return " ".join(dict.fromkeys(sentence for sentence in sentences if sentence)) or None


def listed(names: Sequence[str]) -> str:
    """Name some things: `listed(["a", "b", "c", "d"])` is `a, b, c and 1 more`."""
    more = f" and {len(names) - SHOWN_FILES:,} more" if len(names) > SHOWN_FILES else ""
    return f"{', '.join(names[:SHOWN_FILES])}{more}"


def of_paths(request: Request, path: str | None) -> str | None:
    """Say which of the paths in a list no file of the index has: the others are what an answer is about."""
    chosen = [each for each in map(globs.plain, globs.choices(paths.inside(path or ""))) if each and each != "."]
    missing = dict.fromkeys(each for each in chosen if not paths.is_there(request, each))
    if any("/" not in each for each in missing):  # which may be the name of a file anywhere
        for number in request.blocks.files:
            missing.pop(request.blocks.path(number).rpartition("/")[2], None)
    return f"No file of the index has path {listed([*map(repr, missing)])}." if missing else None


def is_whole(request: Request, file: File) -> bool:
    """Return whether a file was parsed whole, or is none to parse."""
    return request.outlines is None or request.outlines.parsed(file) not in (IN_PART, GIVEN_UP)


def family(request: Request, file: File) -> str:
    """Return the word for the languages that may import each other; empty where imports are not extracted."""
    modules = request.opened.generation.modules.get(file.language or "")
    return modules.imports if modules else ""


def not_whole(request: Request, asked: Searched, kind: str | None = None) -> list[File]:
    """Return the files that were parsed in part or not at all, of those that a question is about.

    Where it is about classes, these are files of code: those of data have none.
    """
    files = [*asked.files(request, request.outlines.not_whole)] if request.outlines else []
    return [file for file in files if file.language in request.opened.generation.code] if kind in OF_CODE else files


def given_up(request: Request, asked: Searched) -> list[File]:
    """Return the files of code that were not parsed at all, of those that a question is about."""
    files = not_whole(request, asked, OF_CODE[0])
    return [file for file in files if request.outlines and request.outlines.parsed(file) == GIVEN_UP]


def of_parsing(request: Request, files: Iterable[File], so: str) -> str | None:
    """Say which files were not parsed whole, and what follows: `Parsed in part: a.kt; definitions may be missing.`"""
    names: dict[int, list[str]] = {IN_PART: [], GIVEN_UP: []}
    for file in files:
        if request.outlines and (parsed := request.outlines.parsed(file)) in names:
            names[parsed].append(file.path)
    part, none = names[IN_PART], names[GIVEN_UP]
    parts = (
        f"parsed in part: {listed(part)}" if part else None,
        f"not parsed, as that took too long or too much memory: {listed(none)}" if none else None,
    )
    said = "; ".join(filter(None, parts))
    return f"{said[0].upper()}{said[1:]}; {so}." if said else None


def why_undefined(request: Request, file: File) -> str | None:
    """Say why a definition that is in a file may not be known; None where all are."""
    if file.language not in request.opened.generation.defined:
        return f"definitions are not extracted from {file.language or 'a file of an unknown language'}"
    parsed = request.outlines.parsed(file) if request.outlines else None
    return {
        IN_PART: "it was parsed in part",
        GIVEN_UP: "it was not parsed, as that took too long or too much memory",
    }.get(parsed or 0)


def using(request: Request, files: Iterable[File], names: Sequence[str]) -> list[File]:
    """Return the files whose text holds one of some names as a word."""
    if not (names and request.opened.generation.has_content):
        return []
    finding = of_words(names)
    return [file for file in files if any(matching.places(finding, text) for text in _texts(request, file))]


def of_words(names: Sequence[str]) -> matching.Matcher:
    """Return what finds each of some names as a word."""
    return matching.of_pattern(rf"\b(?:{'|'.join(map(globs.literal, names))})\b")


def _texts(request: Request, file: File) -> Iterator[bytes]:
    request.check()
    return map(request.blocks.text, range(file.block, file.block + file.blocks))


def naming(request: Request, asked: Searched, files: Iterable[File]) -> list[File]:
    """Return the files whose text holds the name that is asked for: those in which a parser may have missed it."""
    return [file for file in files if not asked.name or _holds(request, asked, file)]


def _holds(request: Request, asked: Searched, file: File) -> bool:
    request.check()
    texts = map(request.blocks.text, asked.blocks(request, file.number))
    return any(asked.name in text.decode().lower() for text in texts)


def hidden_lines(request: Request, file: File, first: int, last: int) -> list[int]:
    """Return the lines of a file, from one to another, that the profile's view of content leaves out."""
    if not any(view.name == "content" for view in request.profile.views):
        return []
    known: set[int] = set()
    for block in request.blocks.holding(file, first, last):
        at = request.blocks.first_lines[block]
        known.update(range(at, at + request.blocks.text(block).count(b"\n") + 1))
    return [number for number in range(first, last + 1) if number not in known]


def of_hidden(numbers: Sequence[int]) -> str | None:
    """Say which lines are left out: `The profile hides lines 2-3, 7: they are blank here.`"""
    if len(numbers) == 1:
        return f"The profile hides line {numbers[0]}: it is blank here."
    runs = [[*run] for _, run in groupby(enumerate(numbers), lambda line: line[1] - line[0])]
    named = listed([lines_in_short(run[0][1], run[-1][1]) for run in runs])
    return f"The profile hides lines {named}: they are blank here." if runs else None


def of_unread(
    request: Request, asked: Searched, done: str, leaves: Callable[[File], bool] = lambda _: True
) -> str | None:
    """Say which files of text are not in the index: `Not searched: 2 too large (a.json, b.json).`"""
    groups = {reason: [*filter(leaves, asked.files(request, request.blocks.without_text(reason)))] for reason in UNREAD}
    said = [f"{len(some):,} {reason} ({listed([f.path for f in some])})" for reason, some in groups.items() if some]
    return f"Not {done}: {', '.join(said)}." if said else None


def of_notebooks(request: Request, asked: Searched) -> str | None:
    """Say that outputs of notebooks were not searched, where some of what was asked for are notebooks."""
    return of_outputs(asked.files(request, request.blocks.in_language(NOTEBOOK)))


def of_outputs(files: Iterable[File]) -> str | None:
    """Say that outputs of notebooks are not text, where some files are notebooks."""
    notebooks = [file.path for file in files if file.language == NOTEBOOK]
    return f"Outputs of notebooks are not indexed, and blank here: {listed(notebooks)}." if notebooks else None


def of_encodings(request: Request, asked: Searched) -> str | None:
    """Say which files are not UTF-8, and what they were taken for: with a wrong guess a word is missed."""
    files = [*asked.files(request, request.blocks.not_utf8())]
    if not files:
        return None
    taken = listed(sorted({file.encoding or "" for file in files}))
    are = f"{counted(len(files), 'file')} {'is' if len(files) == 1 else 'are'}"
    return f"{are} not UTF-8 and taken for {taken}: {listed([file.path for file in files])}."


def of_languages(request: Request, asked: Searched) -> str | None:
    """Say of which code no definitions are extracted: `Definitions are not extracted from swift (12 files).`"""
    undefined = request.opened.generation.undefined
    languages = undefined if asked.language is None else {asked.language}.intersection(undefined)
    files = [file for language in languages for file in asked.files(request, request.blocks.in_language(language))]
    counts = Counter(file.language for file in naming(request, asked, files))
    said = [f"{language} ({counted(counts[language], 'file')})" for language in languages if counts[language]]
    return f"Definitions are not extracted from {listed(said)}; search() finds its text." if said else None
