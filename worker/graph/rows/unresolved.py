"""Why an occurrence of a name has no definition: it is outside, a variable, or of what nobody sees."""

from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any

from fledgling.worker.graph.reasons import Confidence, Reason, confidence
from fledgling.worker.graph.rows.asked import LITERALS, behind_call, is_constant, is_of, outside_macro, written_as
from fledgling.worker.graph.rows.handed_back import HandedBack
from fledgling.worker.graph.rows.missing import Missing
from fledgling.worker.graph.rows.named_arguments import filled_by
from fledgling.worker.graph.rows.rewritten import Rewritten
from fledgling.worker.graph.rows.unknown_beside import UnknownBeside
from fledgling.worker.graph.solving.lookup import may_be_of_macro
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import CLASSES, NONE, Expression, Op, ScopeKind, Site, Use
from fledgling.worker.graph.unit import MASK, Unit
from fledgling.worker.graph.values import (
    CLASS,
    CONSTANT,
    CONTAINER,
    EXTERNAL,
    FILLED,
    FUNCTION,
    GENERATOR,
    MANY,
    METHOD_OF,
    MODULE,
    OBJECT,
    SPACE,
    UNKNOWN,
    Value,
)

GUESSED = frozenset([Reason.TOLD, Reason.ASKED])  # a comment may be wrong
BY_OP = {Op.TOKEN: Reason.IN_MACRO, Op.CALLBACK: Reason.UNKNOWN_RECEIVER}  # something outside may have the method
OUTSIDE = (EXTERNAL, METHOD_OF, CONTAINER, GENERATOR, CONSTANT, FILLED)


def _last(value: Value) -> str:
    return str(value[1]).removesuffix("#").rpartition(".")[2]


