"""A profile is a SQL file that is read here and never executed: what one agent may do, and what it may see.

Everything that decides what a profile may say lives here: DIRECTIVES holds the settings, VIEWS the views. What is in
neither is refused with file and line; what a view selects is checked later, by DuckDB's own parser in the confined
indexer.
"""

import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from fledgling import profiles
from fledgling.config import is_path, suggestion
from fledgling.digests import sha256
from fledgling.messages.aliases import ALIASES
from fledgling.messages.operations import OPERATIONS
from fledgling.messages.profile import Profile, View
from fledgling.messages.questions import QUESTIONS
from fledgling.plain import MAX_SHOWN, MAX_SHOWN_PATH, one_line
from fledgling.security import tag_rules
from fledgling.security.sql_text import Create, Drop, Setting, SqlTextError, Token, parse, unquoted

SHIPPED = Path(profiles.__file__).parent
VIEWS = ("visible_files", "files", "content", "symbols", "imports")
MAX_FILE_BYTES = 64 * 1024  # a page of settings and a few views; ours are under 2 KB
MAX_CHAIN = 4  # profiles in a row that extend each other; more cannot be reviewed

KB, MB, GB = 1000, 1000**2, 1000**3
UNITS = {"GB": GB, "GiB": 2**30, "MB": MB, "MiB": 2**20, "KB": KB, "KiB": 2**10}  # bytes, as DuckDB reads them


class ProfileError(Exception):
    """A profile cannot be used: `mine.sql:7: unknown setting 'memry_limit'; did you mean memory_limit?`."""

    def __init__(self, file: str, line: int | None, problem: str, fix: str) -> None:
        """Keep the parts; `line` is None where the file as a whole is meant."""
        file, problem, fix = map(one_line, (file, problem, fix))  # they quote what is written in it
        super().__init__(f"{file}{f':{line}' if line else ''}: {problem}; {fix}")
        self.file, self.line, self.problem, self.fix = file, line, problem, fix


def size_text(size: int) -> str:
    """Return bytes in the largest unit that holds them exactly: `size_text(2_000_000_000)` is `2GB`."""
    for unit, factor in UNITS.items():
        if size % factor == 0:
            return f"{size // factor}{unit}"
    return f"{size} bytes"


# ---- directives -----------------------------------------------------------------------------------------------------


class Literal(Struct, frozen=True):
    """A kind of value: what it `expects`, in words, how it is `read`, and `shown`; None is a value out of bounds."""

    expects: str
    read: Callable[[Token], object]
    shown: Callable[[Any], str] = str


class Directive(Struct, frozen=True):
    """One setting of a profile: its values, its default, who enforces it and what it means."""

    literal: Literal
    default: object
    enforced_by: str
    meaning: str


def _text() -> Literal:
    return Literal("a text in single quotes", lambda token: unquoted(token) if token.kind == "string" else None)


def _choice(options: dict[str, object]) -> Literal:
    """One of a few words in quotes: `_choice({"on": True, "off": False})`."""
    names = {f"'{option}'": value for option, value in options.items()}
    shown = {value: option for option, value in options.items()}
    return Literal(" or ".join(names), lambda token: names.get(token.text), lambda value: shown[value])


def _seconds(low: float, high: float) -> Literal:
    def read(token: Token) -> float | None:
        value = float(token.text) if token.kind == "number" else -1
        return value if low <= value <= high else None

    return Literal(f"a number from {low} to {high}, without quotes", read, lambda seconds: f"{seconds:g} s")


def _count(low: int, high: int) -> Literal:
    def read(token: Token) -> int | None:
        value = float(token.text) if token.text.isdigit() else -1  # float first: it reads any number of digits
        return int(value) if low <= value <= high else None

    return Literal(f"a whole number from {low} to {high}, without quotes", read)


def _size(low: int, high: int) -> Literal:
    """A number of bytes with its unit: `'2GB'` is 2,000,000,000."""
    units = {unit.upper(): factor for unit, factor in UNITS.items()}

    def read(token: Token) -> int | None:
        match = re.fullmatch(r"'([0-9]+(?:\.[0-9]+)?) ?([KMG]I?B)'", token.text.upper(), re.ASCII)
        size = float(match[1]) * units[match[2]] if match else 0
        return int(size) if low <= size <= high else None

    return Literal(f"a size from '{size_text(low)}' to '{size_text(high)}'", read, size_text)


def _tools() -> Literal:
    """The allowlist: `'explore, read'`; every name a tool, none twice."""

    def read(token: Token) -> tuple[str, ...] | None:
        names = tuple(name.strip() for name in unquoted(token).split(",")) if token.kind == "string" else ("",)
        for at, name in enumerate(names):
            if name and name not in (*QUESTIONS, *ALIASES, *OPERATIONS):
                raise SqlTextError(token.line, f"unknown tool {name[:MAX_SHOWN]!r}", suggestion(name, QUESTIONS))
            if name in ALIASES and (tool := ALIASES[name].tool) not in names:
                raise SqlTextError(token.line, f"the tool {name!r} is another name for {tool!r}", f"name {tool!r}, too")
            if name in names[:at]:
                raise SqlTextError(token.line, f"the tool {name!r} stands twice", "name it once")
        return names if all(names) else None

    return Literal("tool names in quotes, separated by commas, such as 'explore, read'", read, ", ".join)


