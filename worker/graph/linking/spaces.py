"""Namespaces: names that files see without importing them, and classes that stand in several places.

A namespace is a path, its names with dots between: "com.example". The names that all files of a program share stand in
the one without a name: those of C that are not static.
"""

from collections import defaultdict
from collections.abc import Container, Iterator, Set
from functools import cached_property
from itertools import combinations

from fledgling.worker.graph.linking.includes import ALWAYS, HEADERS, Includes, may_include
from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.tables import NONE, Flag, Op, ScopeKind, sites_of
from fledgling.worker.graph.unit import SHIFT, Unit, dotted, is_for_all
from fledgling.worker.systems import taken_on

MAX_BINDING = 16  # scopes that bind one name of a namespace; of more, the first count
MAX_BOUND = 256  # scopes of one name that are known at all, so that a name in every file takes no time for each
MAX_BEGUN = 8  # macros that begin a namespace in one file; of more, the first count


def upwards(path: str) -> Iterator[str]:
    """The path and those of the namespaces around it, the outermost last.

    >>> list(upwards("a.b"))
    ['a.b', 'a', '']
    """
    yield path
    while path:
        path = path.rpartition(".")[0]
        yield path


def within(path: str, inner: str) -> str:
    """The path of a namespace in another one; that itself, where both end and begin with one name.

    >>> within("a.b", "c"), within("a.b", "b.c"), within("a.b", "")
    ('a.b.c', 'a.b.c', 'a.b')
    """
    if not inner:
        return path
    first, _, below = inner.partition(".")
    return within(path, below) if path.rpartition(".")[2] == first else f"{path}.{inner}"


