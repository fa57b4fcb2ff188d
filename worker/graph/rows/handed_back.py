"""Whether something outside the project may give what is of the project: `Optional<A>`, `max(a, b)`."""

import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import chain, islice
from typing import Any

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.imports import import_places
from fledgling.worker.graph.solving.lookup import bare_places
from fledgling.worker.graph.solving.member_places import places
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.starred_names import starred
from fledgling.worker.graph.tables import MADE, NONE, Op, ScopeKind
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import (
    BOUND,
    BUILTIN,
    CLASS,
    CONTAINER,
    EXTERNAL,
    FUNCTION,
    OBJECT,
    SUPER,
    Value,
)

MAX_PARTS = 60  # expressions that are looked at for one member; if there are more, it may be of the project
SAME = (  # operations that give what their first part is
    Op.INSTANCE, Op.VALUE, Op.ALIAS, Op.UNSURE, Op.RENAMED, Op.PREFIX, Op.ADDRESSED, Op.PRESENT, Op.POINTEE,
    Op.NARROWED, Op.CASE, Op.CALLED, Op.QUALIFIED,
)  # fmt: skip
BOTH = (Op.NARROWED, Op.CASE, Op.CALLED)  # those that may give what their second part is
TAKEN = (
    Op.ELEMENT,
    Op.ITEM,
    Op.ENTERED,
    Op.ARRAY,
    Op.RECEIVED,
    Op.POINTED,
    Op.PAYLOAD,
)  # those that give what is in it
WITHIN = (Op.LIST, Op.TUPLE)
ENDS = (  # those of which nothing is looked at but the values
    Op.UNKNOWN, Op.MADE, Op.TEXT, Op.FILLED, Op.NUMBER, Op.COMPUTED, Op.OPERATED, Op.CLASS, Op.THIS, Op.SUPER,
    Op.DECORATED, Op.ROOT, Op.TOKEN,
)  # fmt: skip
OF_TYPES = (Op.INDEX, Op.ARRAY, Op.POINTEE)
PART = re.compile(r"[.(#]")  # behind the first name of what is outside: `a.b()`
# What an expression is there for: to be asked itself, or after what is outside has been; handed over; as a type.
ASKED, ASKED_BEFORE, GIVEN, TYPE, TYPE_OF_ASKED = range(5)
AS_TYPE = {ASKED: TYPE_OF_ASKED, TYPE_OF_ASKED: TYPE_OF_ASKED}  # any other: TYPE


