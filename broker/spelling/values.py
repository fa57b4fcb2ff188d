"""What becomes of a value: under another name of an argument, and as one of a few or an absolute path."""

import re
from collections.abc import Callable, Mapping
from typing import get_args
from unicodedata import category

import msgspec

from fledgling.broker.spelling.table import listed
from fledgling.messages.questions import Direction, Kind, Mode, Relation
from fledgling.plain import WILDCARD

MAX_LEVELS = 20  # of a map that is to be recursive: the most that explore gives
URI_PREFIXES = ("file://", "fledgling://file/")

_FENCED = re.compile(r"\s*```\w*\n(.*?)```\s*", re.DOTALL)
_WORD = re.compile("A+(?!a)|A?a+|0+")  # in a text of kinds of characters
_KINDS = {"Lu": "A", "Lt": "A", "L": "a", "M": "a", "N": "0"}  # by category of Unicode, or the first letter of it
_RANGE = re.compile(r"L?([0-9]{1,9})(?:\s*(?:-|:|,|\.\.|to)\s*L?([0-9]{1,9}))?")


def words_of(text: str) -> list[str]:
    """Return the words of camelCase, snake_case and a sentence, in any alphabet.

    >>> words_of("parse_HTTPHeader2")
    ['parse', 'HTTP', 'Header', '2']
    """
    kinds = "".join(_KINDS.get(of, _KINDS.get(of[0], " ")) for of in map(category, text))
    return [text[word.start() : word.end()] for word in _WORD.finditer(kinds)]


# ---- under another name ---------------------------------------------------------------------------------------------

TRUTH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def truth(value: object) -> bool | None:
    """Return what a value says of yes and no: `truth("Yes")` is True, `truth("maybe")` is None."""
    return TRUTH.get(str(value).lower())


# What becomes of a value: from it, the name that it is for, and the arguments that are known, to arguments.
How = Callable[[object, str, Mapping[str, object]], dict[str, object]]


def _same(value: object, means: str, _: Mapping[str, object]) -> dict[str, object]:
    return {means: value}


def _not(value: object, means: str, _: Mapping[str, object]) -> dict[str, object]:
    known = truth(value)
    return {means: value if known is None else not known}


def _most(value: object, means: str, given: Mapping[str, object]) -> dict[str, object]:
    """Lines before and lines behind are both `context`: the larger."""
    known = given.get(means)
    return {means: max(known, value) if isinstance(known, int) and isinstance(value, int) else value}


def _offset(value: object, means: str, _: Mapping[str, object]) -> dict[str, object]:
    """An offset counts lines from 1 for some clients, and from 0 for others: line 0 is the first for both."""
    return {means: 1 if value in (0, "0") else value}


def _counted(value: object, means: str, given: Mapping[str, object]) -> dict[str, object]:
    """So many lines from the first one on."""
    try:
        start, count = (msgspec.convert(number, int, strict=False) for number in (given.get("start_line", 1), value))
    except msgspec.ValidationError:
        return {means: value}
    return {means: start + count - 1}


def _range(value: object, means: str, _: Mapping[str, object]) -> dict[str, object]:
    """`10-14`, `L10-L14`, [10, 14]; -1 is the end of the file."""
    if isinstance(value, list) and len(value) == 2:
        start, end = value
        return {means: start} if end in (-1, None) else {means: start, "end_line": end}
    found = _RANGE.fullmatch(str(value).strip()[:64])
    if not found:
        return {means: value}
    return {means: found[1], "end_line": found[2]} if found[2] else {means: found[1]}


def _within(value: object, means: str, given: Mapping[str, object]) -> dict[str, object]:
    """File names of a pattern, within the directory that is given."""
    place = given.get(means)
    if not isinstance(place, str) or not isinstance(value, str) or place.strip("./") == "" or WILDCARD.search(place):
        return {means: value}
    return {means: f"{place.rstrip('/')}/{value if '/' in value else f'**/{value}'}"}


def _levels(value: object, means: str, _: Mapping[str, object]) -> dict[str, object]:
    return {means: MAX_LEVELS} if truth(value) is True else {}


