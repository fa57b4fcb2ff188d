"""Which definitions an occurrence of a name means, given what everything may stand for."""

from collections.abc import Set
from functools import cached_property

from fledgling.worker import systems
from fledgling.worker.graph.reasons import CERTAIN, LIKELY, Reason
from fledgling.worker.graph.rows.asked import behind_call, is_constant, key_of, outside_macro, receivers_of, written_as
from fledgling.worker.graph.rows.bound_definitions import BoundDefinitions, Targets, put
from fledgling.worker.graph.rows.callees import callees, run_by
from fledgling.worker.graph.rows.declared import CAME, crowded, declared_types, made_class, weighed, without_tests
from fledgling.worker.graph.rows.defining_names import DefiningNames
from fledgling.worker.graph.rows.named_arguments import filled_by
from fledgling.worker.graph.rows.rewritten import Rewritten
from fledgling.worker.graph.solving.class_members import asked_of
from fledgling.worker.graph.solving.fixtures import fixtures_of
from fledgling.worker.graph.solving.lookup import bare_places, is_variable
from fledgling.worker.graph.solving.receivers import FUNCTIONS, asks_this_of, called_on_others
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import (
    ASSIGNED,
    HOLDING,
    NONE,
    Binding,
    Op,
    Site,
    Use,
)
from fledgling.worker.graph.unit import LINE, MASK, Target, Unit
from fledgling.worker.graph.values import (
    CLASS,
    MADE_MEMBERS,
    MANY,
    OBJECT,
    UNKNOWN,
)

CALLING = (Use.CALL, Use.DECORATOR)


