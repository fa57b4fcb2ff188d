"""Which bindings of a name or path reach what comes next: through branches, loops, and early ends of a function.

A branch has a layer of what it binds, and what several layers bind is joined where they meet.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from fledgling.worker.graph.tables import NONE, Expression, Op

MAX_LAYERS = 40  # branches within branches; deeper ones are read as if they always ran
MAX_REACHING = 24  # bindings that reach one use; beyond, all of the name's count
BREAK, CONTINUE, LABELLED = 1, 2, 4  # how a loop, or what has a label, may be left before its end

Key = tuple[Any, ...]  # (scope, name), or what a path is followed by
Layer = dict[Key, tuple[int, ...]]


def as_many_as_count(key: Key, bindings: tuple[int, ...]) -> tuple[int, ...]:
    """Of more than MAX_REACHING bindings, and perhaps none, a name gets one more, which says that all of its count."""
    return bindings[: MAX_REACHING + 2] if len(key) == 2 else bindings


def own_field(part: object) -> Key:
    """What a field of the own object is followed by."""
    return (Op.THIS, part, NONE)


def _beginnings(key: Key) -> list[Key]:
    """What the path of a key begins with: the keys of `a.b` and `a` for `a.b.c`."""
    if len(key) == 3 and type(key[0]) is tuple:
        return [key[0], key[0][:2]]
    return [key[:2]] if len(key) == 4 else []


class _Frame(NamedTuple):
    """What was known of a function, class or module when another one began in it."""

    layers: list[Layer]
    is_dead: bool
    uses: list[tuple[int, Key, tuple[int, ...]]]
    given: list[tuple[Key, int]]


class Flow:
    """What holds where the text is read, in the innermost function, class or module. What `is_dead` reaches nothing.

    `expressions` are those of the file: a loop adds to what its beginning may hold.
    """

    def __init__(self, expressions: list[Expression]) -> None:
        self._expressions = expressions
        self.is_dead = False
        self.uses: list[tuple[int, Key, tuple[int, ...]]] = []  # names and paths, and what reached them
        self.given: list[tuple[Key, int]] = []  # what names and paths are bound to, in order
        self.layers: list[Layer] = []
        self._around: list[_Frame] = []
        self.leaps = 0  # how what is being read may be left
        self.named: dict[Key, int] = {}  # names by what reaches them: the same thing is one expression
        self.checked: set[object] = set()  # fields of the own object of which a check has said more: `$this->a`
        self.paths: dict[int, Key] = {}  # of the expressions that are followed as `a.b` is

    def begin(self) -> None:
        """Begin a function, class or module."""
        self._around.append(_Frame(self.layers, self.is_dead, self.uses, self.given))
        self.layers, self.is_dead, self.uses, self.given = [{}], False, [], []

    def end(self) -> Layer:
        """End it; return what holds there."""
        [ends, *_] = self.layers
        self.layers, self.is_dead, self.uses, self.given = self._around.pop()
        return ends

    def reaching(self, key: Key) -> tuple[int, ...]:
        """The bindings of a key that hold here; -1 among them is none at all."""
        for layer in reversed(self.layers):
            if key in layer:
                return layer[key]
        return (NONE,)

    def hold(self, key: Key, binding: int) -> None:
        """Let a key stand for one binding from here on."""
        self.layers[-1][key] = (binding,)
        self.given.append((key, binding))

    def left_early(self, begun: int, layer: Layer) -> Layer:
        """What keys may hold where what has been read may be left anywhere: all that is `given` since it begun."""
        found = {key: dict.fromkeys(bindings) for key, bindings in layer.items()}
        for key, binding in self.given[begun:]:
            found.setdefault(key, {})[binding] = None
        return {key: as_many_as_count(key, tuple(bindings)) for key, bindings in found.items()}

    def leaving(self, run: Callable[[], object], ways: int) -> tuple[Layer, bool, int]:
        """Read an arm that some ways of leaving end, and only labels else; return how it is left, too."""
        begun, around, self.leaps = len(self.given), self.leaps, 0
        layer, dead = self.arm(run)
        leaps, self.leaps = self.leaps, around | self.leaps & ~ways
        if leaps & (ways | LABELLED):
            return self.left_early(begun, layer), False, leaps
        return layer, dead, leaps

    def arm(self, run: Callable[[], object]) -> tuple[Layer, bool]:
        """Read what may run; return what it binds, and whether it never gets to its end."""
        if len(self.layers) > MAX_LAYERS:
            run()
            return {}, False
        was_dead, self.is_dead = self.is_dead, False
        self.layers.append({})
        run()
        dead, self.is_dead = self.is_dead, was_dead
        return self.layers.pop(), dead

    def join(self, arms: Sequence[tuple[Layer, bool]], *, optional: bool) -> None:
        """Go on behind arms of which one has run, or none if that is `optional`."""
        alive = [layer for layer, dead in arms if not dead]
        if not alive and not optional:
            self.is_dead = True
            alive = [layer for layer, _ in arms]
        found: dict[Key, list[tuple[int, ...]]] = {}
        for layer in alive:
            for key, bindings in layer.items():
                found.setdefault(key, []).append(bindings)
        for key, ways in found.items():
            if optional or len(ways) < len(alive):
                ways.append(self.reaching(key))
            joined = tuple(dict.fromkeys(binding for way in ways for binding in way))
            self.layers[-1][key] = as_many_as_count(key, joined)

    def loop(self, run: Callable[[], object]) -> bool:
        """Read what may run again and again: what it binds reaches its own beginning.

        Return whether a `break` may end it.
        """
        begun = len(self.uses)
        self.named.clear()  # what is bound further down may reach names in here, and none before or behind
        layer, _, leaps = self.leaving(run, BREAK | CONTINUE)
        self.named.clear()
        if layer and len(self.layers) < MAX_LAYERS // 2:
            for expression, key, reach in self.uses[begun:]:
                if key in layer and reach == self.reaching(key):
                    self._extend(expression, layer[key])
                elif any(begins in layer for begins in _beginnings(key)):  # it is of another object then
                    self._extend(expression, (NONE,))
        self.join([(layer, False)], optional=True)
        return bool(leaps & BREAK)

    def _extend(self, expression: int, more: tuple[int, ...]) -> None:
        """Let a use stand for more bindings, or a path for what it is in general."""
        found = [binding for binding in more if binding != NONE]
        op, *parts = self._expressions[expression]
        if op == Op.REACH:
            reach, otherwise, at = parts
            joined = tuple(dict.fromkeys((*reach, *found)))
            self._expressions[expression] = (op, joined, at if NONE in more else otherwise, at)
        elif parts[-1] is not None:
            joined = tuple(dict.fromkeys((*parts[-1], *found)))
            self._expressions[expression] = (op, *parts[:-1], joined if len(joined) <= MAX_REACHING else None)

    def path(self, of: int, part: object) -> Key | None:
        """What `a.b` or `a["b"]` is followed by, as long as `a` is the same; `this.b`, once a check says more of it."""
        op, *parts = self._expressions[of]
        if op == Op.THIS:
            return own_field(part) if part in self.checked else None
        if op == Op.NAME and parts[2] is not None:
            return (parts[1], parts[0], parts[2], part)
        key = self.paths.get(of)
        return (key, part, parts[0] if op == Op.REACH else NONE) if key else None
