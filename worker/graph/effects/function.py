"""One function while the effects of its file are read: what is found of it, and which object is its own."""

from typing import NamedTuple

from fledgling.worker.graph.effects.builtin_types import FileFacts
from fledgling.worker.graph.effects.surroundings import OWN
from fledgling.worker.graph.tables import NONE, Op, ScopeKind
from fledgling.worker.graph.unit import Target


class Effect(NamedTuple):
    """A line and what happens there: `Effect(326, "writes self._renderable")`."""

    line: int
    what: str


class Function:
    """One function: its own effects, what it does that is not seen, what it logs, and whom it calls."""

    def __init__(self) -> None:
        self.impure: list[Effect] = []
        self.unseen: list[Effect] = []
        self.logged: list[Effect] = []
        self.calls: dict[Target, int] = {}  # the line of the first call
        self.may_call: dict[Target, int] = {}
        self.unseen_kinds: dict[str, int] = {}  # what may run methods unseen, by known.UNSEEN, and the first line
        self.calls_outside = 0


def add(effects: list[Effect], line: int, what: str) -> None:
    """Add an effect, unless one is known already: the first is evidence enough."""
    if not effects:
        effects.append(Effect(line, what))


def is_own(file: FileFacts, scope: int, of: int) -> bool:
    """Whether an expression is the object that a constructor makes: its first parameter, never bound anew."""
    facts = file.facts
    row = facts.scopes[scope]
    if file.name(row.name) not in OWN or facts.scopes[row.parent].kind != ScopeKind.CLASS:
        return False
    op, *parts = facts.expressions[of]
    if op != Op.NAME or parts[1] == NONE or file.function(parts[1]) != scope:
        return False
    values = file.values((op, *parts))
    return [facts.expressions[value] for value in values] == [(Op.PARAMETER, scope, 0)]
