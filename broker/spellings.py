"""What an agent means by arguments that are not quite those of a tool: spellings.toml has the rows, this applies them.

Nothing widens: whatever is meant becomes a question of the same tool, checked by the same Struct and the same worker.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from fledgling.messages.aliases import ALIASES
from fledgling.messages.questions import (
    QUESTIONS,
    AnyQuestion,
    Direction,
    Explore,
    Kind,
    Mode,
    Read,
    Relation,
    Search,
    Symbols,
    asks_graph,
)

MAX_RESPELLED_CHARS = 512  # of a path or a name: some rows look at the rest of a text at each of its characters
MAX_LEVELS = 20  # of a map that is to be recursive: the most that explore gives
MAX_JOINED = 12  # words of a text that are looked for however they are joined: a name has fewer
URI_PREFIXES = ("file://", "fledgling://file/")
REGEX_SIGNS = re.compile(r"[\\^$.|?*+()\[\]{}]")  # of RE2's syntax; a text without one means the same as an expression
WILDCARD = re.compile(r"[*?\[{]")

_RANGE = re.compile(r"L?([0-9]{1,9})(?:\s*(?:-|:|,|\.\.|to)\s*L?([0-9]{1,9}))?")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")  # of camelCase, snake_case and a sentence
_SLASHED = re.compile(r"/(.+)/[gimsu]*")  # an expression as JavaScript and sed write it
_ANY = re.compile(r"(?:\.|\\w|\[\w-]*\])[*+]")  # of an expression, what a glob calls `*`
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Alias(Struct, frozen=True, forbid_unknown_fields=True):
    """Names that mean the argument `means` of some tools; `how` is a key of HOWS."""

    tools: tuple[str, ...]
    means: str
    names: tuple[str, ...]
    how: str = "same"


class Always(Struct, frozen=True, forbid_unknown_fields=True):
    """Names that change nothing with one of these values, or with any where none are given."""

    tools: tuple[str, ...]
    names: tuple[str, ...]
    values: tuple[str | bool, ...] = ()


class PathRow(Struct, frozen=True, forbid_unknown_fields=True):
    """An expression that fits a whole path, and what the arguments are then; `often` until it fits no more."""

    like: str
    to: dict[str, str]
    often: bool = False


class RelationRow(Struct, frozen=True, forbid_unknown_fields=True):
    """An expression that fits a whole name with a question about it, and which relation that asks for."""

    like: str
    relation: Relation


class ListedSymbol(Struct, frozen=True, forbid_unknown_fields=True):
    """What is replaced in a name, wherever it stands."""

    like: str
    to: str


class Spellings(Struct, frozen=True, forbid_unknown_fields=True):
    """The file."""

    alias: tuple[Alias, ...]
    always: tuple[Always, ...]
    values: dict[str, dict[str, str]]
    kin: dict[Kind, tuple[Kind, ...]]
    path: tuple[PathRow, ...]
    symbol: tuple[ListedSymbol, ...]
    relation: tuple[RelationRow, ...]


@cache
def listed() -> Spellings:
    """Return what the file says. It is read when an agent first asks: a command that is typed needs none of it."""
    return msgspec.convert(tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")), Spellings)


@cache
def _paths() -> list[tuple[re.Pattern[str], PathRow]]:
    return [(re.compile(row.like, re.DOTALL), row) for row in listed().path]


@cache
def _relations() -> list[tuple[re.Pattern[str], Relation]]:
    return [(re.compile(row.like, re.IGNORECASE), row.relation) for row in listed().relation]


@cache
def _symbols() -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(row.like), row.to) for row in listed().symbol]


class Taken(NamedTuple):
    """A question, and in words what of the arguments was taken as what: `pattern as query`."""

    question: AnyQuestion
    words: tuple[str, ...] = ()


class MeaningError(Exception):
    """An argument means another one that is given as well."""

    def __init__(self, tool: str, name: str, means: str) -> None:
        """Say it as a refusal does."""
        super().__init__(f"{tool}: `{name}` means `{means}`, which is given as well")


# ---- arguments ------------------------------------------------------------------------------------------------------


def taken(tool: str, arguments: Mapping[str, object], root: str) -> Taken:
    """Return the question that some arguments mean; `root` is what absolute paths may begin with.

    >>> taken("search", {"pattern": "x", "type": "py"}, "/srv/app").words
    ('pattern as query', 'type as language', 'language "py" as "python"')

    Raises MeaningError, or msgspec.ValidationError for what no tool takes.
    """
    if alias := ALIASES.get(tool):
        return taken(alias.tool, alias.arguments(arguments), root)
    words: list[str] = []
    named = _named(tool, {name: value for name, value in arguments.items() if value is not None}, words)
    meant = {name: _valued(name, value, root, words) for name, value in named.items()}
    _join_lists(tool, meant, words)
    if tool == "symbols":
        _relate(meant, words)
    optional = {field.name for field in msgspec.structs.fields(QUESTIONS[tool]) if field.default is None}
    asked = {name: value for name, value in meant.items() if not (value == "" and name in optional)}
    return Taken(msgspec.convert(asked, QUESTIONS[tool], strict=False), tuple(words))


def _relate(meant: dict[str, object], words: list[str]) -> None:
    """Complete a question about uses: `symbol="who calls run"` has a relation, `name_pattern="run"` is a symbol.

    Without a relation a symbol is the name of definitions.
    """
    name = meant.get("symbol") or meant.get("name_pattern")
    if not isinstance(name, str) or len(name) > MAX_RESPELLED_CHARS:
        return
    for like, relation in _relations():
        if (found := like.fullmatch(name.strip())) and not meant.get("relation"):
            words.append(f"{_text(name)} as symbol={_text(found[1])}, relation={_text(relation)}")
            meant |= {"symbol": found[1], "relation": relation}
            meant.pop("name_pattern", None)
            return
    if meant.get("relation") and not meant.get("symbol"):
        words.append("name_pattern as symbol")
        meant["symbol"] = meant.pop("name_pattern")
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
            became = HOWS[alias.how](_only(strange.pop(name)), alias.means, meant)
            if alias.how not in _MERGING and (twice := became.keys() & meant.keys()):
                raise MeaningError(tool, name, min(twice))
            meant |= became
            shown = dict.fromkeys(became) if alias.how in _PLAIN else became
            words.append(f"{name} as {', '.join(_shown(*item) for item in shown.items())}")
    for row in listed().always:
        for name in _of(tool, row, strange):
            if not row.values or strange[name] in row.values:
                del strange[name]
    return {**meant, **strange}


def _join_lists(tool: str, meant: dict[str, object], words: list[str]) -> None:
    """Make one expression of several texts to look for."""
    several = meant.get("query") if tool == "search" else None
    if isinstance(several, list) and several and all(isinstance(each, str) for each in several):
        meant |= {"query": "|".join(map(re.escape, several)), "regex": True}
        words.append(f"query as {_text(meant['query'])}, regex=true")


def _known(tool: str, given: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """Return the arguments that a tool has, `maxResults` as max_results, and the others."""
    meant: dict[str, object] = {}
    strange: dict[str, object] = {}
    for name, value in given.items():
        known = name if name in QUESTIONS[tool].__struct_fields__ else _snake(name)
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
    return [name for name in strange if tool in row.tools and (name in row.names or _snake(name) in row.names)]


def _shown(name: str, value: object) -> str:
    return name if value is None else f"{name}={msgspec.json.encode(value).decode()}"


def _snake(name: str) -> str:
    return name if name.startswith("-") else _HUMP.sub("_", name[:64]).replace("-", "_").lower()


def _only(value: object) -> object:
    """Return what a list of one holds: `files` and `kinds` come as lists."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _is_expression(value: object) -> bool:
    """Whether a value for `regex` is an expression itself, and not whether the query is one."""
    return isinstance(value, str) and value.lower() not in ("true", "false", "1", "0", "")


