"""What documents say of tools, languages, profiles and settings, as the code has it: `make docs` writes it there.

A section stands between `<!-- generated: NAME -->` and `<!-- end -->`; the words around it are written by hand. One
of several of a kind says what it is of: `<!-- generated: modules worker/graph/rows -->`.
tests/test_reference.py fails where a document says anything else.
"""

import ast
import inspect
import pkgutil
import re
import textwrap
import tomllib
import types
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT, Meta, Struct

from fledgling.broker.protocol import resources, schema
from fledgling.broker.protocol.tools import TOOLS
from fledgling.messages import bounded, questions
from fledgling.messages.aliases import ALIASES
from fledgling.messages.answers import RefusalKind
from fledgling.scope import Scope
from fledgling.security import profile as profiles
from fledgling.settings import TYPES, Settings
from fledgling.worker.languages.table import load_languages

ROOT = Path(__file__).parent.parent
MARKED = ROOT / "tests/languages"  # sources, each beside the table of what is found in it
COMMAND = "make docs"
SECTION = re.compile(
    r"(?<=<!-- generated: )(?P<head>(?P<name>\w+)(?: (?P<of>\S+))? -->\n).*?(?=<!-- end -->\n)", re.DOTALL
)
EVERY_TOOL = re.compile(r"^SET tools = '.*';$", re.MULTILINE)  # of fledgling-analyst, which has them all
LIMITS = ROOT / "tests/limits.toml"  # those of security/README.md
LIMIT = re.compile(r"^((?:MAX|MANY)_\w+|FAR\w*) = [^#\n]+?(?:  # (.+))?$", re.MULTILINE)
OF_NUMBERS = {"MAX_INT", "MAX_SMALL", "MAX_DIGITS"}  # of types in languages: no limits of ours
ASKED = re.compile(r"^TOOLS = \(.*\)(?=  # make docs$)", re.MULTILINE)  # of quick.py, which can load no registry

# Types of messages that have a name: what they hold, rather than how the broker checks it.
NAMED = (
    (bounded.Path, "path"),
    (bounded.Place, "path, empty for the root"),
    (bounded.Said, "sentence"),
    (bounded.Word, "word"),
    (bounded.Shown, "line of text"),
    (bounded.Count, "count"),
    (bounded.At, "line number"),
    (questions.Line, "line number from 1"),
    (questions.Kind, "[kind](#kinds)"),
)
PLAIN = {str: "text", int: "whole number", bool: "`true` or `false`", float: "number", Any: "any JSON value"}


class Bounds(NamedTuple):
    """What `Meta` says of a value, in words: `Bounds.of([Meta(ge=1, le=20)])` is `from 1 to 20`."""

    low: float | None = None
    high: float | None = None
    shortest: int | None = None
    longest: int | None = None
    pattern: str | None = None

    @classmethod
    def of(cls, metas: Iterable[Meta]) -> "Bounds":
        names = ("ge", "le", "min_length", "max_length", "pattern")
        return cls(
            *(next((v for m in metas if (v := getattr(m, name)) is not None), None) for name in names),
        )

    def __str__(self) -> str:
        parts = []
        if self.high is not None:
            parts.append(f"from {self.low:,} to {self.high:,}")
        if self.longest is not None:
            parts.append(f"of {f'{self.shortest:,}' if self.shortest else 'up'} to {self.longest:,} characters")
        if self.pattern is not None:
            parts.append(f"that matches `{self.pattern}`")
        return ", ".join(parts)