def _tags() -> Literal:
    """Rules, a line each, that stand beside the shipped ones: `'search IMPORT 0.9 ^elasticsearch'`."""

    def read(token: Token) -> object:
        if token.kind != "string":
            return None
        return tag_rules.added(tag_rules.read(unquoted(token), token.line), token.line)

    return Literal("rules in quotes, a line each, such as 'search IMPORT 0.9 ^elasticsearch'", read, tag_rules.said)


def _no_extensions() -> Literal:
    return Literal(
        "'': the query worker loads no code and can open no path, so no extension can be allowed;"
        " core_functions, icu, json and parquet are built in",
        lambda token: () if token.text == "''" else None,
    )


DIRECTIVES: dict[str, Directive] = {
    "extends": Directive(
        _text(), "", "loader", "the profile whose directives and views stand where this one is silent"
    ),
    "access_mode": Directive(
        _choice({"read_only": "read_only"}), "read_only", "sealed image", "nothing can be written"
    ),
    "tools": Directive(_tools(), (), "broker and query worker", "the allowlist: what is not named does not exist"),
    "memory_limit": Directive(_size(128 * MB, 64 * GB), 2 * GB, "DuckDB and the kernel", "memory of all of them"),
    "query_timeout": Directive(_seconds(0.1, 3600), 30.0, "query worker and broker", "seconds until a call is ended"),
    "max_rows": Directive(_count(1, 100_000), 1000, "query worker", "rows of one answer"),
    "max_result_bytes": Directive(_size(4 * KB, 7 * MB), 1 * MB, "query worker", "bytes of one answer"),
    "absolute_paths": Directive(_choice({"on": True, "off": False}), False, "indexer", "fill files.absolute_path"),
    "tags": Directive(
        _tags(), tag_rules.SHIPPED, "query worker", "rules beside the shipped ones that say what a file is about"
    ),
    "embedding": Directive(
        _choice({"off": "off", "loopback": "loopback", "anywhere": "anywhere"}),
        "off",
        "broker",
        "where an embedding endpoint may be: text that the profile shows leaves to it",
    ),
    "extensions": Directive(_no_extensions(), (), "loader", "DuckDB extensions: none"),
}


# ---- files ----------------------------------------------------------------------------------------------------------


class AskedBy(NamedTuple):
    """Who asked for a profile: the operator (no line), or a profile that extends it."""

    file: str
    line: int | None


def load(name_or_path: str) -> Profile:
    """Read a profile: a shipped one by name, any other by its path, which ends in `.sql` or holds a `/`.

    >>> load("fledgling-core").tools
    ('explore', 'read', 'search', 'symbols', 'dependencies')

    A name is looked up among the shipped ones only. Raises ProfileError.
    """
    return _load(name_or_path, AskedBy(name_or_path[:MAX_SHOWN_PATH], None), ())


def shipped() -> tuple[str, ...]:
    """Return the names of the profiles in the package, in alphabetical order."""
    return tuple(sorted(path.stem for path in SHIPPED.glob("*.sql")))


def purpose(name: str) -> str:
    """Return what a shipped profile is for, as its first line says it: `everything in fledgling-core, and SQL`."""
    first, *_ = (SHIPPED / f"{name}.sql").read_text(encoding="utf-8").splitlines()
    return first.removeprefix(f"-- {name}: ")


def _load(wanted: str, asked: AskedBy, chain: tuple[Path, ...]) -> Profile:
    """Read `wanted`, which the last profile of `chain` extends."""
    path = _locate(wanted, asked, chain)
    data = _bytes(path, asked)
    if any(path.samefile(other) for other in chain):
        raise ProfileError(*asked, f"{path.name} extends itself", "leave out one SET extends")
    if len(chain) == MAX_CHAIN:
        raise ProfileError(*asked, f"more than {MAX_CHAIN} profiles extend each other", "write fewer, fuller profiles")
    try:
        return _profile(path, data, (*chain, path))
    except SqlTextError as e:
        raise ProfileError(path.name, e.line, e.problem, e.fix) from None


def _locate(wanted: str, asked: AskedBy, chain: tuple[Path, ...]) -> Path:
    if wanted in shipped():
        path = SHIPPED / f"{wanted}.sql"
    elif wanted.removesuffix(".sql") in shipped():
        # A cloned project may hold a file of this name; nobody shall take it for the shipped one.
        raise ProfileError(
            *asked, f"{wanted!r} may be the shipped profile or a file", f"leave out .sql, or write ./{wanted}"
        )
    elif is_path(wanted):
        path = (chain[-1].parent if chain else Path()) / wanted
    else:
        raise ProfileError(
            *asked, f"no profile is named {wanted[:MAX_SHOWN]!r}", f"{suggestion(wanted, shipped())}, or a path"
        )
    return path


