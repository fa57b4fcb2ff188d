"""Modules that are the project's by what it says itself, though no file of the index is one: generated, or left out."""

import posixpath
from collections.abc import Iterator
from functools import cache

from fledgling.messages.control import Modules
from fledgling.worker.tools import packages
from fledgling.worker.tools.request import Request

MAX_CHARS = 1_000  # of a module: what is longer names none


class OwnModules:
    """The names of a project's own modules, for one call.

    >>> OwnModules(request).has("cmd/main.go", request.opened.generation.modules["go"], "example.org/m/generated")
    True
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._names = cache(lambda place: [*self._said(place)])

    def has(self, path: str, modules: Modules | None, module: str) -> bool:
        """Return whether a module that a file imports without success is named as those of the project are."""
        if modules is None or len(module) > MAX_CHARS:
            return False
        above = path if modules.named else ""
        while above:
            above = posixpath.dirname(above)
            for name, word in modules.named.items():
                names = self._names((posixpath.join(above, name), word))
                if any(module == own or module.startswith(f"{own}{modules.root}") for own in names):
                    return True
        return modules.packages not in ("", packages.DIRECTORY, packages.TREE) and self._is_declared(modules, module)

    def _said(self, place: tuple[str, str]) -> Iterator[str]:
        """Yield what stands behind a word in the first block of a file: `example.org/m` of `module example.org/m`."""
        path, word = place
        file = self._request.blocks.find(path)
        if file and file.blocks:
            lines = self._request.blocks.text(file.block).decode().splitlines()
            said = (line.partition("//")[0].split() for line in lines)
            yield from (words[1].strip('"`') for words in said if len(words) == 2 and words[0] == word)

    def _is_declared(self, modules: Modules, module: str) -> bool:
        """Return whether a file declares the package that a module is, or that it is a class of: `a.b.Class`."""
        package, inner = module, ""
        while package and not inner[:1].islower():
            if self._declares(modules, package):
                return True
            package, _, inner = package.rpartition(".")
        return False

    def _declares(self, modules: Modules, package: str) -> bool:
        known, outlines = self._request.opened.generation.modules, self._request.outlines
        if not outlines:
            return False
        for file in map(self._request.blocks.file, map(outlines.file_of, outlines.named(package, "module"))):
            theirs = known.get(file.language or "")
            if theirs and theirs.packages == modules.packages and not packages.is_apart(file, theirs):
                return True
        return False
