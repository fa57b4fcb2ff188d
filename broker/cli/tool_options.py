"""What a tool asks, as options of a command, and the way back from options to its arguments."""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, get_args, get_origin

import click
import msgspec

from fledgling.broker.cli import completing
from fledgling.broker.cli.paint import highlighting
from fledgling.broker.cli.terminal import FORMATS, Looks
from fledgling.broker.protocol import schema
from fledgling.messages.questions import QUESTIONS

Decorator = Callable[[Callable[..., None]], Callable[..., None]]

# Letters that ripgrep, fd and tree have for the same.
SHORT: Mapping[str, Mapping[str, str]] = {
    "explore": {"depth": "-L", "pattern": "-g"},
    "search": {
        "path": "-g",
        "language": "-t",
        "kind": "-k",
        "case_sensitive": "-s",
        "whole_word": "-w",
        "context": "-C",
        "max_results": "-m",
    },
    "symbols": {"kind": "-k", "language": "-t", "name_pattern": "-n", "max_results": "-m"},
    "read": {"symbol": "-s"},
    "dependencies": {"direction": "-d", "depth": "-L"},
}
EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "explore": ("fledgling explore src -L 2", "fledgling explore -g '*.py' --json"),
    "search": (
        "fledgling search timeout -t python -C 0",
        "fledgling search -e 'def \\w+_test' -g 'src/**'",
        "fledgling search engine -k class",
        "fledgling search -l TODO",
    ),
    "symbols": ("fledgling symbols src/app.py", "fledgling symbols 'src/core/*' -k function -n 'parse_*'"),
    "read": ("fledgling read src/app.py --start-line 10 --end-line 40", "fledgling read src/app.py -s Engine.run"),
    "dependencies": ("fledgling dependencies src/app.py -d imported_by",),
    "query": (
        "fledgling query --profile fledgling-analyst 'SELECT language, count(*) FROM files GROUP BY ALL'",
        "fledgling query --profile fledgling-analyst --format csv 'FROM symbols' > symbols.csv",
    ),
}
COMPLETED = {
    "path": completing.paths,
    "language": completing.languages,
    "symbol": completing.symbols,
    "name_pattern": completing.symbols,
}
METAVARS = {
    **dict.fromkeys(("path", "pattern", "name_pattern"), "GLOB"),
    **dict.fromkeys(("max_results", "start_line", "end_line", "depth", "context", "budget_tokens"), "N"),
    **dict.fromkeys(("tags_any", "tags_all"), "TAG"),
    "also": "WORDS",
}
# Meanings that a command has of its own: a person types, has no `next` to call, and sees choices in alphabetical order.
MEANINGS = {
    "also": "synonyms, for search by meaning",
    "cursor": "where a cut answer goes on: its last line has it",
    "detail": "how it is built; sizes; or what files say of themselves",
    "language": "python, sql, ...: `fledgling languages` lists them",
    "mode": "what to search by; `docs`: sections of documents",
    "path": "directory, file or glob: `src`, `src/*`, `*.py`",
}
LONGEST_CHOICE = 6  # words; longer lists are completed, and named where a word is wrong


def with_options(command: Callable[..., None], tool: str) -> Callable[..., None]:
    """Give a command what its tool asks: the first argument by position, the others as options."""
    properties = schema.input_schema(tool)["properties"]
    first, *others = msgspec.structs.fields(QUESTIONS[tool])
    for field in reversed(others):
        command = _option(tool, field, properties[field.name])(command)
    if tool == "search":
        command = _search_options(command)
    if tool == "query":
        form = click.option("--format", "form", type=click.Choice(FORMATS), help="all rows, for people or programs")
        command = form(command)
    is_required = first.required and tool != "search"
    metavar = first.name.upper() if is_required else f"[{first.name.upper()}]"
    completed = COMPLETED.get(first.name)
    return click.argument(f"ask_{first.name}", metavar=metavar, required=is_required, shell_complete=completed)(command)


