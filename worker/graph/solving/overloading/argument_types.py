"""How well an argument fits the type of a parameter."""

from fledgling.worker.dialect import Dialect
from fledgling.worker.graph.reasons import CERTAIN, Reason
from fledgling.worker.graph.solving.applied_outside import is_of
from fledgling.worker.graph.solving.overloading.arrays import (
    array_type,
    arrays_of,
    fits_array,
    into_array,
    is_bare_list,
    takes_whole,
)
from fledgling.worker.graph.solving.overloading.function_types import counts_of, of_function_type
from fledgling.worker.graph.solving.overloading.library_types import (
    ANYTHING,
    ARRAY,
    BOXED,
    LITERAL,
    NO,
    PERHAPS,
    WIDER,
    YES,
    arity_of,
    arity_outside,
    by_base,
    container_type,
    of_library,
    widens_to,
)
from fledgling.worker.graph.solving.overloading.pointing import points
from fledgling.worker.graph.solving.overloading.wanted import POINTER, POINTING, TO_ANY, Wanted, wanted_of
from fledgling.worker.graph.solving.overrides import of_one_type
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import CHARACTER, NONE, NULL, Flag, Op, Parameter
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import CLASS, CONSTANT, CONTAINER, EXTERNAL, FUNCTION, OBJECT, Cell, Value, Values
from fledgling.worker.library import ROOT

ABOVE_PLAIN = ("Number", "ValueType", "Constable", "ConstantDesc")  # and the interfaces of C#: IComparable
UNWRAPPED = ("Value", "GetValueOrDefault()")  # what gives the value of a type that has null as well: `int?`
MAX_CONVERTING = 16  # constructors of a class that are asked whether they take an argument; with more, one may
LONG = (EXTERNAL, "builtins.long#")


def is_declared(solver: Solver, function: int, cell: Cell) -> bool:
    """Whether the type of an argument is declared, and not only inferred."""
    selects = solver.project.unit(function).dialect.selects
    return not selects or any(sure >= CERTAIN for sure in solver.value(cell).values())


def must_be_small(solver: Solver, function: int, parameter: Parameter, cell: Cell) -> bool:
    """Whether an argument is a number that is written out and taken only if it is small: `f(short a)`, `f(1)` in C#.

    A `ulong` takes a `long` that is written out and not below zero.
    """
    dialect, values = solver.project.unit(function).dialect, solver.value(cell)
    if dialect.selects != "nearest" or parameter.type == NONE or not values:
        return False
    is_long = all(value[:2] == LONG for value in values) and _is_written_out(solver, cell)
    if not is_long and any(value[:2] != (CONSTANT, "number") for value in values):
        return False
    name, _ = wanted_of(solver, solver.child(function, parameter.type))
    name = name.removesuffix("?")
    if is_long:
        return name == "ulong"
    return name in dialect.numbers and name != "int" and not widens_to(dialect, "int", name)


def _is_written_out(solver: Solver, cell: Cell) -> bool:
    """Whether an argument is a number that says its type, `5L`, or a cast of one, `(long)5`."""
    op, *parts = solver.project.expression(cell) if type(cell) is int else (Op.UNKNOWN,)
    return op == Op.CAST and solver.op(solver.child(cell, parts[1])) in (Op.MADE, Op.NUMBER)


def takes_all(solver: Solver, function: int, parameter: Parameter) -> bool:
    """Whether a parameter takes whatever there is: an `object` of C#."""
    if parameter.type == NONE or parameter.by_reference or solver.project.unit(function).dialect.selects != "nearest":
        return False
    return wanted_of(solver, solver.child(function, parameter.type)) == ("object", [])


def fits(solver: Solver, function: int, parameter: Parameter, cell: Cell, *, is_spread: bool) -> int:
    """How well one argument fits a parameter: what is declared of it, else all that it may be."""
    how = _fits_plainly(solver, function, parameter, cell, is_spread=is_spread)
    if not solver.project.unit(function).dialect.converts:
        return how
    if how != NO:
        return _as_it_points(solver, function, parameter, cell, how)
    return _converted(solver, wanted_of(solver, solver.child(function, parameter.type))[1], cell)


def _fits_plainly(solver: Solver, function: int, parameter: Parameter, cell: Cell, *, is_spread: bool) -> int:
    """How well an argument fits as it is: no object of the parameter's class is made of it."""
    dialect = solver.project.unit(function).dialect
    is_referred = dialect.selects == "nearest" and type(cell) is int and solver.op(cell) == Op.ADDRESSED
    if dialect.selects == "nearest" and is_referred != parameter.by_reference:
        return NO
    if is_spread and dialect.spreads_arrays and not parameter.rest:
        return NO
    if parameter.type == NONE:
        return PERHAPS
    if dialect.library and (how := _of_written(solver, function, parameter, cell)):
        return how
    if dialect.converts and type(cell) is int and solver.op(cell) == Op.MADE:
        wanted = wanted_of(solver, solver.child(function, parameter.type))
        if solver.project.expression(cell) == (Op.MADE, CHARACTER):
            return _of_character(dialect, *wanted)
        if solver.project.expression(cell) == (Op.MADE, NULL) and wanted[0] in dialect.numbers:
            return NO
    return _of_values(solver, function, parameter, cell, is_spread=is_spread) if solver.value(cell) else PERHAPS


