"""What something may be of which nothing is known: an object of the class that alone has all members it is asked for.

Three things are asked, each where the ones before tell nothing: all that a field holds or a function gives, wherever it
is used; a variable alone; and what is known of others that go by its name. All of that is a guess, and likely at most.
"""

from collections.abc import Iterable, Iterator, Set

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import CLASSES, MADE, NONE, Flag, Op
from fledgling.worker.graph.unit import Unit
from fledgling.worker.graph.values import BOUND, CLASS, FUNCTION, OBJECT, UNKNOWN, Cell, Values

MIN_ASKED = 2  # members that no type outside often has, from which on they tell what has them
MAX_HAVING = 3  # classes that have all of them, each with those below; of more, none is meant
MAX_ALIKE = 256  # classes that are looked at for one thing; of what may be more, nothing is known
MIN_NAME = 3  # characters of a name that tells what a variable is: `n` does not
NOBODY: frozenset[int] = frozenset()  # has a member
Held = tuple[str, int]  # an OBJECT of a class, or that CLASS


def guess(solver: Solver) -> None:
    """Give what nobody knows to the cells that are asked for members, and solve again."""
    asked = dict[Cell, set[int]]()
    silent = set[str]()
    for unit in solver.project.units:
        if unit.dialect.by_members:
            solver.stays = unit.dialect.by_members == "there"
            silent |= unit.dialect.common
            _ask(solver, unit, asked)
    if not asked:
        return
    telling = {at for name, at in solver.project.numbers.items() if name not in silent and not name.startswith("__")}
    unknown = _unknown(solver, {cell: names for cell, names in asked.items() if not names.isdisjoint(telling)})
    having = Having(solver, telling, set[int]().union(*(asked[cell] for cell in unknown)))
    shared = {cell: _shared(solver, cell) for cell in unknown}
    together = dict[Cell, set[int]]()
    for cell, of in shared.items():
        together.setdefault(of, set()).update(asked[cell])
    found = {of: having.all_of(names) for of, names in together.items()}
    _give(solver, found | {cell: having.all_of(asked[cell]) for cell, of in shared.items() if not found[of]})
    _give(solver, _of_names(solver, asked, _unknown(solver, unknown), having))


def _ask(solver: Solver, unit: Unit, found: dict[Cell, set[int]]) -> None:
    """Add the members that a file asks something for, by the numbers of their names."""
    telling_nothing = unit.dialect.universal | unit.dialect.signs  # numbers and texts have these, too
    unasked = {at for at, name in enumerate(unit.facts.names) if name in telling_nothing}
    members = dict[int, set[int]]()
    for expression in unit.expressions:
        if expression[0] == Op.GET and expression[1] > MADE and expression[2] not in unasked:
            members.setdefault(expression[1], set()).add(unit.names[expression[2]])
    for of, names in members.items():
        cell = _cell(solver, unit.base | of)
        if cell is not None:
            found.setdefault(cell, set()).update(names)


def _cell(solver: Solver, of: int) -> Cell | None:
    """The cell of what is asked, of a field of the own object that of its class; None where all is known of it."""
    cell, constant = solver.project.meant(of)
    if constant is not None:
        return None
    op, *parts = solver.project.expression(cell) if type(cell) is int else (NONE,)
    if op == Op.GET and solver.op(this := solver.child(cell, parts[0])) == Op.THIS:
        owner = solver.classes.around(solver.child(cell, solver.project.expression(this)[1]))
        name = solver.project.unit(cell).names[parts[1]]
        if owner is not None and solver.classes.of_class(owner, name)[0] is None:
            return "field", owner, name
    return cell


def _unknown(solver: Solver, cells: Iterable[Cell]) -> list[Cell]:
    """Those of some cells of which nothing is known."""
    return [cell for cell in cells if not solver.value(cell).keys() - {UNKNOWN}]


def _shared(solver: Solver, cell: Cell) -> Cell:
    """What a call gives wherever the one function is called that it calls: what that gives, as a field."""
    op, *parts = solver.project.expression(cell) if type(cell) is int else (NONE,)
    if op not in (Op.CALL, Op.BARE, Op.GET):
        return cell
    called = solver.value(solver.child(cell, parts[0]) if op == Op.CALL else cell)
    functions = [value[1] for value in called if value[0] in (FUNCTION, BOUND)]
    if len(called) != 1 or not functions:
        return cell
    returned = solver.project.scope(functions[0]).returned
    of = _cell(solver, solver.child(functions[0], returned[0])) if len(returned) == 1 else None
    return ("returned", functions[0]) if of is None else of


def _give(solver: Solver, found: dict[Cell, Values]) -> None:
    for cell, values in found.items():
        if values:
            solver.grow(cell, values)
    solver.run()