# What becomes of a value: from it, the name that it is for, and the arguments that are known, to arguments.
How = Callable[[object, str, Mapping[str, object]], dict[str, object]]


def _same(value: object, means: str, _: Mapping[str, object]) -> dict[str, object]:
    return {means: value}


def _not(value: object, means: str, _: Mapping[str, object]) -> dict[str, object]:
    truth = {"true": True, "false": False}.get(str(value).lower())
    return {means: value if truth is None else not truth}


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
    return {means: MAX_LEVELS} if str(value).lower() == "true" else {}


def _reverse(value: object, means: str, _: Mapping[str, object]) -> dict[str, object]:
    return {means: "imported_by"} if str(value).lower() == "true" else {}


def _expression(value: object, means: str, _: Mapping[str, object]) -> dict[str, object]:
    return {means: value, "regex": True}


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
    "expression": _expression,
    "kind or language": _kind_or_language,
}
_MERGING = ("most", "within")  # with what is given already
_PLAIN = ("same", "most", "kind or language")  # whose value is told by nothing, or by the row of it


# ---- values ---------------------------------------------------------------------------------------------------------


def _valued(name: str, value: object, root: str, words: list[str]) -> object:
    """Return a value as it is meant: one of a few by another name, or a path below the root that is absolute."""
    if not isinstance(value, str) or name not in VALUES:
        return value
    meant = VALUES[name](value, root)
    if meant != value:
        shown = "the absolute path" if name in ("path", "pattern") else f"{name} {_text(value)}"
        words.append(f"{shown} as {_text(meant) if meant else 'the root'}")
    return meant


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