class Spaces:
    """Who binds which name in which namespace.

    `paths` are those of scopes, of modules and what stands in them, `scopes` those of a namespace; `parts` the classes
    that several places make up.
    """

    def __init__(self, project: GraphProject) -> None:
        self._project = project
        self._binding: dict[str, dict[int, list[int]]] = {}
        self._known: set[str] = set()
        # whether a namespace and what is beside it may have one name: the class `Node` and `Node\Leaf` in PHP
        self.are_beside_names = any(unit.dialect.spaces == "global" or unit.dialect.crates for unit in project.units)
        self._named: dict[int, list[int]] = {}  # the scopes of all namespaces that bind a name
        self._includes = Includes(project)
        self._declaring: set[tuple[int, int]] = set()  # scopes and names that they only declare
        self._renaming: set[tuple[int, int]] = set()  # and those for which they have macros, which may be meant
        self._saying: dict[tuple[int, int], tuple[bool, frozenset[int]]] = {}
        self._own_paths: dict[int, dict[int, str]] = {}  # of the scopes of a file that are namespaces
        self._kept: dict[tuple[int, str, int], list[int]] = {}  # scopes that bind a name for their file alone
        self._inline: list[int] = []  # namespaces of C++ whose names are those of the one around, too
        self._directing: dict[str, list[int]] = {}  # scopes of C++ that take all names of others
        self.paths: dict[int, str] = {}
        self.scopes: dict[str, list[int]] = {}
        self.parts: dict[str, list[int]] = {}
        for unit in project.units:
            if unit.shares is not None:
                self._add(unit, unit.shares)
        self._add_inline()
        self._begun: dict[int, list[str]] = {}  # by files, the namespaces that macros may begin in it
        self._add_begun()
        declaring = [unit for unit in project.units if unit.shares is not None and unit.dialect.declared]
        for unit in declaring:
            self._leave_renamed(unit)
        self._declaring.difference_update([each for unit in declaring for each in self._link(unit)])
        for unit in declaring:
            self._join(unit)
        for unit in project.units:
            if unit.dialect.crates:
                self._add_macros(unit)

    @cached_property
    def _having(self) -> dict[int, set[str]]:
        found = defaultdict[int, set[str]](set)
        for path, names in self._binding.items():
            for name in names:
                found[name].add(path.rpartition(".")[2])
        for _, path, name in self._kept:
            found[name].add(path.rpartition(".")[2])
        for path in self._known:
            outer, _, inner = path.rpartition(".")
            found[self._project.number(inner)].add(outer.rpartition(".")[2])
        return found

    def having(self, name: int) -> Set[str]:
        """The last names of all namespaces that have a name, or a namespace of it."""
        return self._having.get(name, frozenset())

    def binding(self, space: str, name: int) -> list[int]:
        """The scopes that bind a name of a namespace; those that define it where others only declare it."""
        found = self._binding.get(space, {}).get(name, [])
        if len(found) > 1:
            return [scope for scope in found if (scope, name) not in self._declaring][:MAX_BINDING] or found[:1]
        return found

    def kept(self, unit: Unit, space: str, name: int) -> list[int]:
        """The scopes of a file that bind a name of a namespace for that file alone: a static function of C++."""
        return self._kept.get((unit.number, space, name), [])

    def inner(self, space: str, name: str) -> str | None:
        """The namespace of a name in another one."""
        found = f"{space}.{name}" if space else name
        return found if found in self._known else None

    def visible(self, unit: Unit, space: str, name: int) -> tuple[list[int], int]:
        """The scopes that bind a name for a file, and how sure that is: of what it includes, where there is any."""
        found = self.binding(space, name)
        reason = Reason.BOUND
        is_method = unit.dialect.bare_calls and self._project.text(name)[:1].islower()
        if found and (unit.dialect.declared or is_method):
            included = self._includes.of(unit.number)
            where = [included.get(self._project.unit(scope).number, 0) for scope in self._binding[space][name]]
            if any(where):
                reason = self._included_on(unit, where, is_global=not space)
                if reason == Reason.BOUND and not space and not self._is_said(unit, found, name, included):
                    reason = Reason.CONDITIONAL
            else:
                nothing = self._declaring, self._renaming
                found = [scope for scope in found if not any((scope, name) in which for which in nothing)]
                seen = [scope for scope in found if not self._takes_including(unit, scope, name)]
                found, reason = (seen, Reason.UNDECLARED) if seen or not found else (found, Reason.NAME_ONLY)
            found = [scope for scope in found if self._project.unit(scope).number in included] or found
            found = [*dict.fromkeys([*self._renamed(space, name, included), *found])]
        if kept := self.kept(unit, space, name):
            is_seen = found and reason not in (Reason.UNDECLARED, Reason.NAME_ONLY)
            found, reason = ([*kept, *found], reason) if is_seen else (kept, Reason.BOUND)
        if len(found) > 1 and (not unit.dialect.overloads or (found[0], name) in self._renaming):
            reason = min(reason, Reason.SEVERAL)
        return found, reason

    def _takes_including(self, unit: Unit, scope: int, name: int) -> bool:
        """Whether a source has to include what binds a name: a macro, or a static function, of a header that others do.

        A header may stand behind one that has it, and an include may be of any of several that are equally near.
        """
        known, own = self._includes.somewhere, self._project.unit(scope)
        if not unit.dialect.declared or unit.number in known or unit.path.endswith(HEADERS) or own.number not in known:
            return False
        if may_include(unit, own.path):
            return False
        for at in self._project.table(scope)[name]:
            op, *of = self._project.expression(self._project.value_of(at))
            if op != Op.FUNCTION or not self._project.unit(at).facts.scopes[of[0]].flags & Flag.STATIC:
                return False
        return True

    def _is_said(self, unit: Unit, found: list[int], name: int, included: Container[int]) -> bool:
        """Whether what a file includes declares a global name whatever the build: else the system may have it.

        `#ifndef HAVE_A`, a declaration, and a file that defines it for systems without it.
        """
        known = {self._project.unit(scope) for scope in (*self._binding[""].get(name, ()), *found)}
        return any(own is unit or (own.number in included and name in own.said_always) for own in known)

    def _included_on(self, unit: Unit, where: list[int], *, is_global: bool) -> int:
        """How sure a declaration is that a file includes on some systems, or ALWAYS: a global one may be a system's."""
        if not any(each & taken_on(unit.named_systems) for each in where):
            return Reason.OTHER_SYSTEM
        return Reason.CONDITIONAL if is_global and not any(each & ALWAYS for each in where) else Reason.BOUND

    def around(self, scope: int) -> list[str]:
        """The paths in which a scope that is a namespace may stand: its own, those around it, and what macros begin.

        Where such a macro stands, and where the namespace ends, is not looked at.
        """
        found = [*upwards(self.paths[scope])]
        begun = self._begun.get(scope >> SHIFT, ())
        return [*found, *(within(path, below) for path in reversed(begun) for below in found)]

    def in_package(self, unit: Unit, package: str, name: int) -> tuple[list[int], int]:
        """The scopes that bind a name in a package of that name, and how sure that is."""
        return self.visible(unit, package, name)

    def beside(self, unit: Unit, name: int) -> tuple[list[int], int]:
        """The scopes that bind a name in the package of a file, and how sure that is."""
        return ([], 0) if unit.shares is None else self.visible(unit, unit.shares, name)

    def says(self, scope: int, name: int) -> tuple[bool, frozenset[int]]:
        """Whether a scope itself defines a name that it binds, and the operations that give it a value."""
        found = self._saying.get((scope, name))
        if found is None:
            bindings = self._project.table(scope)[name]
            defines = not all(self._project.defines_nothing(at) for at in bindings)
            given = frozenset(self._project.expression(self._project.value_of(at))[0] for at in bindings)
            found = self._saying[scope, name] = defines, given
        return found

    def directing(self, space: str) -> list[int]:
        """The scopes that take all names of others into a namespace of C++."""
        return self._directing.get(space, [])[:MAX_BINDING]

    def directives(self, unit: Unit, scope: int) -> list[int]:
        """The scopes that take all names of others into a namespace of C++, of what a file includes."""
        found = self._directing.get(self.paths[scope], ())
        included = self._includes.of(unit.number) if found else ()
        return [at for at in found[:MAX_BOUND] if at == scope or self._project.unit(at).number in included][
            :MAX_BINDING
        ]

    def is_said(self, unit: Unit, space: str, name: int, own: int, line: int) -> bool:
        """Whether a file of C++ includes or has a name of a namespace, which is its `own` one, at a line."""
        included = self._includes.of(unit.number)
        for scope in (*self._binding.get(space, {}).get(name, ()), *self.kept(unit, space, name)):
            if self._project.unit(scope) is not unit:
                if self._project.unit(scope).number in included:
                    return True
            elif any(unit.bindings[at].line <= line for at in unit.facts.scopes[scope - unit.base].every.get(own, ())):
                return True
        return False

    def anywhere(self, unit: Unit, name: int) -> list[int]:
        """The scopes of any namespace that bind a name in what a file of C++ includes."""
        included = self._includes.of(unit.number)
        found = self._named.get(name, ())
        return [scope for scope in found if self._project.unit(scope).number in included][:MAX_BINDING]

    def _link(self, unit: Unit) -> Iterator[tuple[int, int]]:
        """Let what a file only declares stand for what others define; which of it they only define in part."""
        for at, path in [(at, path) for at, path in self._own_paths[unit.number].items()]:
            scope = unit.base | at
            for name, bindings in [*self._project.table(scope).items()]:
                is_declaring = (scope, name) in self._declaring
                if is_declaring and (scope, name) not in self._renaming:
                    found = self.binding(path, name)
                    if (found[0], name) not in self._declaring:
                        self._project.link(scope, name, found)
                        if any(map(self._project.only_declares, self._project.table(scope)[name])):
                            yield scope, name
                elif not is_declaring and any(map(self._project.only_declares, bindings)):  # beside what it defines
                    others = [each for each in self.binding(path, name) if (each, name) not in self._declaring]
                    self._project.define(scope, name, [at for each in others for at in self._project.table(each)[name]])

    def _join(self, unit: Unit) -> None:
        """Let what a file declares by the type of a function stand for that as well: `handler a;` for `int a() {}`.

        What defines it includes the file, so that both are one.
        """
        known = self._binding.get("", {})
        for name, bindings in self._project.table(unit.base).items():
            others = known.get(name, ())
            if not 1 < len(others) <= MAX_BINDING or not all(map(self._project.lacks_value, bindings)):
                continue
            functions = [scope for scope in others if self._is_function(scope, name)]
            joined = [at for at in functions if unit.number in self._includes.of(self._project.unit(at).number)]
            if joined:
                self._project.widen(unit.base, name, joined)

    def _is_function(self, scope: int, name: int) -> bool:
        """Whether a scope defines a function of a name, and nothing else."""
        values = map(self._project.value_of, self._project.table(scope)[name])
        return self._defines(scope, name) and all(self._project.expression(at)[0] == Op.FUNCTION for at in values)

    def define(self, path: str, name: int, bindings: list[int]) -> None:
        """Let some bindings be what a namespace only declares: `void n::f() {}`."""
        for scope in self._binding.get(path, {}).get(name, ()):
            self._project.define(scope, name, bindings)
            self._declaring.discard((scope, name))
            self._saying.pop((scope, name), None)

    def _leave_renamed(self, unit: Unit) -> None:
        """Let macros that stand for other names leave them to who defines these: who sees the macro is renamed with it.

        Where some do not see it, or end it, either may be meant by who includes it.
        """
        if not any(row.flags & Flag.RENAMES for row in unit.facts.scopes):
            return
        for at, path in self._own_paths[unit.number].items():
            scope = unit.base | at
            for name, bindings in self._project.table(scope).items():
                found = self._binding.get(path, {}).get(name, ())
                others = [each for each in found if each != scope and self._defines(each, name)]
                if scope in found and all(map(self._project.renames, bindings)):
                    if others:
                        self._declaring.add((scope, name))
                    are_few = 0 < len(others) <= MAX_BINDING  # each is looked at
                    if not (are_few and all(self._is_renamed(unit, each, name) for each in others)):
                        self._renaming.add((scope, name))

    def _renamed(self, space: str, name: int, included: Container[int]) -> list[int]:
        """The scopes with macros for other names that a file may mean, of those that it includes."""
        known = self._binding[space][name] if self._renaming else ()
        return [at for at in known if (at, name) in self._renaming and self._project.unit(at).number in included]

    def _defines(self, scope: int, name: int) -> bool:
        """Whether a scope defines a name, and is no macro for another one."""
        bindings = self._project.table(scope)[name]
        return (scope, name) not in self._declaring and not all(map(self._project.renames, bindings))

    def _is_renamed(self, unit: Unit, scope: int, name: int) -> bool:
        """Whether what a scope defines is renamed by a macro of a file: its own includes that, and does not end it."""
        own = self._project.unit(scope)
        return unit.number in self._includes.of(own.number) and name not in own.undefined

    def _add(self, unit: Unit, package: str) -> None:
        scopes = unit.facts.scopes
        paths = {0: package, NONE: ""}  # what stands in no scope is of a namespace by its whole name
        self._add_scope(unit, 0, package)
        for at, row in enumerate(scopes[1:] if unit.dialect.spaces else (), 1):
            around = paths.get(row.parent)
            is_class = row.kind in (ScopeKind.CLASS, ScopeKind.INTERFACE)
            if around is None or row.name == NONE or not (is_class or row.kind == ScopeKind.NAMESPACE):
                continue
            name = dotted(unit.facts.names[row.name])
            paths[at] = path = f"{around}.{name}" if around else name
            if not is_class:
                self._add_scope(unit, at, path)
                if row.flags & Flag.OPEN:
                    self._inline.append(unit.base | at)
            elif row.flags & Flag.PARTIAL and unit.dialect.reopens:
                part = f"{path}`{row.generic}" if row.generic else path  # of C# `A<T>` is another class than `A`
                self.parts.setdefault(part, []).append(unit.base | at)
        self.paths.update((unit.base | at, path) for at, path in paths.items())

    def _add_scope(self, unit: Unit, at: int, path: str) -> None:
        known = self._binding.setdefault(path, {})
        self._known.update(upwards(path))
        self._own_paths.setdefault(unit.number, {})[at] = path
        scope = unit.base | at
        self.scopes.setdefault(path, []).append(scope)
        if unit.dialect.declared and unit.facts.scopes[at].stars:
            self._directing.setdefault(path, []).append(scope)
        for name, bindings in self._project.table(scope).items():
            if self._shows(unit, bindings):
                binding = known.setdefault(name, [])
                if len(binding) < MAX_BOUND:
                    binding.append(scope)
                named = self._named.setdefault(name, [])
                if unit.dialect.declared and len(named) < MAX_BOUND:
                    named.append(scope)
                if unit.dialect.declared and all(self._project.defines_nothing(at) for at in bindings):
                    self._declaring.add((scope, name))
            elif unit.dialect.declared and scope != unit.base:
                kept = self._kept.setdefault((unit.number, path, name), [])
                if len(kept) < MAX_BINDING:
                    kept.append(scope)

    def _add_inline(self) -> None:
        """Let what stands in an inline namespace of C++ be of the one around it, too; a file may leave out the word."""
        inline = {self.paths[at] for at in self._inline}
        for unit in self._project.units if inline else ():
            if unit.dialect.declared:
                for at, own in self._own_paths[unit.number].items():
                    inner = [path for path in upwards(own) if path and path not in inline]
                    path = ".".join(each.rpartition(".")[2] for each in reversed(inner))
                    if path != own:
                        self._put(unit, at, own, path)

    def _add_begun(self) -> None:
        """Let what stands in a file that names a macro which begins a namespace be of that, too: `LIB_BEGIN`.

        Of two such macros, the one that stands further down may be in the namespace of the other.
        """
        opening = {unit.names[name]: path for unit in self._project.units for name, path in unit.facts.opening}
        for unit in self._project.units if opening else ():
            if not unit.dialect.declared or opening.keys().isdisjoint(unit.names):
                continue
            sites = (unit.names[site.name] for site in sites_of(unit.facts) if site.at == 0)  # not parsed
            paths = [*dict.fromkeys(opening[name] for name in sites if name in opening)][:MAX_BEGUN]
            paths += map(".".join, combinations(paths, 2))
            if paths:
                self._begun[unit.number] = paths
                self._put_into(unit, paths)

    def _put_into(self, unit: Unit, paths: list[str]) -> None:
        """Let the namespaces of a file be in some others, too."""
        for at, own in self._own_paths[unit.number].items():
            for path in {within(path, own) for path in paths} - {own}:
                self._put(unit, at, own, path)

    def _put(self, unit: Unit, at: int, own: str, path: str) -> None:
        """Let what a namespace of a file shows be in another one, too."""
        scope, known, shown = unit.base | at, self._binding[own], self._binding.setdefault(path, {})
        itself = self._project.number(path.rpartition(".")[2])  # `detail` is not in `detail`
        self._known.update(upwards(path))
        for name in self._project.table(scope):
            if name != itself and scope in known.get(name, ()):
                binding = shown.setdefault(name, [])
                if len(binding) < MAX_BOUND:
                    binding.append(scope)

    def _add_macros(self, unit: Unit) -> None:
        """Add macros, which are there for what is compiled after them, to what all files share."""
        known = self._binding.setdefault("", {})
        for row in unit.facts.scopes:
            if row.parent == 0 and row.kind == ScopeKind.FUNCTION and row.flags & Flag.STATIC and row.name != NONE:
                known.setdefault(unit.names[row.name], []).append(unit.base)

    def _shows(self, unit: Unit, bindings: list[int]) -> bool:
        """Whether what a file binds is for others too: nothing that it takes, or that is static and not included.

        Nor is a variable of Ruby.
        """
        is_header = not unit.dialect.declared or unit.path.endswith(HEADERS) or unit.number in self._includes.somewhere
        for binding in bindings:
            expression = unit.facts.expressions[self._project.binding(binding).value]
            if self._project.is_variable(binding):
                continue
            is_taken = expression[0] == Op.ALIAS and not is_for_all(unit, expression)
            if expression[0] == Op.IMPORT or (is_taken and not (is_header and unit.dialect.declared)):
                continue  # but `using a::B;` of a header
            own = expression[0] in (Op.FUNCTION, Op.CLASS) and unit.facts.scopes[expression[1]].flags & Flag.STATIC
            if is_header or not own:
                return True
        return False
