"""Fixtures of pytest: functions whose results parameters of their names get, in tests and in other fixtures."""

from collections.abc import Iterator, Sequence
from itertools import islice

from fledgling.worker.graph.linking.numbered import NumberedFiles
from fledgling.worker.graph.tables import NONE, Expression, Flag, Op, ScopeKind
from fledgling.worker.graph.unit import Unit
from fledgling.worker.of_tests import is_test

NAME_OF_FIXTURE, INDIRECT = "name", "indirect"  # arguments of decorators
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
        for row in unit.bindings:
            op, *parts = unit.expressions[row.value]
            of = unit.expressions[parts[0]] if op == Op.DECORATED else (NONE,)
            if of[0] not in (Op.FUNCTION, Op.CLASS):
                continue
            for decorator in parts[1]:
                self._decorated(unit, of, decorator, is_plugin=not is_shared and not _is_collected(file))

    def _decorated(self, unit: Unit, of: Expression, decorator: int, *, is_plugin: bool) -> None:
        expression = unit.expressions[decorator]
        is_call = expression[0] == Op.CALL
        own = self._files.last_name(unit.base | (expression[1] if is_call else decorator))
        scope = unit.base | of[1]
        words = {word: at for word, at in expression[3] if word != NONE} if is_call else {}
        said = {unit.facts.names[word]: unit.expressions[at] for word, at in words.items()}
        if own == unit.dialect.varies and is_call and INDIRECT not in said:
            names = unit.expressions[expression[2][0]] if expression[2] and expression[2][0] >= 0 else ()
            self._varied.setdefault(scope, set()).update(_named(unit, names or said.get("argnames", ())))
        elif own == unit.dialect.fixture and of[0] == Op.FUNCTION:
            name = unit.names[unit.facts.scopes[of[1]].name]
            if NAME_OF_FIXTURE in said:
                op, *parts = said[NAME_OF_FIXTURE]
                if op != Op.TEXT:
                    return
                name = unit.names[parts[0]]
            self.functions[scope] = name
            defined = self.defined.setdefault((self._files.outer(scope), name), [])
            defined.append(scope)
            del defined[:-MAX_FIXTURES]
            if is_plugin:
                plugins = self.of_plugins.setdefault(name, [])
                plugins += [scope] if len(plugins) <= MAX_FIXTURES else []

    def takes(self, function: int, place: int) -> bool:
        """Whether a parameter may get what a fixture gives: that of a test or fixture, if it has no other value."""
        row, unit = self._files.scope(function), self._files.unit(function)
        given, around = row.parameters[place], self._files.outer(function)
        if given.name == NONE or given.rest or given.default != NONE or row.kind != ScopeKind.FUNCTION:
            return False
        kind = self._files.scope(around).kind if around != NONE else NONE
        if kind not in (ScopeKind.MODULE, ScopeKind.CLASS):
            return False
        if kind == ScopeKind.CLASS and place == 0 and not row.flags & Flag.STATIC:
            return False
        own, name = unit.facts.names[row.name], unit.facts.names[given.name]
        is_taker = function in self.functions or (own.startswith(unit.dialect.takes_fixtures) and is_test(unit.path))
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
