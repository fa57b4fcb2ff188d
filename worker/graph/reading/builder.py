"""From the captured part of a syntax tree to the tables of a file, in the order in which the text runs."""

from collections.abc import Callable, Sequence

from fledgling.worker.dialect import Dialect
from fledgling.worker.graph.reading.bound_names import BoundNames
from fledgling.worker.graph.reading.flow import Key
from fledgling.worker.graph.reading.labels import BITS
from fledgling.worker.graph.reading.open_scopes import QUOTES
from fledgling.worker.graph.reading.reduced import MAX_DEPTH, Reduced
from fledgling.worker.graph.tables import (
    NONE,
    Augmented,
    Binding,
    Consumed,
    Flag,
    Imported,
    Op,
    Parameter,
    ScopeKind,
    Use,
)

REPLACED = BITS["replaced"]

Visitor = Callable[["Builder", int, int], int]
VISITORS: dict[int, Visitor] = {}  # by the bit of a kind; the modules that facts.py names fill it


def visits(*kinds: str) -> Callable[[Visitor], Visitor]:
    """Mark the function that reads nodes of some kinds: `(builder, node, use) -> expression`."""

    def mark(visitor: Visitor) -> Visitor:
        VISITORS.update((BITS[kind], visitor) for kind in kinds)
        return visitor

    return mark


