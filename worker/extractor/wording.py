"""The words of a file: of its path, of what it defines and exports, and of its comments.

A search by meaning ranks files by them, and whoever writes a file chooses them. So none counts much: a word counts
MOST_TIMES at most, a field has no more than MAX_WORDS different ones, and of comments MAX_PROSE bytes are read.
"""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice, repeat, takewhile
from zlib import crc32

from fledgling.messages.questions import DEFINITION_KINDS
from fledgling.worker import words
from fledgling.worker.extractor.messages import Source, TextFacts
from fledgling.worker.language import Languages
from fledgling.worker.rows import Extraction, FileWords, ImportRow, SymbolRow
from fledgling.worker.store.sections import NUMBER
from fledgling.worker.store.symbols import Row
from fledgling.worker.words import NAMES, SEEDS, WHOLE, Field

MOST_TIMES = 255  # a word in a field: more would say no more
MAX_WORDS = 2000  # different ones in a field: the public names of the largest ordinary files
MAX_PROSE = 2**16  # bytes of comments and documentation, read from the top: ten times what an ordinary file has
HEADER_BYTES = 4000  # at the top of a file, in which its first comments are about all of it
MAX_DEFINITIONS = 5000  # in a file whose names are read, from the top

DEFINED = frozenset(DEFINITION_KINDS)  # asked of each row
PUBLIC = frozenset(["function", "class", "method", "interface", "enum", "type", "struct", "trait", "module", "macro"])
_UNSAID = frozenset({"__init__", "index", "mod", "lib", "init"})  # names of files that say nothing
_GATHERING = re.compile(r"(?:^|/)(?:mod\.rs|lib\.rs|__init__\.py|index\.[jt]sx?)$")  # that export what they import
_OF_LICENCES = (b"licen", b"copyright", b"spdx", b"warrant", b"redistribut", b"permission")
_OF_PATHS = (Field.BASE, Field.DIRECTORY)  # the first
_QUALIFIERS = re.compile(r"(?m)^.*(?:\.|::)(?!$)")  # of a name: `Flask.` of `Flask.run`
_DOCSTRING = re.compile(rb'(?:\s|#[^\n]*\n)*+[rRuU]?("""|\'\'\')')  # of a module


def worded(path: str, text: bytes, found: Extraction) -> FileWords:
    """Return the words of a text, in which this was found; those of its path are not among them.

    Of the path it matters whether it `gathers`, and nothing else: another file of the same text has the same words.
    """
    docstring = _docstring(text)
    said = [*docstring, *(text[start:end] for start, end in found.comments)]
    comments = b"\n".join([*said, *map(str.encode, found.docs)])[:MAX_PROSE]
    fields = _of_definitions([row for row in found.symbols[:MAX_DEFINITIONS] if row.kind in DEFINED])
    if comments:
        fields[Field.COMMENT] = Counter(words.words(comments))
    at_top = [*docstring, found.header.encode()[:HEADER_BYTES]] if found.header else docstring
    if header := _header(text, at_top, found.comments):
        fields[Field.HEADER] = Counter(words.words(header))
    if exports := _exports(path, found.symbols, found.imports):
        fields[Field.EXPORT] = _counted(exports)
    return _packed(fields)


def named(path: str, rows: Iterable[Row]) -> FileWords:
    """Return the words of a path and of the names of definitions, which is all that is known of a file."""
    return _packed(_of_path(path) | _of_definitions([*islice(rows, MAX_DEFINITIONS)]))


def known(source: Source, facts: TextFacts, languages: Languages) -> FileWords | None:
    """Return the words of a file, only those of its path if it ended an extractor; None if it is not code."""
    if languages.rows[source.language].role != "code":
        return None
    of_path = _packed(_of_path(source.path))
    return _with(of_path, facts.words) if facts.words else of_path


def gathers(path: str) -> bool:
    """Return whether a file exports what it imports, by its name.

    >>> gathers("src/auth/__init__.py"), gathers("src/auth.py")
    (True, False)
    """
    return _GATHERING.search(path) is not None


def _of_definitions(defined: Sequence[SymbolRow] | Sequence[Row]) -> dict[Field, Counter[bytes]]:
    """Return the words of definitions: those of public ones are counted once more."""
    fields: dict[Field, Counter[bytes]] = {}
    if defined:
        public = [row.name for row in defined if row.kind in PUBLIC]
        fields[Field.DEFINITION] = _named([row.name for row in defined])
        fields[Field.PUBLIC] = fields[Field.DEFINITION] if len(public) == len(defined) else _named(public)
    return fields


