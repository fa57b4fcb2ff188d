"""Where names are computed as a program runs that no row tells: `globals()[a]()`, `eval(a)`, `a[b]()` of any a."""

from collections.abc import Iterator

import numpy as np

from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import CLASSES, MADE, NAME, NONE, Expression, Op, Site, Use, site_columns
from fledgling.worker.graph.unit import MASK, SHIFT, Unit
from fledgling.worker.graph.values import (
    BOUND,
    CLASS,
    CONSTANT,
    CONTAINER,
    EXTERNAL,
    FILLED,
    FUNCTION,
    MODULE,
    OBJECT,
    SUPER,
    Values,
)

ANY = NONE  # a name is computed that may be of anything
SEEN = (OBJECT, CLASS, SUPER, CONTAINER, MODULE, EXTERNAL)
OF_PROJECT = (FUNCTION, BOUND, CLASS)
ON_FUNCTIONS = ("apply", "bind", "call")


class Computed:
    """Asks the cells of a solver that has run."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver

    def places(self, unit: Unit) -> Iterator[tuple[int, int]]:
        """Yield lines of a file, and the class or module of which a name is computed there, or ANY."""
        dialect = unit.dialect
        if not dialect.computing:
            return
        sigil = dialect.sigil if dialect.texts_name_classes else ""
        others = ON_FUNCTIONS if dialect.keyed_members else ()
        wanted = (
            not name or name in dialect.computing or name in others or bool(sigil and name.startswith(sigil))
            for name in unit.facts.names
        )
        sites = site_columns(unit.facts)
        for row in sites.T[np.fromiter(wanted, np.bool_, len(unit.facts.names))[sites[NAME]]].tolist():
            site = Site(*row)
            if site.at > 1 and site.use in (Use.CALL, Use.READ):
                for of in self._computed_at(unit, site):
                    yield site.line, of

    def _computed_at(self, unit: Unit, site: Site) -> Iterator[int]:
        expression = unit.expressions[site.at]
        how = unit.dialect.computing.get(unit.facts.names[site.name], "")
        if expression[0] not in (Op.CALL, Op.NEW):
            if how == "dictionary" and expression[0] == Op.GET:
                yield from self._names_of(unit, expression[1])
            elif how == "listed" and expression[0] == Op.GET and self._reflects(unit, expression[1], surely=True):
                yield ANY
            return
        if not how:
            yield from self._by_value(unit, expression[1])
            return
        if any(value[0] in OF_PROJECT for value in self._value(unit, expression[1])):
            return  # a function of the project that has the name
        arguments = [part for part in expression[2] if part >= 0 and unit.expressions[part][0] != Op.FUNCTION]
        if how == "names" and not arguments:
            yield unit.base
        elif how in ("listed", "reflected"):
            yield from self._by_reflection(unit, how, unit.expressions[expression[1]], arguments)
        elif arguments:
            yield from self._by_function(unit, how, unit.expressions[expression[1]], arguments)

    def _by_function(self, unit: Unit, how: str, callee: Expression, arguments: list[int]) -> Iterator[int]:
        """Of a call of a function of the language, `getattr(a, b)`."""
        first = arguments[0]
        if how == "text":
            yield ANY
        elif how == "names":
            yield from self._names_of(unit, first)
        elif how == "all":
            held = self._value(unit, first)
            yield from self._scopes(held, (OBJECT, CLASS, MODULE)) if held else [ANY]
        elif how == "member" and len(arguments) > 1:
            yield from self._member(unit, first, arguments[1])
        elif how == "own" and callee[0] == Op.GET:
            yield from self._member(unit, callee[1], first, is_called=True)
        elif how == "named":
            yield from self._named(unit, first)

    def _by_reflection(self, unit: Unit, how: str, callee: Expression, arguments: list[int]) -> Iterator[int]:
        """`a.getMethods()`, where a is a class; `a.getMethod(b)` where it may be one, and nothing is known of b."""
        of = callee[1] if callee[0] == Op.GET else NONE
        if how == "listed":
            is_asked = of == NONE or self._reflects(unit, of, surely=True)
        else:
            is_known = not arguments or self._says(unit, arguments[0])
            is_asked = not is_known and (of == NONE or self._reflects(unit, of, surely=False))
        if is_asked:
            yield ANY

    def _reflects(self, unit: Unit, of: int, *, surely: bool) -> bool:
        """Whether something is, or may be, what knows the members of a class: a `Class`."""
        held = [value[1] for value in self._value(unit, of) if value[0] == EXTERNAL]
        names = [each.removesuffix("#").rpartition(".")[2] for each in held if each.endswith("#")]
        if any(name in unit.dialect.reflecting for name in names):
            return True
        if surely and unit.dialect.reflecting:
            return False
        return len(names) < len(held) or not self._value(unit, of)

    def _says(self, unit: Unit, at: int) -> bool:
        """Whether an expression says which name or class it is: a text, `nameof(a)`, `typeof(A)`."""
        op, *parts = unit.expressions[at]
        if op == Op.CALL and unit.expressions[parts[0]][0] in (Op.BARE, Op.NAME):
            return unit.dialect.computing.get(unit.facts.names[unit.expressions[parts[0]][1]]) == "said"
        is_class = op == Op.CAST and parts[1] == MADE and unit.expressions[parts[0]][0] == Op.INDEX
        return is_class or self._is_known(self._value(unit, at))

    def _by_value(self, unit: Unit, callee: int) -> Iterator[int]:
        """Of a call without a name of its own: `a[b]()`, `a[b].call()`; of PHP `$a->$b()`, `$a()` and `new $a`."""
        op, *parts = unit.expressions[callee]
        if op == Op.GET and unit.facts.names[parts[1]] in ON_FUNCTIONS:
            op, *parts = unit.expressions[parts[0]]
        if op == Op.NAMED or (op == Op.INDEX and unit.dialect.keyed_members):
            yield from self._member(unit, parts[0], parts[1])
        elif op == Op.NAME and unit.dialect.texts_name_classes and not self._value(unit, callee):
            yield ANY

    def _named(self, unit: Unit, argument: int) -> Iterator[int]:
        """`call_user_func($a)`, `call_user_func([$a, $b])`, `methodcaller(a)`"""
        op, *parts = unit.expressions[argument]
        if op == Op.LIST and len(parts[0]) == 2:
            yield from self._member(unit, *parts[0], is_called=True)
        elif not self._value(unit, argument):
            yield ANY

    def _member(self, unit: Unit, of: int, name: int, *, is_called: bool = False) -> Iterator[int]:
        """By a name of which nothing is known. Of objects and classes it is noted where that is called, if not here."""
        if name <= 1 or self._is_known(self._value(unit, name)):
            return
        held = self._value(unit, of)
        yield from self._scopes(held, (OBJECT, CLASS, MODULE) if is_called else (MODULE,))
        if not held or any(self._may_be_any(unit, value) for value in held):
            yield ANY

    def _may_be_any(self, unit: Unit, value: tuple[object, ...]) -> bool:
        """Whether a value may have members that are not seen: what a function makes, or all that is global."""
        if value[0] == EXTERNAL:
            return unit.dialect.computing.get(str(value[1]).rpartition(".")[2]) == "global"
        is_made = value[0] == OBJECT and self._solver.project.scope(int(str(value[1]))).kind not in CLASSES
        return value[0] not in SEEN or is_made

    def _is_known(self, names: Values) -> bool:
        """Whether some of a name is known, which made_names.py looks at, or that it is a number."""
        return any(value[0] in (CONSTANT, FILLED) for value in names)

    def _names_of(self, unit: Unit, of: int) -> Iterator[int]:
        """`vars(a)`, `a.__dict__`: of a class or module; an object has its fields there."""
        held = self._value(unit, of)
        yield from self._scopes(held, (CLASS, MODULE))
        if not held and unit.expressions[of][0] in (Op.CALL, Op.INDEX):  # sys.modules[a]
            yield ANY

    def _scopes(self, held: Values, kinds: tuple[str, ...]) -> Iterator[int]:
        for value in held:
            if value[0] in kinds:
                yield value[1] << SHIFT if value[0] == MODULE else value[1]

    def _value(self, unit: Unit, at: int) -> Values:
        return self._solver.value(unit.base | at)


def is_module(scope: int) -> bool:
    """Whether the scope of which a name is computed is that of a module, and not of a class."""
    return scope != ANY and not scope & MASK
