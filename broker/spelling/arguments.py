"""The question that some arguments mean, and in words what of them was taken as what.

Nothing widens: whatever is meant becomes a question of the same tool, checked by the same Struct and the same worker.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import msgspec

from fledgling.broker.protocol import schema
from fledgling.broker.spelling.table import Alias, Always, listed
from fledgling.broker.spelling.values import HOWS, MERGING, PLAIN, TRUTH, VALUES, below
from fledgling.messages.aliases import ALIASES
from fledgling.messages.bounded import MAX_LINE
from fledgling.messages.questions import QUESTIONS, AnyQuestion, Relation
from fledgling.plain import WILDCARD

MAX_RESPELLED_CHARS = 512  # of a path or a name: some rows look at the rest of a text at each of its characters
WRAPPERS = ("arguments", "args", "parameters", "params", "kwargs", "tool_input")  # of all arguments

_IN_GLOBS = re.compile(r"[,{}]")  # what stands between the paths of a glob that has several
MAX_LINE_CHARS = 64  # of a line that is named: nine digits, a word and space; more are not looked at
_NUMBERED = re.compile(r"\s*(?:L|line\s*|#)([0-9]{1,9})\s*", re.IGNORECASE)  # a line as links and people write it
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@cache
def properties(tool: str) -> schema.Schema:
    """Return the arguments of a tool, as its schema has them."""
    known: schema.Schema = schema.input_schema(tool)["properties"]
    return known


@cache
def optional(tool: str) -> frozenset[str]:
    """Return which arguments may be null. Asked each time, msgspec reads the class anew and leaves cycles behind."""
    return frozenset(field.name for field in msgspec.structs.fields(QUESTIONS[tool]) if field.default is None)


@cache
def _relations() -> list[tuple[re.Pattern[str], Relation]]:
    return [(re.compile(row.like, re.IGNORECASE), row.relation) for row in listed().relation]


class Taken(NamedTuple):
    """A question, and in words what of the arguments was taken as what: `pattern as query`."""

    question: AnyQuestion
    words: tuple[str, ...] = ()


class MeaningError(Exception):
    """An argument means another one that is given as well."""

    def __init__(self, tool: str, name: str, means: str) -> None:
        """Say it as a refusal does."""
        super().__init__(f"{tool}: `{name}` means `{means}`, which is given as well")


def taken(tool: str, arguments: Mapping[str, object], root: str) -> Taken:
    """Return the question that some arguments mean; `root` is what absolute paths may begin with.

    >>> taken("search", {"pattern": "x", "type": "py"}, "/srv/app").words
    ('pattern as query', 'type as language', 'language "py" as "python"')

    Raises MeaningError, or msgspec.ValidationError for what no tool takes.
    """
    if alias := ALIASES.get(tool):
        return taken(alias.tool, alias.arguments(arguments), root)
    words: list[str] = []
    given = _unwrapped(arguments)
    named = _named(tool, {name: value for name, value in given.items() if value is not None}, words)
    _join_lists(tool, named, root, words)
    meant = {name: _valued(tool, name, value, root, words) for name, value in named.items()}
    if tool == "symbols":
        _relate(meant, words)
    asked = {name: value for name, value in meant.items() if not (value == "" and name in optional(tool))}
    return Taken(msgspec.convert(asked, QUESTIONS[tool], strict=False), tuple(words))


def _unwrapped(arguments: Mapping[str, object]) -> Mapping[str, object]:
    """Return the arguments that are the only one: `{"arguments": {"path": "a.py"}}` is `{"path": "a.py"}`."""
    if len(arguments) == 1:
        [(name, value)] = arguments.items()
        if name in WRAPPERS and isinstance(value, Mapping):
            return value
        if name in WRAPPERS and isinstance(value, str) and value.startswith("{"):
            try:
                found = json.loads(value)
            except (ValueError, RecursionError):
                return arguments
            return found if isinstance(found, dict) else arguments
    return arguments


def _relate(meant: dict[str, object], words: list[str]) -> None:
    """Complete a question about uses: `symbol="who calls run"` has a relation, `name_pattern="run"` is a symbol.

    So is a `path` that is one word, which is what a command is given. Without a relation a symbol is the name of
    definitions.
    """
    field = next((field for field in ("symbol", "name_pattern", "path") if meant.get(field)), "symbol")
    name = meant.get(field)
    if field == "path" and (not meant.get("relation") or "/" in str(name) or WILDCARD.search(str(name))):
        return
    if not isinstance(name, str) or len(name) > MAX_RESPELLED_CHARS:
        return
    for like, relation in _relations():
        if (found := like.fullmatch(name.strip())) and not meant.get("relation"):
            words.append(f"{as_json(name)} as symbol={as_json(found[1])}, relation={as_json(relation)}")
            meant |= {"symbol": found[1], "relation": relation}
            meant.pop("name_pattern", None)
            return
    if meant.get("relation") and field != "symbol":
        words.append(f"{field} as symbol")
        meant["symbol"] = meant.pop(field)
    elif meant.get("symbol") and not meant.get("relation"):
        words.append("symbol as name_pattern")
        meant["name_pattern"] = meant.pop("symbol")


def _named(tool: str, given: Mapping[str, object], words: list[str]) -> dict[str, object]:
    """Return arguments by the names that a tool has for them; those that mean nothing keep theirs, and are refused."""
    meant, strange = _known(tool, given)
    for alias in listed().alias:
        for name in _of(tool, alias, strange):
            if alias.how == "expression" and (alias.means in meant or not _is_expression(strange[name])):
                continue  # a later row has it as a truth value
            if alias.how == "within" and _excludes(strange[name]):
                continue  # a later row leaves it out, and says why
            became = HOWS[alias.how](_only(strange.pop(name)), alias.means, meant)
            if alias.how not in MERGING and (twice := became.keys() & meant.keys()):
                raise MeaningError(tool, name, min(twice))
            meant |= became
            shown = dict.fromkeys(became) if alias.how in PLAIN else became
            words.append(
                f"{name} {'as ' + ', '.join(_shown(*item) for item in shown.items()) if shown else 'left out'}"
            )
    for row in listed().always:
        for name in _of(tool, row, strange):
            if not row.values or strange[name] in row.values:
                del strange[name]
                words += [f"{name} left out, as {row.why}"] if row.why else []
    return {**meant, **strange}


def _join_lists(tool: str, meant: dict[str, object], root: str, words: list[str]) -> None:
    """Make one text of a list: what it holds where that is one, an expression of texts to look for, a glob of paths."""
    for name, value in [*meant.items()]:
        if (
            not isinstance(value, list)
            or properties(tool).get(name, {}).get("type") == "array"
            or not all(isinstance(each, str) for each in value)
        ):
            continue
        if name == "path" and tool in ("search", "symbols") and len(value) > 1:
            value = [below(each, root).rstrip("/") or "." for each in value]  # as a single path is
        value = [each for each in value if each]  # an expression that may be nothing is in every line
        if len(value) == 1:
            [meant[name]] = value
        elif value and (tool, name) == ("search", "query"):
            meant |= {"query": "|".join(map(re.escape, value)), "regex": True}
            words.append(f"query as {as_json(meant['query'])}, regex=true")
        elif value and name == "path" and tool in ("search", "symbols") and not _IN_GLOBS.search("".join(value)):
            meant["path"] = f"{{{','.join(value)}}}"
            words.append(f"path as {as_json(meant['path'])}")


def _known(tool: str, given: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """Return the arguments that a tool has, `maxResults` as max_results, and the others."""
    meant: dict[str, object] = {}
    strange: dict[str, object] = {}
    for name, value in given.items():
        known = name if name in QUESTIONS[tool].__struct_fields__ else snake(name)
        if known not in QUESTIONS[tool].__struct_fields__:
            strange[name] = value
        elif known in meant:
            raise MeaningError(tool, name, known)
        else:
            meant[known] = value
    if tool == "search" and "query" not in meant and _is_expression(meant.get("regex")):
        strange["regex"] = meant.pop("regex")
    return meant, strange


def _of(tool: str, row: Alias | Always, strange: Mapping[str, object]) -> list[str]:
    """Return which of some names a row is about."""
    return [name for name in strange if tool in row.tools and (name in row.names or snake(name) in row.names)]


def _shown(name: str, value: object) -> str:
    return name if value is None else f"{name}={as_json(value)}"


def snake(name: str) -> str:
    """Return a name as arguments and tools have it: `snake("maxResults")` is `max_results`."""
    return name if name.startswith("-") else _HUMP.sub("_", name[:64]).replace("-", "_").lower()


def _only(value: object) -> object:
    """Return what a list of one holds: `files` and `kinds` come as lists."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _excludes(value: object) -> bool:
    """Whether a glob, or one of a list, says what is not meant: `!tests/*`."""
    return any(str(each).startswith("!") for each in (value if isinstance(value, list) else [value]))


