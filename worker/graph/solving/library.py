"""What the library of a language says of its classes: what stands above them, what their methods give."""

from collections.abc import Container
from functools import cached_property
from typing import NamedTuple

from fledgling.worker.dialect import Dialect
from fledgling.worker.graph.solving.values import BUILTIN
from fledgling.worker.language import own_text

ROOT = "Object"  # stands above all classes
ENUMERATION = "Enum"  # above those whose constants are objects of them
OWN_PACKAGE = "java.lang"  # whose classes no file imports
ARRAYS = "[]"


class LibraryClass(NamedTuple):
    """A class of the library. `arity` is how many arguments a function takes of which it is the type, else -1."""

    package: str
    above: tuple[str, ...]  # the nearest first
    gives: dict[str, str]  # by method, where all of that name give the same; "" where that is not said
    arity: int


class Library:
    """The classes that a text names: a package, and its classes below, `File < Comparable : String getName; ...`."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _classes(self) -> dict[str, LibraryClass]:
        found: dict[str, LibraryClass] = {}
        package = ""
        for line in self._text.splitlines():
            if not line.startswith(" "):
                package = line
                continue
            head, _, methods = line.partition(" : ")
            own, _, above = head.partition(" < ")
            name, _, arity = own.strip().partition("/")
            gives: dict[str, str] = {}
            for part in methods.split("; ") if methods else ():
                type_, *named = part.split(" ")
                gives.update(dict.fromkeys(named, type_))
            found[name] = LibraryClass(package, tuple(above.split()), gives, int(arity or -1))
        return found

    def known(self, full: str) -> str:
        """The last name of a class of the library by its full name, else "".

        >>> LIBRARIES["java"].known("java.io.File"), LIBRARIES["java"].known("org.File")
        ('File', '')
        """
        package, _, name = full.removeprefix(BUILTIN).rpartition(".")
        found = self._classes.get(name)
        return name if found is not None and (package or OWN_PACKAGE) == found.package else ""

    def found(self, name: str, packages: Container[str]) -> str:
        """The full name of a class of one of some packages, else "".

        >>> LIBRARIES["java"].found("Date", ["java.util"]), LIBRARIES["java"].found("Date", ["java.io"])
        ('java.util.Date', '')
        """
        found = self._classes.get(name)
        return f"{found.package}.{name}" if found is not None and found.package in packages else ""

    def gives(self, callee: str) -> str:
        """The full name of what a method or constant gives, "" where that is not known.

        >>> [*map(LIBRARIES["java"].gives, ["java.io.File#.listFiles", "java.io.File.separator", "a.B.c"])]
        ['java.io.File[]', 'String', '']
        """
        of, _, method = callee.rpartition(".")
        name = self.known(of.removesuffix("#"))
        if name and ENUMERATION in self._classes[name].above and method.isupper():
            return f"{self._classes[name].package}.{name}"
        for each in (name, *self._classes[name].above, ROOT) if name else ():
            type_ = self._classes[each].gives.get(method) if each in self._classes else None
            if type_ is not None:
                held = type_.removesuffix(ARRAYS)
                of_class = self._classes.get(held)
                return type_ if of_class is None or of_class.package == OWN_PACKAGE else f"{of_class.package}.{type_}"
        return ""

    def is_below(self, name: str, other: str) -> bool:
        """Whether a class stands below another one, by their last names."""
        return name in self._classes and other in self._classes[name].above

    def arity(self, name: str) -> int | None:
        """How many arguments a function takes of which a class is the type; -1 if of none, None if it is not known."""
        found = self._classes.get(name)
        return None if found is None else found.arity


LIBRARIES = {"java": Library(own_text("java/library.txt"))}


def library_of(dialect: Dialect) -> Library | None:
    """The library of a language, if there is one."""
    return LIBRARIES.get(dialect.library)
