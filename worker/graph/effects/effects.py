"""What the functions of one file do beside returning a value: the effects that its facts show, and whom they call.

Only what is known to have no effect has none: a call of what is not seen is said to be one. It is a reading of facts in
their order, with types as far as literals, declared types and built-in functions give them.
"""

from collections.abc import Sequence

from fledgling.worker.graph.effects import unseen
from fledgling.worker.graph.effects.builtin_types import FileFacts, RowTarget
from fledgling.worker.graph.effects.calls import CallReader
from fledgling.worker.graph.effects.contents import Contents
from fledgling.worker.graph.effects.function import Function, add, is_own
from fledgling.worker.graph.effects.surroundings import Rows, Surroundings, changed_around
from fledgling.worker.graph.reasons import Confidence
from fledgling.worker.graph.tables import NONE, Augmented, Flag, NameScope, Op, ScopeKind, Site, Use
from fledgling.worker.languages.python import effects as known

MAX_PROPERTIES = 16  # of one name that a member may be
REPLACING = ("__class__", "__dict__")  # what is set from then on may be another's
STATES = frozenset(name.rpartition(".")[2] for name in known.STATE)


class EffectReader:
    """Reads the effects of the functions of one file, given what the graph says of its occurrences."""

    def __init__(self, file: FileFacts, rows: Rows, defined: Surroundings) -> None:
        self._file, self._rows, self._defined = file, rows, defined
        self._facts = file.facts
        self.functions: dict[int, Function] = {
            at: Function() for at, scope in enumerate(self._facts.scopes) if scope.kind == ScopeKind.FUNCTION
        }

        self._around = changed_around(file)
        self._contents = Contents(file)
        self._calls = CallReader(file, defined, self.functions)

    def read(self) -> dict[int, Function]:
        """Return the functions by their scopes."""
        own_writes: set[tuple[int, int]] = set()  # function and name of fields that it sets first in its own object
        for at, function in self.functions.items():
            self._of_definition(at, function)
        self._of_inner()
        frames = self._file.frames
        for site in self._file.sites:
            scope = frames[site.scope]
            if scope == NONE:
                continue
            use = site.use
            if use in (Use.READ, Use.CALL):
                found = self._rows.get(self._file.place(site), ())
                unseen.of_site(self._file, site, found, self._defined.held, self.functions[scope].unseen_kinds)
            if use == Use.READ:
                self._read(scope, self.functions[scope], site)
            elif use in (Use.CALL, Use.DECORATOR):
                self._calls.read(scope, self.functions[scope], site, self._rows.get(self._file.place(site), ()))
            elif use in (Use.WRITE, Use.DEFINITION, Use.IMPORT):
                self._write(scope, self.functions[scope], site, own_writes)
        self._write_keys()
        for taken in self._facts.taken:
            if (scope := self._file.function(taken.scope)) != NONE:
                self._calls.take(scope, taken.of, taken.line)
        return self.functions

    def _of_inner(self) -> None:
        """Lambdas and classes that stand in functions."""
        for at, row in enumerate(self._facts.scopes):
            function = self.functions.get(self._file.function(at))
            if not function or row.kind not in (ScopeKind.LAMBDA, ScopeKind.CLASS):
                continue
            self._of_flags(row, function)
            if row.kind == ScopeKind.CLASS:
                function.unseen_kinds.setdefault("class variable", row.line)  # __set_name__
                if row.bases or at in self._file.with_metaclass:
                    add(function.unseen, row.line, "derives a class as it runs")

    def _write_keys(self) -> None:
        """`a[b] = c`, and `a += b`, which may be as much."""
        for write in self._facts.writes:
            scope = self._file.function(write.scope) if write.name == NONE else NONE
            if scope != NONE and not self._file.is_fresh(write.of, scope):
                add(self.functions[scope].impure, write.line, f"writes {self._file.shown(write.of)}[...]")
        for augmented in self._facts.augmented:
            scope = self._file.function(augmented.scope)
            if scope != NONE:
                self._augment(scope, self.functions[scope], augmented)

    def _augment(self, scope: int, function: Function, augmented: Augmented) -> None:
        """`a += b` changes the object that `a` is, if that can be changed."""
        of, line = augmented.of, augmented.line
        if self._file.is_immutable(of):
            return
        op, *parts = self._facts.expressions[of]
        is_own = self._contents.are_own(parts[0], scope) if op == Op.INDEX else self._file.is_fresh(of, scope)
        if is_own:  # a list takes what b gives
            if augmented.value != NONE:
                self._calls.take(scope, self._facts.expressions[augmented.value][1][-1], line)
            return
        if self._file.type_of(of).partition(":")[0] in known.MUTATING:
            add(function.impure, line, f"changes {self._file.shown(of)}, which it did not make")
        else:
            add(function.unseen, line, f"may change the object that {self._file.shown(of)} is")

    def _of_flags(self, row: NameScope, function: Function) -> None:
        unseen.of_flags(row.flags, row.line, function.unseen_kinds)
        if row.flags & Flag.SPREADS:
            add(function.unseen, row.line, "spreads what may be a file or a generator")

    def _of_definition(self, at: int, function: Function) -> None:
        scope = self._facts.scopes[at]
        if not self._facts.complete:
            add(function.unseen, scope.line, "the file was not parsed whole")
        if scope.flags & (Flag.ABSTRACT | Flag.PROTOCOL | Flag.OVERLOAD | Flag.DECLARATION):
            add(function.unseen, scope.line, "is abstract")
        self._of_flags(scope, function)
        if scope.flags & Flag.ASYNC:
            add(function.unseen, scope.line, "runs as a coroutine")
        for decorator in self._file.decorated.get(at, ()):
            op, *parts = self._facts.expressions[decorator]
            full = self._file.dotted(parts[0] if op == Op.CALL else decorator)
            if full not in known.DECORATORS:
                add(function.unseen, scope.line, f"is decorated by {self._file.shown(decorator)}")

    # ---- what is written and read

    def _write(self, scope: int, function: Function, site: Site, own_writes: set[tuple[int, int]]) -> None:
        name = self._file.name(site.name)
        if site.use == Use.IMPORT:
            add(function.unseen, site.line, f"imports {name}, which runs a module")
        if site.binding != NONE:
            bound = self._facts.bindings[site.binding].scope
            if bound != NONE and self._file.function(bound) != scope:
                add(function.impure, site.line, f"rebinds {name}")
            return
        op, *parts = self._facts.expressions[site.at]
        if op == Op.NAME and site.use == Use.WRITE and self._file.function(parts[1]) != scope:
            add(function.impure, site.line, f"removes {name}")
        if op == Op.REACH and (scope, site.name) in own_writes:
            return
        if op not in (Op.GET, Op.REACH) or site.use != Use.WRITE:
            return
        if op == Op.GET and is_own(self._file, scope, parts[0]):
            if self._may_run(scope, name):
                add(function.unseen, site.line, f"sets {name}, which may run a method")
            own_writes.add((scope, site.name))
            return
        shown = self._file.shown(site.at) if op == Op.GET else f"... .{name}"
        add(function.impure, site.line, f"writes {shown}")

    def _may_run(self, scope: int, name: str) -> bool:
        """Whether a constructor that sets a field may run a method: that of a property, or `__setattr__`."""
        defined = self._defined
        own = defined.classes.get(self._file.target(self._facts.scopes[scope].parent))
        if own is None or not own.is_plain or "__setattr__" in own.names or name in REPLACING:
            return True
        is_held = name in defined.made or name in defined.properties or (name in defined.held and defined.has_setter)
        return is_held and name in own.names

    def _read(self, scope: int, function: Function, site: Site) -> None:
        expression = self._facts.expressions[site.at]
        op, name = expression[0], self._facts.names[site.name]
        if op == Op.NAME and expression[2] > 0:
            self._read_variable(scope, function, site, expression[2])
            return
        is_property = op in (Op.GET, Op.REACH) and name in self._defined.properties
        rows = self._rows.get(self._file.place(site), ())
        if op != Op.NAME and name in self._defined.made:
            self._read_made(function, site, rows)
        may_be_state = name in STATES or op == Op.NAME  # an import may give it another name
        if not rows and not is_property and not may_be_state:
            return
        changed = self._defined.changed
        if op == Op.GET and self._is_of_module(expression[1]):  # `A.b`: of an object, it would be a field
            changed = self._defined.changed_anywhere
        for row in rows:
            if row.target and row.target in changed:
                where = changed[row.target]
                add(function.impure, site.line, f"reads {name}, which a function changes in line {where}")
            elif row.target and row.target in self._defined.doubted:
                add(function.unseen, site.line, f"reads {name}, which a function may change")
        if may_be_state and (full := self._file.dotted(site.at)) in known.STATE:
            add(function.impure, site.line, f"reads {full}")
        if is_property:
            self._read_property(function, site, rows)

    def _read_variable(self, scope: int, function: Function, site: Site, binder: int) -> None:
        """A variable of the function, or of one around: that is state where it has more than one value."""
        is_around = self._file.function(binder) != scope
        line, is_other = self._around.get((binder, site.name), (0, False)) if is_around else (0, False)
        name = self._file.name(site.name)
        if is_other:
            add(function.impure, site.line, f"reads {name}, which a function changes in line {line}")
        elif line:
            add(function.unseen, site.line, f"reads {name}, which the function around may change")

    def _is_of_module(self, at: int) -> bool:
        op, *parts = self._facts.expressions[at]
        return bool(op == Op.NAME and parts[1] <= 0)

    def _read_made(self, function: Function, site: Site, rows: Sequence[RowTarget]) -> None:
        """A variable of a class may be made as it is read: `a = property(b)`."""
        name = self._facts.names[site.name]
        is_seen = bool(rows) and all(row.target and row.confidence == Confidence.CERTAIN for row in rows)
        if not is_seen or any(row.target in self._defined.made[name] for row in rows):
            add(function.unseen, site.line, f"reads {name}, which may be made as it is read")

    def _read_property(self, function: Function, site: Site, rows: Sequence[RowTarget]) -> None:
        name = self._facts.names[site.name]
        targets = [row.target for row in rows if row.target in self._defined.functions]
        is_seen = targets and all(row.confidence == Confidence.CERTAIN for row in rows)
        candidates = targets if is_seen else self._defined.properties[name]
        if len(candidates) > MAX_PROPERTIES:
            add(function.unseen, site.line, f"reads {name}, which may be one of many properties")
            return
        for target in candidates:
            (function.calls if is_seen else function.may_call).setdefault(target, site.line)