def _option(tool: str, field: msgspec.structs.FieldInfo, shape: Mapping[str, Any]) -> Decorator:
    """Return the option of an argument, which has this shape in the schema of its tool."""
    choices, kind = shape.get("enum"), shape["type"]
    is_flag, is_list = kind == "boolean", kind == "array"
    return click.option(
        *filter(None, (SHORT.get(tool, {}).get(field.name), f"--{field.name.replace('_', '-')}")),
        f"ask_{field.name}",
        is_flag=is_flag,
        multiple=is_list,
        default=None,
        help=_help(field, choices or (), is_list=is_list),
        type=click.Choice(choices) if choices else int if kind == "integer" else None,
        shell_complete=COMPLETED.get(field.name),
        metavar=None if is_flag else METAVARS.get(field.name, field.name.upper()),
    )


def _search_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that search has in a shell alone, under the names that grep and ripgrep have for them."""
    flag = partial(click.option, is_flag=True)
    command = flag("-l", "--files-with-matches", "is_listed", help="only the paths of files, on all pages")(command)
    command = flag("-i", "--ignore-case", help="upper and lower case are the same: the default")(command)
    command = flag("-F", "--fixed-strings", help="QUERY is plain text, and no meaning is asked for")(command)
    return click.option("-e", "--regexp", metavar="REGEX", help="an expression of RE2, in place of QUERY")(command)


def _help(field: msgspec.structs.FieldInfo, choices: Sequence[str], *, is_list: bool) -> str:
    """Return what an option means, the words it takes, and its default where it has one that can be typed."""
    words = f" ({', '.join(choices)})" if 0 < len(choices) <= LONGEST_CHOICE else ""
    default = f" [default: {field.default}]" if field.default and isinstance(field.default, str | int) else ""
    return f"{_meaning(field)}{words}{'; repeatable' if is_list else ''}{default}"


def _meaning(field: msgspec.structs.FieldInfo) -> str | None:
    """Return what an argument means, as docs/tools.md has it, but for MEANINGS."""
    if said := MEANINGS.get(field.name):
        return said
    metas = get_args(field.type)[1:] if get_origin(field.type) is Annotated else ()
    return next(filter(None, (meta.description or (meta.extra or {}).get("meaning") for meta in metas)), None)


def asked(tool: str, options: dict[str, Any], *, as_json: bool, color: bool) -> tuple[dict[str, Any], Looks]:
    """Take what a command asks out of its options: return the arguments of the question, and how to print answers."""
    given = {name: options.pop(f"ask_{name}") for name in QUESTIONS[tool].__struct_fields__}
    given = {name: value for name, value in given.items() if value is not None}
    if "" in given.values():
        from fledgling.broker.spelling.arguments import optional  # noqa: PLC0415  (as a rule none is empty)

        given = {name: value for name, value in given.items() if value != "" or name not in optional(tool)}
    if "language" in given:
        from fledgling.broker.spelling.values import VALUES  # noqa: PLC0415  (as a rule none is given)

        given["language"] = VALUES["language"](given["language"], "")  # `py`, as other programs have it, too
    is_listed = _merge(given, options) if tool == "search" else False
    form = options.pop("form", None)
    width = None
    if form and sys.stdout.isatty():
        import shutil  # noqa: PLC0415  (as a rule no form is asked for)

        width = shutil.get_terminal_size().columns
    return given, Looks(as_json, color, is_listed, form, (), highlighting(given) if color else None, width)


def _merge(given: dict[str, Any], options: dict[str, Any]) -> bool:
    """Take the options that search has in a shell alone; return whether only paths are asked for."""
    expression, is_plain = options.pop("regexp"), options.pop("fixed_strings")
    if options.pop("ignore_case"):
        given.pop("case_sensitive", None)
    if expression is not None and "query" in given:
        raise click.UsageError("give QUERY, or -e REGEX in its place; -g GLOB says where to search")
    if expression is not None:
        given |= {"query": expression, "regex": True}
    if "query" not in given:
        raise click.UsageError("Missing argument 'QUERY'.")
    if is_plain:
        given.pop("regex", None)
        given["mode"] = "text"
    is_listed: bool = options.pop("is_listed")
    return is_listed
