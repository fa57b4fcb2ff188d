"""What every expression may stand for: sets of values that only grow, until nothing changes.

A cell is an expression by its number, or something that several places write: a field, a parameter, what a function
returns, the elements of a container. What reads a cell is read again when the cell grows.
"""

from collections import deque
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from fledgling.worker.graph.linking.classes import Classes
from fledgling.worker.graph.linking.global_names import GlobalNames
from fledgling.worker.graph.linking.modules import crates, from_root
from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.linking.spaces import Spaces
from fledgling.worker.graph.linking.stars import Stars
from fledgling.worker.graph.linking.taken_classes import TakenClasses
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.budget import GraphBudget
from fledgling.worker.graph.tables import Expression
from fledgling.worker.graph.telling import Tell
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import EXTERNAL, MANY, NAMESPACE, Cell, Value, Values, add

MAX_VALUES = 64  # in one cell; one with more is "many": it says so instead of dropping some
MAX_KEYS = 256  # of an object of JavaScript that are told apart; what it has more of may be behind any key
MAX_OUTSIDE = 8  # of those, from outside the project: where so many are known, more say nothing new
MAX_READS = 24  # evaluations of one cell; values come from ever further away, and so do those that matter less
JOINED_ONCE = 8  # keys of a container: with as many, what is behind all of them is joined once for all who ask
TELL_EVERY = 2_000  # evaluations: some hundredths of a second
MAX_NESTED = 60  # cells evaluated within each other; deeper ones wait for their turn
NOTHING: Values = {}  # of a cell; what cells hold is never changed, but exchanged