class HandedBack:
    """Asks the cells of a solver that has run. Where no types are declared, what is known to be handed over counts."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._project = solver.project
        self._known: dict[tuple[int, int], bool] = {}
        self._given_above = cache(self._types_given_above)

    def may_be(self, node: int) -> bool:
        """Whether a member of what seems to be outside may be that of a class of the project.

        So it may if a type argument on the way there, or an argument of a call, has a member of that name.
        """
        op, *parts = self._project.expression(node)
        if op != Op.GET:
            return False
        unit = self._project.unit(node)
        name = unit.names[parts[1]]
        if not unit.dialect.typed and name not in self._project.vocabulary.definitions:
            return False
        key = self._solver.child(node, parts[0]), name
        if key not in self._known:
            search = _Search(self._solver, self._given_above, name, is_typed=unit.dialect.typed)
            self._known[key] = search.finds(key[0])
        return self._known[key]

    def _types_given_above(self, scope: int) -> list[int]:
        """Return the types that a class gives to those above it: `class A implements Comparable<B>`."""
        found = list[int]()
        for above in self._solver.classes.order(scope):
            base = above & ~MASK
            expressions = (self._project.expression(base | at) for at in self._project.scope(above).bases)
            found += [base | parts[1] for op, *parts in expressions if op == Op.INDEX and parts[1] >= 0]
        return found


class _Search:
    """For one member: what it may be of, and the names of what is asked for on the way to that."""

    def __init__(self, solver: Solver, given_above: Callable[[int], list[int]], name: int, *, is_typed: bool) -> None:
        self._solver = solver
        self._given_above = given_above
        self._is_typed = is_typed
        self._project = solver.project
        self._names = {name}
        self._parts: list[tuple[int, int]] = []  # to be looked at, with what they are there for
        self._seen: set[tuple[int, int]] = set()  # those, and what was looked at
        self._is_cut = False  # whether there are more

    def finds(self, node: int) -> bool:
        """Whether the object that an expression gives may be of the project."""
        self._look_at([(node, ASKED)])
        while self._parts:
            if self._is_found(*self._parts.pop()) or self._is_cut:
                return True
        return False

    def _look_at(self, parts: Iterable[tuple[int, int]]) -> None:
        """Have parts looked at next, up to a limit for all together: what they come from may be many more."""
        few = [*islice(parts, MAX_PARTS + 1)]
        new = [part for part in dict.fromkeys(few) if part not in self._seen]
        self._seen.update(new)
        self._parts += new
        self._is_cut = self._is_cut or max(len(few), len(self._seen)) > MAX_PARTS

    def _is_found(self, node: int, use: int) -> bool:
        """Whether an expression is an object with such a member, or may be any; else its parts are looked at next."""
        values = self._solver.value(node)
        if values and all(self._is_plain(node, value) for value in values):
            return False
        if use == ASKED and values and all(value[0] == CONTAINER for value in values):
            types = [value[1] for value in values if type(value[1]) is int]
            self._look_at((at, TYPE_OF_ASKED) for at in types if self._solver.op(at) in OF_TYPES)
            return False
        is_own = [self._is_of_project(value, use) for value in values]
        return any(is_own) or self._is_found_in(node, use)

    def _is_of_project(self, value: Value, use: int) -> bool:
        """Whether a value has such a member; what its class derives from, or what it gives, is looked at next."""
        if value[0] in (FUNCTION, BOUND) and use == GIVEN:
            self._add_result(value[1], use)
        if value[0] not in (OBJECT, CLASS, SUPER):
            return False
        self._look_at((at, TYPE) for at in self._given_above(value[1]))
        return use in (GIVEN, TYPE) and value[0] != SUPER and self._has(value[1])

    def _is_found_in(self, node: int, use: int) -> bool:
        """Whether what an expression is made of may be any; else it is looked at next."""
        op, *parts = self._project.expression(node)
        if op in (Op.NAME, Op.BARE, Op.IMPORT):
            return self._is_any(node, op, parts, use)
        if op == Op.PARAMETER:
            return self._is_untyped(node, use, *parts)
        if op == Op.UNSURE and self._solver.op(self._solver.child(node, parts[0])) == Op.CHOICE:
            return True  # it may be what nobody knows
        if op == Op.GIVEN_BACK or (op == Op.DICT and use == GIVEN and self._has_key(node, parts[0])):
            return True
        if op == Op.GET:
            self._add_member(node, parts[0], self._project.unit(node).names[parts[1]], use)
        elif op in (Op.CALL, Op.NEW):
            self._add_called(node, parts, use)
        elif op == Op.FUNCTION:
            self._add_result(self._solver.child(node, parts[0]), use)
        else:
            self._add_parts(node, op, parts, use)
        return False

    def _is_plain(self, node: int, value: Value) -> bool:
        """Whether a value is a number, a text or the like, or what a function of Python's or Ruby's own makes."""
        dialect = self._project.unit(node).dialect
        if not (dialect.typed or dialect.prototypes) and value[0] == EXTERNAL and value[1].startswith(BUILTIN):
            word = PART.split(value[1].removeprefix(BUILTIN), maxsplit=1)[0]
            # a constant of Ruby that nothing binds may be a library's
            return not dialect.bare_calls or word in dialect.functions or dialect.is_plain(word)
        is_object = value[0] == EXTERNAL and value[1].endswith("#")
        return is_object and dialect.is_plain(value[1][:-1].rpartition(".")[2])

    def _has(self, scope: int) -> bool:
        """Whether a class has a member by one of the names, its own or from above."""
        return any(self._solver.classes.of_class(scope, name)[0] is not None for name in self._names)

    def _has_key(self, node: int, pairs: list[Any]) -> bool:
        """Whether an object of JavaScript that is written out holds a function or class by such a name."""
        unit = self._project.unit(node)
        held = [
            self._solver.child(node, value)
            for key, value in pairs[: MAX_PARTS if unit.dialect.keyed_members else 0]
            if NONE not in (key, value)
            and unit.expressions[key][0] == Op.TEXT
            and unit.names[unit.expressions[key][1]] in self._names
        ]
        return any(value[0] in (FUNCTION, BOUND, CLASS) for at in held for value in self._solver.value(at))

    def _is_any(self, node: int, op: int, parts: list[Any], use: int) -> bool:
        """Whether a name is that of a type parameter, or of what is not known; else what it is bound to is next."""
        unit, bindings = self._project.unit(node), list[int]()
        if op == Op.NAME and parts[2] is not None:
            bindings = [unit.base | at for at in parts[2]]
        elif op == Op.NAME and parts[1] != NONE:
            bindings = self._project.table(unit.base | parts[1]).get(unit.names[parts[0]], [])
        elif op == Op.NAME:
            bindings = self._bound(starred(self._solver, node, unit.names[parts[0]]))
        elif op == Op.BARE:
            bindings = self._bound(bare_places(self._solver, node, (op, *parts)))
            if not bindings:
                self._add_around(self._solver.child(node, parts[1]))
        else:
            bindings = self._bound(import_places(self._solver, node, parts[0]))
        self._add_bindings(bindings, use)
        if not self._is_typed:
            return False
        is_type = use in (TYPE, TYPE_OF_ASKED) and not bindings
        is_open = is_type and unit.dialect.types.get(self._project.last_name(node)) == "unknown"  # `dynamic a`
        return is_open or any(self._is_parameter_of_type(at, use) for at in bindings[: MAX_PARTS + 1])

    def _is_parameter_of_type(self, binding: int, use: int) -> bool:
        """Whether a name is bound to nothing that is known, or stands for a type in one function or class alone."""
        value, scope = self._project.value_of(binding), self._project.binding(binding).scope
        if value & MASK <= MADE:
            return True
        if (
            use not in (TYPE, TYPE_OF_ASKED)
            or scope == NONE
            or self._solver.op(value) in (Op.CLASS, Op.IMPORT, Op.ALIAS)
        ):
            return False
        kind = self._project.scope((binding & ~MASK) | scope).kind
        return kind not in (ScopeKind.MODULE, ScopeKind.NAMESPACE)

    def _is_untyped(self, node: int, use: int, scope: int, place: int) -> bool:
        """Whether a parameter has no type, and so may be anything; else that is next."""
        function = self._solver.child(node, scope)
        given = self._project.scope(function).parameters[place : place + 1]  # none where it has no name: `it`
        self._add(function, [each.type for each in given], AS_TYPE.get(use, TYPE))
        return self._is_typed and (not given or given[0].type == NONE)

    # ---- what is looked at next

    def _add(self, node: int, parts: Iterable[int], use: int) -> None:
        base = node & ~MASK
        self._look_at((base | (part if part >= 0 else ~part), use) for part in parts if part != NONE)

    def _add_bindings(self, bindings: list[int], use: int) -> None:
        self._is_cut = self._is_cut or len(bindings) > MAX_PARTS
        for at in bindings[:MAX_PARTS]:
            if self._solver.op(value := self._project.value_of(at)) != Op.FUNCTION:
                self._look_at([(value, use)])
            else:
                self._add_result(self._solver.child(value, self._project.expression(value)[1]), use)

    def _add_around(self, scope: int) -> None:
        """Add what classes around a scope give to those above them: a name that stands alone may be of these."""
        while scope >= 0 and not self._is_cut:
            if (whole := self._solver.classes.whole(scope)) in self._solver.classes.has_external_base:
                self._look_at((at, TYPE) for at in self._given_above(whole))
            scope = self._project.outer(scope)

    def _add_result(self, function: int, use: int) -> None:
        """Add what a function gives, by its declared type if it has one."""
        row = self._project.scope(function)
        self._add(function, [row.returns], AS_TYPE.get(use, TYPE))
        self._add(function, row.returned if row.returns == NONE else (), use)

    def _add_member(self, node: int, of: int, name: int, use: int) -> None:
        """`a.b`: what the project binds to b, or what is in a if that is outside."""
        held = self._solver.value(self._solver.child(node, of))
        found = [place for value, sure in held.items() for place in places(self._solver, value, name, sure)]
        if bindings := self._bound(found):
            self._add_bindings(bindings, use)
        else:
            self._names.add(name)
            is_class = use != ASKED and self._project.text(name) == "class"  # `A::class`
            self._add(node, [of], GIVEN if is_class else ASKED_BEFORE)

    def _bound(self, found: Iterable[tuple[Any, ...]]) -> list[int]:
        """The bindings of the names that some places are."""
        cells = [cell for cell, *_ in found if cell[0] == "name"]
        every = (self._project.table(scope).get(name, ()) for _, scope, name in cells)
        return [*islice(chain.from_iterable(every), MAX_PARTS + 1)]

    def _add_called(self, node: int, parts: list[Any], use: int) -> None:
        """`a(b)`: what a function of the project gives, or what one outside gets."""
        called = self._solver.value(self._solver.child(node, parts[0]))
        functions = [value[1] for value in called if value[0] in (FUNCTION, BOUND)]
        for function in functions:
            self._add_result(function, use)
        if not functions and not (use == ASKED and self._solver.op(node) == Op.NEW and parts[3:]):
            self._add(node, parts[:1], ASKED_BEFORE)
            self._add(node, chain(parts[1], (part for _, part in parts[2])), GIVEN)
        self._add(node, parts[3:], AS_TYPE.get(use, TYPE) if self._solver.op(node) == Op.NEW else TYPE)

    def _add_parts(self, node: int, op: int, parts: list[Any], use: int) -> None:
        """Add what an expression is made of."""
        if op == Op.DECLARED:
            is_told = parts[0] > MADE and self._solver.value(("type", self._solver.child(node, parts[0]), None))
            self._add(node, parts[:1], AS_TYPE.get(use, TYPE))
            self._add(node, () if is_told else parts[1:], use)
        elif op == Op.REACH:
            self._add_bindings([(node & ~MASK) | at for at in parts[0]], use)
            self._add(node, parts[1:], use)
        elif op == Op.DICT:
            self._add(node, chain.from_iterable(parts[0]), GIVEN)
        elif op == Op.INDEX:
            self._add_applied(node, parts, use)
        elif op == Op.TOLD:
            self._is_cut = self._is_cut or parts[0] == 0  # `@template T`
            self._add(node, parts, use)
        elif op == Op.CAST:
            self._add(node, parts[:1], AS_TYPE.get(use, TYPE))
        else:
            self._add_alike(node, op, parts, use)

    def _add_alike(self, node: int, op: int, parts: list[Any], use: int) -> None:
        """Add the parts of an expression of which there are several of a kind."""
        if op in WITHIN:
            self._add(node, parts[0] if use != ASKED else (), GIVEN)
        elif op in (Op.CHOICE, Op.EVERY, Op.SUM):
            self._add(node, parts[0], use)
        elif op in SAME:
            self._add(node, parts[:2] if op in BOTH else parts[:1], use)
        elif op == Op.ITEM and (types := self._results(node, *parts)):
            self._look_at((at, AS_TYPE.get(use, TYPE)) for at in types)
        elif op in TAKEN:
            self._add(node, parts[:1], ASKED_BEFORE if use == ASKED else use)
        elif op not in ENDS:  # what is not known of here may give anything
            self._is_cut = True

    def _results(self, node: int, of: int, place: int) -> list[int]:
        """The types that functions declare of one of several results, `a, b := f()`, where no more is known."""
        held = self._solver.value(self._solver.child(node, of)).items()
        tuples = [at[1] for at, sure in held if at[0] == CONTAINER and sure == Reason.DECLARED and type(at[1]) is int]
        if len(tuples) < len(held) or any(self._solver.op(at) != Op.TUPLE for at in tuples):
            return []
        each = ((at, self._project.expression(at)[1]) for at in tuples)
        return [self._solver.child(at, parts[place]) for at, parts in each if place < len(parts) and parts[place] >= 0]

    def _add_applied(self, node: int, parts: list[int], use: int) -> None:
        """Add the parts of `a[b]`, or of a type `a<b>`: of what is declared to be of that, only some can ask b."""
        dialect = self._project.unit(node).dialect
        if use in (TYPE, TYPE_OF_ASKED):
            self._add(node, parts[:1], use)
            name = self._project.last_name(self._solver.child(node, parts[0]))
            is_open = (dialect.crates or dialect.prototypes) and name not in dialect.types
            is_direct = use == TYPE_OF_ASKED and not is_open
            self._add(node, () if is_direct else parts[1:], TYPE)
        else:
            self._add(node, parts[:1], ASKED_BEFORE if use == ASKED else use)