def _below(value: str, root: str) -> str:
    """Return what an absolute path below the root is from there, and any other path as it is; nothing is looked at."""
    for prefix in URI_PREFIXES:
        if value.startswith(prefix):
            rest = value.removeprefix(prefix)
            return rest if not prefix.startswith("file:") else _below(rest, root) if rest.startswith(root) else value
    if value == "/" or value.rstrip("/") == root:
        return ""
    return value.removeprefix(f"{root}/") if root != "/" else value


VALUES: dict[str, Callable[[str, str], object]] = {
    "kind": _kind,
    "direction": _direction,
    "mode": _mode,
    "also": lambda value, _: [value],
    "relation": _relation,
    "language": _language,
    "path": _below,
    "pattern": _below,
}


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()


# ---- what is looked for in other ways where it is not there ---------------------------------------------------------


def others(question: AnyQuestion, root: str = "/") -> Iterator[Taken]:
    """Yield what a question that finds nothing may mean, the likeliest first: a path and a name spelled otherwise.

    >>> [(other.question.path, other.question.start_line) for other in others(Read("a.py:7"))]
    [('a.py', 7), ('a/py', 7)]
    """
    field = _name_field(question)
    name = getattr(question, field) if field else None
    names: list[dict[str, object]] = [{}]
    if field and name:
        is_text = isinstance(question, Search) and question.kind is None
        respelled = name.strip(" \t`'\"") if is_text else symbol(name)
        if is_text:
            names.append({field: respelled or name})
        elif last := respelled if field == "symbol" else respelled.rpartition(".")[2]:
            names.append({field: last})
    names += _patterns_of_names(question)
    known = [question]
    for place in [{}, *_places(question, root), *_patterns(question)]:
        for meant in names:
            try:
                changed = {**msgspec.structs.asdict(question), **place, **meant}
                other = msgspec.convert(changed, type(question), strict=False)
            except msgspec.ValidationError:  # line 0
                continue
            if other not in known:
                known.append(other)
                yield Taken(other, differences(question, other))
    for each in known:
        for kin in _kin(each):
            yield Taken(kin, differences(question, kin))


