"""What the library of a language says of its classes: what stands above them, what their methods give."""

from collections.abc import Container
from functools import cached_property
from typing import NamedTuple

ROOT = "Object"  # stands above all classes
ENUMERATION = "Enum"  # above those whose constants are objects of them
UNIMPORTED = "builtins."  # stands before the name of what no file imports
IN_ALL_FILES = " *"  # behind a package of which every file has all classes, without an import
ARRAYS = "[]"


class LibraryClass(NamedTuple):
    """A class of the library. `arity` is how many arguments a function takes of which it is the type, else -1."""

    package: str
    above: tuple[str, ...]  # the nearest first
    gives: dict[str, str]  # by method, where all of that name give the same; "" where that is not said
    arity: int


class Library:
    """The classes that a text names: a package, and its classes below, `File < Comparable : String getName; ...`.

    Every file has those of a package that a star follows, `java.lang *`.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _in_all_files(self) -> frozenset[str]:
        lines = self._text.splitlines()
        return frozenset(line.removesuffix(IN_ALL_FILES) for line in lines if line.endswith(IN_ALL_FILES))

    @cached_property
    def _classes(self) -> dict[str, LibraryClass]:
        found: dict[str, LibraryClass] = {}
        package = ""
        for line in self._text.splitlines():
            if not line.startswith(" "):
                package = line.removesuffix(IN_ALL_FILES)
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

        >>> library = Library("a.io\\n File\\na *\\n Int < Number")
        >>> library.known("a.io.File"), library.known("b.File"), library.known("builtins.Int")
        ('File', '', 'Int')
        """
        package, _, name = full.removeprefix(UNIMPORTED).rpartition(".")
        found = self._classes.get(name)
        if found is None:
            return ""
        return name if package == found.package or (not package and found.package in self._in_all_files) else ""

    def found(self, name: str, packages: Container[str]) -> str:
        """The full name of a class of one of some packages, else "".

        >>> library = Library("a.io\\n File")
        >>> library.found("File", ["a.io"]), library.found("File", ["a"])
        ('a.io.File', '')
        """
        found = self._classes.get(name)
        return f"{found.package}.{name}" if found is not None and found.package in packages else ""

    def gives(self, callee: str) -> str:
        """The full name of what a method or constant gives, "" where that is not known.

        >>> library = Library("a.io\\n File : File[] listFiles; String separator\\na *\\n String")
        >>> [*map(library.gives, ["a.io.File#.listFiles", "a.io.File.separator", "b.File#.listFiles"])]
        ['a.io.File[]', 'builtins.String', '']
        """
        of, _, method = callee.rpartition(".")
        name = self.known(of.removesuffix("#"))
        if name and ENUMERATION in self._classes[name].above and method.isupper():
            return f"{self._classes[name].package}.{name}"
        for each in (name, *self._classes[name].above, ROOT) if name else ():
            type_ = self._classes[each].gives.get(method) if each in self._classes else None
            if type_ is not None:
                of_class = self._classes.get(type_.removesuffix(ARRAYS))
                if of_class is None or of_class.package in self._in_all_files:
                    return type_ and UNIMPORTED + type_
                return f"{of_class.package}.{type_}"
        return ""

    def is_below(self, name: str, other: str) -> bool:
        """Whether a class stands below another one, by their last names."""
        return name in self._classes and other in self._classes[name].above

    def has(self, name: str) -> bool:
        """Whether a class of that last name is one of the library."""
        return name in self._classes

    def above(self, name: str) -> tuple[str, ...]:
        """The last names of all that stands above a class, the nearest first."""
        return self._classes[name].above if name in self._classes else ()

    def arity(self, name: str) -> int | None:
        """How many arguments a function takes of which a class is the type; -1 if of none, None if it is not known."""
        found = self._classes.get(name)
        return None if found is None else found.arity
