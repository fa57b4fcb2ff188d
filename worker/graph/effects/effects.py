"""What the functions of one file do beside returning a value: the effects that its facts show, and whom they call.

Only what is known to have no effect has none: a call of what is not seen is said to be one. It is a reading of facts in
their order, with types as far as literals, declared types and built-in functions give them.
"""

from collections.abc import Sequence
from typing import NamedTuple

from fledgling.worker.graph.effects import (
    unseen,
)
from fledgling.worker.graph.effects.builtin_types import COUNTED_AS_MADE, FileFacts, RowTarget
from fledgling.worker.graph.effects.contents import Contents
from fledgling.worker.graph.effects.surroundings import CALLED, OWN, Rows, Surroundings, changed_around
from fledgling.worker.graph.reasons import Confidence
from fledgling.worker.graph.tables import NONE, Augmented, Flag, NameScope, Op, ScopeKind, Site, Use
from fledgling.worker.graph.unit import Target
from fledgling.worker.languages.python import effects as known

MAX_PROPERTIES = 16  # of one name that a member may be
REPLACING = ("__class__", "__dict__")  # what is set from then on may be another's
STATES = frozenset(name.rpartition(".")[2] for name in known.STATE)


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
        self._lambdas: dict[int, set[Target | None]] = {at: set() for at in self.functions}  # those within each
        for at, scope in enumerate(self._facts.scopes):
            if scope.kind == ScopeKind.LAMBDA and file.function(at) != NONE:
                self._lambdas[file.function(at)].add(file.target(at))

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
                self._call(scope, self.functions[scope], site, self._rows.get(self._file.place(site), ()))
            elif use in (Use.WRITE, Use.DEFINITION, Use.IMPORT):
                self._write(scope, self.functions[scope], site, own_writes)
        self._write_keys()
        for taken in self._facts.taken:
            if (scope := self._file.function(taken.scope)) != NONE:
                self._take(scope, taken.of, taken.line)
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
                    self._add(function.unseen, row.line, "derives a class as it runs")

    def _write_keys(self) -> None:
        """`a[b] = c`, and `a += b`, which may be as much."""
        for write in self._facts.writes:
            scope = self._file.function(write.scope) if write.name == NONE else NONE
            if scope != NONE and not self._file.is_fresh(write.of, scope):
                self._add(self.functions[scope].impure, write.line, f"writes {self._file.shown(write.of)}[...]")
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
                self._take(scope, self._facts.expressions[augmented.value][1][-1], line)
            return
        if self._file.type_of(of).partition(":")[0] in known.MUTATING:
            self._add(function.impure, line, f"changes {self._file.shown(of)}, which it did not make")
        else:
            self._add(function.unseen, line, f"may change the object that {self._file.shown(of)} is")

    @staticmethod
    def _add(effects: list[Effect], line: int, what: str) -> None:
        if not effects:  # the first one is evidence enough
            effects.append(Effect(line, what))

    def _of_flags(self, row: NameScope, function: Function) -> None:
        unseen.of_flags(row.flags, row.line, function.unseen_kinds)
        if row.flags & Flag.SPREADS:
            self._add(function.unseen, row.line, "spreads what may be a file or a generator")

    def _of_definition(self, at: int, function: Function) -> None:
        scope = self._facts.scopes[at]
        if not self._facts.complete:
            self._add(function.unseen, scope.line, "the file was not parsed whole")
        if scope.flags & (Flag.ABSTRACT | Flag.PROTOCOL | Flag.OVERLOAD | Flag.DECLARATION):
            self._add(function.unseen, scope.line, "is abstract")
        self._of_flags(scope, function)
        if scope.flags & Flag.ASYNC:
            self._add(function.unseen, scope.line, "runs as a coroutine")
        for decorator in self._file.decorated.get(at, ()):
            op, *parts = self._facts.expressions[decorator]
            full = self._file.dotted(parts[0] if op == Op.CALL else decorator)
            if full not in known.DECORATORS:
                self._add(function.unseen, scope.line, f"is decorated by {self._file.shown(decorator)}")

    # ---- what is written and read

    def _write(self, scope: int, function: Function, site: Site, own_writes: set[tuple[int, int]]) -> None:
        name = self._file.name(site.name)
        if site.use == Use.IMPORT:
            self._add(function.unseen, site.line, f"imports {name}, which runs a module")
        if site.binding != NONE:
            bound = self._facts.bindings[site.binding].scope
            if bound != NONE and self._file.function(bound) != scope:
                self._add(function.impure, site.line, f"rebinds {name}")
            return
        op, *parts = self._facts.expressions[site.at]
        if op == Op.NAME and site.use == Use.WRITE and self._file.function(parts[1]) != scope:
            self._add(function.impure, site.line, f"removes {name}")
        if op == Op.REACH and (scope, site.name) in own_writes:
            return
        if op not in (Op.GET, Op.REACH) or site.use != Use.WRITE:
            return
        if op == Op.GET and self._is_own(scope, parts[0]):
            if self._may_run(scope, name):
                self._add(function.unseen, site.line, f"sets {name}, which may run a method")
            own_writes.add((scope, site.name))
            return
        shown = self._file.shown(site.at) if op == Op.GET else f"... .{name}"
        self._add(function.impure, site.line, f"writes {shown}")

    def _may_run(self, scope: int, name: str) -> bool:
        """Whether a constructor that sets a field may run a method: that of a property, or `__setattr__`."""
        defined = self._defined
        own = defined.classes.get(self._file.target(self._facts.scopes[scope].parent))
        if own is None or not own.is_plain or "__setattr__" in own.names or name in REPLACING:
            return True
        is_held = name in defined.made or name in defined.properties or (name in defined.held and defined.has_setter)
        return is_held and name in own.names

    def _is_own(self, scope: int, of: int) -> bool:
        """Whether an expression is the object that a constructor makes: its first parameter, never bound anew."""
        row = self._facts.scopes[scope]
        if self._file.name(row.name) not in OWN or self._facts.scopes[row.parent].kind != ScopeKind.CLASS:
            return False
        op, *parts = self._facts.expressions[of]
        if op != Op.NAME or parts[1] == NONE or self._file.function(parts[1]) != scope:
            return False
        values = self._file.values((op, *parts))
        return [self._facts.expressions[value] for value in values] == [(Op.PARAMETER, scope, 0)]

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
                self._add(function.impure, site.line, f"reads {name}, which a function changes in line {where}")
            elif row.target and row.target in self._defined.doubted:
                self._add(function.unseen, site.line, f"reads {name}, which a function may change")
        if may_be_state and (full := self._file.dotted(site.at)) in known.STATE:
            self._add(function.impure, site.line, f"reads {full}")
        if is_property:
            self._read_property(function, site, rows)

    def _read_variable(self, scope: int, function: Function, site: Site, binder: int) -> None:
        """A variable of the function, or of one around: that is state where it has more than one value."""
        is_around = self._file.function(binder) != scope
        line, is_other = self._around.get((binder, site.name), (0, False)) if is_around else (0, False)
        name = self._file.name(site.name)
        if is_other:
            self._add(function.impure, site.line, f"reads {name}, which a function changes in line {line}")
        elif line:
            self._add(function.unseen, site.line, f"reads {name}, which the function around may change")

    def _is_of_module(self, at: int) -> bool:
        op, *parts = self._facts.expressions[at]
        return bool(op == Op.NAME and parts[1] <= 0)

    def _read_made(self, function: Function, site: Site, rows: Sequence[RowTarget]) -> None:
        """A variable of a class may be made as it is read: `a = property(b)`."""
        name = self._facts.names[site.name]
        is_seen = bool(rows) and all(row.target and row.confidence == Confidence.CERTAIN for row in rows)
        if not is_seen or any(row.target in self._defined.made[name] for row in rows):
            self._add(function.unseen, site.line, f"reads {name}, which may be made as it is read")

    def _read_property(self, function: Function, site: Site, rows: Sequence[RowTarget]) -> None:
        name = self._facts.names[site.name]
        targets = [row.target for row in rows if row.target in self._defined.functions]
        is_seen = targets and all(row.confidence == Confidence.CERTAIN for row in rows)
        candidates = targets if is_seen else self._defined.properties[name]
        if len(candidates) > MAX_PROPERTIES:
            self._add(function.unseen, site.line, f"reads {name}, which may be one of many properties")
            return
        for target in candidates:
            (function.calls if is_seen else function.may_call).setdefault(target, site.line)

    # ---- calls

    def _call(self, scope: int, function: Function, site: Site, rows: Sequence[RowTarget]) -> None:
        expression = self._facts.expressions[site.at]
        called = expression[1] if expression[0] in CALLED else site.at
        rows = [row for row in rows if row.target not in self._lambdas[scope]]
        found = [row for row in rows if row.target in self._defined.functions or row.target in self._defined.classes]
        for row in rows:
            if row.target and row.target in self._defined.changed:
                self._add(function.impure, site.line, f"calls {self._file.shown(called)}, which a function changes")
            elif row.target and row.target in self._defined.doubted:
                self._add(function.unseen, site.line, f"calls {self._file.shown(called)}, which a function may change")
        if found:
            self._of_project(scope, function, site, called, found)
        elif expression[0] == Op.ENTERED:
            self._entered(function, site, expression[1])
        elif expression[0] == Op.ELEMENT:
            if not self._file.is_still(expression[1], scope):
                self._add(
                    function.unseen,
                    site.line,
                    f"iterates over {self._file.shown(expression[1])}, which may be a file or a generator",
                )
        elif self._is_plain_super(scope, called, site):
            pass
        elif any(row.target or row.confidence in (Confidence.UNRESOLVED, Confidence.POSSIBLE) for row in rows):
            self._add(function.unseen, site.line, f"calls {self._file.shown(called)}, which is not known")
        else:
            self._outside(scope, function, site, called)

    def _of_project(self, scope: int, function: Function, site: Site, called: int, rows: Sequence[RowTarget]) -> None:
        is_seen = all(row.confidence == Confidence.CERTAIN for row in rows)
        shown = self._file.shown(called)
        if not is_seen:
            self._add(function.unseen, site.line, f"calls {shown}, which may be another")
        name = self._file.name(site.name)
        if name in OWN and not self._is_of_own(scope, site, called):
            self._add(function.impure, site.line, f"calls {shown} of what it did not make")
        calls = function.calls if is_seen else function.may_call
        for row in rows:
            assert row.target
            made = self._defined.classes.get(row.target)
            if made is None:
                calls.setdefault(row.target, site.line)
                continue
            if made.unseen:
                self._add(function.unseen, site.line, f"makes {shown}, {made.unseen}")
            for constructor in OWN & made.members.keys():
                calls.setdefault(made.members[constructor], site.line)

    def _is_of_own(self, scope: int, site: Site, called: int) -> bool:
        """Whether a constructor that is called by its name is one for the object being made: `super().__init__()`."""
        op, *parts = self._facts.expressions[called]
        if self._file.name(self._facts.scopes[scope].name) not in OWN or op != Op.GET:
            return False
        if self._facts.expressions[parts[0]][0] == Op.SUPER or self._is_own(scope, parts[0]):
            return True
        op, *parts = self._facts.expressions[site.at]
        given: Sequence[int] = parts[1] if op in CALLED else ()
        return bool(given) and given[0] >= 0 and self._is_own(scope, given[0])  # A.__init__(self)

    def _entered(self, function: Function, site: Site, value: int) -> None:
        op, *parts = self._facts.expressions[value]
        full = self._file.dotted(parts[0]) if op == Op.CALL else None
        if full not in ("contextlib.suppress", "contextlib.nullcontext"):
            self._add(function.unseen, site.line, f"enters {self._file.shown(value)}")

    def _outside(self, scope: int, function: Function, site: Site, called: int) -> None:
        """A call of what the project does not define."""
        function.calls_outside += 1
        shown = self._file.shown(called)
        full = self._file.dotted(called)
        if self._is_watching(full):
            self._add(function.logged, site.line, f"calls {shown}")
        elif full in known.PURE:
            self._given_functions(function, site, full)
            self._consumed(scope, site, full)
            if full == "builtins.type" and len(self._facts.expressions[site.at][2]) != 1:
                self._add(function.unseen, site.line, "makes a class")
        elif full and known.is_impure(full):
            self._add(function.impure, site.line, f"calls {full.removeprefix('builtins.')}")
        else:
            self._method(scope, function, site, called)

    @staticmethod
    def _is_watching(full: str | None) -> bool:
        if not full:
            return False
        above, _, last = full.rpartition(".")
        is_logger = above in ("logging.Logger()", "logging") and last in known.LOGGING
        return is_logger or full == "warnings.warn" or full in known.LOGGERS

    def _consumed(self, scope: int, site: Site, full: str) -> None:
        """`list(a)` takes from `a` what it gives, if that is a generator or a file."""
        op, _, arguments, _ = (*self._facts.expressions[site.at], None, None)[:4]
        if full not in known.CONSUMING or op not in CALLED or (full in known.OF_ONE and len(arguments) > 1):
            return
        for value in arguments:
            if value >= 0:
                self._take(scope, value, site.line)

    def _take(self, scope: int, of: int, line: int) -> None:
        """What takes all that a value gives changes it, if it is no container."""
        if not self._file.is_still(of, scope):
            said = f"takes from {self._file.shown(of)}, which may be a file or a generator"
            self._add(self.functions[scope].unseen, line, said)

    def _method(self, scope: int, function: Function, site: Site, called: int) -> None:
        """A call of a method of what is outside the project, or of what is not known at all."""
        op, *parts = self._facts.expressions[called]
        shown, name = self._file.shown(called), self._file.name(site.name)
        if op != Op.GET:
            self._add(function.unseen, site.line, f"calls {shown}, which is not known")
            return
        of = self._file.type_of(parts[0]).partition(":")[0]
        is_fresh = self._file.is_fresh(parts[0], scope)
        if name in known.CONSUMING:
            self._consumed(scope, site, name)
        if name in known.METHODS.get(of, ()):
            self._given_functions(function, site, None)
        elif name in known.MUTATING.get(of, ()) or (not of and name in known.CHANGING):
            if not is_fresh:
                self._add(function.impure, site.line, f"calls {shown} of what it did not make")
            self._given_functions(function, site, None)
        else:
            self._add(function.unseen, site.line, f"calls {shown}, which is not known")

    def _is_plain_super(self, scope: int, called: int, site: Site) -> bool:
        """Whether `super().__init__()` is that of a built-in class which only keeps what it gets."""
        parent = self._facts.scopes[scope].parent
        op, *parts = self._facts.expressions[called]
        if self._file.name(site.name) != "__init__" or op != Op.GET or parent == NONE:
            return False
        if self._facts.expressions[parts[0]][0] != Op.SUPER:
            return False
        own = self._defined.classes.get(self._file.target(parent))
        return own is not None and own.unseen is None

    def _given_functions(self, function: Function, site: Site, full: str | None) -> None:
        """What is given to be called must be seen: a lambda, whose text is the function's own, or a function known."""
        op, *parts = self._facts.expressions[site.at]
        if op not in CALLED:
            return
        given = [value for word, value in parts[2] if self._file.name(word) in known.CALLING_WORDS or word == NONE]
        if full in known.CALLING and len(parts[1]) > known.CALLING[full]:
            given.append(parts[1][known.CALLING[full]])
        given += [value for value in parts[1] if value < 0 and (full is None or full in known.CALLING)]
        if full is not None:  # whatever else is handed to it that can be called, and has an effect
            given += [value for value in (*parts[1], *(value for _, value in parts[2])) if self._has_effect(value)]
        for value in dict.fromkeys(given):
            if value < 0 or not self._is_harmless(value):
                shown = "what it is given" if value < 0 else self._file.shown(value)
                self._add(function.unseen, site.line, f"hands over {shown}, which may be called")

    def _has_effect(self, at: int) -> bool:
        """Return whether a value is a function of this file by its name, or one of outside that has an effect."""
        if at < 0:
            return False
        if full := self._file.dotted(at):
            return known.is_impure(full)
        expression = self._facts.expressions[at]
        bound = self._file.bindings(expression) if expression[0] == Op.NAME else ()
        values = [self._facts.bindings[each].value for each in bound]
        return any(value >= 0 and self._facts.expressions[value][0] == Op.FUNCTION for value in values)

    def _is_harmless(self, at: int) -> bool:
        op, *parts = self._facts.expressions[at]
        is_lambda = op == Op.FUNCTION and self._facts.scopes[parts[0]].kind == ScopeKind.LAMBDA
        made = self._file.dotted(parts[0]) if op == Op.CALL else None
        return (
            is_lambda
            or op in COUNTED_AS_MADE
            or bool(self._file.type_of(at))
            or self._file.dotted(at) in known.PURE - known.CALLING.keys()
            or made in ("operator.attrgetter", "operator.itemgetter")
        )
