"""Fixtures of pytest: functions whose results parameters of their names get, in tests and in other fixtures."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from fledgling.worker.graph.linking.numbered import NumberedFiles
from fledgling.worker.graph.tables import NONE, Binding, Expression, Flag, Op, ScopeKind
from fledgling.worker.graph.unit import Unit

NAME_OF_FIXTURE, INDIRECT, NEW = "name", "indirect", "new"  # arguments of decorators
SEPARATED = (Op.TUPLE, Op.LIST)
MAX_ABOVE = 32  # files for the tests around them in which a fixture is looked for, the nearest first
MAX_FIXTURES = 8  # fixtures of one name in one place; the last ones count


class Fixtures:
    """Where fixtures are defined, and which parameters get other values."""

    def __init__(self, files: NumberedFiles) -> None:
        self._files = files
        self.functions: dict[int, int] = {}  # their scopes, with the names that parameters have which get them
        self.defined: dict[tuple[int, int], list[int]] = {}  # by the scope around, and that name
        self.of_plugins: dict[int, list[int]] = {}  # by name: those in no test and no file for the tests around it
        self._varied: dict[int, set[str]] = {}  # of functions and classes: parameters that a decorator gives values
        self._filled: dict[int, int] = {}  # of functions and classes: how many parameters decorators fill
        self._above: dict[str, list[int]] = {}  # by directory: the modules whose fixtures are seen there
        self._modules: dict[str, int] = {}
        for unit in files.units:
            if unit.dialect.fixture:
                self._read(unit)

    def _read(self, unit: Unit) -> None:
        directory, _, file = unit.path.rpartition("/")
        is_shared = file == unit.dialect.fixture_file
        if is_shared:
            self._modules[directory] = unit.base
        is_plugin = not is_shared and not _is_collected(file)
        for row in unit.bindings:
            op, *parts = unit.expressions[row.value]
            if op == Op.CALL and NONE not in (row.name, row.scope):
                self._made(unit, row, parts, is_plugin=is_plugin)
            of = unit.expressions[parts[0]] if op == Op.DECORATED else (NONE,)
            if of[0] not in (Op.FUNCTION, Op.CLASS):
                continue
            for decorator in parts[1]:
                self._decorated(unit, of, decorator, is_plugin=is_plugin)

    def _decorated(self, unit: Unit, of: Expression, decorator: int, *, is_plugin: bool) -> None:
        expression = unit.expressions[decorator]
        is_call = expression[0] == Op.CALL
        function = expression[1] if is_call else decorator
        own, scope = self._called(unit, function), unit.base | of[1]
        given: Sequence[int] = expression[2] if is_call else []
        said = _words(unit, expression) if is_call else {}
        if own == unit.dialect.varies and is_call:
            names = unit.expressions[given[0]] if given and given[0] >= 0 else said.get("argnames", ())
            indirect = unit.expressions[given[2]] if len(given) > 2 and given[2] >= 0 else said.get(INDIRECT)
            self._vary(scope, {*_named(unit, names)}, None if indirect is None else {*_named(unit, indirect)})
        elif own == unit.dialect.fixture and of[0] == Op.FUNCTION:
            name = unit.names[unit.facts.scopes[of[1]].name]
            if NAME_OF_FIXTURE in said:
                op, *parts = said[NAME_OF_FIXTURE]
                if op != Op.TEXT:
                    return
                name = unit.names[parts[0]]
            self._define(scope, self._files.outer(scope), name, is_plugin=is_plugin)
        elif is_call and NEW not in said:
            most = unit.dialect.fills.get(own)
            if most is None and unit.expressions[function][0] == Op.GET:
                most = unit.dialect.fills.get(f"{self._called(unit, unit.expressions[function][1])}.{own}")
            if most is not None and len(given) <= most:
                self._filled[scope] = self._filled.get(scope, 0) + 1

    def _made(self, unit: Unit, row: Binding, call: Sequence[Any], *, is_plugin: bool) -> None:
        """Note `a = fixture(b)` and `a = fixture(scope="c")(b)`, of a function b of the file."""
        of, given, _ = call[:3]
        made_by = unit.expressions[of][1] if unit.expressions[of][0] == Op.CALL else of
        if len(given) != 1 or given[0] < 0 or self._called(unit, made_by) != unit.dialect.fixture:
            return
        function = _bound(unit, given[0])
        if function[0] == Op.FUNCTION and unit.base | function[1] not in self.functions:
            name = unit.names[row.name]
            self._define(unit.base | function[1], unit.base | row.scope, name, is_plugin=is_plugin)

    def _define(self, function: int, scope: int, name: int, *, is_plugin: bool) -> None:
        self.functions[function] = name
        defined = self.defined.setdefault((scope, name), [])
        defined.append(function)
        del defined[:-MAX_FIXTURES]
        if is_plugin:
            plugins = self.of_plugins.setdefault(name, [])
            plugins += [function] if len(plugins) <= MAX_FIXTURES else []

    def _vary(self, scope: int, names: set[str], indirect: set[str] | None) -> None:
        """Note which parameters get values: all but those of which the values go to fixtures, if it is said which."""
        if indirect is None or indirect:
            self._varied.setdefault(scope, set()).update(names - (indirect or set()))

    def _called(self, unit: Unit, node: int) -> str:
        """What a function is called where it is defined: `from a import fixture as b`, `b = a.fixture`."""
        op, *parts = _bound(unit, node)
        if op == Op.IMPORT:
            return unit.facts.imports[parts[0]].name or ""
        return unit.facts.names[parts[1]] if op == Op.GET else self._files.last_name(unit.base | node)

    @cached_property
    def names(self) -> frozenset[int]:
        """The names of all fixtures."""
        return frozenset(self.functions.values())

    def takes(self, function: int, place: int) -> bool:
        """Whether a parameter may get what a fixture gives: that of a test or fixture, if it has no other value."""
        row, unit = self._files.scope(function), self._files.unit(function)
        given, around = row.parameters[place], self._files.outer(function)
        if given.name == NONE or given.rest or given.default != NONE or row.kind != ScopeKind.FUNCTION:
            return False
        kind = self._files.scope(around).kind if around != NONE else NONE
        if kind not in (ScopeKind.MODULE, ScopeKind.CLASS):
            return False
        first = int(kind == ScopeKind.CLASS and not row.flags & Flag.STATIC)
        if place < first + self._filled.get(function, 0) + self._filled.get(around, 0):
            return False
        own, name = unit.facts.names[row.name], unit.facts.names[given.name]
        is_taker = function in self.functions or (own.startswith(unit.dialect.takes_fixtures) and unit.is_of_tests)
        return is_taker and not any(name in self._varied.get(at, ()) for at in (function, around))

    def seen_from(self, unit: Unit) -> Sequence[int]:
        """The modules whose fixtures a file sees, the nearest first: its own, and those of the directories above."""
        directory = unit.path.rpartition("/")[0]
        known = self._above.get(directory)
        if known is None:
            above = (self._modules[at] for at in _upwards(directory) if at in self._modules)
            known = self._above[directory] = [*islice(above, MAX_ABOVE)]
        return [unit.base, *(at for at in known if at != unit.base)]


def _is_collected(file: str) -> bool:
    """Whether pytest looks for tests in a file of that name, if nobody tells it otherwise."""
    return file.startswith("test_") or file.endswith("_test.py")


def _bound(unit: Unit, node: int) -> Expression:
    """What an expression is, of a name what it is bound to, if that is one thing."""
    op, *parts = unit.expressions[node]
    reach = parts[2] if op == Op.NAME else None
    return unit.expressions[unit.bindings[reach[0]].value if reach and len(reach) == 1 else node]


def _words(unit: Unit, call: Expression) -> dict[str, Expression]:
    """The arguments of a call that have names."""
    return {unit.facts.names[word]: unit.expressions[at] for word, at in call[3] if word != NONE}


def _upwards(directory: str) -> Iterator[str]:
    """Yield a directory and all that it is in, the root of the project, which is "", last."""
    while directory:
        yield directory
        directory = directory.rpartition("/")[0]
    yield ""


def _named(unit: Unit, expression: Expression | tuple[()]) -> Iterator[str]:
    """Yield the names that are written out: `"a, b"`, `["a", "b"]`."""
    op, *parts = expression or (NONE,)
    texts = [unit.expressions[at] for at in parts[0] if at >= 0] if op in SEPARATED else [(op, *parts)]
    for text in texts:
        if text[0] == Op.TEXT:
            yield from (name.strip() for name in unit.facts.names[text[1]].split(","))
