"""C and C++: files that are included, beside the including file or on a likely include path.

Which directories a build searches is not in the sources. Those of a directory above and its `include` and `src` are
taken first; else the header of that name that is nearest, if one is. `<a.h>` is none deeper in an `include`.
"""

import posixpath
from collections.abc import Iterator, Sequence
from functools import lru_cache

from fledgling.worker.language import word_list
from fledgling.worker.languages.c.frameworks import Frameworks, is_apples
from fledgling.worker.resolving.project import Project, Resolver, Suffixes, ancestors, answer, join, only
from fledgling.worker.rows import ImportRow

STDLIB = word_list("c/stdlib.txt") | word_list("cpp/stdlib.txt")
FOLDERS = ("", "include", "src")
LOCATED = 4096  # headers whose places are kept: files come directory by directory, and most of one include the same
SEARCHED = 2  # lists of places that are kept, those of one directory: a deep one has thousands
TEMPLATES = (".in", ".cmake", ".cmakein", ".meson", ".mesonbuild")  # a build makes `config.h` from `config.h.in`


@lru_cache(SEARCHED)
def searched_below(directory: str, folders: Sequence[str]) -> Sequence[str]:
    """What stands before a header where it may be, the nearest first: "a/include/" and "include/" of "a"."""
    return [posixpath.join(up, folder, "") for up in ancestors(posixpath.join(directory, "x")) for folder in folders]


def is_asked_by_root(found: str | None, header: str) -> bool:
    """Whether `<a.h>` may mean what was found: one in a folder `include` goes by its path from there, `<b/a.h>`."""
    _, folder, below = f"/{found}".rpartition("/include/")
    return not folder or below == header


def resolver(project: Project, language: str) -> Resolver:
    """Resolve includes; a name that several headers share equally near stays open."""
    frameworks = Frameworks(project) if language == "objc" else None
    suffixes = Suffixes(project.files)
    made = Suffixes(path.rpartition(".")[0] for path in project.files if path.endswith(TEMPLATES))

    def searched(directory: str, header: str, folders: Sequence[str]) -> str | None:
        places = (place + header for place in searched_below(directory, folders))
        return next((place for place in places if place in project.files), None)

    @lru_cache(LOCATED)
    def locate(directory: str, header: str, *, quoted: bool) -> str | None:
        if quoted and (beside := join(directory, header)) in project.files:
            return beside
        if header.startswith(("/", "../")):
            return None
        header = posixpath.normpath(header)
        if header in STDLIB:
            return searched(directory, header, FOLDERS if quoted else ("include",))
        if made.nearest(header, directory):
            return None
        found = searched(directory, header, FOLDERS) or only(suffixes.nearest(header, directory))
        return found if quoted or is_asked_by_root(found, header) else None

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        directory = posixpath.dirname(path)
        found, is_stdlib = locate(directory, row.module, quoted=row.is_relative), row.module in STDLIB
        if frameworks and not (found or is_stdlib or row.is_relative):
            found, is_stdlib = frameworks.locate(directory, row.module), is_apples(row.module)
        yield answer(row, None if found == path else found, is_stdlib=is_stdlib)

    return resolved
