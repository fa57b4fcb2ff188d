"""Packages: files that use each other without an import, and that others import together."""

from collections.abc import Iterator, Sequence
from itertools import chain

from fledgling.messages.languages import Modules
from fledgling.worker.store.text import File
from fledgling.worker.tools.request import Request

# The words for packages that are not declared: directories, or directories with all that is below them.
DIRECTORY, TREE = "directory", "tree"


def is_directory(modules: Modules | None) -> bool:
    """Return whether the packages of a language are directories."""
    return modules is not None and modules.packages == DIRECTORY


def directory(path: str) -> str:
    """Return the directory of a file: `directory("a/b.go")` is `a/`."""
    return f"{path.rpartition('/')[0] or '.'}/"


def named(request: Request, path: str) -> str:
    """Return what an import of a file means: `named(request, "a/b.go")` is `a/`, where the directory is a package."""
    file, modules = request.blocks.find(path), request.opened.generation.modules
    return directory(path) if file and is_directory(modules.get(file.language or "")) else path


def is_member(file: File, modules: Modules | None) -> bool:
    """Return whether a file belongs to the package that its directory is: a test of Go does not."""
    return is_directory(modules) and not is_apart(file, modules)


def is_apart(file: File, modules: Modules | None) -> bool:
    """Return whether a file belongs to no package: a test of Go, or the declaration of a module of Java."""
    return modules is not None and modules.apart != "" and file.path.endswith(modules.apart)


def is_linked(request: Request, path: str) -> bool:
    """Return whether what a file leads to are links, as in a document: they name files, and no packages."""
    file = request.blocks.find(path)
    return file is not None and file.language in request.opened.generation.documents


def siblings(request: Request, path: str) -> Iterator[File]:
    """Yield the files beside a file."""
    prefix = path.rpartition("/")[0] + "/" if "/" in path else ""
    return (file for file in request.blocks.below(prefix) if "/" not in file.path.removeprefix(prefix))


def above(request: Request, file: File) -> Iterator[tuple[str, File]]:
    """Yield the name of each directory above a file, and the first file in its language in or below that."""
    place = file.path
    while place := place.rpartition("/")[0]:
        first = next(found for found in request.blocks.below(f"{place}/") if found.language == file.language)
        yield place.rpartition("/")[2], first


def members(request: Request, path: str) -> Iterator[str]:
    """Yield the files of the package that a file stands for: it alone, where no directory is one."""
    modules = request.opened.generation.modules
    file = request.blocks.find(path)
    known = modules.get(file.language or "") if file else None
    if file is None or known is None or not is_member(file, known):
        yield path
        return
    yield from (
        each.path for each in siblings(request, path) if each.language == file.language and is_member(each, known)
    )


def apart(request: Request, paths: Sequence[str]) -> list[str]:
    """Return one file of each package that is a directory, and all others: those of one have the same importers."""
    firsts: dict[str, str] = {}
    modules = request.opened.generation.modules
    for file in filter(None, map(request.blocks.find, paths)):
        is_one = is_member(file, modules.get(file.language or ""))
        firsts.setdefault(directory(file.path) if is_one else file.path, file.path)
    return [*firsts.values()]


def mates(request: Request, file: File, modules: Modules) -> Iterator[File]:
    """Yield the other files of a file's package: those beside it, and those that declare the same."""
    beside = (each for each in siblings(request, file.path) if each.language == file.language)
    outlines = request.outlines
    if modules.packages in (DIRECTORY, TREE) or not outlines:
        yield from beside
        return
    packages = [row.name for row in outlines.definitions(file) if row.kind == "module"]
    declaring = (number for name in packages for number in outlines.named(name, "module"))
    found = chain(beside, map(request.blocks.file, map(outlines.file_of, declaring)))
    yield from (each for each in found if not is_apart(each, modules))