class Solver:
    """The cells of a project."""

    def __init__(self, project: GraphProject, budget: GraphBudget, tell: Tell) -> None:
        """Prepare to solve a project; `tell` hears again and again while cells are evaluated."""
        self.project = project
        self.budget = budget
        self.heard = tell
        self.done = 0  # files that are read
        self.cells: dict[Cell, Values] = {}
        self.sources: dict[Cell, dict[Cell, int]] = {}  # what a cell takes its values from, at most so sure
        self.members: dict[tuple[Value, int], tuple[list[Any], list[Cell], int]] = {}  # what classes say of them
        self.taking: dict[int, dict[str, list[int]]] = {}  # what scopes take all names of, by the last name of each
        self.seen_spaces: dict[int, set[str]] = {}  # the namespaces that a file sees (taken_names.py)
        self.bringing: dict[tuple[int, int], list[int]] = {}  # the imports of all names that may bring one into a file
        self.generated: dict[int, dict[str, tuple[int, int]]] = {}  # the fields that a constructor takes (generated.py)
        self.keys: dict[Value, dict[Any, None]] = {}  # those that are known of a container
        self.array_methods: dict[int, int] = {}  # that a call runs, one within the other (container_methods.py)
        self.names_in_generic: set[int] | None = None  # of all members of classes with type parameters
        self.alike: dict[tuple[Any, ...], int] = {}  # the first types of those that say the same (type_arguments.py)
        self.names_of_parameters: set[int] | None = None  # the type parameters of all classes
        # Of classes, by those above: what these are applied to, and by which class.
        self.applied_bases: dict[int, dict[int, tuple[int, int]]] = {}
        self.generic_fields: dict[tuple[int, int], int] = {}  # of classes, by their names: their types
        self.type_parameters: dict[int, list[int]] = {}  # of classes, by their names, in order (type_arguments.py)
        self.handed: dict[int, Values] = {}  # what a call outside the project calls in its turn: map(f, a)
        # Calls by names that are made: their ends, and a class or -1.
        self.made_names: dict[int, set[tuple[str, str, int]]] = {}
        self.made_members: dict[Any, dict[int, int]] = {}  # functions, by what MADE_MEMBERS says
        self.names_asked = 0  # look-ups of such names
        self.bound_arguments: dict[int, list[tuple[Cell, bool]]] = {}  # of `a.bind(b, c)`: c, with whether it is spread
        self.functions: dict[tuple[int, int], list[int]] = {}  # of a name in a class (class_members.py)
        self.inherited: dict[tuple[int, int], tuple[list[int], bool]] = {}  # functions above a class (inherited.py)
        self.shapes: dict[int, tuple[Any, ...]] = {}  # what functions take, as far as that tells them apart
        self.parameter_types: dict[int, tuple[Any, ...]] = {}  # of functions, to compare them (overrides.py)
        self.sameness: dict[tuple[int, tuple[int, ...]], int] = {}  # of functions and those above (overloads.py)
        self.named_parameters: dict[int, set[str]] = {}  # of functions: what arguments may name (named_arguments.py)
        self.written_as: dict[int, Values] = {}  # objects that are written out, and the types said where they are
        self.in_order: dict[int, list[int]] = {}  # classes of C, and the names of their fields
        self.single_methods: dict[int, int | None] = {}  # of interfaces, the only ones without a body
        self.expected: dict[Cell, dict[Cell, None]] = {}  # the types that say what parameters get that say none
        self.changing: set[int] = set()  # classes whose objects become those of another: `a.__class__ = B`
        self.put_outside: set[int] = set()  # the names of what is put into something outside: `window.a = b`
        self.pending: set[Cell] = set()  # those that wait for what may be known later: what a decorator returns
        self.decorated_unseen: set[int] = set()  # definitions of which decorators of the project make nobody knows what
        self.wanted: dict[int, tuple[Values, tuple[str, list[Value]]]] = {}  # types of parameters (argument_types.py)
        self.chosen: dict[int, tuple[Values, Values]] = {}  # what calls might run when they were evaluated, and do
        self.bare: dict[int, list[tuple[Cell, int, Value | None]]] = {}  # what names mean (lookup.py), asked when over
        self.is_over = False  # nothing changes any more, but for what `forget` forgets
        self.stays = False  # whether what is guessed stays in the function that it is guessed in
        self.is_settled = False  # whether decorators that still say nothing are taken to return what they got
        self.evaluations = 0
        self.is_cut = False
        self.operations: Mapping[Any, Callable[[Solver, int, Expression], Values]] = {}
        self.rules: Mapping[str, Callable[[Solver, Cell], Values]] = {}
        self.invoke: Callable[..., Values] = lambda *_: {}  # calls.invoked, which stands on what asks for it
        self.stars = Stars(project)
        self.spaces = Spaces(project)
        self.fixtures = project.vocabulary.fixtures
        self.global_names = GlobalNames(project)
        self.crates = crates(project)
        self.from_root = from_root(project)
        self.classes = Classes(project, self.spaces, self.value)
        self.taken_classes = TakenClasses(project, self.classes)
        self._readers: dict[Cell, Cell | dict[Cell, None]] = {}  # the only one, as most are, or all
        self._reads: dict[Cell, int] = {}  # evaluations after the first
        self._singles: dict[tuple[Value, int], Values] = {}
        self._elements: dict[Value, Values] = {}  # of containers with many keys: what is behind all of these
        self._asking: dict[Value, set[Cell]] = {}  # who has asked for that, and is told of each
        self._given_keys: dict[Any, dict[Value, int]] = {}  # how many keys of which containers who asks was given
        self._changes: dict[Value, int] = {}  # how often that has changed
        self._queue: deque[Cell] = deque()
        self._queued: set[Cell] = set()
        self._running: list[Cell] = []
        self._changed: list[tuple[dict[Any, Any], Any, Any]] = []  # since all is over: where, the key, what was there

    def forget(self) -> None:
        """Forget what was worked out since all was over: so what one file asks of that tells nothing to the next."""
        for held, key, before in reversed(self._changed):
            if before is None:
                held.pop(key, None)
            else:
                held[key] = before
        self._changed.clear()
        self.bare.clear()

    def _note(self, held: dict[Any, Any], key: Any) -> None:
        """Note what is behind a key, which is to change, though all is over."""
        self._changed.append((held, key, held.get(key)))

    def begin_anew(self) -> None:
        """Forget what cells hold: they were asked before all base classes were known."""
        self.cells.clear()
        self.chosen.clear()
        self._readers.clear()
        self._elements.clear()
        self._asking.clear()

    def value(self, cell: Cell) -> Values:
        """What a cell holds now; whoever asks is told when that grows."""
        found = self.cells.get(cell)
        if found is None and type(cell) is int:
            cell, constant = self.project.meant(cell)
            if constant is not None:
                operation = self.operations.get(constant[0])
                return operation(self, cell, constant) if operation else {}
            found = self.cells.get(cell)
        if found is None:
            if self.is_over:
                self._note(self.cells, cell)
            self.cells[cell] = NOTHING
            if len(self._running) > MAX_NESTED:
                self.enqueue(cell)
            else:
                self._evaluate(cell)
            found = self.cells[cell]
        if self._running:
            self._read(cell, self._running[-1])
        return found

    def _read(self, cell: Cell, reader: Cell) -> None:
        """Note that one cell has read another."""
        known = self._readers.get(cell)
        if known is None:
            self._readers[cell] = reader
        elif type(known) is dict:
            known[reader] = None
        elif known != reader:
            self._readers[cell] = {known: None, reader: None}

    def _tell(self, cell: Cell) -> None:
        """Have what has read a cell evaluated again."""
        known = self._readers.get(cell)
        if type(known) is dict:
            for reader in known:
                self.enqueue(reader)
        elif known is not None:
            self.enqueue(known)

    def source(self, cell: Cell, of: Cell, sure: int) -> None:
        """Let a cell take what another one holds."""
        if self.is_over and cell not in self.sources:
            self._note(self.sources, cell)
        known = self.sources.setdefault(cell, {})
        if known.get(of, 0) < sure:
            if len(known) >= MAX_VALUES * 4:
                self.grow(cell, {MANY: Reason.FLOW})
                return
            if self.is_over:
                self._note(known, of)
            known[of] = sure
            if cell in self.cells:
                self.enqueue(cell)

    def key(self, container: Value, key: object, of: Cell, sure: int = Reason.BOUND) -> None:
        """Let an element of a container take what a cell holds."""
        if self.is_over and container not in self.keys:
            self._note(self.keys, container)
        known = self.keys.setdefault(container, {})
        if key not in known:
            if len(known) >= (MAX_KEYS if self.keyed_members(container) else MAX_VALUES):
                key = "*"
            if self.is_over and key not in known:
                self._note(known, key)
            known[key] = None
            self._asking.pop(container, None)
            self._forget_elements(container)
            self._tell(("keys", container))
        self.source(("element", container, key), of, sure)

    def has_key(self, container: Value, key: object) -> bool:
        """Whether a container that is an object written out has a member."""
        return self.may_have_key(container, key) and self.keyed_members(container)

    def keyed_members(self, container: Value) -> bool:
        """Whether the language takes what is behind a key as a member too: `a.b` is `a["b"]`."""
        node = container[1]
        if type(node) is tuple:
            return bool(node[0] == NAMESPACE)
        return type(node) is int and self.project.unit(node).dialect.keyed_members

    def known_keys(self, container: Value) -> list[Any]:
        """The keys of a container; whoever asks is told of new ones."""
        if self._running:
            self._read(("keys", container), self._running[-1])
        return list(self.keys.get(container, ()))

    def new_keys(self, container: Value, asking: Any) -> list[Any]:
        """The keys of a container that one who asks again and again was not given; it is told of further ones."""
        if self._running:
            self._read(("keys", container), self._running[-1])
        known, given = self.keys.get(container, {}), self._given_keys.setdefault(asking, {})
        first = given.get(container, 0)
        if self.is_over and first != len(known):
            self._note(given, container)
        given[container] = len(known)
        return list(islice(known, first, None))

    def may_have_key(self, container: Value, key: object) -> bool:
        """Whether a key of a container is known; whoever asks is told of new ones."""
        if self._running:
            self._read(("keys", container), self._running[-1])
        return key in self.keys.get(container, ())

    def elements(self, container: Value) -> Values:
        """What a container holds behind any key, joined once until that grows; whoever asks is told when it does."""
        if len(self.keys.get(container, ())) < JOINED_ONCE:
            return self._joined(container)
        asking = self._asking.setdefault(container, set())
        reader = self._running[-1] if self._running else None
        found = self._elements.get(container)
        if found is None:
            changes = self._changes.get(container)
            found = self._joined(container)
            if self._changes.get(container) == changes:
                if self.is_over:
                    self._note(self._elements, container)
                self._elements[container] = found
                asking.add(reader)
        elif reader not in asking:
            for key in self.known_keys(container):
                self.value(("element", container, key))
            asking.add(reader)
        return dict(found)

    def _joined(self, container: Value) -> Values:
        found: Values = {}
        for key in self.known_keys(container):
            add(found, self.value(("element", container, key)))
        return found

    def _forget_elements(self, container: Value) -> None:
        """Have what a container holds joined anew."""
        if self.is_over:
            self._note(self._elements, container)
        self._elements.pop(container, None)
        self._changes[container] = self._changes.get(container, 0) + 1

    def wait(self) -> None:
        """Have what is evaluated now evaluated again when nothing else changes."""
        self.pending.update(self._running[-1:])

    def enqueue(self, cell: Cell) -> None:
        """Have a cell evaluated again."""
        if self.stays and type(cell) is not int and cell[0] != "name":
            return
        if cell not in self._queued:
            self._queued.add(cell)
            self._queue.append(cell)

    def run(self) -> None:
        """Evaluate until nothing changes."""
        while self._queue or not self.is_settled:
            if not self._queue:
                self.is_settled = True
                for cell in sorted(self.pending, key=str):
                    self.enqueue(cell)
                continue
            cell = self._queue.popleft()
            self._queued.discard(cell)
            reads = self._reads.get(cell, 0)
            if reads < MAX_READS:
                self._reads[cell] = reads + 1
                self._evaluate(cell)

    def _evaluate(self, cell: Cell) -> None:
        if self.evaluations >= self.budget.evaluations:
            self.is_cut = True
            return
        self.evaluations += 1
        if not self.evaluations % TELL_EVERY:
            self.heard(self.done)
        self._running.append(cell)
        if type(cell) is int:
            expression = self.project.expression(cell)
            operation = self.operations.get(expression[0])
            found = operation(self, cell, expression) if operation else {}
        else:
            rule = self.rules.get(cell[0])
            found = rule(self, cell) if rule else self.taken(cell)
        self._running.pop()
        self.grow(cell, found)

    def taken(self, cell: Cell) -> Values:
        """What a cell takes from others."""
        found: Values = {}
        for of, sure in list(self.sources.get(cell, {}).items()):
            add(found, self.value(of), sure)
        return found

    def is_final(self, cell: Cell) -> bool:
        """Whether a cell was evaluated after all that it has read had changed."""
        return self.is_over and not self.is_cut and self._reads.get(cell, 0) < MAX_READS

    def grow(self, cell: Cell, more: Values) -> None:
        """Add values to a cell, and have evaluated again what has read it."""
        held = self.cells.get(cell, NOTHING)
        grown = {value: sure for value, sure in more.items() if held.get(value, 0) < sure} if held else more
        if not grown:
            if cell not in self.cells:
                if self.is_over:
                    self._note(self.cells, cell)
                self.cells[cell] = NOTHING
            return
        if len(held) + len(grown) > MAX_OUTSIDE:
            grown = self._fitting(held, _without_most_outside(held, grown))
            if not grown:
                return
        if self.is_over:
            self._note(self.cells, cell)
        if held:
            self.cells[cell] = held | grown
        elif len(grown) == 1:
            self.cells[cell] = self._single(grown)
        else:
            self.cells[cell] = grown
        if type(cell) is tuple and cell[0] == "element" and cell[1] in self._asking:
            self._forget_elements(cell[1])
        self._tell(cell)

    def _fitting(self, held: Values, more: Values) -> Values:
        """What of some values there is room for in a cell: those that it holds, of others the first; and "many"."""
        if len(held | more) <= MAX_VALUES:
            return more
        room = max(0, MAX_VALUES - len(held))
        kept = {value: sure for value, sure in more.items() if value in held}
        kept.update([pair for pair in more.items() if pair[0] not in held][:room])
        if MANY not in held:
            kept[MANY] = Reason.FLOW
        return kept

    def _single(self, values: Values) -> Values:
        """The same for all cells that hold nothing but one value."""
        [pair] = values.items()
        return self._singles.setdefault(pair, values)

    def child(self, node: int, part: int) -> int:
        """The number of a part of an expression."""
        return (node & ~MASK) | part

    def op(self, node: int) -> int:
        """What an expression is."""
        found: int = self.project.expression(node)[0]
        return found


def _without_most_outside(held: Values, more: Values) -> Values:
    """What of some values goes into a cell: of new ones from outside as many as it is to have."""
    if not any(value[0] == EXTERNAL for value in more):
        return more
    room = MAX_OUTSIDE - sum(value[0] == EXTERNAL for value in held)
    kept: Values = {}
    for value, sure in more.items():
        if value[0] == EXTERNAL and value not in held:
            room -= 1
            if room < 0:
                continue
        kept[value] = sure
    return kept