def _as_it_points(solver: Solver, function: int, parameter: Parameter, cell: Cell, how: int) -> int:
    """How well an argument of C++ fits that is declared to be a number or text, or else to point to one, `char *`."""
    dialect, values = solver.project.unit(function).dialect, solver.value(cell)
    name, objects = ("", []) if parameter.type == NONE else wanted_of(solver, solver.child(function, parameter.type))
    if objects or not (name in dialect.numbers or name[-1:] == "*") or any(value[0] != EXTERNAL for value in values):
        return how
    is_pointing = points(solver, cell)
    if is_pointing is None:
        return min(how, PERHAPS) if name == POINTER else how
    if is_pointing == (name[-1:] == "*"):
        return how
    return BOXED if is_pointing and name == "bool" else NO


def _converted(solver: Solver, objects: list[Value], cell: Cell) -> int:
    """How well a constructor makes an object of one of some classes of an argument, to be passed in its place."""
    best = NO
    for of in objects:
        makers = solver.project.unit(of[1]).dialect.constructors[:1]  # a header that is read as C has none
        bindings = [at for own in makers for at in solver.project.table(of[1]).get(solver.project.number(own), ())]
        best = max(best, PERHAPS if len(bindings) > MAX_CONVERTING else NO)
        for binding in bindings[:MAX_CONVERTING]:
            function = solver.project.defined(binding)[1]
            row = solver.project.scope(function) if function >= 0 else None
            if row is None or row.flags & Flag.ASKED_FOR or not row.parameters:
                continue
            if all(each.default != NONE or each.rest for each in row.parameters[1:]):
                how = _fits_plainly(solver, function, row.parameters[0], cell, is_spread=False)
                said = BOXED if not row.flags & Flag.EXTENSION else PERHAPS  # its declaration may say `explicit`
                best = max(best, min(how, said))
    return best


def _of_template(solver: Solver, values: Values, *, is_pointer: bool) -> int:
    """How well a parameter of any type takes what is known: as it is, but not what has no type, `{1, 2}`.

    One that `is_pointer`, `T *`, takes no number; a text points, and an object is not told from what points to it.
    """
    if all(is_bare_list(solver, value) for value in values):
        return NO
    if is_pointer and all(value[:2] == (CONSTANT, "number") for value in values):
        return NO
    if is_pointer and any(value[:2] != (CONSTANT, "text") for value in values):
        return PERHAPS
    is_known = all(
        value[0] in (OBJECT, CONSTANT) or (value[0] == EXTERNAL and value[1][-1:] == "#") for value in values
    )
    return WIDER if is_known else PERHAPS


def _of_character(dialect: Dialect, name: str, objects: list[Value]) -> int:
    """How well a character that is written out, `'a'`, fits a type."""
    if objects or name[-1:] == "*" or name in dialect.texts or name in dialect.only_declared:
        return NO
    return YES if name == "char" else WIDER


def _of_values(solver: Solver, function: int, parameter: Parameter, cell: Cell, *, is_spread: bool) -> int:
    """How well what an argument may be fits the type of a parameter."""
    values, dialect = made_outside(solver, cell) or solver.value(cell), solver.project.unit(function).dialect
    if dialect.selects == "nearest" and must_be_small(solver, function, parameter, cell):
        return NO if parameter.by_reference else WIDER
    wanted = wanted_of(solver, solver.child(function, parameter.type))
    if dialect.converts and _is_either_as_well(solver, solver.child(function, parameter.type), values):
        return YES
    if dialect.converts and wanted in (("", []), (POINTING, [])):
        return _of_template(solver, values, is_pointer=wanted[0] == POINTING)
    if how := of_function_type(solver, solver.child(function, parameter.type), values):
        return how
    if wanted[0] in dialect.invariant and (how := _of_applied(solver, function, parameter, values)):
        return how
    if dialect.library and (full := container_type(solver, cell)) and not wanted[1]:
        return _of_container(dialect, full, wanted[0], is_rest=bool(parameter.rest))
    may_be_whole = parameter.rest and (is_spread or not dialect.spreads_arrays)
    if may_be_whole and any(value[0] == CONTAINER or array_type(solver, value) for value in values):
        is_whole = takes_whole(solver, function, parameter, cell)
        is_other = arrays_of(solver, values) and all(_fits(solver, dialect, value, wanted) == NO for value in values)
        return YES if is_whole == YES else NO if is_other and is_whole == NO else PERHAPS
    declared = _declared_of(values) if dialect.selects or dialect.converts else []
    if len(values) > 1 and dialect.selects and any(array_type(solver, value) for value in values):
        declared = [value for value in declared if not is_bare_list(solver, value)]
    each = [_fits(solver, dialect, value, wanted) for value in (declared if len(values) > 1 else ()) or values]
    how = min(each) if dialect.selects else max(each)
    return NO if parameter.by_reference and dialect.selects == "nearest" and PERHAPS < how < YES else how


