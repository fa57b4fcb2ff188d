"""What may be in the project where nobody sees it: in a module that is not there, above a class, in a macro."""

from functools import cached_property
from typing import Any

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.globs import UNSEEN, says
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import MADE, NONE, WHOLE, Op
from fledgling.worker.graph.unit import MASK, Unit
from fledgling.worker.graph.values import BUILTIN, CLASS, EXTERNAL, OBJECT, SUPER, Value

MAX_STEPS = 20  # from `a.b().c` back to where a begins; names may lead in circles: `a = a.b`
MAX_ASKED = 30  # classes whose bases are asked for one within the other: `class A(B().c)`, `class B(C().d)`
BEGINNING = (  # expressions that begin with another one, or are of a type that is one
    Op.GET, Op.CALL, Op.NEW, Op.INDEX, Op.ALIAS, Op.PREFIX, Op.UNSURE, Op.DECLARED, Op.INSTANCE, Op.ELEMENT,
    Op.PAYLOAD, Op.QUALIFIED,
)  # fmt: skip


def _begins_with(op: int, parts: list[Any]) -> int:
    """What an expression begins with, or its type; 0 where that is nothing."""
    places = parts[:2] if op == Op.DECLARED else parts[:1] if op in BEGINNING else ()
    return next((part for part in places if part > MADE), 0)


