"""One file of a project: its facts, under the numbers of the whole."""

import posixpath
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable
from functools import cached_property
from heapq import heappop, heappush
from typing import TypeVar

import numpy as np

from fledgling.worker import systems
from fledgling.worker.arrays import NDArray
from fledgling.worker.dialect import Dialect
from fledgling.worker.graph.tables import (
    ASSIGNED,
    AT,
    EXPORT,
    HOLDING,
    NAME,
    NONE,
    Expression,
    Facts,
    GraphFile,
    Op,
    ScopeKind,
    site_columns,
    unpacked,
)
from fledgling.worker.of_tests import is_apart, is_test
from fledgling.worker.rows import ImportRow

SHIFT = 22  # bits of a number within its file: four million expressions, more than the largest file that is parsed has
MASK = (1 << SHIFT) - 1
DEFINITIONS = (ScopeKind.FUNCTION, ScopeKind.CLASS, ScopeKind.INTERFACE)
BOUND_ELSEWHERE = (Op.FUNCTION, Op.CLASS, Op.DECORATED, Op.IMPORT, Op.ALIAS, Op.RENAMED)  # or a scope of its own
Target = tuple[int, int]  # file and first line of a definition; with its number, where several begin on that line
LINE_BITS = 32  # of the line in that
MAX_TOGETHER = 65_535  # definitions on one line that are numbered, in two bytes
NOT_NUMBERED = 0, NONE
LINE = (1 << LINE_BITS) - 1
Key = TypeVar("Key")


def dotted(path: str) -> str:
    r"""A path with dots between its names.

    >>> dotted("a::b"), dotted("\\A\\B"), dotted("a . b")
    ('a.b', 'A.B', 'a.b')
    """
    return ".".join(path.replace("::", ".").replace("\\", ".").replace(".", " ").split())


def in_camels(name: str) -> str:
    """The name of a class by that of its object.

    >>> in_camels("line_item")
    'LineItem'
    """
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


