"""The words of a file: of its path, of what it defines and exports, and of its comments.

A search by meaning ranks files by them, and whoever writes a file chooses them. So none counts much: a word counts
MOST_TIMES at most, a field has no more than MAX_WORDS different ones, and of comments MAX_PROSE bytes are read.

Definitions do not wait for words. Who parses a text notes its `prose`; once symbols are sealed, it is `worded`.
"""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice, repeat, takewhile
from zlib import crc32

import msgspec

from fledgling.messages.questions import DEFINITION_KINDS
from fledgling.worker import words
from fledgling.worker.extractor.messages import Source
from fledgling.worker.rows import Extraction, FileWords
from fledgling.worker.store.sections import NUMBER
from fledgling.worker.store.symbols import CODES, DEFINITIONS, names_of
from fledgling.worker.words import NAMES, SEEDS, WHOLE, Field

MOST_TIMES = 255  # a word in a field: more would say no more
MAX_WORDS = 2000  # different ones in a field: the public names of the largest ordinary files
MAX_PROSE = 2**16  # bytes of comments and documentation, read from the top: ten times what an ordinary file has
HEADER_BYTES = 4000  # at the top of a file, in which its first comments are about all of it
MAX_DEFINITIONS = 5000  # in a file whose names are read, from the top

DEFINED = frozenset(DEFINITION_KINDS)  # asked of each row
_PUBLIC_KINDS = ("function", "class", "method", "interface", "enum", "type", "struct", "trait", "module", "macro")
PUBLIC = frozenset(map(CODES.__getitem__, _PUBLIC_KINDS))
_UNSAID = frozenset({"__init__", "index", "mod", "lib", "init"})  # names of files that say nothing
_GATHERING = re.compile(r"(?:^|/)(?:mod\.rs|lib\.rs|__init__\.py|index\.[jt]sx?)$")  # that export what they import
_OF_LICENCES = (b"licen", b"copyright", b"spdx", b"warrant", b"redistribut", b"permission")
_QUALIFIERS = re.compile(r"(?m)^.*(?:\.|::)(?!$)")  # of a name: `Flask.` of `Flask.run`
_DOCSTRING = re.compile(rb'(?:\s|#[^\n]*\n)*+[rRuU]?("""|\'\'\')')  # of a module


class Prose(msgspec.Struct, frozen=True, array_like=True):
    """What the words of a text are made of but its symbols: places of comments, where each begins and ends, as an array
    of NUMBER; documentation and what stands at the top, as far as these are no comments; names that it gathers.
    """

    comments: bytes
    docs: bytes
    header: bytes
    gathered: list[str]


NOTHING_SAID = Prose(b"", b"", b"", [])
_DECODER = msgspec.msgpack.Decoder(Prose)


def prose(path: str, text: bytes, found: Extraction) -> bytes:
    """Return Prose of a text in which this was found, packed: as much of it as is read; nothing where it says nothing.

    Of the path it matters whether it `gathers`, and nothing else.
    """
    places, size = array(NUMBER), 0
    for start, end in found.comments:
        if size > MAX_PROSE:
            break
        places.extend((start, end))
        size += end - start + 1
    docs, header = "\n".join(found.docs).encode()[:MAX_PROSE], found.header.encode()[:HEADER_BYTES]
    gathered = [name for row in found.imports for name in row.imported_names] if gathers(path) else []
    if not (places or docs or header or gathered or _docstring(text)):
        return b""
    return msgspec.msgpack.encode(Prose(places.tobytes(), docs, header, gathered[:MAX_DEFINITIONS]))


def worded(source: Source, text: bytes = b"") -> FileWords:
    """Return the words of a file; without its prose those of its path and of its symbols, which need no text."""
    named = [*names_of(source.outline, source.rows)]
    first = [(name, kind) for name, kind in named[:MAX_DEFINITIONS] if kind < DEFINITIONS]
    fields = _of_path(source.path) | _of_definitions(first)
    said = _DECODER.decode(source.prose) if source.prose else NOTHING_SAID
    numbers = iter(memoryview(said.comments).cast(NUMBER))
    spans = [*zip(numbers, numbers, strict=True)]
    docstring = _docstring(text)
    comments = b"\n".join([*docstring, *(text[start:end] for start, end in spans), *filter(None, [said.docs])])
    if comments:
        fields[Field.COMMENT] = Counter(words.words(comments[:MAX_PROSE]))
    at_top = [*docstring, said.header] if said.header else docstring
    if header := _header(text, at_top, spans):
        fields[Field.HEADER] = Counter(words.words(header))
    exports = [*(name for name, kind in named if kind == CODES["export"]), *said.gathered]
    if exports:
        fields[Field.EXPORT] = _counted(exports[:MAX_DEFINITIONS])
    return _packed(fields)


def gathers(path: str) -> bool:
    """Return whether a file exports what it imports, by its name.

    >>> gathers("src/auth/__init__.py"), gathers("src/auth.py")
    (True, False)
    """
    return _GATHERING.search(path) is not None


def _of_definitions(defined: Sequence[tuple[str, int]]) -> dict[Field, Counter[bytes]]:
    """Return the words of definitions, by their names and kinds: those of public ones are counted once more."""
    fields: dict[Field, Counter[bytes]] = {}
    if defined:
        public = [name for name, kind in defined if kind in PUBLIC]
        fields[Field.DEFINITION] = _named([name for name, _ in defined])
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