def _kin(question: AnyQuestion) -> Iterator[AnyQuestion]:
    """Yield a question for a definition of a name with the kinds that other languages have for what it may be."""
    if isinstance(question, Search) or (isinstance(question, Symbols) and question.name_pattern):
        for kind in listed().kin.get(question.kind, ()) if question.kind else ():
            yield replace(question, kind=kind)


def _name_field(question: AnyQuestion) -> str | None:
    """Return the argument that names a definition, if there is one."""
    match question:
        case Read(symbol=str()) | Symbols(symbol=str()):
            return "symbol"
        case Symbols(name_pattern=str(pattern)) if not WILDCARD.search(pattern):
            return "name_pattern"
        case Search():
            return "query"
    return None


def symbol(name: str) -> str:
    """Return the name of a definition without what surrounds it: `symbol("func (t *T) m(x int)")` is `T.m`."""
    if len(name) > MAX_RESPELLED_CHARS:
        return name
    for like, to in _symbols():
        name = like.sub(to, name)
    return name


def _places(question: AnyQuestion, root: str) -> Iterator[dict[str, object]]:
    """Yield what the path of a question may mean, as arguments: each row goes on from the one before."""
    path = getattr(question, "path", None)
    if not path or len(path) > MAX_RESPELLED_CHARS:
        return
    meant: dict[str, object] = {"path": path.strip(" \t`'\"<>,;")}
    if meant["path"] != path:
        yield meant
    for like, row in _paths():
        while found := like.fullmatch(str(meant["path"])):
            groups = {name: found.expand(text) for name, text in row.to.items()}
            meant = {**meant, **{name: text for name, text in groups.items() if text and _may_be(question, name)}}
            if not row.often:
                break
        if meant["path"] != path:
            yield meant
    if path.startswith(f"{(project := root.rpartition('/')[2])}/"):
        yield {"path": path.removeprefix(f"{project}/")}  # as seen from above the root
    if isinstance(question, Explore) and (glob := WILDCARD.search(path)):
        place = path[: glob.start()].rpartition("/")[0]
        yield {"path": place, "pattern": path.removeprefix(f"{place}/"), "depth": MAX_LEVELS}
    if isinstance(question, Search | Symbols) and len(several := re.split(r"[,\s]+", path.strip())) > 1:
        yield {"path": "{" + ",".join(part.rstrip("/") for part in several) + "}"}


def _patterns(question: AnyQuestion) -> Iterator[dict[str, object]]:
    """Yield what a pattern of file names may mean that has no wildcard: a name in any directory, or a part of one."""
    if isinstance(question, Explore) and question.pattern and not WILDCARD.search(question.pattern):
        yield {"pattern": f"**/{question.pattern}"}
        yield {"pattern": f"*{question.pattern}*"}


def _patterns_of_names(question: AnyQuestion) -> Iterator[dict[str, object]]:
    """Yield what a text may mean that is a pattern elsewhere: `/a.*/`, `*a*` and `a OR b`; of a name `^get_.*`."""
    if isinstance(question, Search) and question.kind is None and not question.is_regex:
        text = question.query[:MAX_RESPELLED_CHARS]
        if found := _SLASHED.fullmatch(text):
            yield {"query": found[1], "regex": True}
        if len(parts := text.split(" OR ")) > 1:
            yield {"query": "|".join(re.escape(part.strip()) for part in parts), "regex": True}
        if text.strip("*") not in ("", text):
            yield {"query": text.strip("*")}
    elif isinstance(question, Symbols) and (name := (question.name_pattern or "")[:MAX_RESPELLED_CHARS]):
        glob = _ANY.sub("*", name.removeprefix("^").removesuffix("$"))
        if glob != name:
            yield {"name_pattern": glob}