class Missing:
    """Says of what has no definition, and seems to be outside of the project, why it may be in it.

    That depends on the bases of classes, which are expressions, of which the same is asked. All that ends in
    `_of_bases`: it asks of each class once, and of MAX_ASKED at most within each other.
    """

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._project = solver.project
        self._of_classes: dict[int, int] = {}  # why a member of a class may be one that nobody sees
        self._of_own: dict[int, int] = {}  # why a base that a class names may be one that nobody sees
        self._answered: list[int] = []  # the keys of that, in order
        self._asking: dict[int, bool] = {}  # the classes whose bases are asked for now; whether that was asked again

    def reason(self, node: int) -> int:
        """Why what an expression begins with may be in the project where nobody sees it; 0 if it is outside."""
        if self._may_be_of_a_class(node):
            return Reason.NOT_TAKEN
        return self._of_beginning(node) or (Reason.UNKNOWN_RECEIVER if self._is_of_undeclared(node) else 0)

    def _is_of_undeclared(self, node: int) -> bool:
        """Whether a member is asked of what nothing declares in C, which a macro may: `each(a) { a->b(); }`."""
        unit = self._project.unit(node)
        op, *parts = self._project.expression(node)
        if op == Op.CALL:
            op, *parts = self._project.expression(unit.base | parts[0])
        if op != Op.GET or not unit.dialect.declared:
            return False
        for _ in range(MAX_STEPS):
            if op not in (Op.GET, Op.INDEX):
                break
            op, *parts = self._project.expression(unit.base | parts[0])
        return op == Op.NAME and parts[1] == NONE and parts[2] is None and not unit.dialect.bare_members

    def _of_beginning(self, node: int) -> int:
        for _ in range(MAX_STEPS):
            unit = self._project.unit(node)
            op, *parts = self._project.expression(node)
            if op == Op.IMPORT:
                return self._unseen_import(unit, node, parts[0])
            if why := self._here(unit, node, op, parts):
                return why
            if op in (Op.NAME, Op.BARE):
                own, scope, reach = parts if op == Op.NAME else (parts[0], parts[2], None)
                if self._may_be_brought(unit, unit.names[own], parts[1] if op == Op.BARE else scope):
                    return Reason.UNSEEN
                table = {} if scope == NONE else self._project.table(unit.base | scope)
                bindings = [unit.base | at for at in reach] if reach else table.get(unit.names[own], ())
                if len(bindings) != 1:
                    return 0
                node = self._project.value_of(bindings[0])
            elif begins := _begins_with(op, parts):
                node = unit.base | begins
            elif op in (Op.THIS, Op.SUPER) and unit.dialect.takes_unseen:
                return Reason.NOT_TAKEN if self._has_unseen_base(unit, parts[0]) else 0
            elif op == Op.PARAMETER and (types := self._declared(unit, *parts)):
                node = unit.base | types[0]
            else:
                return 0
        return 0

    def _may_be_of_a_class(self, node: int) -> bool:
        """Whether a call is `a()`, where nothing is known as a, and some class has a function a itself.

        A project file may take that class for all files: `<Using Static>`.
        """
        op, *parts = self._project.expression(node)
        unit = self._project.unit(node)
        if op != Op.CALL or not unit.dialect.takes_unseen:
            return False
        function = unit.base | parts[0]
        op, *parts = self._project.expression(function)
        is_given = op == Op.BARE and unit.names[parts[0]] in self._project.given_by_classes
        return is_given and all(value[0] == EXTERNAL for value in self._solver.value(function))

    def _here(self, unit: Unit, node: int, op: int, parts: list[Any]) -> int:
        """Why an expression itself may be in the project, whatever it begins with."""
        if op == Op.GET:
            return self._of_receiver(node)
        is_unknown = op == Op.BARE and all(value[0] == EXTERNAL for value in self._solver.value(node))
        if is_unknown or (op == Op.NAME and parts[1] == NONE):
            is_cut = unit.dialect.prototypes and op == Op.NAME and not unit.facts.complete
            if is_cut or unit.names[parts[0]] in unit.not_parsed:
                return Reason.NOT_PARSED
        is_open = is_unknown and unit.dialect.takes_unseen and self._may_be_taken(unit, parts[0], parts[1])
        return Reason.NOT_TAKEN if is_open else 0

    def _of_receiver(self, node: int) -> int:
        """Why a member may be that of a class above the object's own which nobody sees: `from .gone import A`."""
        if not all(value[0] == EXTERNAL for value in self._solver.value(node)):
            return 0
        for value in self._solver.value(self._solver.child(node, self._project.expression(node)[1])):
            of: Value = value[2] if value[0] == SUPER else value
            if of[0] in (OBJECT, CLASS) and (why := self._of_class(of[1])):
                return why
            if of[0] == EXTERNAL and self._is_of_type_not_taken(node, of[1]):
                return Reason.NOT_TAKEN
        return 0

    def _is_of_type_not_taken(self, node: int, full: str) -> bool:
        """Whether what is outside, by its full name, is of a type of some namespace that a file may take: `List<A>`."""
        word = full.removeprefix(BUILTIN).removesuffix("#")
        if not self._project.unit(node).dialect.takes_unseen or full != f"{BUILTIN}{word}#":
            return False
        number = self._project.numbers.get(word)
        return number is not None and bool(self._solver.spaces.having(number))

    def _of_class(self, scope: int) -> int:
        """Why a class, or one above it, may have a base in the project that nobody sees; 0 where none does."""
        found = self._of_classes.get(scope)
        if found is None:
            is_open = scope in self._solver.classes.has_external_base
            order = self._solver.classes.order(scope) if is_open else ()
            is_unknown = not self._solver.classes.has_unknown_base.isdisjoint(order)
            whys = map(self._of_bases, order)
            found = next((why for why in whys if why), Reason.UNKNOWN_RECEIVER if is_unknown else 0)
            if not self._asking:
                self._of_classes[scope] = found
        return found

    def _of_bases(self, scope: int) -> int:
        """Why a base that a class itself names may be in the project where nobody sees it; 0 where none may.

        Of a class that is asked for within itself that is 0 first. If it turns out to be more, what was answered
        meanwhile is asked again.
        """
        bases = self._project.scope(scope).bases
        if scope in self._asking:
            self._asking[scope] = True
        if scope in self._asking or not bases:
            return 0
        found = self._of_own.get(scope)
        if found is None and len(self._asking) >= MAX_ASKED:
            return Reason.UNKNOWN_RECEIVER
        if found is None:
            self._asking[scope], before = False, len(self._answered)
            whys = (self.reason((scope & ~MASK) | base) for base in bases)
            found = int(next((why for why in whys if why), 0))
            if self._asking.pop(scope) and found:
                for at in self._answered[before:]:
                    del self._of_own[at]
                del self._answered[before:]
            self._of_own[scope] = found
            self._answered.append(scope)
        return found

    def _unseen_import(self, unit: Unit, node: int, which: int) -> int:
        """Why what an import names may be in the project: its module is not there, or is not seen to have it."""
        said, module, inner, _ = self._project.imports.target(unit, which)
        is_own = said.module.partition(".")[0] in self._own_packages
        rows = [row for row in unit.by_module.get(said.module, ()) if row.is_relative or is_own]
        if rows and inner is None and not any(row.resolved_path for row in rows):
            return Reason.MISSING
        if module is None and inner is None and self._may_be_beside(unit, said.module):
            return Reason.NOT_TAKEN
        if not said.name or said.name == WHOLE or module is None or inner is not None:
            return 0
        name = self._project.number(said.name)
        starring = self._solver.stars.starring(module, name)
        is_found = self._solver.stars.gives(module, name) or bool(starring.modules)
        is_told = bool(unit.dialect.exported) or (unit.dialect.prototypes and not self._hands_on(module))
        is_empty = is_told and not self._solver.value(node)
        return Reason.UNSEEN if (starring.is_cut or is_empty) and not is_found else 0

    def _may_be_beside(self, unit: Unit, module: str) -> bool:
        """Whether a module of Python that is not found is one of the own package, if the file is run from there."""
        is_standard = any(row.is_stdlib for row in unit.by_module.get(module, ()))
        of = self._project.imports.beside(unit.path, module.partition(".")[0]) if unit.dialect.exported else None
        return of is not None and of != unit.number and not is_standard

    def _hands_on(self, module: int) -> bool:
        """Whether a module hands on all names of another, which may be outside: `export * from "a"`."""
        return bool(self._project.units[module].facts.scopes[0].stars)

    @cached_property
    def _own_packages(self) -> set[str]:
        """The packages of Python that some import finds in the project, or that stand at its root."""
        units = [unit for unit in self._project.units if unit.dialect.exported]
        rows = (row for unit in units for row in unit.rows)
        found = {row.module.partition(".")[0] for row in rows if row.resolved_path and not row.is_relative}
        at_root = (unit.path.split("/") for unit in units)
        return found.union(path[0] for path in at_root if len(path) == 2 and path[1] == "__init__.py")

    def _may_be_brought(self, unit: Unit, name: int, scope: int) -> bool:
        """Whether what takes all names of others may bring one that nobody sees to where it is used."""
        if not unit.dialect.crates:
            return scope == NONE and self._solver.stars.starring(unit.number, name).is_cut
        at = unit.base | scope
        while at >= 0 and scope != NONE:
            if says(self._solver, UNSEEN, [at], name):
                return True
            if at in self._solver.spaces.paths:
                return False
            at = self._project.outer(at)
        return False

    def _may_be_taken(self, unit: Unit, own: int, scope: int) -> bool:
        """Whether what a project file takes for all files may give a name, or a class above the one around."""
        if (
            self._solver.spaces.having(unit.names[own])
            or unit.facts.names[own] in self._project.imports.taken_everywhere
        ):
            return True
        return self._has_unseen_base(unit, scope)

    def _has_unseen_base(self, unit: Unit, scope: int) -> bool:
        """Whether a class around a scope has a base that may be in the project where nobody sees it."""
        around, at = list[int](), unit.base | scope
        while at >= 0:
            around.append(at)
            at = self._project.outer(at)
        return any(self._of_bases(each) for each in reversed(around))  # those within ask for those around them

    def _declared(self, unit: Unit, scope: int, place: int) -> list[int]:
        """The type of a parameter, if that is written."""
        parameters = unit.facts.scopes[scope].parameters[place : place + 1]  # none where it has no name: `it`
        return [parameter.type for parameter in parameters if parameter.type != NONE]