def kind_of(hint: Any) -> str:
    """Return a type in words: `kind_of(list[tuple[At, Shown]])` is `list of [line number, line of text]`."""
    for named, word in NAMED:
        if hint == named:
            return word
    parts = get_args(hint)
    match get_origin(hint):
        case origin if origin is Annotated and (get_origin(parts[0]) is list or get_args(parts[0])[-1:] == (...,)):
            return f"list of up to {Bounds.of(parts[1:]).longest} times {kind_of(get_args(parts[0])[0])}"
        case origin if origin is Annotated:
            bounds = str(Bounds.of(parts[1:]))
            return kind_of(parts[0]) + (f" {bounds}" if bounds else "")
        case origin if origin in (Union, types.UnionType):
            return " or ".join(kind_of(part) for part in parts if part is not types.NoneType)
        case origin if origin is Literal:
            return ", ".join(f"`{part}`" for part in parts)
        case origin if origin is list:
            return f"list of {kind_of(parts[0])}"
        case origin if origin is tuple:
            return f"[{', '.join(map(kind_of, parts))}]"
        case origin if origin is dict:
            return f"object: {kind_of(parts[0])} to {kind_of(parts[1])}"
    return PLAIN.get(hint) or f"[`{hint.__name__}`](#{hint.__name__.lower()})"


def meaning_of(hint: Any) -> str:
    """Return what an argument means: its description, or what only the documents say of it."""
    metas = [meta for meta in get_args(hint) if isinstance(meta, Meta)]
    said = [meta.description or (meta.extra or {}).get("meaning") for meta in metas]
    return next((text for text in said if text), "")


