"""What names are in all files together: which are defined, written, removed, or stand for another one."""

from collections.abc import Iterable, Sequence
from functools import cached_property

from fledgling.worker.graph.linking.fixtures import Fixtures
from fledgling.worker.graph.linking.numbered import NumberedFiles
from fledgling.worker.graph.linking.other_case import small
from fledgling.worker.graph.tables import (
    AT,
    BINDING,
    HOLDING,
    NAME,
    NONE,
    ONLY_TYPE,
    SCOPE,
    TAG,
    USE,
    Flag,
    Op,
    ScopeKind,
    Use,
    site_columns,
)
from fledgling.worker.graph.unit import Target, Unit

MAX_SCOPES = 2  # methods of one name that a query may run of which nothing is known; of more, none is meant
Definition = tuple[int, Target]  # the number of a name, and one of the definitions that it is looked up for


class Vocabulary:
    """The names of all files by their numbers, each kind of them found when it is first asked for.

    `elsewhere` are names that files of other families define: set them before `asked` is asked for.
    """

    def __init__(self, files: NumberedFiles) -> None:
        self._files, self._units = files, files.units
        self.elsewhere: Sequence[str] = ()

    @cached_property
    def definitions(self) -> dict[int, list[Target]]:
        """The functions and classes of each name; a variable is a name without any."""
        found: dict[int, list[Target]] = {}
        for unit in self._units:
            sites = site_columns(unit.facts)
            binds = (sites[BINDING] != NONE) & ((sites[USE] == Use.DEFINITION) | (sites[USE] == Use.WRITE))
            for name, at, binding in zip(*sites[[NAME, SCOPE, BINDING]][:, binds].tolist(), strict=True):
                target, scope = self._files.defined(unit.base | binding)
                if scope >= 0:
                    found.setdefault(unit.names[name], []).append(target)
                elif unit.facts.scopes[at].kind in HOLDING:
                    found.setdefault(unit.names[name], [])
        for name in self._in_any_case(self._files.text(name) for name in found):
            found.setdefault(name, [])
        return found

    @cached_property
    def asked(self) -> set[int]:
        """The names of which each occurrence has a row: those that are defined, in files of whatever family."""
        numbers = self._files.numbers
        others = {numbers[name] for name in self.elsewhere if name in numbers}
        named = self.fixtures.functions.values()
        return {*self.definitions, *others, *named, *self._in_any_case(self.elsewhere)}

    @cached_property
    def fixtures(self) -> Fixtures:
        """The functions whose results parameters of their names get."""
        return Fixtures(self._files)

    def _in_any_case(self, names: Iterable[str]) -> set[int]:
        """The numbers of all that is one of some names in the files of languages in which case says nothing."""
        units = [unit for unit in self._units if unit.dialect.in_any_case]
        known = {small(name) for name in names} if units else ()
        return {
            name
            for unit in units
            for name in unit.names
            if small(self._files.text(name).removeprefix(unit.dialect.sigil)) in known
        }

    @cached_property
    def members(self) -> set[int]:
        """The names of what classes have, besides their own."""
        scopes = ((unit, row) for unit in self._units for row in unit.facts.scopes)
        classes = (ScopeKind.CLASS, ScopeKind.INTERFACE)
        return {
            unit.names[name] for unit, row in scopes if row.kind in classes for name in row.every if name != row.name
        }

    @cached_property
    def fields(self) -> set[int]:
        """The names of members of classes that can be assigned to: all but methods."""
        return self.properties | {
            unit.names[name]
            for unit in self._units
            for row in unit.facts.scopes
            if row.kind == ScopeKind.CLASS
            for name, bindings in row.every.items()
            if any(unit.expressions[unit.bindings[at].value][0] != Op.FUNCTION for at in bindings)
        }

    @cached_property
    def names_in_order(self) -> list[str]:
        """The names of definitions, in alphabetical order."""
        return sorted(self._files.text(name) for name in self.definitions)

    @cached_property
    def names_from_behind(self) -> list[str]:
        """The names of definitions, each from its end, in alphabetical order."""
        return sorted(text[::-1] for text in self.names_in_order)

    @cached_property
    def renamed(self) -> set[int]:
        """The names that are another one of something: of a class, of a namespace."""
        return {
            unit.names[row.name]
            for unit in self._units
            for row in unit.bindings
            if row.name != NONE and unit.expressions[row.value][0] in (Op.ALIAS, Op.RENAMED)
        }

    @cached_property
    def taken_whole(self) -> set[int]:
        """The last names of all that files take all names of by a path: `using static a.B;`."""
        stars = ((unit, said) for unit in self._units for said in unit.facts.imports if said.name == "*")
        return {
            self._files.number(self._files.last_name(unit.base | said.path))
            for unit, said in stars
            if said.path != NONE
        }

    @cached_property
    def other_names(self) -> dict[tuple[int, int], Target]:
        """Where functions and classes get a name besides their own: c, of `a.b = a.c = function () {}`."""
        return {
            (scope, unit.names[binding.name]): target
            for unit in self._units
            if unit.dialect.names_values
            for at, binding in enumerate(unit.bindings)
            if binding.scope == NONE and binding.name != NONE
            for target, scope in [self._files.defined(unit.base | at)]
            if scope >= 0 and self._files.scope(scope).name != binding.name
        }

    @cached_property
    def scopes_of_queries(self) -> dict[int, list[int]]:
        """The methods of PHP that queries run by the rest of their names, `scopeRecent`: the first of each name."""
        found: dict[int, list[int]] = {}
        for unit in self._units:
            begins = unit.dialect.query_scope
            for at, row in enumerate(unit.facts.scopes) if begins else ():
                text = "" if row.name == NONE else unit.facts.names[row.name]
                if row.kind == ScopeKind.FUNCTION and text.startswith(begins) and text[len(begins) :][:1].isupper():
                    scopes = found.setdefault(unit.names[row.name], [])
                    scopes += [unit.base | at] if len(scopes) <= MAX_SCOPES else []
        return found

    @cached_property
    def functions_apart(self) -> set[Definition]:
        """The functions, by name and place, that no name means which stands alone and is only read."""
        return {at for at, flags in self._apart if not flags & Flag.PROPERTY}

    @cached_property
    def properties_apart(self) -> set[Definition]:
        """The properties that are read as functions, `val A.b get() = c`, which a call means only by what they give."""
        return {at for at, flags in self._apart if flags & Flag.PROPERTY}

    @cached_property
    def _apart(self) -> list[tuple[Definition, int]]:
        return [
            ((unit.names[scope.name], unit.place_of(at)), scope.flags)
            for unit in self._units
            if unit.dialect.functions_apart
            for at, scope in enumerate(unit.facts.scopes)
            if scope.kind == ScopeKind.FUNCTION and scope.name != NONE
        ]

    @cached_property
    def only_types(self) -> set[Target]:
        """The interfaces and aliases of TypeScript, which no call means: `new Error()`, beside `type Error = A`."""
        found = self._classes_of(ScopeKind.INTERFACE)
        for unit in self._units:
            if unit.dialect.typed and unit.dialect.prototypes:
                aliases = (row for row in unit.bindings if row.how == ONLY_TYPE)
                found.update(unit.place(row.line, row.name, row.scope) for row in aliases)
        return found

    @cached_property
    def types(self) -> set[Target]:
        """All that a type of TypeScript may name: those, classes and enumerations."""
        return self.only_types | self._classes_of(ScopeKind.CLASS)

    def _classes_of(self, kind: int) -> set[Target]:
        return {
            unit.place_of(at)
            for unit in self._units
            if unit.dialect.typed and unit.dialect.prototypes
            for at, row in enumerate(unit.facts.scopes)
            if row.kind == kind
        }

    @cached_property
    def written(self) -> set[int]:
        """The names of all fields that anything is put into, where it may be what an object written out has."""
        put = {unit.names[write.name] for unit in self._units for write in unit.facts.writes if write.name != NONE}
        written_out = {
            unit.names[unit.expressions[key][1]]
            for unit in self._units
            if unit.dialect.prototypes or unit.dialect.declared
            for op, *parts in unit.expressions
            if op == Op.DICT
            for key, _ in parts[0]
            if key != NONE and unit.expressions[key][0] == Op.TEXT
        }
        by_key = {
            unit.names[unit.expressions[write.key][1]]
            for unit in self._units
            for write in (unit.facts.writes if unit.dialect.variables else ())
            if write.name == NONE and write.key != NONE and unit.expressions[write.key][0] == Op.TEXT
        }
        return put | written_out | by_key | self._given_to_fields | self._given_in_order

    @cached_property
    def _given_to_fields(self) -> set[int]:
        """The names of fields that a constructor takes which nobody has written: `@dataclass class A: b: B`."""
        return {
            unit.names[name]
            for unit in self._units
            if unit.dialect.receiver_parameter
            for scope in unit.facts.scopes
            if scope.kind == ScopeKind.CLASS
            for name, bindings in scope.every.items()
            if is_field(unit, unit.bindings[bindings[0]].value)
        }

    @cached_property
    def _given_in_order(self) -> set[int]:
        """The names of fields of C of which a type is written out without them: `struct a b = { c };`."""
        units = [unit for unit in self._units if unit.dialect.declared]
        types = {
            unit.facts.names[of[1]].removeprefix(TAG)
            for unit in units
            for op, *parts in unit.expressions
            if op in (Op.DECLARED, Op.CAST) and parts[1] != NONE and unit.expressions[parts[1]][0] == Op.LIST
            if (of := unit.expressions[parts[0]])[0] in (Op.NAME, Op.BARE)
        }
        types |= {  # typedef struct a b;
            unit.facts.names[of[1]].removeprefix(TAG)
            for unit in units
            for row in unit.bindings
            if row.name != NONE and unit.facts.names[row.name] in types
            if (of := unit.expressions[row.value])[0] in (Op.NAME, Op.BARE)
        }
        return {
            unit.names[name]
            for unit in units
            for scope in unit.facts.scopes
            if scope.kind == ScopeKind.CLASS and scope.name != NONE and unit.facts.names[scope.name] in types
            for name in scope.every
        }

    @cached_property
    def properties(self) -> set[int]:
        """The names of members that functions give: properties, and what has a setter."""
        computed = Flag.PROPERTY | Flag.SETTER
        return {
            unit.names[scope.name]
            for unit in self._units
            for scope in unit.facts.scopes
            if scope.flags & computed and scope.name != NONE
        }

    @cached_property
    def getters(self) -> set[Target]:
        """Where the functions begin that are read as properties; what a call runs there is what one gives."""
        return {
            unit.place_of(at)
            for unit in self._units
            for at, scope in enumerate(unit.facts.scopes)
            if scope.flags & Flag.PROPERTY
        }

    @cached_property
    def setters(self) -> dict[Target, int]:
        """The functions that run where something is assigned to a property of a class: `@a.setter`, `set a(b)`."""
        found: dict[tuple[int, ...], int] = {}  # the last of several
        getters: dict[tuple[int, ...], Target] = {}
        for unit in self._units:
            for at, scope in enumerate(unit.facts.scopes):
                of = (unit.number, scope.parent, scope.name, scope.flags & Flag.STATIC)
                if scope.flags & Flag.SETTER and len(scope.parameters) > unit.dialect.receiver_parameter:
                    found[of] = unit.base | at
                elif scope.flags & Flag.PROPERTY and scope.kind == ScopeKind.FUNCTION:
                    getters[of] = unit.place_of(at)
        return {place: found[of] for of, place in getters.items() if of in found}

    @cached_property
    def augmented(self) -> set[int]:
        """What `a.b += c` reads before it is assigned to."""
        return {unit.base | row.of for unit in self._units for row in unit.facts.augmented}

    @cached_property
    def constants(self) -> set[int]:
        """The names that enumerations have."""
        return {
            unit.names[binding.name]
            for unit in self._units
            for binding in unit.facts.bindings
            if unit.expressions[binding.value][0] == Op.THIS
            and unit.facts.scopes[binding.scope].kind == ScopeKind.CLASS
        }

    @cached_property
    def replaced(self) -> dict[tuple[str, int], list[int]]:
        """The names of members that a program removes or sets by name, with its language: whose these are, or -1."""
        found: dict[tuple[str, int], list[int]] = {}
        for unit in self._units:
            for name, of in unit.facts.replaced:
                found.setdefault((unit.language, unit.names[name]), []).append(NONE if of == NONE else unit.base | of)
        return found

    @cached_property
    def deleted(self) -> set[tuple[int, int]]:
        """The names that modules delete, with their scopes: who takes one from there may get another, or none."""
        found: set[tuple[int, int]] = set()
        for unit in self._units:
            sites = site_columns(unit.facts)
            gone = sites[AT][(sites[USE] == Use.WRITE) & (sites[BINDING] == NONE)] if unit.dialect.exported else ()
            for op, *parts in (unit.expressions[at] for at in gone):
                if op == Op.NAME and parts[1] == 0:
                    found.add((unit.base, unit.names[parts[0]]))
        return found


def is_field(unit: Unit, node: int) -> bool:
    """Whether a class of Python declares a field that way: `a: A`, or `a = field()`."""
    op, *parts = unit.expressions[node]
    if op == Op.DECLARED:
        return True
    called = unit.expressions[parts[0]] if op == Op.CALL else (NONE,)
    place = {Op.NAME: 1, Op.GET: 2}.get(called[0])
    return place is not None and unit.dialect.functions.get(unit.facts.names[called[place]]) == "field"