class Builder(BoundNames):
    """The tables of one file while they are made, and what is known of what is around the node that is read."""

    def __init__(
        self, tree: Reduced, dialect: Dialect, starts: Sequence[int], unseen: Sequence[tuple[int, int]]
    ) -> None:
        super().__init__(tree, dialect, starts, unseen)
        self.imports: list[Imported] = []
        self.dynamic: list[tuple[int, str]] = []
        self.members: list[tuple[int, int]] = []
        self.extensions: list[tuple[int, int]] = []
        self.components: dict[int, list[Parameter]] = {}  # of a record of Java, by its scope
        self.macro_made: list[tuple[int, int]] = []  # what may be the classes of functions that macros make
        self.conditions: list[tuple[int, int]] = []
        self.undefined: set[int] = set()
        self.opening: list[tuple[int, str]] = []  # macros, and the namespaces that they begin
        self.replaced: dict[int, int] = {}  # the nodes of names of members, and whose they are
        self.replaced_names: list[tuple[int, int]] = []  # the same, by the numbers of names that a text has
        self.listed: dict[str, Sequence[tuple[str, int]]] = {}  # what loops go over, by the names that they give it
        self.lists: dict[str, Sequence[tuple[str, int]]] | None = None  # what constants list (listed_methods.py)
        self.defined_at = set[int]()  # bytes where names stand of methods that a loop or a text defines
        self.made = 0  # how many such methods there are, of MAX_MADE
        self.defines_static = False  # whether the class itself has them: the loop stands in `class << self`
        self.augmented: list[Augmented] = []
        self.taken: list[Consumed] = []
        self.checked: dict[int, list[tuple[int, int]]] = {}  # by conditions, what names they say more of (narrowing.py)
        self.whole = 0  # what `module.exports` was given last
        self.exports: list[int] | None = []  # of CommonJS, by a name; None once another object is what is exported
        self.generic: dict[int, list[int]] = {}  # the type parameters of a function that is being read
        self.bounded: dict[Key, int] = {}  # the bindings of type parameters of which something is said
        self.bounded_paths: set[int] = set()  # ... and the names of such paths: `where T::B: C`
        self.own_types: dict[int, int] = {}  # the types of what functions say they are called on: `f(this: A)`
        self.calling = NONE  # the name of the function whose arguments are read
        self.handed: list[int] = []  # of these, those before the one that is read
        self.written_for: dict[int, int] = {}  # lambdas, and the name of the function that each is handed to
        self.ended_with: dict[int, list[int]] = {}  # lambdas, and what each gives before its end: `return@a b`
        self.in_macros = 0  # of the occurrences, those before it that stand in a macro are known to
        self.package = ""
        self.complete = tree.complete
        self.told_names: dict[str, int] | None = None  # types that comments give names (told_names.py)
        self.templates: dict[int, frozenset[bytes]] = {}  # of scopes, names of types that a comment says stand for any
        self.applied: dict[int, list[int]] = {}  # the types in brackets behind what is called next: `a<B>()`
        self.perhaps: set[int] = set()  # nodes that a compiler may leave out: below `#[cfg(a)]`
        self.is_shown = False  # whether what is taken by a path is taken for others too: `pub use a::b`
        self.gone_over: dict[int, int] = {}  # what a loop goes over, by its node, where that is read already
        self.literal = NONE  # the object that is written out around
        self.subject = 0  # what the cases of a match are compared with
        self.apart = 0  # what a pattern takes members of
        self._placed = set[int]()  # functions and classes that were put into something: they begin where that does
        self.depth = 0  # of MAX_DEPTH

    def name_value(self, value: int, node: int) -> bool:
        """Give a function or class that is written out the name of what it is put into: `const a = () => b`.

        Return whether it is one. It begins where the first begins that it is put into; a name of its own stays:
        `a.b = function c() {}` is known as b and as c.
        """
        if value == NONE:
            return False
        op, *parts = self.expressions[value]
        if op == Op.CLASS and self.scopes[parts[0]].name == NONE and self.dialect.bare_calls:
            self.scopes[parts[0]].name = self.key_name(node)  # A = Class.new
        if not self.dialect.names_values:
            return False
        if op not in (Op.FUNCTION, Op.CLASS):
            return False
        scope = self.scopes[parts[0]]
        if parts[0] not in self._placed:
            self._placed.add(parts[0])
            scope.name, scope.line = self.key_name(node), self.first_line(node)
            if scope.kind == ScopeKind.LAMBDA:
                scope.kind = ScopeKind.FUNCTION
        return True

    def define_member(self, node: int, value: int, how: int = 0) -> None:
        """Let the name at a node be that of a function or class that no scope binds: a method outside of its class."""
        name, start = self.key_name(node), self.tree.start[node]
        self.bindings.append(Binding(NONE, name, value, self.line(node), how))
        if self.tree.source[start] in QUOTES:
            self.is_read[node] = 1
            self.site_at(start + 1, name, Use.DEFINITION, value, len(self.bindings) - 1)
        else:
            self.site(node, Use.DEFINITION, value, len(self.bindings) - 1)

    def replace(self, nodes: Sequence[int], of: int) -> None:
        """Note whose members are removed or set by name, of the nodes that are such names."""
        self.replaced.update((node, of) for node in nodes if node != NONE and self.tree.labels[node] & REPLACED)

    def take(self, of: int, node: int) -> None:
        """Note that a node takes what a value gives."""
        self.taken.append(Consumed(of, self.line(node), self.scope))

    def bounded_path(self, node: int) -> int:
        """The name of a path of which something is said around, `where T::B: C`; -1 where nothing is."""
        name, scope = self.names.get(self.tree.text(node), NONE), self.scope
        while name in self.bounded_paths and scope != NONE:
            if (scope, name) in self.bounded:
                return name
            scope = self.scopes[scope].parent
        return NONE

    # ---- reading nodes

    def visit(self, node: int, use: int = Use.READ) -> int:
        """Read a node; return its expression, 0 for a part that a broken text lacks."""
        if node == NONE:
            return 0
        visitor = VISITORS.get(self.tree.kinds[node])
        if self.depth > MAX_DEPTH:
            return self.list_names(node)
        self.depth += 1
        if visitor:
            found = visitor(self, node, use)
        else:
            kids = self.tree.kids[node]
            results = [self.visit(kid, use) for kid in kids]
            found = results[0] if len(results) == 1 else 0
        self.depth -= 1
        return max(found, 0)

    def visit_all(self, node: int) -> int:
        """Read everything within a node; return the expression of the last part."""
        found = 0
        for kid in self.tree.kids[node]:
            found = self.visit(kid)
        return found

    def optional(self, node: int, use: int = Use.READ) -> int:
        """Read a node that may not be there: -1 is none."""
        return NONE if node == NONE else self.visit(node, use)

    def body(self, node: int) -> int:
        """Read what a node holds; it may be a statement itself. Return the expression of the last part."""
        if node == NONE:
            return 0
        return self.visit(node) if VISITORS.get(self.tree.kind(node)) else self.visit_all(node)

    def list_names(self, node: int) -> int:
        """Note the names in what is nested too deeply."""
        self.complete = False
        todo = [node]
        name = BITS["name"]
        while todo:
            at = todo.pop()
            if self.tree.labels[at] & name and not self.tree.kids[at]:
                self.site(at, Use.READ, 0)
            todo += self.tree.kids[at]
        return 0

    def end_at(self, label: int, value: int) -> None:
        """Note what the function or lambda around gives that is handed to a function of some name."""
        frames = [self.frame, *reversed(self.around[1:])]
        named = (at for at in frames if label in (self.written_for.get(at), self.scopes[at].name))
        frame = next(named, self.frame)
        self.ended_with.setdefault(frame, []).append(value)

    def flag(self, decorator: int) -> int:
        """What a decorator says of a function: the Flag of its last name, or 0."""
        op, *parts = self.expressions[decorator]
        if op == Op.REACH:
            return self.flag(parts[1]) if parts[1] != NONE else 0
        if op == Op.CALL:
            return self.flag(parts[0])
        if op not in (Op.NAME, Op.GET):
            return 0
        flag = self.dialect.decorators.get(self.text_of(parts[1] if op == Op.GET else parts[0]))
        return int(getattr(Flag, flag.upper())) if flag else 0