def rows(heads: tuple[str, ...], cells: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yield a Markdown table."""
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for row in cells:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def default_of(field: msgspec.structs.FieldInfo, absent: str) -> str:
    """Return the default of a field as JSON has it; `absent` where it may be left out, and means nothing then."""
    if field.required:
        return "required"
    value = field.default if field.default is not NODEFAULT else field.default_factory()
    return absent if value is None else f"`{msgspec.json.encode(value).decode()}`"


# ---- tools ----------------------------------------------------------------------------------------------------------


def tools() -> Iterator[str]:
    for tool, question in questions.QUESTIONS.items():
        hints = get_type_hints(question, include_extras=True)
        fields = msgspec.structs.fields(question)
        yield f"### `{tool}`\n"
        purpose, example = schema.description(tool).split("\nExample: ")
        yield f"{purpose}\n\nExample: `{example}`\n"
        yield from rows(
            ("argument", "type and bounds", "default", "meaning"),
            ((f"`{f.name}`", kind_of(hints[f.name]), default_of(f, "-"), meaning_of(hints[f.name])) for f in fields),
        )
        answers = " or ".join(f"[`{answer.__name__}`](#{answer.__name__.lower()})" for answer in answers_of(tool))
        yield f"\nAnswer: {answers}.\n"
    yield from aliases()


def tool_list() -> Iterator[str]:
    yield from rows(
        ("tool", "arguments", "answer"),
        (
            (f"`{tool}`", ", ".join(f"`{name}`" for name in question.__struct_fields__), TOOLS[tool].help_line)
            for tool, question in questions.QUESTIONS.items()
        ),
    )


def aliases() -> Iterator[str]:
    yield "### Other names\n"
    yield "Tools of a profile that names them, as `fledgling-expert` does; each asks what another is asked, no more.\n"
    yield from rows(
        ("tool", "arguments", "the same as"),
        (
            (
                f"`{name}`",
                ", ".join(f"`{field}`" for field in row.question.__struct_fields__),
                f"`{row.tool}`" + "".join(f" with `{field}={value}`" for field, value in row.fixed.items()),
            )
            for name, row in ALIASES.items()
        ),
    )


def answers_of(tool: str) -> list[type[Struct]]:
    return [each.answer for each in TOOLS[tool].answers]


def answers() -> Iterator[str]:
    for part in parts_of(answer for tool in questions.QUESTIONS for answer in answers_of(tool)):
        hints = get_type_hints(part, include_extras=True)
        yield f"### `{part.__name__}`\n"
        yield f"{inspect.cleandoc(part.__doc__ or '')}\n"
        yield from rows(
            ("field", "type", "default"),
            (
                (f"`{f.name}`", kind_of(hints[f.name]), "always there" if f.required else default_of(f, "absent"))
                for f in msgspec.structs.fields(part)
            ),
        )
        yield ""


def parts_of(structs: Iterable[type[Struct]]) -> list[type[Struct]]:
    """Return answers and what they are made of, each once, a whole before its parts."""
    known: dict[type[Struct], None] = {}

    def look(hint: Any) -> None:
        if isinstance(hint, type) and issubclass(hint, Struct) and hint not in known:
            known[hint] = None
            for inner in get_type_hints(hint).values():
                look(inner)
        for part in get_args(hint):
            look(part)

    for struct in structs:
        look(struct)
    return list(known)


# What is found in a language, by a kind of definition that its marked source has; of others it is definitions.
LINKED = "sections, and links to files as imports"
FOUND = {"section": "sections", "selector": "selectors", "key": "top-level keys"}


def languages() -> Iterator[str]:
    known, kinds = load_languages(), marked_kinds()
    lists: dict[str, list[str]] = {found: [] for found in ("definitions and imports", "definitions", LINKED)}
    for name, row in known.rows.items():
        if row.finds_definitions:
            found = next((FOUND[kind] for kind in FOUND if kind in kinds[name] and row.role != "code"), "definitions")
            if row.imports:
                found = LINKED if row.role == "document" else f"{found} and imports"
            lists.setdefault(found, []).append(row.title or name.capitalize())
    listed = ((found, ", ".join(sorted(titles, key=str.casefold))) for found, titles in lists.items())
    yield from rows(("what is found", "in"), (*listed, ("text", "every language")))


def marked_kinds() -> dict[str, set[str]]:
    """Return the kinds of definitions that the marked sources of each language have."""
    known = load_languages()
    kinds: dict[str, set[str]] = defaultdict(set)
    for table in MARKED.glob("*.toml"):
        if (source := table.with_suffix("")).exists():
            language = known.detect(source.name, source.read_bytes())
            kinds[language or ""] |= {symbol[2] for symbol in tomllib.loads(table.read_text())["symbols"]}
    return kinds


def kinds() -> Iterator[str]:
    yield textwrap.fill(f"{', '.join(f'`{kind}`' for kind in get_args(questions.Kind))}.", 120)


REFUSALS: dict[RefusalKind, str] = {
    "denied": "the profile does not allow it, or the gate no such SQL",
    "invalid": "the arguments do not fit",
    "not_found": "there is no such file or definition",
    "ambiguous": "there are several, which it names",
    "not_indexed": "the index does not hold that, and will not: a binary file, uses in a language without them",
    "timeout": "it took longer than `query_timeout`",
    "memory": "it, or the index, took more than `memory_limit`",
    "busy": "too many calls are at work",
    "cancelled": "the client has cancelled it",
    "unavailable": "not now: no index yet, a file could not be read, a process has ended, or the audit log "
    "cannot be written",
    "failed": "the index could not be made, or the fault is Fledgling's own",
}


def refusals() -> Iterator[str]:
    yield from rows(("kind", "why"), ((f"`{kind}`", REFUSALS[kind]) for kind in get_args(RefusalKind)))


# ---- profiles and settings ------------------------------------------------------------------------------------------


def directives() -> Iterator[str]:
    yield from rows(
        ("directive", "value", "default", "enforced by", "meaning"),
        (
            (f"`{name}`", d.literal.expects, written(d), d.enforced_by, d.meaning)
            for name, d in profiles.DIRECTIVES.items()
        ),
    )


def written(directive: profiles.Directive) -> str:
    """Return a default as a profile would set it: `'2GB'`."""
    match directive.default:
        case bool(value):
            return "`'on'`" if value else "`'off'`"
        case int(value) if directive.literal.expects.startswith("a size"):
            return f"`'{profiles.size_text(value)}'`"
        case None | "" | tuple():
            return "none"
        case str(value):
            return f"`'{value}'`"
        case value:
            return f"`{value:g}`"


def shipped() -> Iterator[str]:
    loaded = [profiles.load(name) for name in profiles.shipped()]
    yield from rows(
        ("profile", "tools", "memory", "seconds a call", "rows and bytes an answer", "for"),
        (
            (
                f"`{p.name}`",
                ", ".join(p.tools),
                profiles.size_text(p.memory_limit),
                f"{p.query_timeout:g}",
                f"{p.max_rows:,}; {profiles.size_text(p.max_result_bytes)}",
                first_comment(p.name),
            )
            for p in loaded
        ),
    )


def first_comment(name: str) -> str:
    """Return what the first line of a shipped profile says of it."""
    first = (profiles.SHIPPED / f"{name}.sql").read_text().splitlines()[0]
    return first.removeprefix(f"-- {name}: ")


def tables() -> Iterator[str]:
    yield f"```\n{resources.SCHEMA}```"


def settings() -> Iterator[str]:
    yield from rows(
        ("setting", "value", "default", "a project's file"),
        (
            (
                f"`{field.name}`",
                meaning_of(TYPES[field.name]),
                default_of(field, "-"),
                "may narrow it" if field.name in Scope.__struct_fields__ else "-",
            )
            for field in msgspec.structs.fields(Settings)
        ),
    )


def graph_limits() -> Iterator[str]:
    """Yield the limits of the graph that are none of security, each with what stands beside it in the code."""
    of_security = {name for named in tomllib.loads(LIMITS.read_text()).values() for name in named.values()}
    cells = []
    for path in sorted((ROOT / "worker/graph").rglob("*.py")):
        place = str(path.relative_to(ROOT))
        module = f"fledgling.{place.removesuffix('.py').replace('/', '.')}"
        for name, reason in LIMIT.findall(path.read_text()):
            assert reason, f"{place}: {name} has no reason beside it"
            if f"{module}.{name}" not in of_security and name not in OF_NUMBERS:
                cells.append((f"`{name}`", f"{pkgutil.resolve_name(f'{module}:{name}'):,}", reason, f"`{place}`"))
    yield from rows(("limit", "value", "of what, and why", "place"), cells)


def modules(room: str) -> Iterator[str]:
    """Yield the modules of a room, each with what the first paragraph of its docstring says of it."""
    files = (path for path in sorted((ROOT / room).glob("*.py")) if path.name != "__init__.py")
    said = ((path.relative_to(ROOT), ast.get_docstring(ast.parse(path.read_text())) or "") for path in files)
    cells = ((f"`{path}`", " ".join(text.partition("\n\n")[0].split())) for path, text in said)
    yield from rows(("module", "what"), cells)


SECTIONS: dict[str, Callable[..., Iterator[str]]] = {
    section.__name__: section
    for section in (
        tool_list,
        languages,
        tools,
        answers,
        kinds,
        refusals,
        directives,
        shipped,
        tables,
        settings,
        graph_limits,
        modules,
    )
}
# The profile stands before the documents that say what is in it.
DOCUMENTS = (
    "broker/cli/quick.py",
    "profiles/fledgling-analyst.sql",
    "README.md",
    "docs/tools.md",
    "docs/profiles.md",
    "docs/settings.md",
    "docs/graph/reading.md",
    "docs/graph/resolving.md",
    "docs/graph/effects.md",
    "docs/graph/limits.md",
)


def as_generated(text: str) -> str:
    """Return a document with its generated sections, or a profile or module with its list of every tool, made anew."""
    if text.startswith("-- fledgling-analyst: "):
        return EVERY_TOOL.sub(f"SET tools = '{', '.join(questions.QUESTIONS)}';", text)
    if ASKED.search(text):
        listed = ", ".join(f'"{tool}"' for tool in questions.QUESTIONS)
        return ASKED.sub(f"TOOLS = ({listed})", text)
    return SECTION.sub(lambda found: found["head"] + "\n".join(generated(found)).rstrip() + "\n", text)


def generated(section: re.Match[str]) -> Iterator[str]:
    """Yield the lines of a section, by its name and what it is of, if it says so."""
    yield from SECTIONS[section["name"]](*filter(None, [section["of"]]))


if __name__ == "__main__":
    for document in DOCUMENTS:
        path = ROOT / document
        path.write_text(as_generated(path.read_text()))
