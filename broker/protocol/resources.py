"""What an agent may read by address, and completions of what it types: each is a call of a tool, under the same rules.

A profile without a tool has none of the resources that are made of it. What is listed, where it leads and how an
address is read is decided here.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple
from urllib.parse import unquote

from fledgling.messages.answers import AnyAnswer, Exploration, Refusal, SymbolList
from fledgling.messages.profile import Profile
from fledgling.security.profile import size_text

FILE = "fledgling://file/"
STATUS = "fledgling://status"
SINCE = f"{STATUS}?since="
FILE_TEMPLATE = "fledgling://file/{+path}"
_NUMBER = re.compile(r"[0-9]{1,15}")
MAX_VALUES = 100  # completions in one answer: the protocol's own bound
MAX_PAGES = 10  # of a directory, for completions: some 5,000 entries; what is behind them needs more letters

Ask = Callable[[str, Mapping[str, object]], Awaitable[AnyAnswer | Refusal]]


class Resource(NamedTuple):
    """Something at a fixed address, and the tool that a profile must allow for it, if any."""

    uri: str
    name: str
    description: str
    tool: str | None = None


RESOURCES = (
    Resource("fledgling://overview", "overview", "The map of the project: directories, languages, sizes.", "explore"),
    Resource(STATUS, "status", "How the index stands, and which files have changed since it was built.", "explore"),
    Resource("fledgling://profile", "profile", "What this server lets you do: its tools and its limits."),
    Resource("fledgling://schema", "schema", "The tables and columns that SQL may ask for.", "query"),
)
TEMPLATES = (
    Resource(
        FILE_TEMPLATE,
        "file",
        "A file of the project with line numbers, as read(path) gives it; a long one is cut and says so.",
        "read",
    ),
    Resource(
        f"{STATUS}{{?since}}",
        "changes",
        "The same, with the files that have changed since a generation: the number that answers have in _meta.",
        "explore",
    ),
)

SCHEMA = """\
files(path, absolute_path, directory, filename, extension, language, size_bytes, line_count, modified_at, is_binary,
      is_generated, content_hash, skip_reason, engine, is_parsed, encoding)
content(path, line_number, line_text, indent_level, is_blank, is_comment)
symbols(path, name, kind, line_start, line_end, parent_name, signature, docstring, language, visibility, qualified_name,
        content_hash, purity, purity_reason)
imports(path, line_number, module, alias, is_relative, is_stdlib, resolved_path, imported_names)
calls(path, line, caller, callee_name, callee_path, callee_qualified_name, confidence, reason)
refs(path, line, name, target_path, target_qualified_name, kind, confidence)
inherits(path, line, name, base, base_path, base_qualified_name, kind, confidence, reason)
cycles(kind, cycle, size, path, line, name)
hubs(kind, path, name, users)
unreachable(path, line, name, qualified_name, kind, unseen)
tags(path, symbol, tag, confidence, rule, rule_confidence, line, evidence)
summaries(path, symbol, kind, line_start, text, source, defines)

One row a file, a line, a definition, an import, a call, a use of a name, a base of a class. `path` joins them all.
Lines count from 1; line_start and line_end are the first and last line of a definition. absolute_path is NULL unless
the profile asks for it. skip_reason says why a file has no content. resolved_path, callee_path, target_path and
base_path are NULL where what is meant is outside the project, or not known; of a package of several files resolved_path
is the first. confidence is certain, likely, possible (by the name alone), unresolved, external or local. kind of
inherits is extends where a class names its base, implements where it has all methods of an interface of Go, may
implement where that may lack some; confidence and reason say how sure that is, and confidence is NULL where base_path
is. imported_names is a list. content_hash of a definition is that of its lines, wherever they stand. purity of a
function is pure, pure-ish (it only logs), impure or unknown, by the evidence that purity_reason names; both are NULL
unless a statement names them. tags say what a file of code is about: a row for each kind of rule that says so, PATH,
IMPORT, REGEX, SYMBOL or BY HAND. summaries have in text what a directory, whose path ends with a slash, a file or a
definition says of itself, in source where it stands, and what it defines. The dialect is DuckDB's; one SELECT at a
time.
"""


def allowed(profile: Profile) -> list[Resource]:
    """Return the resources at fixed addresses that a profile has."""
    return [resource for resource in RESOURCES if resource.tool is None or resource.tool in profile.tools]


def templates(profile: Profile) -> list[Resource]:
    """Return how those addresses are made that a profile has and that are not fixed."""
    return [resource for resource in TEMPLATES if resource.tool in profile.tools]


def has_files(profile: Profile) -> bool:
    """Tell whether files can be read by address."""
    return "read" in profile.tools


class MappedCall(NamedTuple):
    """The tool's call that a resource is made of."""

    tool: str
    arguments: dict[str, object]