def _of_names(solver: Solver, asked: dict[Cell, set[int]], unknown: list[Cell], having: "Having") -> dict[Cell, Values]:
    """What is held by others that go by the name of a cell, where it has all members that this one is asked for."""
    names = {cell: _name(solver, cell) for cell in unknown}
    alike = {name: dict[Held, None]() for name in names.values() if len(name) >= MIN_NAME}
    for cell in asked.keys() - names.keys():
        if (known := alike.get(_name(solver, cell))) is not None:
            held = [value[:2] for value in solver.value(cell) if value[0] in (OBJECT, CLASS)]
            known.update(dict.fromkeys(held))
    return {
        cell: having.outermost([each for each in alike[name] if having.has_all(each, asked[cell])])
        for cell, name in names.items()
        if len(alike.get(name, ())) <= MAX_ALIKE and name in alike
    }


def _name(solver: Solver, cell: Cell) -> str:
    """The name that a cell goes by: of a variable, a parameter, a field, or what is called."""
    project = solver.project
    if type(cell) is not int:
        kind, scope, *at = cell
        own = project.scope(scope).parameters[at[0]].name if kind == "parameter" else NONE
        if at and kind != "parameter":
            return project.text(at[0]).lstrip("@")
        return "" if own == NONE else project.unit(scope).facts.names[own]
    op, *parts = project.expression(cell)
    if op == Op.CALL:
        op, *parts = project.expression(solver.child(cell, parts[0]))
    place = {Op.GET: 1, Op.BARE: 0}.get(op)
    return "" if place is None else project.unit(cell).facts.names[parts[place]]


class Having:
    """Which classes have a member that is asked for, themselves or from one above: their objects, or they alone."""

    def __init__(self, solver: Solver, telling: Set[int], asked: Set[int]) -> None:
        self._telling = telling
        self._classes = solver.classes
        self._owners = dict[tuple[int, str], set[int]]()
        for name, kind, scope in _members(solver, asked):
            self._owners.setdefault((name, kind), set()).add(scope)

    def has_all(self, of: Held, names: set[int]) -> bool:
        """Whether objects of a class, or it alone, have all of some members."""
        kind, scope = of
        order = self._classes.order(scope)
        return not any(self._owners.get((name, kind), NOBODY).isdisjoint(order) for name in names)

    def all_of(self, names: set[int]) -> Values:
        """What has all of some members, if enough of them tell anything; nothing where that may be too much."""
        for kind in (OBJECT, CLASS):
            if sum((name, kind) in self._owners for name in names & self._telling) >= MIN_ASKED:
                owners = min((self._owners.get((name, kind), NOBODY) for name in names), key=len)
                if values := self.outermost(self._with_all(kind, owners, names)):
                    return values
        return {}

    def _with_all(self, kind: str, owners: Set[int], names: set[int]) -> list[Held]:
        """Those of some classes that have all of some members, and of the others those below them that have."""
        if len(owners) > MAX_ALIKE:
            return []
        lacking = [at for at in owners if not self.has_all((kind, at), names)]
        found = set(owners).union(*map(self._classes.below, lacking))
        if len(found) > MAX_ALIKE:
            return []
        return [(kind, at) for at in sorted(found) if self.has_all((kind, at), names)]

    def outermost(self, found: list[Held]) -> Values:
        """Objects of those of some classes of which none is below another of them; nothing where these are many."""
        pairs = set(found)
        tops = [
            (kind, at)
            for kind, at in found
            if not any(up != at and (kind, up) in pairs for up in self._classes.order(at))
        ]
        return {(kind, at, True): Reason.ASKED for kind, at in tops} if len(tops) <= MAX_HAVING else {}


def _members(solver: Solver, asked: Set[int]) -> Iterator[tuple[int, str, int]]:
    """Yield those names of members that are asked, whether objects of a class have them or it alone, and the class."""
    project = solver.project
    for scope in _class_scopes(solver):
        table = project.table(scope)
        for name in table.keys() & asked:
            for function in {project.defined(binding)[1] for binding in table[name]}:
                is_own = function >= 0 and project.scope(function).flags & Flag.STATIC
                yield name, CLASS if is_own else OBJECT, scope
    for cell in solver.sources:
        if cell[0] == "field" and cell[2] in asked and project.scope(cell[1]).kind in CLASSES:
            yield cell[2], OBJECT, cell[1]


def _class_scopes(solver: Solver) -> dict[int, None]:
    """The classes and modules of all files that are asked, each once wherever it goes on."""
    return {
        solver.classes.whole(unit.base | at): None
        for unit in solver.project.units
        if unit.dialect.by_members
        for at, row in enumerate(unit.facts.scopes)
        if row.kind in CLASSES
    }