def _may_be(question: AnyQuestion, name: str) -> bool:
    """Whether a path may say this argument, too: not what is given, nor lines beside a definition."""
    if name == "path":
        return True
    return isinstance(question, Read) and getattr(question, name) is None and question.symbol is None


def differences(asked: AnyQuestion, meant: AnyQuestion) -> tuple[str, ...]:
    """Say how one question was taken as another: `path "a.py:7" as "a.py"`, `start_line as 7`."""
    both = [(name, getattr(asked, name), getattr(meant, name)) for name in asked.__struct_fields__]
    changed = [(name, old, new) for name, old, new in both if old != new]
    return tuple(f"{name}{f' {_text(old)}' if old else ''} as {_text(new)}" for name, old, new in changed)


# ---- what finds more ------------------------------------------------------------------------------------------------


class Wider(NamedTuple):
    """A question that asks for more than another one did, and in words how: `as a regular expression`."""

    question: AnyQuestion
    words: str


def wider(question: AnyQuestion) -> Iterator[Wider]:
    """Yield what an agent may ask where a search finds nothing: without one of its conditions, then without all.

    >>> [each.words for each in wider(Search("get.*", path="src"))]
    ['as a regular expression', 'without path', 'as a regular expression, without path']
    """
    if not isinstance(question, Search | Symbols) or asks_graph(question):
        return
    if isinstance(question, Symbols) and question.kind and (name := (question.name_pattern or "").strip("*")):
        yield Wider(Search(name, question.path, question.language, question.kind), "in any case")
    ways = [*_ways(question)]
    for words, changes in ways:
        yield Wider(replace(question, **changes), words)
    if len(ways) > 1:
        every = {name: value for _, changes in ways for name, value in changes.items()}
        yield Wider(replace(question, **every), ", ".join(words for words, _ in ways))
    if isinstance(question, Symbols):
        yield from _as_text(question)
    elif question.kind:
        yield Wider(Symbols(question.path, None, question.language, f"*{question.query}*"), "of any kind")
        yield Wider(replace(question, kind=None), "as text")
    elif not question.is_ranked and len(parts := _WORDS.findall(question.query)) > 1:
        yield Wider(replace(question, query=max(parts, key=len), regex=False, mode="auto"), "its longest word")


def _as_text(question: Symbols) -> Iterator[Wider]:
    """Yield where a name stands that nothing defines."""
    name = question.name_pattern
    if name and not WILDCARD.search(name):
        yield Wider(Search(name, question.path, question.language), "as text")
        if len(words := _WORDS.findall(name)) > 1:
            yield Wider(Search(_joined(words), regex=True), "as text, however its words are joined")


def _joined(words: list[str]) -> str:
    """Return an expression for some words that stand together: `get_url`, getUrl, "get url"."""
    return r"[\W_]*".join(words[:MAX_JOINED])


def _ways(question: Search | Symbols) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the conditions of a question that may be too narrow, in words and as arguments that are wider."""
    if isinstance(question, Search) and not question.is_ranked:
        if not question.is_regex and not question.kind and REGEX_SIGNS.search(question.query):
            yield "as a regular expression", {"regex": True, "mode": "auto"}
        elif not question.is_regex and not question.kind and len(words := _WORDS.findall(question.query)) > 1:
            yield "however its words are joined", {"query": _joined(words), "regex": True, "mode": "auto"}
        if question.whole_word:
            yield "within words", {"whole_word": False}
        if question.case_sensitive:
            yield "in any case", {"case_sensitive": False}
    elif isinstance(question, Symbols):
        name = question.name_pattern
        if question.kind and name:
            yield "of any kind", {"kind": None}
        if name and not WILDCARD.search(name):
            yield f"for `*{name}*`", {"name_pattern": f"*{name}*"}
    if filters := [name for name in ("path", "language") if getattr(question, name)]:
        yield f"without {' and '.join(filters)}", dict.fromkeys(filters)
