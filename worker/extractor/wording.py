"""The words of a file: of its path, of what it defines, imports and exports, and of its comments.

A search by meaning ranks files by them, and whoever writes a file chooses them. So none counts much: a word counts
MOST_TIMES at most, a field has no more than MAX_WORDS different ones, and of comments MAX_PROSE bytes are read.
"""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from posixpath import basename, dirname

from fledgling.messages.questions import DEFINITION_KINDS
from fledgling.worker import words
from fledgling.worker.extractor.messages import Facts, Source
from fledgling.worker.language import Languages
from fledgling.worker.rows import Extraction, ImportRow, SymbolRow
from fledgling.worker.store.sections import NUMBER
from fledgling.worker.store.words import FileWords
from fledgling.worker.words import Field

MOST_TIMES = 255  # a word in a field: more would say no more
MAX_WORDS = 2000  # different ones in a field: the public names of the largest ordinary files
MAX_PROSE = 2**16  # bytes of comments and documentation, read from the top: ten times what an ordinary file has
HEADER_BYTES = 4000  # at the top of a file, in which its first comments are about all of it
MAX_DEFINITIONS = 5000  # in a file whose names are read, from the top

PUBLIC = frozenset(["function", "class", "method", "interface", "enum", "type", "struct", "trait", "module", "macro"])
_DEFINED = frozenset(DEFINITION_KINDS)
_UNSAID = frozenset({"__init__", "index", "mod", "lib", "init"})  # names of files that say nothing
_GATHERING = re.compile(r"(?:^|/)(?:mod\.rs|lib\.rs|__init__\.py|index\.[jt]sx?)$")  # that export what they import
_LICENCE = re.compile(rb"licen|copyright|spdx|warrant|redistribut|permission", re.IGNORECASE)
_DOCSTRING = re.compile(rb'(?:\s|#[^\n]*\n)*+[rRuU]?("""|\'\'\')')  # of a module


def worded(path: str, text: bytes, found: Extraction) -> FileWords:
    """Return the words of a file with this text, in which this was found."""
    said = [*_docstring(text), *(text[start:end] for start, end in found.comments)]
    defined = [row for row in found.symbols[:MAX_DEFINITIONS] if row.kind in _DEFINED]
    return _packed(
        {
            **_of_path(path),
            Field.DEFINITION: _of_names(defined),
            Field.PUBLIC: _of_names([row for row in defined if row.kind in PUBLIC]),
            Field.COMMENT: _words(_within([*said, *map(str.encode, found.docs)])),
            Field.HEADER: _words(_header(text, found.comments)),
            Field.IMPORT: _words(row.module.encode() for row in found.imports[:MAX_DEFINITIONS]),
            Field.EXPORT: _of_exports(path, found.symbols, found.imports),
        }
    )


def known(source: Source, facts: Facts, languages: Languages) -> FileWords | None:
    """Return the words of a file, those of its path if it was the end of an extractor; None if it is not code."""
    is_code = languages.rows[source.language].role == "code"
    return facts.words or (_packed(_of_path(source.path)) if is_code else None)


def _of_path(path: str) -> dict[Field, Iterable[bytes]]:
    """Yield the words of a path; `src/auth/__init__.py` is as good as `src/auth.py`."""
    folder, name = dirname(path), basename(path)
    stem = name.split(".")[0] or name
    if stem.lower() in _UNSAID and folder:
        stem = basename(folder)
    return {Field.BASE: _name(stem), Field.DIRECTORY: _words([folder.encode()])}


def _name(name: str) -> Iterator[bytes]:
    """Yield the words of a name, and the whole of it even where it is one word: it can be asked for by that."""
    for each in words.names(name.encode()):
        found = words.of_name(each)
        yield from found
        if found and not words.is_whole(found[-1]):
            yield words.whole(each)


def _of_names(rows: Iterable[SymbolRow]) -> Iterator[bytes]:
    for row in rows:
        yield from _name(row.name.rpartition(".")[2].rpartition("::")[2])


def _words(texts: Iterable[bytes]) -> Iterator[bytes]:
    for text in texts:
        yield from words.words(text)


def _within(texts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield texts as far as MAX_PROSE goes."""
    left = MAX_PROSE
    for text in texts:
        yield text[:left]
        left -= len(text)
        if left <= 0:
            return


def _header(text: bytes, comments: Sequence[tuple[int, int]]) -> Iterator[bytes]:
    """Yield the lines of the first comments that are not about a licence."""
    top = text[:HEADER_BYTES]
    first = (top[start:end] for start, end in comments[: HEADER_BYTES // 2])
    for said in chain(_docstring(text), first):
        for line in said.split(b"\n"):
            if not _LICENCE.search(line):
                yield line


def _docstring(text: bytes) -> Iterator[bytes]:
    """Yield the documentation string that a text begins with, if it does."""
    top = text[:HEADER_BYTES]
    if docstring := _DOCSTRING.match(top):
        end = top.find(docstring[1], docstring.end())
        yield top[docstring.end() : end if end >= 0 else len(top)]


def _of_exports(path: str, symbols: Iterable[SymbolRow], imports: Iterable[ImportRow]) -> Iterator[bytes]:
    exported = [row.name for row in symbols if row.kind == "export"][:MAX_DEFINITIONS]
    if _GATHERING.search(path):
        exported += [name for row in imports for name in row.imported_names][:MAX_DEFINITIONS]
    for name in exported:
        yield from words.words(name.encode())


def _packed(fields: dict[Field, Iterable[bytes]]) -> FileWords:
    keys, counts, lengths = array(NUMBER), bytearray(), array(NUMBER, bytes(4 * len(Field)))
    names: set[bytes] = set()
    for field, found in fields.items():
        counted = Counter(found)
        lengths[field] = sum(count for word, count in counted.items() if not words.is_whole(word))
        some = [*counted.items()][:MAX_WORDS]
        keys.extend(words.key(field, word) for word, _ in some)
        counts += bytes(min(count, MOST_TIMES) for _, count in some)
        if field in words.NAMES:
            names.update(word for word, _ in some if not words.is_whole(word))
    return FileWords(keys.tobytes(), bytes(counts), lengths.tobytes(), b"\n".join(sorted(names)))
