"""What the expressions of one Python file are that needs no resolver: full names of what is outside, built-in types.

`os.path.join` is known by its import, `"a".join` by the literal, `a.strip` by the declared type of `a`. What has no
such sign has no name and no type: nothing is guessed.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence, Set
from typing import Any, NamedTuple

from fledgling.worker.graph.tables import (
    NONE,
    Binding,
    Facts,
    GraphFile,
    Op,
    ScopeKind,
    Site,
    Use,
    sites_of,
    unpacked,
)
from fledgling.worker.graph.unit import Target
from fledgling.worker.languages.python import effects as known

MAX_DEPTH = 12  # expressions within each other that are looked into, for a type or a full name
METACLASS = "metaclass"
VIEWS = ("items", "keys", "values")
MAX_BEHIND = 32  # expressions that one stands for
MAX_BINDINGS = 8  # of a name whose values are looked at
SHOWN_CHARS = 60  # of what is named as evidence
COUNTED_AS_MADE = (Op.MADE, Op.COMPUTED, Op.OPERATED, Op.FILLED)  # operators of numbers and texts make it anew
PLAIN = {Op.TEXT: "str", Op.FILLED: "str", Op.NUMBER: "int", Op.TUPLE: "tuple", Op.DICT: "dict"}

Place = tuple[int, int, bool]  # line and column of an occurrence, and whether it has a name: a call has none


class RowTarget(NamedTuple):
    """What the graph says of one occurrence: a definition, or none, and how sure that is."""

    target: Target | None
    confidence: int


class FileFacts:
    """The facts of a file, with what is asked of them again and again.

    >>> FileFacts(3, file).dotted(17)
    'os.path.join'
    """

    def __init__(self, number: int, file: GraphFile) -> None:
        self.number, self.path = number, file.path
        self.facts: Facts = unpacked(file.facts)
        self.sites: list[Site] = [*sites_of(self.facts)]
        self._stdlib = {
            (row.line_number, row.module) for row in file.imports if row.is_stdlib and not row.resolved_path
        }
        self._bound: dict[tuple[int, int], list[int]] = defaultdict(list)
        for place, binding in enumerate(self.facts.bindings):
            self._bound[binding.scope, binding.name].append(place)
        self._dotted: dict[int, str | None] = {}
        self._types: dict[int, str] = {}
        self.before = {each.value: each.of for each in self.facts.augmented}
        self._fresh: dict[tuple[int, int], bool] = {}
        self.frames = self._functions()
        self.derived: Set[str] = frozenset()  # built-in types of which the project derives what may do more
        self._replaced: Set[str] = frozenset()
        self._gets_unseen_names = False
        self.with_metaclass = self._with_metaclass()
        self.has_star = any(scope.stars for scope in self.facts.scopes)
        self.decorated = {
            self.facts.expressions[own][1]: decorators
            for op, *parts in self.facts.expressions
            if op == Op.DECORATED
            for own, decorators in [parts]
            if self.facts.expressions[own][0] in (Op.FUNCTION, Op.CLASS)
        }

    def name(self, number: int) -> str:
        """Return a name by its number; nothing for none."""
        return self.facts.names[number] if number >= 0 else ""

    def place(self, site: Site) -> Place:
        """Return where the graph has the rows of an occurrence."""
        return site.line, site.column, bool(self.facts.names[site.name])

    def function(self, scope: int) -> int:
        """Return the function that runs what stands in a scope, -1 for the module; a lambda is part of that."""
        return self.frames[scope] if scope >= 0 else NONE

    def is_in_class(self, binding: Binding) -> bool:
        """Return whether a binding is of a name of a class."""
        return binding.scope >= 0 and self.facts.scopes[binding.scope].kind == ScopeKind.CLASS

    def _functions(self) -> list[int]:
        frames: list[int] = []
        for at, scope in enumerate(self.facts.scopes):  # those around come first
            is_own = scope.kind == ScopeKind.FUNCTION
            frames.append(at if is_own else frames[scope.parent] if scope.parent >= 0 else NONE)
        return frames

    def _with_metaclass(self) -> frozenset[int]:
        """Return the classes that `metaclass=` stands in, but for that of abstract ones."""
        lines = {site.line for site in self.sites if site.use == Use.KEYWORD and self.name(site.name) == METACLASS}
        plain = {site.line for site in self.sites if self.name(site.name) == "ABCMeta"}
        classes = {row.line: at for at, row in enumerate(self.facts.scopes) if row.kind == ScopeKind.CLASS}
        begins = sorted(classes)
        places = (bisect_right(begins, line) for line in lines if line not in plain)
        return frozenset(classes[begins[place - 1]] for place in places if place)

    def target(self, scope: int) -> Target:
        """Return where a function or class begins."""
        return self.number, self.facts.scopes[scope].line

    def bindings(self, expression: Sequence[Any]) -> Sequence[int]:
        """Return the bindings that a NAME may mean."""
        _, name, scope, reach = expression
        if reach is not None:
            return tuple(reach)
        return self._bound.get((scope if scope != NONE else 0, name), [])

    def values(self, expression: Sequence[Any]) -> list[int]:
        """Return the values that a NAME may have; none where they are too many."""
        bindings = self.bindings(expression)
        return [self.facts.bindings[place].value for place in bindings] if len(bindings) <= MAX_BINDINGS else []

    def origins(self, at: int) -> list[int]:
        """Return what a name or field may have been first, before each `a += b`; none where that is too much."""
        found: list[int] = []
        waiting = [at]
        for each in waiting:
            op, *parts = self.facts.expressions[each]
            if op == Op.NAME and (values := self.values((op, *parts))):
                pass
            elif op == Op.REACH:
                values = [self.facts.bindings[place].value for place in parts[0]]
                values += [parts[1]] if parts[1] != NONE else []
            else:
                return []
            found += [value for value in values if value not in self.before]
            waiting += [of for value in values if (of := self.before.get(value, each)) not in waiting]
            if len(found) > MAX_BINDINGS or len(waiting) > MAX_BINDINGS:
                return []
        return found

    def is_immutable(self, at: int) -> bool:
        """Return whether `a += b` leaves the object as it is that `a` is."""
        origins = self.origins(at) or [at]
        return all(
            self.facts.expressions[value][0] in COUNTED_AS_MADE or self.type_of(value) in known.IMMUTABLE
            for value in origins
        )

    def dotted(self, at: int, depth: int = 0) -> str | None:
        """Return the full name of something outside the project, `os.path.join` or `builtins.len`; None of all else."""
        if at not in self._dotted:
            full = self._full_name(at, depth)
            self._dotted[at] = None if full and self._is_replaced(full) else full
        return self._dotted[at]

    def told(self, derived: Set[str], replaced: Set[str], *, gets_unseen_names: bool) -> None:
        """Take note of built-in types that the project derives and of what it replaces outside: nobody knows those.

        What is replaced has a full name, or just a name where it is not known whose. In a file that `gets_unseen_names`
        each may be replaced.
        """
        self.derived, self._replaced, self._gets_unseen_names = derived, replaced, gets_unseen_names
        for known_before in (self._dotted, self._types, self._fresh):
            known_before.clear()

    def _is_replaced(self, full: str) -> bool:
        module, _, _ = full.partition(".")
        if known.is_impure(full):  # worse than not known
            return False
        if self._gets_unseen_names:
            return True
        if "*" in self._replaced and not full.startswith(known.BUILTIN):
            return True
        return full in self._replaced or full.rpartition(".")[2] in self._replaced or f"{module}.*" in self._replaced

    def _full_name(self, at: int, depth: int) -> str | None:
        op, *parts = self.facts.expressions[at]
        if depth > MAX_DEPTH:
            return None
        if op == Op.GET:
            above = self.dotted(parts[0], depth + 1)
            return above and f"{above}.{self.name(parts[1])}"
        if op == Op.IMPORT:
            return self._imported(parts[0])
        if op != Op.NAME:
            return None
        bindings = self.bindings((op, *parts))
        if not bindings:
            return None if self.has_star or parts[1] != NONE else f"builtins.{self.name(parts[0])}"
        if len(bindings) > 1:
            return None
        value = self.facts.bindings[bindings[0]].value
        expression = self.facts.expressions[value]
        if expression[0] == Op.CALL and self.dotted(expression[1], depth + 1) in known.LOGGERS:
            return "logging.Logger()"
        return self.dotted(value, depth + 1) if expression[0] in (Op.IMPORT, Op.GET) else None

    def _imported(self, place: int) -> str | None:
        row = self.facts.imports[place]
        if (row.line, row.module) not in self._stdlib:
            return None
        if row.name == "":
            return row.module.partition(".")[0]
        return f"{row.module}.{row.name}" if row.name else row.module

    # ---- types

    def type_of(self, at: int, depth: int = 0) -> str:
        """Return the built-in type of an expression, `str` or `list:str`; "" where it is not known."""
        if at not in self._types:
            self._types[at] = ""  # of what is made from itself
            self._types[at] = self._type(at, depth)
        return self._types[at]

    def _type(self, at: int, depth: int) -> str:
        op, *parts = self.facts.expressions[at]
        if depth > MAX_DEPTH:
            return ""
        if op in PLAIN:
            return PLAIN[op]
        match op:
            case Op.LIST:
                is_slice = len(parts[0]) == 1 and parts[0][0] < 0 and not parts[1]
                return (is_slice and self.type_of(~parts[0][0], depth + 1)) or "list"
            case Op.NAME:
                return self._of_all(self.origins(at), depth)
            case Op.CHOICE:
                return self._of_all(parts[0], depth)
            case Op.ELEMENT | Op.ITEM | Op.INDEX:
                return {"str": "str", "list:str": "str"}.get(self.type_of(parts[0], depth + 1), "")
            case Op.CALL | Op.NEW:
                return self._given(parts[0], depth + 1)
        return self._declared_type(op, parts, depth + 1)

    def _declared_type(self, op: int, parts: Sequence[Any], depth: int) -> str:
        if op == Op.PARAMETER:
            row = self.facts.scopes[parts[0]].parameters[parts[1]]
            return ("", "tuple", "dict")[row.rest] if row.rest else self.declared(row.type, depth)
        if op in (Op.DECLARED, Op.CAST):
            return self.declared(parts[0], depth)
        return self.declared(parts[1], depth) if op == Op.NARROWED else ""

    def _of_all(self, values: Sequence[int], depth: int) -> str:
        if not 0 < len(values) <= MAX_BINDINGS:
            return ""
        found = {self.type_of(value, depth + 3) for value in values}
        return found.pop() if len(found) == 1 else ""

    def declared(self, at: int, depth: int = 0) -> str:
        """Return the built-in type that a type says, without `None`."""
        if at == NONE or depth > MAX_DEPTH:
            return ""
        op, *parts = self.facts.expressions[at]
        if op == Op.CHOICE:
            found = {self.declared(way, depth + 1) for way in parts[0] if not self._is_none(way)}
            return found.pop() if len(found) == 1 else ""
        if op == Op.INDEX:
            of, inner = self.declared(parts[0], depth + 1), self.declared(parts[1], depth + 1)
            return f"{of}:str" if of == "list" and inner == "str" else of
        full = self.dotted(at, depth + 1) or ""
        type_ = known.TYPES.get(full.removeprefix("builtins.").removeprefix("typing."), "")
        return "" if type_ in self.derived else type_

    def _is_none(self, at: int) -> bool:
        op, *parts = self.facts.expressions[at]
        return op in COUNTED_AS_MADE or (op == Op.NAME and self.name(parts[0]) == "None")

    def _given(self, function: int, depth: int) -> str:
        full = self.dotted(function, depth)
        if full:
            return known.GIVES.get(full, "")
        op, *parts = self.facts.expressions[function]
        if op != Op.GET:
            return ""
        of = self.type_of(parts[0], depth + 1).partition(":")[0]
        return known.GIVES_METHOD.get((of, self.name(parts[1])), "")

    # ---- what a function has made itself

    def is_fresh(self, at: int, function: int, depth: int = 0) -> bool:
        """Return whether an expression is always an object that the function itself has made."""
        key = at, function
        if key not in self._fresh:
            self._fresh[key] = False  # of what is made from itself
            self._fresh[key] = self._is_made(at, function, depth)
        return self._fresh[key]

    def _is_made(self, at: int, function: int, depth: int) -> bool:
        op, *parts = self.facts.expressions[at]
        if depth > MAX_DEPTH:
            return False
        if op in (Op.LIST, Op.DICT):
            return True
        if op == Op.CHOICE:
            return len(parts[0]) <= MAX_BINDINGS and all(self.is_fresh(way, function, depth + 3) for way in parts[0])
        if op == Op.PARAMETER:
            return bool(parts[0] == function and self.facts.scopes[parts[0]].parameters[parts[1]].rest == 2)
        if op == Op.CALL:
            return known.GIVES.get(self.dotted(parts[0]) or "", "") in known.MUTATING
        if op == Op.DECLARED:
            return parts[1] != NONE and self.is_fresh(parts[1], function, depth + 1)
        if op != Op.NAME or parts[1] == NONE or self.function(parts[1]) != function:
            return False
        values = self.values((op, parts[0], parts[1], None))
        values = [value for value in values if value not in self.before]  # `a += b`: of the same a
        return bool(values) and all(self.is_fresh(value, function, depth + 3) for value in values)

    def is_still(self, at: int, function: int, depth: int = 0) -> bool:
        """Return whether to iterate over a value changes nothing but what the function has made: it is a container."""
        op, *parts = self.facts.expressions[at]
        if depth > MAX_DEPTH:
            return False
        if self.type_of(at) or self.is_fresh(at, function):
            return True
        if op == Op.CALL:
            full = self.dotted(parts[0])
            if full in known.PURE:
                given = parts[1] if full in known.TAKING else ()
                return all(value >= 0 and self.is_still(value, function, depth + 1) for value in given)
            inner = self.facts.expressions[parts[0]]
            if inner[0] == Op.GET:
                return self.name(inner[2]) in VIEWS or bool(self.type_of(inner[1]))
            return False
        if op == Op.NAME:
            values = self.values((op, *parts))
            return bool(values) and all(self.is_still(v, function, depth + 3) for v in values)
        if op == Op.CHOICE:
            return len(parts[0]) <= MAX_BINDINGS and all(self.is_still(way, function, depth + 3) for way in parts[0])
        if op == Op.ELEMENT:
            return self._holds_still(parts[0], function, depth + 1)
        return op in (Op.TUPLE, Op.TEXT, Op.LIST, Op.DICT, *COUNTED_AS_MADE)

    def _holds_still(self, at: int, function: int, depth: int) -> bool:
        """Return whether all that iterating over a value gives are containers, as it does over `a.items()`."""
        op, *parts = self.facts.expressions[at]
        if depth > MAX_DEPTH:
            return False
        if op == Op.TUPLE:  # each loop over it asks again
            return len(parts[0]) <= MAX_BEHIND and all(
                value >= 0 and self.is_still(value, function, depth + 3) for value in parts[0]
            )
        if op == Op.NAME:
            values = self.values((op, *parts))
            is_fixed = all(self.facts.expressions[value][0] == Op.TUPLE for value in values)
            return is_fixed and bool(values) and all(self._holds_still(each, function, depth + 3) for each in values)
        if op != Op.CALL:
            return False
        if (full := self.dotted(parts[0])) in known.KEEPING and len(parts[1]) == 1 and parts[1][0] >= 0:
            return self._holds_still(parts[1][0], function, depth + 1)
        inner = self.facts.expressions[parts[0]]
        return full in known.PAIRING or (inner[0] == Op.GET and self.name(inner[2]) == "items")

    def behind(self, at: int) -> list[int]:
        """Return what is changed if `a.b[c]` is: it, `a.b` and `a`, and what the function's own `a` stands for."""
        found = [at]
        for each in found:
            op, *parts = self.facts.expressions[each]
            if op in (Op.GET, Op.INDEX, Op.ELEMENT, Op.ITEM):
                inner = parts[:1]
            elif op == Op.REACH:
                inner = [self.facts.bindings[place].value for place in parts[0]] + [parts[1]]
            elif op == Op.NAME and self.function(parts[1]) != NONE:
                inner = [self.facts.bindings[place].value for place in self.bindings((op, *parts))]
            else:
                inner = parts[0] if op == Op.CHOICE else []
            found += [to for to in inner[:MAX_BEHIND] if to >= 0 and to not in found]
            if len(found) > MAX_BEHIND:
                break
        return found

    def shown(self, at: int) -> str:
        """Return an expression in short, as evidence: `self.cache[...]`."""
        text, rest = "", MAX_DEPTH
        while rest:
            op, *parts = self.facts.expressions[at]
            rest -= 1
            match op:
                case Op.NAME:
                    return f"{self.name(parts[0])}{text}"[:SHOWN_CHARS]
                case Op.REACH if parts[1] != NONE:
                    at = parts[1]
                case Op.GET:
                    at, text = parts[0], f".{self.name(parts[1])}{text}"
                case Op.INDEX:
                    at, text = parts[0], f"[...]{text}"
                case Op.CALL | Op.NEW:
                    at, text = parts[0], f"(...){text}"
                case _:
                    break
        return f"...{text}"[:SHOWN_CHARS]