def _reverse(value: object, means: str, _: Mapping[str, object]) -> dict[str, object]:
    return {means: "imported_by"} if truth(value) is True else {}


def _member(value: object, means: str, given: Mapping[str, object]) -> dict[str, object]:
    """A class and its method, one after the other."""
    return {means: f"{given[means]}.{value}" if means in given else value}


def _around(value: object, means: str, given: Mapping[str, object]) -> dict[str, object]:
    """So many lines around one; none around a definition, which is read whole."""
    if "symbol" in given and means not in given:
        return {}
    try:
        line, count = (msgspec.convert(number, int, strict=False) for number in (given.get(means), value))
    except msgspec.ValidationError:
        return {means: value}
    return {means: max(1, line - count), "end_line": line + count}


def _expression(value: object, means: str, _: Mapping[str, object]) -> dict[str, object]:
    return {means: value, "regex": True}


def _meaning(value: object, means: str, _: Mapping[str, object]) -> dict[str, object]:
    known = truth(value)
    return {means: value if known is None else "meaning" if known else "text"}


def _related(relation: Relation) -> How:
    """Return what makes a question of the name of a definition: `callers_of="run"`."""
    return lambda value, means, _: {means: value, "relation": relation}


def _kind_or_language(value: object, means: str, _: Mapping[str, object]) -> dict[str, object]:
    return {means if _kind(str(value)) in get_args(Kind) else "language": value}


HOWS: dict[str, How] = {
    "same": _same,
    "not": _not,
    "most": _most,
    "offset": _offset,
    "counted": _counted,
    "range": _range,
    "within": _within,
    "levels": _levels,
    "reverse": _reverse,
    "member": _member,
    "around": _around,
    "expression": _expression,
    "kind or language": _kind_or_language,
    "meaning": _meaning,
    **{relation: _related(relation) for relation in get_args(Relation)},
}
MERGING = ("most", "within", "member", "around")  # with what is given already
PLAIN = ("same", "most", "kind or language")  # whose value is told by nothing, or by the row of it


# ---- one of a few ---------------------------------------------------------------------------------------------------


def _kind(value: str, _: str = "") -> str:
    return _one_of("kind", value, get_args(Kind))


def _mode(value: str, _: str) -> str:
    return _one_of("mode", value, get_args(Mode))


def _direction(value: str, _: str) -> str:
    return _one_of("direction", value, get_args(Direction))


def _relation(value: str, _: str) -> str:
    return _one_of("relation", value, get_args(Relation))


def _language(value: str, _: str) -> str:
    plain = value.lower().removeprefix("*").removeprefix(".")
    return listed().values["language"].get(plain, plain)


def _one_of(field: str, value: str, choices: tuple[str, ...]) -> str:
    """Return the choice that a value means, in any case, in the plural or by another name; or the value."""
    plain = value.strip().lower().replace("-", "_").replace(" ", "_")
    names = {**{choice: choice for choice in choices}, **listed().values[field]}
    forms = (plain, plain.removesuffix("s"), plain.removesuffix("es"), f"{plain.removesuffix('ies')}y")
    return next((names[form] for form in forms if form in names), value)


def below(value: str, root: str) -> str:
    """Return what an absolute path below the root is from there, and any other path as it is; nothing is looked at."""
    for prefix in URI_PREFIXES:
        if value.startswith(prefix):
            rest = value.removeprefix(prefix)
            return rest if not prefix.startswith("file:") else below(rest, root) if rest.startswith(root) else value
    if value == "/" or value.rstrip("/") == root:
        return ""
    return value.removeprefix(f"{root}/") if root != "/" else value


def _statement(value: str, _: str) -> str:
    """Return SQL without the fence that Markdown has around it."""
    found = _FENCED.fullmatch(value)
    return found[1] if found else value


VALUES: dict[str, Callable[[str, str], object]] = {
    "sql": _statement,
    "kind": _kind,
    "direction": _direction,
    "mode": _mode,
    "also": lambda value, _: [value],
    "relation": _relation,
    "language": _language,
    "path": below,
    "pattern": below,
}
