"""What calls in the functions of one file do: of functions of the project, of built-in ones, of what is not known."""

from collections.abc import Mapping, Sequence

from fledgling.worker.graph.effects.builtin_types import COUNTED_AS_MADE, FileFacts, RowTarget
from fledgling.worker.graph.effects.function import Function, add, is_own
from fledgling.worker.graph.effects.surroundings import CALLED, OWN, Surroundings
from fledgling.worker.graph.reasons import Confidence
from fledgling.worker.graph.tables import NONE, Op, ScopeKind, Site
from fledgling.worker.graph.unit import Target
from fledgling.worker.languages.python import effects as known


class CallReader:
    """Adds to the functions of one file, given by their scopes, what their calls do."""

    def __init__(self, file: FileFacts, defined: Surroundings, functions: Mapping[int, Function]) -> None:
        self._file, self._defined, self._functions = file, defined, functions
        self._facts = file.facts
        self._lambdas: dict[int, set[Target | None]] = {at: set() for at in functions}  # those within each
        for at, scope in enumerate(file.facts.scopes):
            if scope.kind == ScopeKind.LAMBDA and file.function(at) != NONE:
                self._lambdas[file.function(at)].add(file.target(at))

    def read(self, scope: int, function: Function, site: Site, rows: Sequence[RowTarget]) -> None:
        """Add what a call, or a decorator, does: `rows` are what it may mean."""
        expression = self._facts.expressions[site.at]
        called = expression[1] if expression[0] in CALLED else site.at
        rows = [row for row in rows if row.target not in self._lambdas[scope]]
        found = [row for row in rows if row.target in self._defined.functions or row.target in self._defined.classes]
        for row in rows:
            if row.target and row.target in self._defined.changed:
                add(function.impure, site.line, f"calls {self._file.shown(called)}, which a function changes")
            elif row.target and row.target in self._defined.doubted:
                add(function.unseen, site.line, f"calls {self._file.shown(called)}, which a function may change")
        if found:
            self._of_project(scope, function, site, called, found)
        elif expression[0] == Op.ENTERED:
            self._entered(function, site, expression[1])
        elif expression[0] == Op.ELEMENT:
            if not self._file.is_still(expression[1], scope):
                add(
                    function.unseen,
                    site.line,
                    f"iterates over {self._file.shown(expression[1])}, which may be a file or a generator",
                )
        elif self._is_plain_super(scope, called, site):
            pass
        elif any(row.target or row.confidence in (Confidence.UNRESOLVED, Confidence.POSSIBLE) for row in rows):
            add(function.unseen, site.line, f"calls {self._file.shown(called)}, which is not known")
        else:
            self._outside(scope, function, site, called)

    def _of_project(self, scope: int, function: Function, site: Site, called: int, rows: Sequence[RowTarget]) -> None:
        is_seen = all(row.confidence == Confidence.CERTAIN for row in rows)
        shown = self._file.shown(called)
        if not is_seen:
            add(function.unseen, site.line, f"calls {shown}, which may be another")
        name = self._file.name(site.name)
        if name in OWN and not self._is_of_own(scope, site, called):
            add(function.impure, site.line, f"calls {shown} of what it did not make")
        calls = function.calls if is_seen else function.may_call
        for row in rows:
            assert row.target
            made = self._defined.classes.get(row.target)
            if made is None:
                calls.setdefault(row.target, site.line)
                continue
            if made.unseen:
                add(function.unseen, site.line, f"makes {shown}, {made.unseen}")
            for constructor in OWN & made.members.keys():
                calls.setdefault(made.members[constructor], site.line)

    def _is_of_own(self, scope: int, site: Site, called: int) -> bool:
        """Whether a constructor that is called by its name is one for the object being made: `super().__init__()`."""
        op, *parts = self._facts.expressions[called]
        if self._file.name(self._facts.scopes[scope].name) not in OWN or op != Op.GET:
            return False
        if self._facts.expressions[parts[0]][0] == Op.SUPER or is_own(self._file, scope, parts[0]):
            return True
        op, *parts = self._facts.expressions[site.at]
        given: Sequence[int] = parts[1] if op in CALLED else ()
        return bool(given) and given[0] >= 0 and is_own(self._file, scope, given[0])  # A.__init__(self)

    def _entered(self, function: Function, site: Site, value: int) -> None:
        op, *parts = self._facts.expressions[value]
        full = self._file.dotted(parts[0]) if op == Op.CALL else None
        if full not in ("contextlib.suppress", "contextlib.nullcontext"):
            add(function.unseen, site.line, f"enters {self._file.shown(value)}")

    def _outside(self, scope: int, function: Function, site: Site, called: int) -> None:
        """A call of what the project does not define."""
        function.calls_outside += 1
        shown = self._file.shown(called)
        full = self._file.dotted(called)
        if self._is_watching(full):
            add(function.logged, site.line, f"calls {shown}")
        elif full in known.PURE:
            self._given_functions(function, site, full)
            self._consumed(scope, site, full)
            if full == "builtins.type" and len(self._facts.expressions[site.at][2]) != 1:
                add(function.unseen, site.line, "makes a class")
        elif full and known.is_impure(full):
            add(function.impure, site.line, f"calls {full.removeprefix('builtins.')}")
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
                self.take(scope, value, site.line)

    def take(self, scope: int, of: int, line: int) -> None:
        """What takes all that a value gives changes it, if it is no container."""
        if not self._file.is_still(of, scope):
            said = f"takes from {self._file.shown(of)}, which may be a file or a generator"
            add(self._functions[scope].unseen, line, said)

    def _method(self, scope: int, function: Function, site: Site, called: int) -> None:
        """A call of a method of what is outside the project, or of what is not known at all."""
        op, *parts = self._facts.expressions[called]
        shown, name = self._file.shown(called), self._file.name(site.name)
        if op != Op.GET:
            add(function.unseen, site.line, f"calls {shown}, which is not known")
            return
        of = self._file.type_of(parts[0]).partition(":")[0]
        is_fresh = self._file.is_fresh(parts[0], scope)
        if name in known.CONSUMING:
            self._consumed(scope, site, name)
        if name in known.METHODS.get(of, ()):
            self._given_functions(function, site, None)
        elif name in known.MUTATING.get(of, ()) or (not of and name in known.CHANGING):
            if not is_fresh:
                add(function.impure, site.line, f"calls {shown} of what it did not make")
            self._given_functions(function, site, None)
        else:
            add(function.unseen, site.line, f"calls {shown}, which is not known")

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
                add(function.unseen, site.line, f"hands over {shown}, which may be called")

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