class Unit:
    """One file. `names` are the numbers of its names among those of the project."""

    def __init__(self, number: int, file: GraphFile, dialects: dict[str, Dialect], numbers: dict[str, int]) -> None:
        self.number = number
        self.path = file.path
        self.language = file.language
        self.facts: Facts = unpacked(file.facts)
        self.expressions, self.bindings = self.facts.expressions, self.facts.bindings
        self.dialect = dialect = dialects[self.facts.language or file.language]
        self.base = number << SHIFT
        self.names = [numbers.setdefault(name, len(numbers)) for name in self.facts.names]
        self.rows = file.imports
        self.declared_on = systems.ANY  # where the line that makes it a module is compiled: `#[cfg(unix)] mod a;`
        folder = posixpath.dirname(file.path)
        package = dotted(self.facts.package)
        self.shares = {  # the namespace (spaces.py) that its names are in for other files
            "directory": f"{folder}\0{package}",
            "package": package,
            "file": f"{file.path}\0",
        }.get(dialect.shared)
        is_open = self.shares is not None or self.facts.scopes[0].stars or dialect.crates
        self.imports_all_it_names = not is_open
        self.undefined = frozenset(self.names[each] for each in self.facts.undefined)  # macros that end somewhere in it

    @cached_property
    def mentioned(self) -> frozenset[int]:
        """All names that stand in the file."""
        return frozenset(self.names)

    def unasked_signs(self, asked: Container[int]) -> list[int]:
        """The operators, by the names of the file, that call nothing of the project and put nothing anywhere."""
        signs = self.dialect.signs - self.dialect.methods.keys()
        named = enumerate(self.facts.names) if signs else ()
        return [at for at, name in named if name in signs and self.names[at] not in asked]

    def among(self, names: NDArray[np.int32], some: list[int]) -> NDArray[np.bool_]:
        """Which names of the file are among some; numpy's own `isin` imports as it runs."""
        wanted = np.zeros(len(self.names), np.bool_)
        wanted[some] = True
        found: NDArray[np.bool_] = wanted[names]
        return found

    @cached_property
    def takes_all(self) -> bool:
        """Whether the file of a module of Rust takes all names of another, and not only of itself: `use super::*`."""
        paths = (
            (at, self.facts.imports[which].path) for at, row in enumerate(self.facts.scopes) for which in row.stars
        )
        return any(path == NONE or not at or self.expressions[path][0] != Op.ROOT for at, path in paths)

    @cached_property
    def together(self) -> dict[int, dict[tuple[int, int], tuple[int, int]]]:
        """The lines on which several definitions begin: the number of each, from 1, and the scope around it.

        They go by their name and that of what is around. Of those that go by the same, the first counts, which is
        in none of the others: so whoever asks what is around one, and around that, comes to an end.

        The properties that a constructor declares among its parameters stand with it, and are never run.
        """
        scopes, names, found = self.facts.scopes, self.facts.names, dict[int, dict[tuple[int, int], int]]()
        for row in scopes:
            if row.kind in DEFINITIONS:
                found.setdefault(row.line, {}).setdefault(self._known_by(row.name, row.parent), self.around(row.parent))
        makers = {at for at, name in enumerate(names) if name in self.dialect.constructors}
        alone = {line for line, begun in found.items() if len(begun) == 1 and not makers.isdisjoint(*begun)}
        for bound in self.bindings:
            is_held = (
                NONE not in (bound.scope, bound.name) and scopes[bound.scope].kind in HOLDING and bound.how != ASSIGNED
            )
            is_other = is_held and self.expressions[bound.value][0] not in BOUND_ELSEWHERE
            if is_other and not names[bound.name].startswith(EXPORT) and bound.line not in alone:
                begun = found.setdefault(bound.line, {})
                begun.setdefault(self._known_by(bound.name, bound.scope), self.around(bound.scope))
        return {
            line: {each: (number, begun[each]) for number, each in enumerate([*begun][:MAX_TOGETHER], 1)}
            for line, begun in found.items()
            if len(begun) > 1
        }

    def _known_by(self, name: int, scope: int) -> tuple[int, int]:
        """The name of a definition, and that of the one around a scope that it is in."""
        around = self.around(scope)
        return name, NONE if around == NONE else self.facts.scopes[around].name

    def around(self, scope: int) -> int:
        """The innermost function or class that a scope is or is in, of those that begin somewhere; or NONE."""
        scopes = self.facts.scopes
        while scope != NONE and scopes[scope].kind not in DEFINITIONS:
            scope = scopes[scope].parent
        return scope

    def place(self, line: int, name: int, scope: int) -> Target:
        """What a definition that begins on a line is known by, of a name in a scope; both as the file numbers them."""
        if begun := self.together.get(line):
            line |= begun.get(self._known_by(name, scope), NOT_NUMBERED)[0] << LINE_BITS
        return self.number, line

    def place_of(self, scope: int) -> Target:
        """What a function or class is known by."""
        row = self.facts.scopes[scope]
        return self.place(row.line, row.name, row.parent)

    @cached_property
    def begun(self) -> dict[int, set[int]]:
        """By where definitions with a name begin, as `place` has it, the functions that they are."""
        found: dict[int, set[int]] = {}
        for row in self.bindings:
            if row.name == NONE:
                continue
            op, *parts = self.expressions[row.value]
            if op == Op.DECORATED:
                op, *parts = self.expressions[parts[0]]
            is_function = op == Op.FUNCTION
            if not is_function and (row.scope == NONE or self.facts.scopes[row.scope].kind not in HOLDING):
                continue
            at = self.place_of(parts[0]) if is_function else self.place(row.line, row.name, row.scope)
            found.setdefault(at[1], set()).update(parts[:1] if is_function else ())
        return found

    def forget_reach(self, names: Container[int]) -> None:
        """Let some names of the module stand for all that they are bound to, wherever the module uses them."""
        for at, expression in enumerate(self.expressions):
            if expression[0] == Op.NAME and expression[2] == 0 and expression[1] in names:
                self.expressions[at] = (Op.NAME, expression[1], 0, None)

    def systems_at(self, line: int) -> int:
        """The systems on which a line may be compiled, by the conditions around it."""
        at = bisect_right(self.facts.systems, (line, systems.ANY)) - 1
        return self.facts.systems[at][1] & self.declared_on if at >= 0 else self.declared_on

    @cached_property
    def compiled_on(self) -> int:
        """The systems on which the file may be compiled, by its name and by what it says of all that is in it."""
        said = self.facts.systems
        return (
            (said[0][1] if len(said) == 1 and said[0][0] == 1 else systems.ANY) & self.declared_on & self.named_systems
        )

    def always_at(self, line: int) -> bool:
        """Whether a line stands under no condition."""
        at = bisect_right(self._conditional, (line, line)) - 1
        return at < 0 or self._conditional[at][1] < line

    @cached_property
    def said_always(self) -> frozenset[int]:
        """The names that the file binds under no condition."""
        bound = self.facts.scopes[0].every.items()
        return frozenset(
            self.names[name] for name, each in bound if any(self.always_at(self.bindings[at].line) for at in each)
        )

    def condition_around(self, line: int) -> tuple[int, int] | None:
        """The first and last line of the innermost condition that a line stands under."""
        lines, innermost = self._innermost
        return innermost[bisect_right(lines, line) - 1]

    def are_apart(self, line: int, other: int) -> bool:
        """Whether two lines stand in branches of one condition."""
        own, theirs = self.condition_around(line), self.condition_around(other)
        if own is None or theirs is None or own == theirs:
            return False
        return self._first_branches[own] == self._first_branches[theirs]

    @cached_property
    def _first_branches(self) -> dict[tuple[int, int], int]:
        """Where the first branch begins of the condition that each is one of: one ends where the next one begins."""
        found, ending = dict[tuple[int, int], int](), dict[int, int]()
        for first, last in sorted(self.facts.conditions):
            found[first, last] = ending[last] = ending.get(first, first)
        return found

    @cached_property
    def _innermost(self) -> tuple[list[int], list[tuple[int, int] | None]]:
        """From which line on which condition is the innermost one."""
        spans = sorted(self.facts.conditions)
        lines, found = [0], list[tuple[int, int] | None]([None])
        open_: list[tuple[int, int]] = []  # a heap, the innermost one first, by what is less for it
        for line in sorted({line for first, last in spans for line in (first, last + 1)}):
            for first, last in spans[bisect_left(spans, (line,)) : bisect_left(spans, (line + 1,))]:
                heappush(open_, (-first, -last))
            while open_ and -open_[0][1] < line:
                heappop(open_)
            lines.append(line)
            found.append((-open_[0][0], -open_[0][1]) if open_ else None)
        return lines, found

    @cached_property
    def _conditional(self) -> list[tuple[int, int]]:
        """The lines that stand under a condition, from and to, in order."""
        found: list[tuple[int, int]] = []
        for first, last in self.facts.conditions:
            if not found or first > found[-1][1]:
                found.append((first, last))
            elif last > found[-1][1]:
                found[-1] = found[-1][0], last
        return found

    @cached_property
    def named_systems(self) -> int:
        """Those that the name of the file says it is for."""
        return systems.of_path(self.path) if self.dialect.for_systems else systems.ANY

    @cached_property
    def is_of_tests(self) -> bool:
        """Whether the file is one of the tests, as far as its name tells."""
        return is_test(self.path)

    @cached_property
    def is_apart(self) -> bool:
        """Whether what the file defines is of a program of its own."""
        return is_apart(self.path)

    @cached_property
    def constness(self) -> dict[int, int]:
        """What is said of what bindings hold."""
        return dict(self.facts.constness)

    @cached_property
    def not_parsed(self) -> frozenset[int]:
        """The names in what no parser has read of the file, which may declare them."""
        sites = site_columns(self.facts)
        return frozenset(self.names[name] for name in set(sites[NAME][sites[AT] == 0].tolist()))

    @cached_property
    def starred(self) -> list[int]:
        """The imports of all names of a module or a package; where `all_of` looks, a path is named."""
        return [which for which in self.facts.scopes[0].stars if self.facts.imports[which].path == NONE]

    @cached_property
    def renamed(self) -> dict[int, int]:
        """The names that the file gives what it imports, and what that is called itself: `import a.b as c`."""
        found = {}
        for name, bound in self.facts.scopes[0].every.items():
            for op, *parts in (self.expressions[self.bindings[at].value] for at in bound):
                path = self.expressions[parts[0]] if op == Op.ALIAS else (NONE,)
                if path[0] == Op.GET and path[2] != name:
                    found[self.names[name]] = self.names[path[2]]
        return found

    @cached_property
    def by_line(self) -> dict[int, list[ImportRow]]:
        """The imports of each line."""
        return _grouped((row.line_number, row) for row in self.rows)

    def later(self, name: int, scope: int) -> tuple[int, ...]:
        """The namespaces of C++ around a scope that have a name further down than where that stands in them."""
        found: list[int] = []
        line = 0  # of what the scope stands in, next to a namespace
        while scope > 0 and name in self._of_spaces:
            row = self.facts.scopes[scope]
            bound = row.every.get(name) if line and row.kind == ScopeKind.NAMESPACE else None
            if bound and min(self.bindings[at].line for at in bound) > line:
                found.append(scope)
            scope, line = row.parent, row.line
        return tuple(found)

    @cached_property
    def _of_spaces(self) -> frozenset[int]:
        """The names that namespaces of C++ have in the file."""
        spaces = [row for row in self.facts.scopes if row.kind == ScopeKind.NAMESPACE] if self.dialect.declared else ()
        return frozenset(name for row in spaces for name in row.every)

    @cached_property
    def by_module(self) -> dict[str, list[ImportRow]]:
        """The imports of each module."""
        return _grouped((row.module, row) for row in self.rows)


def is_for_all(unit: Unit, expression: Expression) -> bool:
    """Whether an alias of PHP is one for all files: `class_alias("A", "B")`."""
    return expression[0] == Op.ALIAS and len(expression) > 2 and unit.dialect.texts_name_classes


def _grouped(rows: Iterable[tuple[Key, ImportRow]]) -> dict[Key, list[ImportRow]]:
    found: dict[Key, list[ImportRow]] = {}
    for key, row in rows:
        found.setdefault(key, []).append(row)
    return found
