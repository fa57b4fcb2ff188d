"""What an expression may stand for: values, and where they are held.

A value is a tuple: its kind, and what it is of. With each goes a Reason (reasons.py): the weakest link on its way here.
"""

from typing import Any

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.library import UNIMPORTED

Value = tuple[Any, ...]
Values = dict[Value, int]
Cell = Any  # int: an expression; tuple: what several places write
Place = tuple[Cell, int, int | None]  # a cell, how sure it is meant, and the class whose member it is

MANY: Value = ("many",)
UNKNOWN: Value = ("unknown",)  # beside what is known: it may be anything else as well
FUNCTION, BOUND, CLASS, OBJECT, MODULE, EXTERNAL, CONTAINER, GENERATOR, CONSTANT, GIVEN, SUPER, METHOD_OF, SPACE = (
    "function", "bound", "class", "object", "module", "external", "container", "generator", "constant", "given",
    "super", "method of", "space",
)  # fmt: skip
NAMESPACE = "namespace"  # what a container is of whose keys are members: `SimpleNamespace(a=b)`
CONSTANTS = "constants"  # what a container is of all constants of an enumeration
POINTING = "pointing"  # what an iterator is a container of: what it points to
FILLED = "filled"  # a text of which only the ends are known
MADE_MEMBERS = "made members"  # of a value, by a name of which the ends are known: more than a cell has values
SOME_MEMBER = "some member"  # of a class, by a name of which no more than an end is known
DESCRIPTOR = "descriptor"  # a function as a member that a call makes it: `property(f)`, by what the dialect calls that
SHARED = frozenset([OBJECT, CLASS, SUPER])  # what members are looked up of in several places
BUILTIN = UNIMPORTED  # stands before a name that the language itself gives


def capped(values: Values, reason: int) -> Values:
    """The values, none surer than a reason allows."""
    return {value: sure if sure < reason else reason for value, sure in values.items()}


def told(values: Values, reason: int = Reason.TOLD) -> Values:
    """What a comment says, or what is known beside that: nobody checks it, and what is outside need not be."""
    return capped({value: sure for value, sure in values.items() if value[0] != EXTERNAL}, reason)


def add(values: Values, more: Values, surest: int = Reason.BOUND) -> Values:
    """Take more values in, none surer than a reason allows; of two ways to one the surer counts."""
    if not values and surest >= Reason.BOUND:
        values.update(more)
        return values
    get = values.get
    for value, sure in more.items():
        if sure > surest:
            sure = surest
        if get(value, 0) < sure:
            values[value] = sure
    return values