class Since(NamedTuple):
    """How the index stands, and what has changed since a generation; None is that of the index."""

    generation: int | None


def found(profile: Profile, uri: str) -> MappedCall | Since | str | Refusal:
    """Return what is at an address: a call to make, what is to be looked at, or a text that is known here.

    >>> found(profile, "fledgling://file/src/a%20b.py")
    MappedCall(tool='read', arguments={'path': 'src/a b.py'})
    """
    if uri.startswith(FILE) and has_files(profile):
        try:
            return MappedCall("read", {"path": unquote(uri[len(FILE) :], errors="strict") or "."})
        except UnicodeDecodeError:
            return Refusal("invalid", "the address is not UTF-8", f"Write it as {FILE_TEMPLATE}.")
    if uri.startswith(SINCE) and "explore" in profile.tools:
        since = uri.removeprefix(SINCE)
        if not _NUMBER.fullmatch(since):
            return Refusal("invalid", "the generation is not a number", f"Write {SINCE}12, or {STATUS}.")
        return Since(int(since))
    known = {resource.uri: resource for resource in allowed(profile)}
    if uri not in known:
        return Refusal(
            "denied",
            f"{uri[:64]!r} is not a resource of the profile {profile.name}",
            f"Use one of: {', '.join([*known, *(each.uri for each in templates(profile))])}.",
        )
    match known[uri].name:
        case "overview":
            return MappedCall("explore", {})
        case "status":
            return Since(None)
        case "schema":
            return SCHEMA
        case _:
            return described(profile)


def described(profile: Profile) -> str:
    """Return what an agent may know of its profile; its views are not told: what they hide is absent."""
    rows = (
        ("profile", profile.name),
        ("tools", ", ".join(profile.tools)),
        ("a call may take", f"{profile.query_timeout:g} s"),
        ("a call may use", f"{size_text(profile.memory_limit)} of memory"),
        ("an answer may have", f"{profile.max_rows} rows, {size_text(profile.max_result_bytes)}"),
    )
    return "".join(f"{name}: {value}\n" for name, value in rows)


# ---- completions ----------------------------------------------------------------------------------------------------


class Completed(NamedTuple):
    """What may follow, sorted, and whether there is more."""

    values: list[str]
    has_more: bool = False


async def paths(profile: Profile, typed: str, ask: Ask) -> Completed:
    """Complete a path one directory further: `src/co` to `src/core/` and `src/config.py`."""
    if "explore" not in profile.tools:
        return Completed([])
    directory = typed.rpartition("/")[0]
    values: list[str] = []
    arguments: Mapping[str, object] = {"path": directory}
    for _ in range(MAX_PAGES):
        answer = await ask("explore", arguments)
        if not isinstance(answer, Exploration):
            return Completed([])
        entries = [*(entry.path for entry in answer.directories), *(entry.path for entry in answer.files)]
        values += [path for path in entries if path.startswith(typed)]
        if len(values) > MAX_VALUES or not answer.next:
            return Completed(values[:MAX_VALUES], len(values) > MAX_VALUES)
        arguments = answer.next.arguments
    return Completed(values, has_more=True)


async def symbols(profile: Profile, typed: str, ask: Ask, path: str | None = None) -> Completed:
    """Complete the name of a definition, of one file where its path is known."""
    if "symbols" not in profile.tools or any(c in "*?[]{}!\\" for c in typed):
        return Completed([])
    where = {"path": path} if path else {}
    answer = await ask("symbols", {"name_pattern": f"{typed}*", "max_results": 1000, **where})
    if not isinstance(answer, SymbolList):
        return Completed([])
    names = sorted({symbol.name for file in answer.files for symbol in file.symbols})
    return Completed(names[:MAX_VALUES], len(names) > MAX_VALUES or answer.next is not None)