def _is_expression(value: object) -> bool:
    """Whether a value for `regex` is an expression itself, and not whether the query is one."""
    return isinstance(value, str) and value.lower() not in ("", *TRUTH)


def _valued(tool: str, name: str, value: object, root: str, words: list[str]) -> object:
    """Return a value as it is meant: one of a few by another name, a path below the root, a number within bounds."""
    if name == "kind" and isinstance(value, int):
        value = str(value)  # as the Language Server Protocol numbers them
    known = properties(tool).get(name, {})
    if known.get("type") == "integer":
        meant = _bounded(value, known)
    elif known.get("type") == "boolean" and isinstance(value, str):
        return TRUTH.get(value.lower(), value)
    elif known.get("type") == "array" and isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    elif isinstance(value, str) and name in VALUES:
        meant = VALUES[name](value, root)
    else:
        return value
    if meant != value:
        shown = "the absolute path" if name in ("path", "pattern") else f"{name} {as_json(value)}"
        nothing = "the root" if name in ("path", "pattern") else "any"
        words.append(f"{shown} as {as_json(meant) if meant else nothing}")
    return meant


def _bounded(value: object, known: Mapping[str, int]) -> object:
    """Return the bound that is meant by a number beyond it; 0 may be the least, and `all` is the most."""
    most, least = known.get("maximum", MAX_LINE), known["minimum"]
    if isinstance(value, str) and value.strip().lower() in ("all", "max", "unlimited"):
        return most
    if isinstance(value, str) and (line := _NUMBERED.fullmatch(value[:MAX_LINE_CHARS])):
        value = line[1]
    try:
        number = msgspec.convert(value, int, strict=False)
    except msgspec.ValidationError:
        return value
    if number == 0:
        return max(least, 0) or value
    return most if most < number <= MAX_LINE else value


def as_json(value: object) -> str:
    """Return a value as it is written in a call: `as_json("a")` is `"a"` in quotes."""
    return msgspec.json.encode(value).decode()
