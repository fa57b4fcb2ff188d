"""Which classes stand above and below which, and which of them has a member."""

from collections.abc import Callable
from itertools import chain, islice

from fledgling.worker.graph.linking import c3
from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.tables import ScopeKind
from fledgling.worker.graph.values import CLASS, Cell, Values

MAKERS = (ScopeKind.FUNCTION, ScopeKind.LAMBDA)
MAX_BASES = 200  # classes above one; a hostile file can make ten thousand
MAX_HEIGHT = 100  # classes above each other
MAX_EITHER = 16  # classes that one base may be; of more, the first are looked at, and no member is sure
MAX_BELOW = 200  # classes below one, or that may implement one interface, that are looked at


class Hierarchy:
    """The classes of a project by their bases, which classes.py finds. `value` says what an expression stands for."""

    def __init__(self, project: GraphProject, value: Callable[[Cell], Values]) -> None:
        self.project = project
        self.value = value
        self._orders: dict[int, list[int]] = {}
        self.bases: dict[int, list[tuple[int, int]]] = {}  # a class and how sure, in order
        self.has_external_base: set[int] = set()
        self.either: dict[int, dict[int, int]] = {}  # the bases of a class that may be others, and how sure each is
        self.below_either: set[int] = set()  # the classes that have such a base, or one above them has
        self.replaced: dict[tuple[int, int], int] = {}  # a class, its base that code may replace, and how that is named
        self.below_replaced: set[int] = set()  # the classes that have such a base, or one above them has
        self._before_outside: dict[int, int] = {}  # of classes of Python: how many bases stand before one from outside
        self._sooner: dict[int, set[int]] = {}  # of those: the classes above that surely come before that
        self._wholes: dict[int, int] = {}  # of a part of a class that several places make up
        self._parts: dict[int, list[int]] = {}
        self.kids: dict[int, list[int]] = {}  # right below a class
        self._below: dict[int, list[int]] = {}
        self.cut: set[int] = set()  # those with more below than are looked at: all of them, once settled
        self._having: dict[tuple[int, int, int | None], tuple[int | None, bool]] = {}  # what of_class() found
        self._prepended: dict[int, set[int]] = {}  # the bases of a class whose members come before its own
        self.is_settled = False

    def whole(self, scope: int) -> int:
        """The scope that stands for a class, of all the places that make it up."""
        return self._wholes.get(scope, scope)

    def parts(self, scope: int) -> tuple[int, ...]:
        """The scopes of all the places that make up a whole class."""
        return scope, *self._parts.get(scope, ())

    def join(self, part: int, whole: int) -> None:
        """Take what stands in a part of a class as members of the whole."""
        project = self.project
        self._wholes[part] = whole
        self._parts.setdefault(whole, []).append(part)
        for name, bindings in project.table(part).items():
            if project.text(name) != project.unit(part).dialect.self_type:
                for binding in bindings:
                    project.attach(whole, name, binding)

    def order(self, scope: int, depth: int = 0) -> list[int]:
        """The class and those above it, as members are looked up (C3; where that fails, depth first)."""
        found = self._orders.get(scope)
        if found is None and self.project.unit(scope).dialect.embeds:
            found = self._orders[scope] = self._by_depth(scope)
        if found is None:
            self._orders[scope] = [scope]  # what is its own base
            bases = [base for base, _ in self.bases.get(scope, ())]
            if depth < MAX_HEIGHT:
                above = [self.order(base, depth + 1) for base in bases]
                order = c3.merged([*above, bases], MAX_BASES)
                first = self._prepended.get(scope, set())
                before = [at for at in order if at in first][: MAX_BASES - 1]
                found = [*before, scope, *(at for at in order if at not in first)][:MAX_BASES]
                self._orders[scope] = found
            else:
                found = self._orders[scope]
        return found

    def _by_depth(self, scope: int) -> list[int]:
        """The class and what it embeds, what is embedded less deeply first: in Go that has a member before others."""
        found = [scope]
        for at in found:
            found += [base for base in dict(self.bases.get(at, ())) if base not in found]
            if len(found) >= MAX_BASES:
                break
        return found[:MAX_BASES]

    def below(self, scope: int) -> list[int]:
        """The classes below, nearest first, at most MAX_BELOW; a class with more is noted in `cut`."""
        found = self._below.get(scope)
        if found is None:
            found = []
            seen = {scope}
            for kid in (kid for at in chain([scope], found) for kid in self.kids.get(at, ())):
                if kid in seen:
                    continue
                if len(found) == MAX_BELOW:
                    self.cut.add(scope)
                    break
                seen.add(kid)
                found.append(kid)
            if not self.cut.isdisjoint(found):
                self.cut.add(scope)
            self._below[scope] = found
        return found

    def has_more_below(self, scope: int) -> bool:
        """Whether a class has more below than are looked at."""
        return scope in self.cut

    def has(self, scope: int, name: int) -> bool:
        """Whether a class itself has a member; what is bound in a function that makes objects is none."""
        return name in self.project.table(scope) and self.project.scope(scope).kind not in MAKERS

    def of_class(self, scope: int, name: int, after: int | None = None) -> tuple[int | None, bool]:
        """The class that has a member, in the order of one; whether a class outside the project may have it first."""
        found = self._having.get((scope, name, after))
        if found is None:
            found = self._of_class(scope, name, after)
            if self.is_settled:
                self._having[scope, name, after] = found
        return found

    def instead(self, scope: int, name: int, owner: int, after: int | None = None) -> tuple[int, list[int]]:
        """How sure a class has a member of an owner above it, and which others may, where a base is one of several."""
        if scope not in self.below_either:
            return Reason.BOUND, []
        order, sure, others = self.order(scope), int(Reason.BOUND), dict[int, None]()
        for at in order[order.index(after) :] if after in order else order:
            bases = self.either.get(at, {})
            having = {base: self.of_class(base, name)[0] for base in islice(bases, MAX_EITHER)}
            if len(bases) > MAX_EITHER:
                sure = min(sure, Reason.SEVERAL)
            if owner in having.values():
                sure = min(sure, *(self._how_sure(at, base) for base, of in having.items() if of == owner))
                others.update((of, None) for of in having.values() if of not in (None, owner))
        return sure, [*others]

    def _how_sure(self, scope: int, base: int) -> int:
        """How sure a class has a base that may be another; what may replace one is known only when all is read."""
        node, sure = self.replaced.get((scope, base)), self.either[scope][base]
        held = self.value(node) if node is not None else {}
        return max([sure, *(own for value, own in held.items() if value[:2] == (CLASS, base))])

    def _of_class(self, scope: int, name: int, after: int | None) -> tuple[int | None, bool]:
        if after is None and self.is_settled:
            return self._above(scope, name)
        return self._in_order(scope, name, after)

    def _in_order(self, scope: int, name: int, after: int | None) -> tuple[int | None, bool]:
        order = self.order(scope)
        if after is not None:
            order = order[order.index(after) :] if after in order else self.order(after)
        for place, at in enumerate(order):
            if self.has(at, name) and (place or after is None):
                return at, any(at not in self._before(own) for own in order[:place] if own in self._before_outside)
        return None, scope in self.has_external_base

    def _above(self, scope: int, name: int) -> tuple[int | None, bool]:
        """The first class that has a member, in the order of one; in a chain of single bases each is asked once."""
        passed: dict[int, None] = {}
        at = scope
        known: tuple[int | None, bool] | None = None
        while known is None and at not in passed and not self.has(at, name):
            base = self._only_base(at)
            if base is None:
                break
            passed[at] = None
            at, known = base, self._having.get((base, name, None))
        owner, may_be_outside = self._in_order(at, name, None) if known is None else known
        for below in passed:
            is_open = may_be_outside if owner is not None else below in self.has_external_base
            self._having[below, name, None] = owner, is_open
        return owner, may_be_outside if owner is not None else scope in self.has_external_base

    def _only_base(self, scope: int) -> int | None:
        """The base of a class that has no other one before it, and whose own members come first."""
        bases = self.bases.get(scope, [])
        if len(bases) != 1 or self._before_outside.get(scope) == 0 or scope in self._prepended:
            return None
        return bases[0][0]

    def _before(self, scope: int) -> set[int]:
        """The classes above one that come before the one outside: A of `class C(A, Out, B)`."""
        found = self._sooner.get(scope)
        if found is None:
            bases = [base for base, _ in self.bases[scope]]
            first = self._before_outside[scope]
            found = {at for base in bases[:first] for at in self.order(base)}
            found = self._sooner[scope] = found.difference(*map(self.order, bases[first:]))
        return found