def _of_path(path: str) -> dict[Field, Counter[bytes]]:
    """Return the words of a path; `src/auth/__init__.py` is as good as `src/auth.py`."""
    folder, _, name = path.rpartition("/")
    stem = name.split(".")[0] or name
    if stem.lower() in _UNSAID and folder:
        stem = folder.rpartition("/")[2]
    return {Field.BASE: _named([stem]), Field.DIRECTORY: _of_folder(folder)}


@lru_cache(maxsize=64)  # files come in the order of their paths
def _of_folder(folder: str) -> Counter[bytes]:
    return _counted([folder])


def _counted(texts: Iterable[str]) -> Counter[bytes]:
    return Counter(words.words("\n".join(texts).encode()))


def _named(names: Iterable[str]) -> Counter[bytes]:
    """Count the words of names, and the whole of each even where it is one word: it can be asked for by that."""
    last = "\n".join(names)
    if "." in last or "::" in last:
        last = "\n".join(
            [_QUALIFIERS.sub("", name) if "." in name or "::" in name else name for name in last.split("\n")]
        )
    return Counter(chain.from_iterable(map(words.of_defined, words.names(last.encode()))))


def _header(text: bytes, docstring: Sequence[bytes], comments: Sequence[tuple[int, int]]) -> bytes:
    """Return the lines of the first comments that are not about a licence."""
    top = text[:HEADER_BYTES]
    first = takewhile(lambda span: span[0] < HEADER_BYTES, comments)
    said = b"\n".join([*docstring, *(top[start:end] for start, end in first)])
    lower = said.lower()
    dropped = {line for mark in _OF_LICENCES for line in _lines_with(mark, lower)}
    if not dropped:
        return said
    return b"\n".join([line for number, line in enumerate(said.split(b"\n")) if number not in dropped])


def _lines_with(mark: bytes, text: bytes) -> Iterator[int]:
    """Yield the numbers of the lines of a text that hold a mark, from 0."""
    at = text.find(mark)
    while at >= 0:
        yield text.count(b"\n", 0, at)
        end = text.find(b"\n", at)
        at = text.find(mark, end) if end >= 0 else -1


def _docstring(text: bytes) -> list[bytes]:
    """Return the documentation string that a text begins with, if it does."""
    top = text[:HEADER_BYTES]
    docstring = _DOCSTRING.match(top)
    if not docstring:
        return []
    end = top.find(docstring[1], docstring.end())
    return [top[docstring.end() : end if end >= 0 else len(top)]]


def _exports(path: str, symbols: Iterable[SymbolRow], imports: Iterable[ImportRow]) -> list[str]:
    exported = [row.name for row in symbols if row.kind == "export"]
    if gathers(path):
        exported += [name for row in imports for name in row.imported_names]
    return exported[:MAX_DEFINITIONS]


def _with(of_path: FileWords, of_text: FileWords) -> FileWords:
    """Return the words of a path and those of a text, which are in other fields."""
    first = (max(_OF_PATHS) + 1) * array(NUMBER).itemsize
    return FileWords(
        of_path.keys + of_text.keys,
        of_path.counts + of_text.counts,
        of_path.lengths[:first] + of_text.lengths[first:],
        b"\n".join(filter(None, (of_path.names, of_text.names))),
    )


def _packed(fields: dict[Field, Counter[bytes]]) -> FileWords:
    keys, counts, lengths = array(NUMBER), bytearray(), array(NUMBER, bytes(4 * len(Field)))
    names: set[bytes] = set()
    for field, counted in fields.items():
        if not counted:
            continue
        lengths[field] = counted.total() - sum([times for word, times in counted.items() if word[0] == WHOLE])
        if len(counted) > MAX_WORDS:
            counted = Counter(dict(islice(counted.items(), MAX_WORDS)))
        keys.extend(map(crc32, counted, repeat(SEEDS[field])))
        times = counted.values()
        counts += bytes(times if max(times) <= MOST_TIMES else (min(each, MOST_TIMES) for each in times))
        if field in NAMES:
            names.update([word for word in counted if word[0] != WHOLE])
    return FileWords(keys.tobytes(), bytes(counts), lengths.tobytes(), b"\n".join(sorted(names)))