class Unresolved:
    """Asks the cells of a solver that has run."""

    def __init__(self, solver: Solver, rewritten: Rewritten) -> None:
        self.solver = solver
        self.project = solver.project
        self._rewritten = rewritten
        self._missing = Missing(solver)
        self._handed_back = HandedBack(solver)
        self._unknown_beside = UnknownBeside(solver)

    def reason(self, unit: Unit, site: Site) -> int:
        """Why an occurrence has no definition. A name that is not found in a macro may be one that the macro makes."""
        if site.at > 1 and unit.expressions[site.at][0] == Op.IN_MACRO:
            reason = self.reason(unit, outside_macro(unit, site))
            is_asked = self.project.expression(behind_call(self.solver, unit.base | site.at))[0] == Op.GET
            return Reason.IN_MACRO if reason == Reason.OUTSIDE and not is_asked else reason
        reason = self._unresolved(unit, site)
        if reason != Reason.OUTSIDE or site.use == Use.IMPORT:
            return reason
        if unseen := self._missing.reason(unit.base | site.at):
            return unseen
        node = behind_call(self.solver, unit.base | site.at)
        if self._handed_back.may_be(node) or self._is_of_unknown(unit, node, site.use):
            return Reason.UNKNOWN_RECEIVER
        if self._may_be_passed(unit, node, unit.names[site.name]):
            return Reason.UNKNOWN_RECEIVER
        if self._is_refined(unit, site):
            return Reason.UNKNOWN_RECEIVER
        if self._is_put(node, site):
            reason = Reason.FIELD
        if not unit.dialect.prototypes:
            return reason
        of = unit.expressions[site.at]
        of = unit.expressions[of[1]] if of[0] in (Op.CALL, Op.NEW) else of
        if self._is_of_module(unit, of):
            return Reason.UNSEEN
        is_global = of[0] == Op.NAME and of[2] == NONE
        is_there = of[0] == Op.UNSURE or self._rewritten.may_be_outside(unit.names[site.name], is_global=is_global)
        return Reason.UNKNOWN_RECEIVER if is_there or self._is_of_scripts(unit, site) else reason

    def _is_refined(self, unit: Unit, site: Site) -> bool:
        """Whether a member of that name is one that the project may give to any class: `refine String do`, in Ruby."""
        return unit.dialect.bare_calls and (unit.language, unit.names[site.name]) in self.project.vocabulary.replaced

    def _is_of_scripts(self, unit: Unit, site: Site) -> bool:
        """Whether a member may be what scripts declare for all files, `window.a`, or add to a type outside."""
        global_names, name = self.solver.global_names, unit.names[site.name]
        node = behind_call(self.solver, unit.base | site.at)
        op, *parts = self.project.expression(node)
        if op != Op.GET or name in global_names.added or not global_names.declares(name):
            return op == Op.GET and name in global_names.added
        held = self.solver.value((node & ~MASK) | parts[0])
        computing = unit.dialect.computing
        return any(value[0] == EXTERNAL and computing.get(value[1].rpartition(".")[2]) == "global" for value in held)

    def _is_of_unknown(self, unit: Unit, node: int, use: int) -> bool:
        """Whether a member may be what is not known, or of that, where types need not be declared: `(a or []).b`."""
        op, *parts = self.project.expression(node)
        is_asked = op == Op.GET and not unit.dialect.declares_all_types
        if not is_asked:
            return False
        receiver = (node & ~MASK) | parts[0]
        is_field = use != Use.WRITE and is_of(self.solver, receiver, (OBJECT,)) and bool(self.solver.value(node))
        return any(map(self._unknown_beside.may_be, [receiver, node] if is_field else [receiver]))

    def _may_be_passed(self, unit: Unit, node: int, name: int) -> bool:
        """Whether a member of a type or protocol outside that is declared may be that of a class: `a: Iterable`."""
        expression = self.project.expression(node)
        if expression[0] != Op.GET or name not in self._members:
            return False
        receivers = self.solver.value((node & ~MASK) | expression[1])
        asked = [value[1] for value in receivers]
        if unit.dialect.smart_casts and any(map(partial(self._may_be_checked, unit, name), receivers)):
            return True
        if any(value[0] == EXTERNAL and value[1].startswith("?.") and "(" in value[1] for value in receivers):
            return True  # what a method of a base outside gives
        if unit.dialect.crates:  # `Debug::fmt(a, b)` is of what a is
            asked += [f"{value[1]}#" for value in receivers if value[0] == EXTERNAL]
        if unit.dialect.typed and any(name in below for key in asked for below in self._below(key)):
            return True
        if unit.dialect.may_lack_types and not unit.dialect.prototypes and any(map(self._is_given, receivers)):
            return True
        return bool(unit.dialect.protocols) and any(self._is_protocol(unit, value) for value in receivers)

    def _may_be_checked(self, unit: Unit, name: int, value: Value) -> bool:
        """Whether a value of Kotlin that may be anything is known to be an A in a way that is not seen: `a: Any`."""
        is_any = value[0] == EXTERNAL and value[1].endswith("#") and _last(value) in unit.dialect.of_all
        return is_any and self.project.text(name) not in unit.dialect.common

    def _is_given(self, value: Value) -> bool:
        """Whether a method of a type outside gives a value, which a class of the project below that has, too."""
        of, _, given = value[1].partition("#.") if value[0] == EXTERNAL else ("", "", "")
        number = self.project.numbers.get(given.partition("(")[0])
        return any(number in below for below in self._below(f"{of}#"))

    def _below(self, of: Any) -> Iterator[set[int]]:
        """The names of what classes have that are below a type outside, and in PHP below others of its namespace."""
        yield self._below_outside.get(of, set())
        if type(of) is str and of.endswith("#"):
            yield self._below_outside.get(of.rpartition(".")[0], set())

    @cached_property
    def _below_outside(self) -> dict[Any, set[int]]:
        """The names of what classes have that are below a type outside of the project, by that: `java.io.Writer#`.

        In PHP by its namespace as well, and from traits: `RequestInterface` is a `MessageInterface`.
        """
        scopes: dict[Any, set[int]] = {}
        for unit in self.project.units:
            for at, row in enumerate(unit.facts.scopes) if unit.dialect.typed else ():
                bases = [value for base in row.bases for value in self.solver.value(unit.base | base)]
                outside = [value[1] for value in bases if row.kind in CLASSES and value[0] == EXTERNAL]
                is_global = unit.dialect.spaces == "global"
                keys = [f"{type_}#" for type_ in outside]
                keys += [space for type_ in outside if is_global and (space := type_.rpartition(".")[0])]
                having = {unit.base | at, *self.solver.classes.below(unit.base | at)} if outside else ()
                for of in having:
                    for key in keys:
                        scopes.setdefault(key, set()).update(self.solver.classes.order(of) if is_global else (of,))
        return {key: set().union(*map(self.project.table, having)) for key, having in scopes.items()}

    def _is_protocol(self, unit: Unit, value: Value) -> bool:
        """Whether an object is of a protocol, or of what that holds: `Iterable[A]`."""
        if value[0] == METHOD_OF:  # what a Record<string, any> has
            value = value[1]
        if value[0] == CONTAINER and type(value[1]) is int:
            _, *parts = expression = self.project.expression(value[1])
            types = [*self.solver.value((value[1] & ~MASK) | parts[0])] if expression[0] == Op.INDEX else []
            return any(self._is_protocol(unit, of) for of in types if of[0] == EXTERNAL)
        words = value[1].removesuffix("#").split(".") if value[0] == EXTERNAL else []
        return not unit.dialect.protocols.isdisjoint((words[-1], ".".join(words[-2:]))) if words else False

    @cached_property
    def _members(self) -> set[int]:
        """The names of what classes have and objects get."""
        return self.project.vocabulary.members | self.project.vocabulary.written

    def _is_of_module(self, unit: Unit, expression: Expression) -> bool:
        """Whether a name is what a module of the project has under it: `const { a } = require("./b")`."""
        bindings: tuple[int, ...] = expression[3] or () if expression[0] == Op.NAME else ()
        value = unit.expressions[unit.bindings[bindings[0]].value] if len(bindings) == 1 else expression
        member = unit.expressions[value[1]] if value[0] == Op.ALIAS else value
        return member[0] == Op.GET and is_of(self.solver, unit.base | member[1], (MODULE,))

    def _unresolved(self, unit: Unit, site: Site) -> int:
        if site.use == Use.KEYWORD:
            return self._of_word(unit, site)
        if site.binding != NONE and site.use in (Use.DEFINITION, Use.WRITE):
            return self._of_variable(unit, site, [site.binding])
        if site.at <= 1:
            return Reason.OUTSIDE if site.use == Use.IMPORT else Reason.NOT_PARSED
        if reason := BY_OP.get(self.project.expression(unit.base | site.at)[0]):
            return reason
        node = behind_call(self.solver, unit.base | site.at)
        expression = self.project.expression(node)
        if is_of(self.solver, node, (SPACE,)) or self._is_module(node):
            return Reason.NAMESPACE
        node, expression = self._behind_prefix(node, expression)
        if expression[0] == Op.GET:
            return self._unresolved_member(node, expression, site)
        is_no_annotation = self.solver.op(unit.base | site.at) == Op.ANNOTATION
        if (
            is_no_annotation
            or expression[0] in (Op.IMPORT, Op.PART)
            or (expression[0] == Op.NAME and expression[2] == NONE)
        ):
            return Reason.OUTSIDE
        is_open = unit.dialect.bare_calls or (unit.dialect.implicit_parameter and not self.solver.value(node))
        if expression[0] == Op.BARE and (is_open or self._is_of_macro(node, expression)):
            return Reason.UNKNOWN_RECEIVER  # what self has, or a receiver, is known only when it runs
        others = (EXTERNAL, FUNCTION) if is_constant(self.solver, unit, site) else (EXTERNAL,)
        if expression[0] == Op.BARE and all(value[0] in others for value in self.solver.value(node)):
            is_constant_here = unit.names[expression[1]] in self.project.vocabulary.constants  # `case A:`
            is_named = is_constant_here and site.use == Use.READ
            return Reason.UNKNOWN_RECEIVER if is_named else Reason.OUTSIDE
        is_outside = self._is_imported(node, expression) and not self._is_own(node, site.use)
        return Reason.OUTSIDE if is_outside else self._of_reached(unit, node, expression, site)

    def _of_reached(self, unit: Unit, node: int, expression: Expression, site: Site) -> int:
        """Why a variable means nothing else, or a field that something was put into, which is called or read there."""
        of = (node & ~MASK) | expression[3] if expression[0] == Op.REACH else NONE
        if of == NONE or self.solver.op(of) != Op.GET:
            return self._of_variable(unit, site, self._bindings(node, expression))
        if self._is_key_of_type(of, site):
            return Reason.UNKNOWN_RECEIVER
        written = Site(site.line, site.column, site.name, Use.WRITE, site.at, site.scope)
        is_called = site.use == Use.CALL
        reason = Reason.FIELD if is_called else self._unresolved_member(of, self.project.expression(of), written)
        return Reason.FIELD if reason == Reason.OUTSIDE else reason

    def _is_module(self, node: int) -> bool:
        """Whether an expression is a module of the project, where it is found: `require("./a")`."""
        kinds = {value[0] for value in self.solver.value(node)}
        return MODULE in kinds and kinds <= {MODULE, EXTERNAL}

    def _is_own(self, node: int, use: int) -> bool:
        """Whether what a module exports is of the project, and surely nothing outside; what is called is no type."""
        values = self.solver.value(node)
        others = (EXTERNAL, CLASS) if use == Use.CALL else (EXTERNAL,)
        return bool(values) and all(value[0] not in others for value in values)

    def _is_of_macro(self, node: int, expression: Expression) -> bool:
        """Whether a name may be what the class has that a macro makes."""
        return not self.solver.value(node) and may_be_of_macro(self.project, node, expression)

    def _of_word(self, unit: Unit, site: Site) -> int:
        """What a key or the name of an argument is that means no definition: a parameter, or nobody knows what.

        Where a map of Go turns out to be written out, it is a variable.
        """
        if filled_by(self.solver, unit, site).is_parameter:
            return Reason.VARIABLE
        if not (unit.dialect.plain_fields and site.at > 1 and unit.expressions[site.at][0] in LITERALS):
            return Reason.UNKNOWN_RECEIVER if self._may_be_field(unit, site) else Reason.WORD
        held = written_as(self.solver, unit, site)
        if any(value[0] == CONTAINER for value in held):
            return Reason.VARIABLE
        objects = [value for value in held if value[0] == OBJECT]
        if any(self.project.scope(value[1]).returns != NONE for value in objects):
            return Reason.VARIABLE
        if objects:
            return Reason.FIELD
        return Reason.OUTSIDE if held and all(value[0] == EXTERNAL for value in held) else Reason.UNKNOWN_RECEIVER

    def _may_be_field(self, unit: Unit, site: Site) -> bool:
        """Whether a key of an object that is written out may be a field of a type, which nothing says of it."""
        of = unit.base | site.at
        return site.at > 1 and unit.names[site.name] in self._fields and not self.solver.written_as.get(of)

    @cached_property
    def _fields(self) -> set[int]:
        """The names of what types declare that objects have, which need not say that they are of these."""
        dialects = ((unit, unit.dialect) for unit in self.project.units if unit.dialect.typed)
        units = [unit for unit, dialect in dialects if dialect.prototypes or dialect.declared]
        return {
            unit.names[row.name]
            for unit in units
            for row in unit.bindings
            if row.name != NONE and row.scope != NONE and unit.facts.scopes[row.scope].kind in CLASSES
            if unit.facts.expressions[row.value][0] != Op.FUNCTION
        }

    def _behind_prefix(self, node: int, expression: Expression) -> tuple[int, Expression]:
        """What a name before `::` is, where it is no namespace."""
        if expression[0] != Op.PREFIX:
            return node, expression
        node = (node & ~MASK) | expression[1]
        return node, self.project.expression(node)

    def _is_imported(self, node: int, expression: Expression) -> bool:
        """Whether a name, or what it is bound to, is an import."""
        values = [self.solver.op(self.project.value_of(at)) for at in self._bindings(node, expression)]
        return expression[0] == Op.ALIAS or (bool(values) and all(op in (Op.IMPORT, Op.ALIAS) for op in values))

    def _bindings(self, node: int, expression: Expression) -> list[int]:
        """What binds a name that reaches it, or else in its scope."""
        if expression[0] != Op.NAME:
            return []
        own = self.project.unit(node).names[expression[1]]
        reaching = [node & ~MASK | at for at in expression[3] or ()]
        return reaching or self.project.table(node & ~MASK | expression[2]).get(own, [])

    def _of_variable(self, unit: Unit, site: Site, bindings: list[int]) -> int:
        """Why a variable means nothing else: in JavaScript it may hold a member of its name, `const { a } = b`."""
        if not unit.dialect.prototypes:
            return Reason.VARIABLE
        places = [self.project.defined(unit.base | at)[0] for at in bindings] if site.use == Use.CALL else []
        if places and self.project.vocabulary.only_types.issuperset(places):  # what is called is a value
            return Reason.OUTSIDE
        for at in bindings:
            value = self.project.value_of(unit.base | at)
            expression = self.project.expression(value)
            if expression[0] == Op.CHOICE:  # `{ a = b }`
                value = unit.base | expression[1][0]
                expression = self.project.expression(value)
            if expression[0] == Op.GET and unit.facts.names[expression[2]] == unit.facts.names[site.name]:
                member = Site(site.line, site.column, site.name, Use.READ, value & MASK, site.scope)
                why = self.reason(unit, member)
                if confidence(why) == Confidence.UNRESOLVED:
                    return why
        return Reason.VARIABLE

    def _unresolved_member(self, node: int, expression: Expression, site: Site) -> int:
        receivers = self.solver.value((node & ~MASK) | expression[1])
        values = self.solver.value(node)
        held = [value for value in values if value[0] != METHOD_OF or not self._is_written_out(value[1])]
        if MANY in receivers or MANY in values:
            return Reason.MANY
        if UNKNOWN in receivers or not GUESSED.isdisjoint(receivers.values()):
            return Reason.UNKNOWN_RECEIVER
        may_name = self.project.unit(node).dialect.texts_name_classes and site.use != Use.WRITE
        if any(self._is_kept(value) or (may_name and self._is_text(value)) for value in receivers):
            return Reason.UNKNOWN_RECEIVER
        is_closed = not any(self._may_have_more(value) for value in receivers)
        if held and (is_closed or any(value[0] not in OUTSIDE for value in held)):
            if self._is_key_of_type(node, site):
                return Reason.UNKNOWN_RECEIVER
            is_outside = all(map(self._is_applied, receivers)) or all(value[0] in OUTSIDE for value in held)
            return Reason.OUTSIDE if is_outside else Reason.FIELD
        if site.use == Use.WRITE and not self.project.unit(node).dialect.plain_fields:
            is_untold = not receivers and self.project.unit(node).names[site.name] in self.project.vocabulary.fields
            return Reason.UNKNOWN_RECEIVER if is_untold else Reason.FIELD
        is_outside = any(value[0] in OUTSIDE and not self._is_written_out(value) for value in receivers)
        return Reason.OUTSIDE if is_outside and is_closed else Reason.UNKNOWN_RECEIVER

    def _is_applied(self, value: Value) -> bool:
        """Whether a value is of a type outside that is applied to others, whatever its members hold: `Entry<A, B>`."""
        return value[0] == CONTAINER and type(value[1]) is int and self.solver.op(value[1]) == Op.INDEX

    def _is_put(self, node: int, site: Site) -> bool:
        """Whether a member that is not called is a field that the project gives objects of its classes."""
        op, *parts = self.project.expression(node)
        if op != Op.GET or site.use == Use.CALL:
            return False
        held = [value[1] for value in self.solver.value((node & ~MASK) | parts[0]) if value[0] in (OBJECT, CLASS)]
        own = self.project.unit(node).names[parts[1]]
        return any(
            ("field", at, own) in self.solver.sources for scope in held for at in self.solver.classes.order(scope)
        )

    def _is_key_of_type(self, node: int, site: Site) -> bool:
        """Whether a key of an object that is written out may be a field of a type: `a = {}; a.b = 1`."""
        op, *parts = self.project.expression(node)
        if op != Op.GET or self.project.unit(node).names[site.name] not in self._fields:
            return False
        is_outside = site.use == Use.CALL and is_of(self.solver, node, (EXTERNAL,))
        return not is_outside and any(map(self._is_written_out, self.solver.value((node & ~MASK) | parts[0])))

    def _is_kept(self, value: Value) -> bool:
        """Whether a value is a field of a tuple or object that is written out: what that is need not be seen."""
        of = value[1]
        if value[0] != METHOD_OF or of[0] != CONTAINER or type(of[1]) is not int:
            return False
        return self.solver.op(of[1]) == Op.TUPLE or self._is_written_out(of)

    def _is_text(self, value: Value) -> bool:
        """Whether a value is a text: in PHP `$a::b()` is of the class that it names."""
        return value[:2] == (CONSTANT, "text") or (value[0] == EXTERNAL and value[1].endswith("string#"))

    def _may_have_more(self, value: Value) -> bool:
        """Whether a value is a function, or an object that one makes: what is put into it need not be seen."""
        if value[0] not in (FUNCTION, OBJECT) or not self.project.unit(value[1]).dialect.prototypes:
            return False
        return self.project.scope(value[1]).kind in (ScopeKind.FUNCTION, ScopeKind.LAMBDA)

    def _is_written_out(self, value: Value) -> bool:
        """Whether a value is an object that is written out, and so may have members that are not seen: `{ a: b }`."""
        if value[0] != CONTAINER or not self.solver.keyed_members(value):
            return False
        return type(value[1]) is tuple or self.solver.op(value[1]) == Op.DICT