def _bytes(path: Path, asked: AskedBy) -> bytes:
    shown = str(path)[:MAX_SHOWN_PATH] if asked.line else "it"  # the operator's own words are said before
    try:
        if not path.is_file():  # a FIFO or a device would block, or never end
            raise ProfileError(*asked, f"{shown} is not a file", f"give a path, or one of {', '.join(shipped())}")
        with path.open("rb") as file:
            return file.read(MAX_FILE_BYTES + 1)
    except OSError as e:
        raise ProfileError(*asked, f"{shown} cannot be read ({e.strerror})", "give a readable file") from None
    except ValueError as e:
        raise ProfileError(*asked, f"{shown} cannot be read ({e})", "give a readable file") from None


def _profile(path: Path, data: bytes, chain: tuple[Path, ...]) -> Profile:
    given, changes = _contents(_decoded(data))
    stated = {name: _value(name, setting.literal) for name, setting in given.items()}
    values: dict[str, object] = {name: directive.default for name, directive in DIRECTIVES.items()}
    views: dict[str, View] = {}
    digest = sha256(data)
    if extends := given.get("extends"):
        line = extends.name.line
        base = _load(unquoted(extends.literal), AskedBy(path.name, line), chain)
        values = msgspec.structs.asdict(base)
        # An inherited view counts as written where it is inherited: the line is in the file that errors name.
        views = {view.name: msgspec.structs.replace(view, line=line) for view in base.views}
        digest.update(base.digest.encode())
    for change in changes:
        _apply(change, views)
    values |= stated | {"name": path.stem, "file": path.name, "digest": digest.hexdigest(), "views": [*views.values()]}
    if not values["tools"]:
        raise SqlTextError(1, "the profile allows no tool", "add a line such as SET tools = 'explore, read';")
    return msgspec.convert(values, Profile)


def _decoded(data: bytes) -> str:
    if len(data) > MAX_FILE_BYTES:
        raise SqlTextError(1, f"the file is larger than {MAX_FILE_BYTES} bytes", "shorten it")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise SqlTextError(line, "a byte that is not UTF-8", "save the file as UTF-8") from None


def _contents(text: str) -> tuple[dict[str, Setting], list[Create | Drop]]:
    """Return what a profile file sets, by directive, and its changes to the views, in order."""
    given: dict[str, Setting] = {}
    changes: list[Create | Drop] = []
    for statement in parse(text):
        if not isinstance(statement, Setting):
            _known(statement.name, "view", VIEWS)
            changes.append(statement)
            continue
        name = _known(statement.name, "setting", DIRECTIVES)
        if name in given:
            first = given[name].name.line
            raise SqlTextError(statement.name.line, f"{name} is set twice, first in line {first}", "leave one out")
        given[name] = statement
    return given, changes


def _known(token: Token, noun: str, names: Collection[str]) -> str:
    """Return the name in lower case, as SQL takes names, if it is one of `names`."""
    name = token.text.lower()
    if name not in names:
        raise SqlTextError(token.line, f"unknown {noun} {token.text[:MAX_SHOWN]!r}", suggestion(name, names))
    return name


def _value(name: str, token: Token) -> object:
    literal = DIRECTIVES[name].literal
    value = literal.read(token)
    if value is None:
        raise SqlTextError(token.line, f"{name} cannot be {token.text[:MAX_SHOWN]}", f"write {literal.expects}")
    return value


def _apply(change: Create | Drop, views: dict[str, View]) -> None:
    """Add or drop a view, as DuckDB would: only OR REPLACE replaces, only IF EXISTS drops what is not there."""
    name, line = change.name.text.lower(), change.name.line
    existed = views.pop(name, None) is not None
    if isinstance(change, Create):
        if existed and not change.replace:
            raise SqlTextError(line, f"the view {name} exists already", "write CREATE OR REPLACE VIEW")
        views[name] = View(name, change.select, change.line)
    elif not existed and not change.lenient:
        raise SqlTextError(line, f"there is no view {name} to drop", "leave it out, or write DROP VIEW IF EXISTS")


# ---- for the operator's eyes ----------------------------------------------------------------------------------------


def describe(profile: Profile) -> list[tuple[str, str]]:
    """Return the profile as (field, text) rows: `("memory_limit", "2GB")`, `("view files", "SELECT ...")`."""
    fields = msgspec.structs.asdict(profile)
    return [
        *((field, fields[field]) for field in ("name", "file", "digest")),
        *((name, _shown(name, fields[name])) for name in DIRECTIVES if name in fields),
        *((f"view {view.name}", view.select) for view in profile.views),
    ]


def _shown(name: str, value: object) -> str:
    return "none" if value is None else DIRECTIVES[name].literal.shown(value)


def diff(a: Profile, b: Profile) -> list[tuple[str, str, str]]:
    """Return (field, text in `a`, text in `b`) where they differ; a view that one lacks is empty there."""
    left, right = dict(describe(a)), dict(describe(b))
    fields = [*left, *(field for field in right if field not in left)]
    return [(f, left.get(f, ""), right.get(f, "")) for f in fields if left.get(f) != right.get(f)]