def _is_either_as_well(solver: Solver, type_: int, values: Values) -> bool:
    """Whether a type stands for the very types that an argument may be of: one each under a condition and without."""
    return len(values) > 1 and values.keys() == solver.value(("type", type_, None)).keys()


def made_outside(solver: Solver, cell: Cell) -> Values:
    """The very type of a container that is made in an argument, or before it: `new List<A>()`; empty of another."""
    at = solver.project.meant(cell)[0] if type(cell) is int else cell
    if type(at) is not int:
        return {}
    op, *parts = solver.project.expression(at)
    if op == Op.DECLARED and parts[1] != NONE and not solver.value(("type", solver.child(at, parts[0]), None)):
        at = solver.child(at, parts[1])  # `var a = new List<A>()`
        op, *parts = solver.project.expression(at)
    if op != Op.NEW or not any(value[0] == CONTAINER for value in solver.value(at)):
        return {}
    classes = [pair for pair in solver.value(solver.child(at, parts[0])).items() if pair[0][0] == EXTERNAL]
    return {(EXTERNAL, value[1].removesuffix("#") + "#"): sure for value, sure in classes}


def _of_applied(solver: Solver, function: int, parameter: Parameter, values: Values) -> int:
    """How well what is of a type outside that is applied to others fits that type; 0 where it may be of another one."""
    type_ = solver.child(function, parameter.type)
    own = [value[2] for value in values if is_of(value, wanted_of(solver, type_)[0])]
    if not own or len(own) < len(values):
        return 0
    return (NO, PERHAPS, YES)[min(of_one_type(solver, each, type_) for each in own)]


def _declared_of(values: Values) -> list[Value]:
    """What is declared of an argument, of all that it may be: else what is not just put in the place of that."""
    certain = [value for value, sure in values.items() if sure >= CERTAIN]
    return certain or [value for value, sure in values.items() if sure != Reason.MAY_BE_PUT_OVER]


def _of_container(dialect: Dialect, full: str, name: str, *, is_rest: bool) -> int:
    """How well a container of a type outside fits another type: `List<A>` is a `Collection`, and no `Stream`."""
    if name.endswith(ARRAY):
        return NO
    how = _of_external(dialect, full + "#", name, is_own=False)
    return PERHAPS if is_rest and how == BOXED else how


def _of_written(solver: Solver, function: int, parameter: Parameter, cell: Cell) -> int:
    """How well `null` or a function that is written out, `a -> b` or `A::b`, fits a type; 0 where that is not known."""
    expression = solver.project.expression(cell) if type(cell) is int else (Op.UNKNOWN,)
    if expression[0] not in (Op.MADE, Op.FUNCTION, Op.ALIAS):
        return 0
    type_ = solver.child(function, parameter.type)
    name, objects = wanted_of(solver, type_)
    dialect = solver.project.unit(function).dialect
    if expression[0] == Op.MADE:
        return NO if expression[1:] == (NULL,) and name in dialect.boxes else 0
    if name.endswith(ARRAY) or dialect.is_plain(name):
        return NO
    scope = (cell & ~MASK) | expression[1] if expression[0] == Op.FUNCTION else NONE
    counts = () if scope == NONE else counts_of(solver, scope)
    arity = arity_of(solver, objects[0][1]) if objects else arity_outside(solver, type_, name)
    if arity is None:
        return 0
    return NO if arity < 0 or (counts and arity not in counts) else WIDER


def _fits(solver: Solver, dialect: Dialect, value: Value, type_: Wanted) -> int:
    """How well a value fits a type."""
    name, wanted = type_
    if dialect.selects and (own := array_type(solver, value)):
        return fits_array(solver, dialect, own, type_)
    if name.endswith(ARRAY):
        return into_array(solver, value)
    if value[0] == OBJECT:
        return _of_object(solver, dialect, value, type_)
    if value[0] == CONSTANT:
        return _of_constant(dialect, value, name, is_own=bool(wanted))
    if value[0] == EXTERNAL:
        return _of_external(dialect, value[1], name, is_own=bool(wanted))
    is_plain = name in dialect.texts or name in dialect.numbers
    if dialect.declared and is_bare_list(solver, value):  # what it makes is of the type that is asked for
        return PERHAPS
    if value[0] in (CONTAINER, CLASS):
        is_other = wanted and value[0] == CONTAINER  # a class may stand for its companion object
        return NO if is_other or is_plain else PERHAPS
    return NO if value[0] == FUNCTION and is_plain else PERHAPS


