"""Modules that are the project's by what it says itself, though no file of the index is one: generated, or left out."""

import posixpath
import re
from collections.abc import Iterator
from functools import cache

from fledgling.messages.languages import Modules
from fledgling.worker.store.package_root import root
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
        self._lines = cache(lambda path: [*self._said(path)])

    def has(self, path: str, modules: Modules | None, module: str) -> bool:
        """Return whether a module that a file imports without success is named as those of the project are."""
        if modules is None or len(module) > MAX_CHARS:
            return False
        above = path if modules.named else ""
        while above:
            above = posixpath.dirname(above)
            for name, word in modules.named.items():
                lines = self._lines(posixpath.join(above, name))
                own = [words[1] for words in lines if len(words) == 2 and words[0] == word]
                nearest = max(
                    (each for words in lines for each in words if _is_in(module, each, modules)), default=None
                )
                if nearest in own:  # and in no other module that is required: `m/v2` is not of `m`
                    return True
        if modules.package:
            package = self._package(path, modules, module)
            return package is not None and not self._is_spread(package, modules)
        return self._is_declared(modules, module) or self.around(modules, module) is not None

    def beside(self, path: str, modules: Modules | None, module: str) -> str | None:
        """Return the own package that a module is below which no file is: built, perhaps."""
        if modules and modules.package and self.has(path, modules, module):
            return root(module, modules)
        return self.around(modules, module)

    def around(self, modules: Modules | None, module: str) -> str | None:
        """Return the package that files declare and a module is below, where another project could have that, too.

        What generates code often makes a package below one of the own; but artifacts of one group share such names.
        """
        if modules is None or not modules.nested or len(module) > MAX_CHARS or self._is_declared(modules, module):
            return None
        package = module
        while (package := package.rpartition(".")[0]).count(".") >= modules.nested - 1:
            if self._declares(modules, package):
                return package
        return None

    def is_spread(self, path: str, modules: Modules | None, module: str) -> bool:
        """Return whether a module is below an own package of which other projects hold parts: `google.protobuf`."""
        if modules is None or not modules.spread or module.startswith(modules.root) or len(module) > MAX_CHARS:
            return False
        package = self._package(path, modules, module)
        return package is not None and self._is_spread(package, modules)

    def _package(self, path: str, modules: Modules, module: str) -> str | None:
        """Return the file of the package that a module is in, if code of a file finds that in a directory above."""
        find = self._request.blocks.find
        above, name = path, root(module, modules)
        while above:
            above = posixpath.dirname(above)
            package = posixpath.join(above, name, modules.package)
            if find(package) and not find(posixpath.join(above, modules.package)):
                return package
        return None

    def _is_spread(self, package: str, modules: Modules) -> bool:
        return bool(modules.spread) and any(
            re.search(modules.spread, word) for words in self._lines(package) for word in words
        )

    def _said(self, path: str) -> Iterator[list[str]]:
        """Yield the words of each line in the first block of a file: `module` and `example.org/m`."""
        file = self._request.blocks.find(path)
        if file and file.blocks:
            for line in self._request.blocks.text(file.block).decode().splitlines():
                yield [word.strip('"`') for word in line.partition("//")[0].split()]

    def _is_declared(self, modules: Modules, module: str) -> bool:
        """Return whether a file declares the package that a module is, or that it is a class of: `a.b.Class`."""
        if modules.packages in ("", packages.DIRECTORY, packages.TREE):
            return False
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


def _is_in(module: str, another: str, modules: Modules) -> bool:
    return module == another or module.startswith(f"{another}{modules.root}")