class Meaning:
    """Asks the cells of a solver that has run."""

    def __init__(self, solver: Solver, rewritten: Rewritten) -> None:
        self.solver = solver
        self.project = solver.project
        self._rewritten = rewritten
        self._bound = BoundDefinitions(solver)
        self._defining = DefiningNames(self._bound)

    @cached_property
    def _on_others(self) -> set[int]:
        return called_on_others(self.solver)

    @cached_property
    def _unconditional(self) -> frozenset[int]:
        """The files of which all is compiled wherever any other is."""
        return frozenset(
            unit.number
            for unit in self.project.units
            if not (unit.facts.conditions or unit.facts.systems)
            and unit.named_systems == unit.declared_on == systems.ANY
        ).difference(self.project.templates)

    @cached_property
    def _wrapped(self) -> dict[Target, bool]:
        """The functions in whose place a decorator has put something else, which may run them, or may have put it."""
        found: dict[Target, bool] = {}
        for unit in self.project.units:
            for at, row in enumerate(unit.bindings):
                if unit.facts.expressions[row.value][0] == Op.DECORATED:
                    target, scope = self.project.defined(unit.base | at)
                    held = self.solver.value(unit.base | row.value)
                    is_itself = any(value[0] in FUNCTIONS and value[1] == scope for value in held)
                    if not is_itself or len(held) > 1 or unit.base | row.value in self.solver.decorated_unseen:
                        found.update({target: not is_itself} if held else {})
        return found

    def forget(self) -> None:
        """Forget what was asked in a file."""
        self._bound.forget()
        self._defining.forget()

    def targets(self, unit: Unit, site: Site) -> Targets:
        """The definitions that an occurrence means, and why."""
        if site.use == Use.KEYWORD:
            return self._of_key(unit, site)
        if site.at > 1 and unit.expressions[site.at][0] == Op.IN_MACRO:
            found = self._targets(unit, outside_macro(unit, site))
            return {target: min(sure, Reason.MACRO) for target, sure in found.items()}
        found = self._targets(unit, site)
        if site.use == Use.WRITE and site.binding == NONE and self.project.vocabulary.setters:
            return self._set(unit.base | site.at, found)
        if len(found) > (site.use != Use.CALL) and unit.dialect.prototypes:
            found = self._types_or_values(unit, site, found)
        if site.use == Use.CALL and unit.dialect.bare_calls and unit.facts.scopes[site.scope].kind in HOLDING:
            found = _before(unit, site, found)
        return self._of_outside(unit, site, found) if found and self.solver.classes.extensions.of_outside else found

    def named(self, unit: Unit, site: Site, name: int) -> Targets:
        """The definitions of a name that an occurrence means which goes by another one.

        Of a call no functions but those that a decorator has put something else in the place of.
        """
        found = self._bound_to(unit, site, name)
        if self._is_of_changed(unit.base | site.at):
            found = {target: min(sure, Reason.REPLACED) for target, sure in found.items()}
        if site.use in CALLING:  # what runs is told by what the name holds
            functions = self.project.vocabulary.definitions.get(name, ())
            wrapped = {} if unit.dialect.typed else self._wrapped
            through = {at: min(sure, Reason.DECORATOR) for at, sure in found.items() if at in wrapped}
            found = {**{target: sure for target, sure in found.items() if target not in functions}, **through}
        return self._compiled(unit, site.line, found)

    def defining_names(self, unit: Unit, site: Site) -> Set[int]:
        """The names by which that is defined which an occurrence means, without one that an import says beside it."""
        found = self._defining.of(unit.base | site.at)
        op, *parts = unit.expressions[site.at]
        if site.use != Use.IMPORT:
            return found
        if op == Op.IMPORT:
            return found - {self.project.numbers.get(unit.facts.imports[parts[0]].name or "", NONE)}
        of, *parts = unit.expressions[parts[0]] if op == Op.ALIAS else (NONE,)
        return found - {unit.names[parts[1]]} if of == Op.GET else found

    def _types_or_values(self, unit: Unit, site: Site, found: Targets) -> Targets:
        """The targets, of TypeScript a type or none: `interface A {} const A = b;`. What is called is no mere type."""
        vocabulary = self.project.vocabulary
        if site.use == Use.CALL:
            kept = {at: sure for at, sure in found.items() if at not in vocabulary.only_types}
        elif site.use == Use.TYPE and not vocabulary.types.isdisjoint(found):
            kept = {at: sure for at, sure in found.items() if at in vocabulary.types}
        elif site.use == Use.READ and unit.expressions[site.at][0] == Op.NAME:
            kept = {at: sure for at, sure in found.items() if at not in vocabulary.only_types} or found
        else:
            return found
        if len(kept) == 1 < len(found) and unit.expressions[site.at][0] == Op.NAME:
            kept = {at: Reason.BOUND if sure == Reason.SEVERAL else sure for at, sure in kept.items()}
        return kept

    def _of_outside(self, unit: Unit, site: Site, found: Targets) -> Targets:
        """The targets, of which what seems to call itself may call what the type outside has that it is given to."""
        around = unit.around(site.scope)
        if around == NONE or self.project.outer(unit.base | around) not in self.solver.classes.extensions.of_outside:
            return found
        own = unit.place_of(around)
        return {at: min(sure, Reason.EXTERNAL_BASE) if at == own else sure for at, sure in found.items()}

    def _targets(self, unit: Unit, site: Site) -> Targets:
        if site.binding != NONE and site.use in (Use.DEFINITION, Use.WRITE):
            row = unit.bindings[site.binding]
            if row.how == ASSIGNED and (assigned := self._assigned(unit, row)):
                return assigned
            target, scope = self.project.defined(unit.base | site.binding)
            holds = unit.facts.scopes[site.scope].kind in HOLDING
            return {target: Reason.BOUND} if scope >= 0 or holds else {}
        found = self._used(unit, site) if site.at > 1 else {}
        if found and (unit.dialect.functions_apart or unit.dialect.crates):
            found = self._apart(unit, site, found)
        if found and self._is_of_changed(unit.base | site.at):
            found = {target: min(sure, Reason.REPLACED) for target, sure in found.items()}
        if unit.dialect.overloads and site.use == Use.READ and len(found) > 1:  # `::a` means one of them
            found = {target: min(sure, Reason.OVERLOAD) for target, sure in found.items()}
        if unit.dialect.prototypes and not self._rewritten.members.isdisjoint(found):
            doubted = self._rewritten.members.intersection(found)
            found.update((target, min(found[target], Reason.REPLACED)) for target in doubted)
        return self._compiled(unit, site.line, found)

    def _used(self, unit: Unit, site: Site) -> Targets:
        """What a call runs, and what the name of an expression is bound to."""
        found: Targets = {}
        is_call = site.use in CALLING
        if is_call:
            self.called(unit.base | site.at, found)
        dialect = unit.dialect
        is_settled = is_call and (found or dialect.bare_calls)
        if not (is_settled and dialect.overloads):  # else, of overloads, the arguments have chosen
            self._add_bound(unit, site, found)
        elif dialect.bare_calls:
            self._add_other_names(unit, site, found)
        elif dialect.typed and not dialect.sigil:
            self._add_holding(unit, site, found)
        return found

    def _add_bound(self, unit: Unit, site: Site, found: Targets) -> None:
        """Add what a name is bound to."""
        run = {*found}
        doubted = {at: sure for at, sure in found.items() if sure < LIKELY} if unit.dialect.typed else {}
        self._bound.add_expression(unit.base | site.at, unit.names[site.name], found)
        found.update((at, sure) for at, sure in doubted.items() if found[at] in CAME or sure == Reason.OF_TESTS)
        is_call = site.use in CALLING and not unit.dialect.typed
        for at in self._wrapped.keys() & found.keys() if is_call else ():
            if at not in run or not self._wrapped[at]:
                found[at] = min(found[at], Reason.DECORATOR)

    def _bound_to(self, unit: Unit, site: Site, name: int) -> Targets:
        """What an occurrence is bound to that is defined by a name."""
        found: Targets = {}
        self._bound.add_expression(unit.base | site.at, name, found)
        return found

    def _add_other_names(self, unit: Unit, site: Site, found: Targets) -> None:
        """Add what a name is bound to that is another name of what a call runs: `alias a b`."""
        functions = self.project.vocabulary.definitions.get(unit.names[site.name], ())
        bound = self._bound_to(unit, site, unit.names[site.name])
        aliases = {target: sure for target, sure in bound.items() if target not in functions}
        found.update((target, sure) for target, sure in aliases.items() if target not in found)
        if aliases and len(bound) > 1:
            found.update((target, min(sure, Reason.SEVERAL)) for target, sure in [*found.items()])

    def _add_holding(self, unit: Unit, site: Site, found: Targets) -> None:
        """Add the variable or property that holds what a call runs, but for one of which a function has the name."""
        functions = self.project.vocabulary.definitions.get(unit.names[site.name], ())
        if found.keys() <= {*functions} or any(found.get(at, 0) >= CERTAIN for at in functions):
            return
        most = Reason.BOUND if found.keys().isdisjoint(functions) else Reason.SEVERAL
        for target, sure in self._bound_to(unit, site, unit.names[site.name]).items():
            if target not in functions or target in self.project.vocabulary.getters:
                put(found, target, min(sure, most))

    def _of_key(self, unit: Unit, site: Site) -> Targets:
        """What has the name of a key of an object that is written out, `{ a: 1 }`, or of an argument, `A(a=1)`."""
        found: Targets = {}
        for scope, sure in filled_by(self.solver, unit, site).fields.items():
            self._bound.add_member(scope, unit.names[site.name], found, sure)
        at = key_of(unit, site)
        of_enum = unit.expressions[at][0] == Op.PAYLOAD
        for value, sure in written_as(self.solver, unit, site).items():
            if value[0] == OBJECT and of_enum:
                variant = unit.facts.names[unit.expressions[at][3]]
                self._bound.add_field_of_variant(value[1], variant, unit.names[site.name], found, sure)
            elif value[0] == (CLASS if of_enum else OBJECT):
                self._bound.add_member(value[1], unit.names[site.name], found, sure)
        if len(found) > 1 and unit.dialect.crates:
            methods = self.project.vocabulary.definitions.get(unit.names[site.name], ())
            found = {target: sure for target, sure in found.items() if target not in methods} or found
        if at != site.at:
            found = {target: min(sure, Reason.MACRO) for target, sure in found.items()}
        return {at: min(sure, Reason.SEVERAL) for at, sure in found.items()} if len(found) > 1 else found

    def _assigned(self, unit: Unit, row: Binding) -> Targets:
        """The variable or field of a scope further out that a function gives a value."""
        bindings = self.project.table(unit.base | row.scope).get(unit.names[row.name], [])
        defining = [at for at in bindings if self.project.binding(at).how != ASSIGNED]
        if unit.dialect.functions_apart:
            defining = [at for at in defining if self.solver.op(self.project.value_of(at)) != Op.FUNCTION]
        found: Targets = {}
        for at in defining:
            sure = Reason.BOUND if len(defining) == 1 else Reason.SEVERAL
            self._bound.add_binding(at, unit.names[row.name], found, sure, 0)
        return found

    def _set(self, node: int, found: Targets) -> Targets:
        """The targets of what is assigned to; of a property its setter, where it has one, and itself for `a.b += c`."""
        vocabulary = self.project.vocabulary
        meant = Targets(found) if node in vocabulary.augmented else Targets()
        for target, sure in found.items():
            setter = vocabulary.setters.get(target)
            put(meant, target if setter is None else self.project.place_of(setter), sure)
        return meant

    def _apart(self, unit: Unit, site: Site, found: Targets) -> Targets:
        """The targets, without functions where a name means none, and without others where it means one: `a::b`."""
        if unit.dialect.crates:
            is_read = len(found) > 1 and site.use in (Use.READ, Use.WRITE)
            return self._fields_alone(unit, site, found) if is_read else found
        name, functions = unit.names[site.name], self.project.vocabulary.functions_apart
        if site.use == Use.CALL and unit.dialect.implicit_parameter and unit.dialect.says_overrides:
            # What cannot be called leaves it to one of its name.
            defined = self.project.vocabulary.definitions.get(name, ())
            values = {at for at in found if (name, at) in self.project.vocabulary.properties_apart}
            return {
                at: sure if (at in defined or not defined) and at not in values else min(sure, Reason.SEVERAL)
                for at, sure in found.items()
            }
        if is_constant(self.solver, unit, site):
            kept = {target: sure for target, sure in found.items() if (name, target) not in functions}
            is_asked = not kept and site.use == Use.READ and self._gives_properties(unit, unit.base | site.at)
            return dict.fromkeys(found, int(Reason.NAME_ONLY)) if is_asked else kept
        if site.use == Use.READ and self.project.expression(unit.base | site.at)[0] == Op.ALIAS:
            return {target: sure for target, sure in found.items() if (name, target) in functions} or found
        return found

    def _gives_properties(self, unit: Unit, node: int) -> bool:
        """Whether a property that a class lacks may be what its method of the name tells: `$song->album` of a model.

        A class outside, or what stands for such properties, may call that.
        """
        if not unit.dialect.absent_properties:
            return False
        classes, own = self.solver.classes, self.project.numbers.get(unit.dialect.absent_properties, NONE)
        objects = [of[1] for of in receivers_of(self.solver, node) if of and of[0] == OBJECT]
        return any(at in classes.has_external_base or classes.of_class(at, own)[0] is not None for at in objects)

    def _fields_alone(self, unit: Unit, site: Site, found: Targets) -> Targets:
        """The targets, of which `a.b` of Rust means no method where it is not called, and `A::b` no field."""
        asked = {of and of[0] for of in receivers_of(self.solver, unit.base | site.at)}
        methods = self.project.vocabulary.definitions.get(unit.names[site.name], ())
        if asked == {OBJECT}:
            return {at: sure for at, sure in found.items() if at not in methods} or found
        return {at: found[at] for at in methods if at in found} or found if asked == {CLASS} else found

    def _compiled(self, unit: Unit, line: int, found: Targets) -> Targets:
        """The targets, less sure where another program has them, or a condition may leave them out."""
        found = self._of_program(unit, found) if unit.dialect.declared and len(found) > 1 else found
        if unit.number in self._unconditional and self._unconditional.issuperset(target[0] for target in found):
            return found
        found = {target: self._where_compiled(unit, line, target, sure) for target, sure in found.items()}
        return self._on_systems(unit, line, found) if unit.dialect.for_systems else found

    def _where_compiled(self, unit: Unit, line: int, target: Target, sure: int) -> int:
        """How sure a target is, of a line: what a condition leaves out may be defined elsewhere as well."""
        file, at = target[0], target[1] & LINE
        around = self.project.units[file].condition_around(at)
        if around and not (file == unit.number and around[0] <= line <= around[1]):
            return min(sure, Reason.CONDITIONAL)
        return sure

    def _of_program(self, unit: Unit, found: Targets) -> Targets:
        """The targets, of which what only tests and examples define is possible for a use elsewhere, if any is left.

        Two definitions of one name are never of one program.
        """
        if unit.is_apart:
            return found
        apart = {at for at in found if self.project.units[at[0]].is_apart}
        if not apart or len(apart) == len(found):
            return found
        return {at: min(sure, Reason.OTHER_PROGRAM) if at in apart else sure for at, sure in found.items()}

    def _on_systems(self, unit: Unit, line: int, found: Targets) -> Targets:
        """The targets, of which those that are not compiled on the same system as the line are possible.

        What is compiled on any is read as on Linux. What the names of files say counts only where it leaves one, and
        so does what a file is made from.
        """
        units = self.project.units
        around = unit.systems_at(line)
        if not around:  # what is never compiled may mean what is not
            return found
        here = systems.taken_on(around & unit.named_systems or around)
        at = {target: units[target[0]].systems_at(target[1] & LINE) for target in found}
        made_from = self.project.templates
        named = {
            target: 0 if target[0] in made_from else at[target] & units[target[0]].named_systems for target in found
        }
        if any(each & here for each in named.values()):
            at = named
        return {target: sure if at[target] & here else min(sure, Reason.OTHER_SYSTEM) for target, sure in found.items()}

    def _is_of_changed(self, node: int) -> bool:
        """Whether an expression asks an object that may become one of another class, or `this` that may be another."""
        if not (self._on_others or self.solver.changing):
            return False
        plain = behind_call(self.solver, node)
        if self.project.expression(plain)[0] == Op.GET and asks_this_of(self.solver, plain, self._on_others):
            return True
        objects = [of[1] for of in receivers_of(self.solver, plain) if of and of[0] == OBJECT]
        return any(not self.solver.changing.isdisjoint(self.solver.classes.order(of)) for of in objects)

    def given(self, unit: Unit, site: Site) -> Targets:
        """The fixtures that a parameter gets its value from, where it is defined."""
        if not unit.dialect.fixture or site.binding == NONE:
            return {}
        op, *parts = unit.expressions[unit.bindings[site.binding].value]
        fixtures = fixtures_of(self.solver, unit.base | parts[0], parts[1]) if op == Op.PARAMETER else ()
        return {self.project.place_of(at): int(Reason.FIXTURE) for at in fixtures}

    def called(self, node: int, found: Targets) -> None:
        """Add the functions that a call runs: the constructor of a class, what a name was given."""
        handed = self.solver.handed.get(node, {})
        run = [
            (scope, own)
            for value, sure in callees(self.solver, node).items()
            for scope, own in run_by(self.solver, value, sure, node)
            if not self.project.is_nobody(scope, is_handed=value in handed)
        ]
        if run:
            run = self._by_types(node, run)
        for scope, own in run:
            put(found, self.project.place_of(scope), own)

    def _by_types(self, node: int, run: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """The functions that a call may run, as sure as the declared type of what is asked makes them."""
        asked = behind_call(self.solver, node)
        types, made = declared_types(self.solver, asked), made_class(self.solver, asked)
        if types or made != NONE:
            run = [(scope, weighed(self.solver, types, made, scope, own)) for scope, own in run]
        return without_tests(self.solver, types, node, crowded(self.solver, types, run))

    def is_by_made_name(self, node: int) -> bool:
        """Whether a call runs one of many that a name which is made may be."""
        return any(value[0] == MADE_MEMBERS for value in callees(self.solver, node))

    def gives_value(self, node: int) -> bool:
        """Whether `A() : b(c)` gives a field a value, and calls no constructor of a base."""
        op, *parts = self.project.expression(node)
        of = (node & ~MASK) | parts[0] if op == Op.NEW else NONE
        if of == NONE or self.solver.op(of) != Op.BARE:
            return False
        held = bare_places(self.solver, of, self.project.expression(of))
        return bool(held) and all(is_variable(self.project, cell) for cell, _, _ in held)

    def besides(self, unit: Unit, site: Site) -> int:
        """Why what an occurrence is asked of may be more than is known; else 0."""
        if site.at <= 1:
            return 0
        node = behind_call(self.solver, unit.base | site.at)
        op, *parts = self.project.expression(node)
        asked = self.solver.value(self.solver.child(node, parts[0])) if op == Op.GET else {}
        if UNKNOWN in asked or Reason.ASKED in asked.values():
            return Reason.UNKNOWN_RECEIVER
        receivers = receivers_of(self.solver, node)
        return Reason.MANY if MANY in receivers else Reason.UNKNOWN_RECEIVER if UNKNOWN in receivers else 0

    def may_be_further_below(self, unit: Unit, site: Site) -> bool:
        """Whether an occurrence may mean a member of a class that is further below than is looked at."""
        if site.at <= 1 or not self.solver.classes.cut:
            return False
        receivers = receivers_of(self.solver, behind_call(self.solver, unit.base | site.at))
        name, known = unit.names[site.name], [of for of in receivers if of and of[0] in (CLASS, OBJECT)]
        asked = [(of, asked_of(self.solver, of[1], name)) for of in known]
        return any((of[2] or at != of[1]) and self.solver.classes.has_more_below(at) for of, at in asked)


def _before(unit: Unit, site: Site, found: Targets) -> Targets:
    """The targets of what runs while a file of Ruby is read: what stands further down need not be there yet."""
    further = {at for at in found if at[0] == unit.number and at[1] & LINE > site.line}
    return {at: min(sure, Reason.REPLACED) if at in further else sure for at, sure in found.items()}
