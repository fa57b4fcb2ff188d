"""Scopes while a file is read: which are open, which names each of them binds, and what occurs in them."""

from bisect import bisect_right
from collections.abc import Sequence

from fledgling.worker.dialect import Dialect
from fledgling.worker.graph.reading.declared_names import declared_names
from fledgling.worker.graph.reading.flow import MAX_REACHING, Flow, Key
from fledgling.worker.graph.reading.labels import BITS
from fledgling.worker.graph.reading.positions import Positions
from fledgling.worker.graph.reading.reduced import Reduced
from fledgling.worker.graph.tables import HOLDING, NONE, TAG, Expression, NameScope, Op, ScopeKind, Site, Use

LOCAL = (ScopeKind.FUNCTION, ScopeKind.LAMBDA, ScopeKind.BLOCK, ScopeKind.SIGNATURE)
QUOTES = b"\"'`"


class OpenScopes(Positions):
    """The scopes of a file, those that are read among them.

    `scope` is the innermost scope, `frame` the function, class or module whose bindings `flow` follows.
    """

    def __init__(
        self, tree: Reduced, dialect: Dialect, starts: Sequence[int], unseen: Sequence[tuple[int, int]]
    ) -> None:
        super().__init__(tree, starts, unseen)
        self.dialect = dialect
        self.sigil = self.dialect.sigil.encode()
        self.expressions: list[Expression] = [(Op.UNKNOWN,), (Op.MADE,)]
        self.scopes: list[NameScope] = []
        self.sites: list[Site] = []
        self.copies: set[int] = set()  # nodes that stand once more elsewhere, and are no occurrences
        self.is_read = bytearray(len(tree.labels))  # whether a node is a site
        self.scope = self.frame = NONE
        self.frames: list[int] = []  # of each scope
        self.around: list[int] = []  # the frames around, the outermost first
        self.flow = Flow(self.expressions)
        self.own: list[set[int]] = []  # the names that each scope binds
        self.definitions: list[set[int]] = []  # those that are no variables: functions, types, constants
        self.items: list[set[int]] = []  # those that a use there means in any case: all of no function, but in Ruby
        self.shut: set[int] = set()  # functions of Rust, functions and classes of Ruby: they see no variables around
        self.outward: list[dict[int, int]] = []  # the names that it binds further out, and there: 0 is the module
        self.type_parameters: set[Key] = set()  # scopes and names: of a class its methods see them, and no other names
        self.only_types: set[Key] = set()  # those of TypeScript whose names are given to nothing else there
        self.is_value = False  # whether a name is read that is no type
        self.begins_path = False  # whether a name is read that a path begins with, which is no variable
        self.uncounted: dict[int, dict[int, list[int]]] = {}  # by scope: signatures, which need no body
        self._declared = declared_names(tree, dialect, self.key)

    def key(self, node: int) -> int:
        """The number under which scopes have the name that stands there: that of a struct is apart in C."""
        return self.named(TAG + self.tree.text(node)) if self.tree.labels[node] & BITS["tag"] else self.name(node)

    def add(self, *expression: object) -> int:
        """Add an expression."""
        self.expressions.append(expression)
        return len(self.expressions) - 1

    def site(self, node: int, use: int, at: int, binding: int = NONE) -> None:
        """Add the occurrence of a name; a broken text may lack it."""
        if node == NONE or node in self.copies:
            return
        start = self.tree.start[node]
        self.is_read[node] = 1
        if self.tree.source[start] in QUOTES:  # a key that is a string
            return
        line = self.lines[node]
        column = start - self.starts[line - 1]
        if self.sigil and self.tree.source.startswith(self.sigil, start):  # which is no part of a word
            column += len(self.sigil)
        self.sites.append(Site(line, column, self.name(node), use, at, self.scope, binding))

    def site_at(self, start: int, name: int, use: int, at: int, binding: int = NONE) -> None:
        """Add the occurrence of a name at a byte of the text."""
        line = bisect_right(self.starts, start)
        self.sites.append(Site(line, start - self.starts[line - 1], name, use, at, self.scope, binding))

    def site_of_call(self, node: int, at: int) -> None:
        """Add a call that no name stands for: `a[b]()`."""
        self.site_at(self.tree.start[node], self.named(""), Use.CALL, at)

    def has_read(self, node: int) -> None:
        """Note that all names within a node are sites."""
        todo = [node]
        while todo:
            at = todo.pop()
            self.is_read[at] = 1
            todo += self.tree.kids[at]

    # ---- scopes

    def enter(self, node: int, kind: int, name: int, line: int, flags: int = 0) -> int:
        """Begin a scope; return its number."""
        scope = len(self.scopes)
        self.scopes.append(NameScope(kind, name, self.scope, line, flags))
        self.own.append(self._declared.names.get(node, set()))
        self.definitions.append(self._declared.items.get(node, set()))
        self.items.append(self.definitions[-1] if kind in LOCAL or self.dialect.bare_calls else self.own[-1])
        self.outward.append(self._declared.outward.get(node, {}))
        is_apart = kind == ScopeKind.FUNCTION and (self.dialect.crates or self.dialect.bare_calls)
        is_apart = is_apart or (kind in HOLDING and self.dialect.bare_calls)
        if is_apart and (node == NONE or not self.tree.labels[node] & BITS["lambda"]):  # `define_method(:a) { b }`
            self.shut.add(scope)
        self.scope = scope
        if kind != ScopeKind.BLOCK:
            self.around.append(self.frame)
            self.flow.begin()
            self.frame = scope
        self.frames.append(self.frame)
        return scope

    def leave(self) -> None:
        """End the innermost scope."""
        scope = self.scopes[self.scope]
        if scope.kind != ScopeKind.BLOCK:
            for key, bindings in self.flow.end().items():
                if len(key) == 2 and key[0] == self.scope and scope.kind in (ScopeKind.CLASS, ScopeKind.INTERFACE):
                    name = key[1]
                    kept = [binding for binding in bindings if binding != NONE]
                    is_whole = kept != scope.every.get(name) and len(kept) <= MAX_REACHING
                    if is_whole and not (self.dialect.overloads or self.dialect.declared):  # there all of them count
                        scope.last[name] = kept
                        scope.every.setdefault(name, kept)
            self.frame = self.around.pop()
        for name, signatures in self.uncounted.pop(self.scope, {}).items():
            if scope.kind in (ScopeKind.MODULE, ScopeKind.NAMESPACE):  # declare function a();
                scope.every.setdefault(name, signatures[-1:])
        self.scope = scope.parent

    def show(self, scope: int, name: int) -> None:
        """Let what stands within a scope see a name that it binds: not the fields of Go, `struct { A A }`."""
        if not (self.dialect.structural and self.scopes[scope].kind == ScopeKind.CLASS):
            self.own[scope].add(name)
            self.items[scope].add(name)

    def binder(self, name: int, beyond: int = NONE) -> int:
        """The scope that a use of a name here means, -1 where none binds it; a scope around another one, if asked."""
        scope = inner = self.scope
        is_around = False  # another function is, which sees no variables around it
        if beyond != NONE:
            scope = inner = self.scopes[beyond].parent
            is_around = beyond in self.shut
        while scope != NONE:
            if name in self.outward[scope]:
                if self.outward[scope][name] == 0:
                    return 0
            elif self.is_value and (scope, name) in self.only_types:
                pass
            elif name in (self.items[scope] if is_around or self.begins_path else self.own[scope]) or (
                self.begins_path and (scope, name) in self.type_parameters
            ):
                kind = self.scopes[scope].kind
                sees_all = kind not in (ScopeKind.CLASS, ScopeKind.INTERFACE) or scope == inner
                if sees_all or self.dialect.bare_members or (scope, name) in self.type_parameters:
                    return scope
            if self.scopes[scope].kind == ScopeKind.BLOCK and inner == scope and not self.dialect.exported:
                inner = self.scopes[scope].parent  # a comprehension of Python does not see the names of a class around
            is_around = is_around or scope in self.shut
            scope = self.scopes[scope].parent
        return NONE

    def namespace(self, name: int) -> int:
        """The name of the innermost namespace around that has a name in another place, -1 where none has."""
        scope = self.scope if self._declared.namespaces else NONE
        while scope != NONE:
            row = self.scopes[scope]
            is_there = row.kind == ScopeKind.NAMESPACE and name in self._declared.namespaces.get(row.name, ())
            if is_there and self.binder(row.name) != NONE:
                return row.name
            scope = row.parent
        return NONE