def _of_object(solver: Solver, dialect: Dialect, value: Value, type_: Wanted) -> int:
    """How well an object of the project fits a type."""
    name, wanted = type_
    order = solver.classes.order(value[1])
    if wanted:
        place = min((order.index(at[1]) for at in wanted if at[1] in order), default=NO)
        return NO if place == NO else max(YES - place, 2)
    if name == ROOT and dialect.library:
        return BOXED
    is_outside = value[1] in solver.classes.has_external_base
    if dialect.converts and name[-1:] != "*" and not dialect.is_plain(name):
        return PERHAPS
    return PERHAPS if name in ANYTHING else by_base(solver, value[1], name) if is_outside else NO


def _of_constant(dialect: Dialect, value: Value, name: str, *, is_own: bool) -> int:
    """How well a number or text that is written out fits a type of a name."""
    if dialect.converts and value[1:] == ("number", 0) and (is_own or name[-1:] == "*"):
        return PERHAPS  # no object, where that is a pointer
    known = dialect.numbers if value[1] == "number" else dialect.texts
    if name == POINTER and value[1] == "text":
        return LITERAL
    if name == TO_ANY and value[1] == "text":
        return PERHAPS
    if name in dialect.only_declared:
        return NO
    is_number = value[1] == "number" and dialect.declared and name[-1:] != "*"
    is_other = is_number and not is_own and not dialect.is_plain(name)  # size_t
    may_convert = dialect.converts and not (is_own or name[-1:] == "*" or dialect.is_plain(name))  # `string_view`
    otherwise = WIDER if is_other else PERHAPS if may_convert or (not is_own and _is_above_plain(name)) else NO
    return known.get(name, min(known.get(name.removesuffix("?"), otherwise), WIDER))


def _is_above_plain(name: str) -> bool:
    """Whether a type of that name may take a number or a text: a class or an interface that those have above them."""
    return name in ANYTHING or name in ABOVE_PLAIN or (name[:1] == "I" and name[1:2].isupper())


def _of_external(dialect: Dialect, full: str, name: str, *, is_own: bool) -> int:
    """How well an object of a type outside the project, `a.B#`, fits what is declared to be of a type of that name."""
    before, _, behind = full.partition("?#.")
    full = before + "#" if behind in UNWRAPPED else full
    library = dialect.library
    if library is not None and not full.endswith("#") and (given := library.gives(full)):
        full = given + "#"  # a constant: `StandardCharsets.UTF_8`
    if not full.endswith("#"):
        return NO if name in dialect.only_declared else PERHAPS
    last = full[:-1].rpartition(".")[2]
    last = dialect.type_aliases.get(last, last)
    is_either = (
        dialect.declared and last == "char" and not is_own and (name in dialect.numbers or name in dialect.texts)
    )
    if name == TO_ANY or (is_either and name != last):
        return PERHAPS  # `char` and `char *` are not told apart
    is_pointer, name = name[-1:] == "*", name.removesuffix("*")
    if last == name:
        return YES
    if is_pointer and dialect.is_plain(last):
        return NO
    if library is not None and (last in dialect.boxes or library.known(full[:-1])):
        return of_library(dialect, library, last, name, is_own=is_own)
    is_number = dialect.converts and not is_own and last not in dialect.texts and name not in dialect.texts
    if (name in ANYTHING and not is_own) or (is_number and dialect.is_plain(last) != dialect.is_plain(name)):
        return PERHAPS  # `uint32_t`, `size_type`
    return _of_named(dialect, last, name, is_own=is_own)


def _of_named(dialect: Dialect, last: str, name: str, *, is_own: bool) -> int:
    """The same by the last names of both types, which are not the same."""
    if last in dialect.texts and name in dialect.texts:
        return dialect.texts[name]
    if widens_to(dialect, last, name):
        return WIDER
    if dialect.boxes.get(last) == name or (dialect.converts and last in dialect.numbers and name in dialect.numbers):
        return BOXED
    unboxed = next((plain for plain, box in dialect.boxes.items() if box == last), "")
    if unboxed and (unboxed == name or name in dialect.widens.get(unboxed, ())):
        return PERHAPS
    is_above = name in ABOVE_PLAIN or dialect.texts.get(name, YES) < YES  # others are as well: a StringBuilder
    if not is_own and (_is_above_plain(name) if dialect.is_plain(last) else is_above):
        return PERHAPS
    return NO if is_own or dialect.is_plain(last) or dialect.is_plain(name) else PERHAPS
