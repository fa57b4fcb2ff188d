"""`man`: the manual page, written from what help says: fledgling man | man -l -"""

from collections.abc import Iterable, Iterator, Mapping

import click

from fledgling import __version__
from fledgling.broker.cli.help import Command, SettingOption

DESCRIPTION = """
Fledgling indexes a project into memory, answers questions about it, and leaves nothing behind. An agent asks a server
by MCP, the Model Context Protocol: `fledgling install` tells a client to start one. In a shell the same tools are
commands. Each reads the project anew for its one answer, unless a server runs there that was started with --control.

What may be seen, and by which tools, is said by a profile: `fledgling profiles list`.
"""
SETTINGS = """
Commands that look at a project take these as well. A list is an option that is repeated.

What no option says, a variable of the environment may (FLEDGLING_MAX_FILES=100, a list with commas), then your own
file of settings (max_files: 100), then for some of them the project's file, which can only narrow them. `fledgling
config show` tells what is in force, and why.
"""
ENVIRONMENT = {
    "FLEDGLING_ROOT, FLEDGLING_PROFILE, ...": "a setting, by its name",
    "FLEDGLING_CONFIG": "your own file of settings",
    "NO_COLOR": "no colour where this is set",
    "PAGER": "what shows long answers on a terminal, by default less; cat shows them at once",
    "XDG_RUNTIME_DIR": "where servers with --control take commands: a directory that is yours alone",
}
FILES = {
    "~/.config/fledgling/fledgling.yaml": "your own settings; below XDG_CONFIG_HOME where that is set",
    "fledgling.yaml": "settings of a project, at its root",
}


@click.command(
    cls=Command,
    examples=("fledgling man | man -l -", "fledgling man > ~/.local/share/man/man1/fledgling.1    # for man fledgling"),
)
@click.pass_context
def man(context: click.Context) -> None:
    """Print the manual page of all commands."""
    root = context.find_root()
    click.echo("\n".join(_page(root, root.command)))


def _page(root: click.Context, program: click.Command) -> Iterator[str]:
    """Yield the page in the man macros of roff: man-pages(7) has the names of its sections."""
    assert isinstance(program, click.Group)
    yield f'.TH FLEDGLING 1 "" "fledgling {__version__}" "Fledgling"'
    said, _, more = _said(program).partition(". ")
    yield from (".SH NAME", f"fledgling \\- {_text(said)}")
    yield from (".SH SYNOPSIS", ".B fledgling", r"\fICOMMAND\fR [\fIOPTIONS\fR] [\fIARGUMENTS\fR]")
    yield from (".SH DESCRIPTION", *_paragraphs(f"{DESCRIPTION}\n\n{more}"), ".SH COMMANDS")
    settings: dict[str, click.Option] = {}
    for context in _commands(root, program):
        yield from (f".SS {_text(context.command_path)}", *_described(context, settings))
    yield from (".SH SETTINGS", *_paragraphs(SETTINGS))
    yield from _options(root, settings.values())
    yield from (".SH EXIT STATUS", _text(f"{program.epilog} Commands whose codes mean something else say so."))
    yield from (".SH ENVIRONMENT", *_terms(ENVIRONMENT), ".SH FILES", *_terms(FILES))


def _commands(parent: click.Context, group: click.Group) -> Iterator[click.Context]:
    """Yield a context for each command, those of groups too."""
    for name in group.list_commands(parent):
        command = group.get_command(parent, name)
        assert command
        context = click.Context(command, parent, info_name=name)
        if isinstance(command, click.Group):
            yield from _commands(context, command)
            if not command.invoke_without_command:
                continue
        yield context


def _described(context: click.Context, settings: dict[str, click.Option]) -> Iterator[str]:
    """Yield what a command does, its options and its examples; what settings it takes is noted for all."""
    command = context.command
    options = []
    for parameter in command.get_params(context):
        if isinstance(parameter, SettingOption):
            settings[str(parameter.name)] = parameter
        elif isinstance(parameter, click.Option) and not {"--help", "--help-all"} & {*parameter.opts}:
            options.append(parameter)
    pieces = " ".join(command.collect_usage_pieces(context))
    yield f"\\fB{_text(context.command_path)}\\fR {_text(pieces)}"
    yield from (".PP", *_paragraphs(_said(command)))
    yield from _options(context, options)
    if isinstance(command, Command) and command.examples:
        yield from (".PP", "Examples:", ".PP", ".EX", *map(_text, command.examples), ".EE")


def _options(context: click.Context, options: Iterable[click.Option]) -> Iterator[str]:
    for option in options:
        names, meaning = option.get_help_record(context) or ("", "")
        if isinstance(option.type, click.Choice) and not any(each in names + meaning for each in option.type.choices):
            meaning += f": {', '.join(option.type.choices)}"
        yield from _terms({names: meaning})


def _terms(meanings: Mapping[str, str]) -> Iterator[str]:
    for term, meaning in meanings.items():
        yield from (".TP", f"\\fB{_text(term)}\\fR", _text(meaning) or "\\&")


def _paragraphs(said: str) -> Iterator[str]:
    first, *others = (" ".join(paragraph.split()) for paragraph in said.split("\n\n"))
    yield _text(first)
    for paragraph in others:
        yield from (".PP", _text(paragraph))


def _said(command: click.Command) -> str:
    return (command.help or "").replace("\b\n", "")


def _text(text: str) -> str:
    """Return text that roff takes for text: on one line, no escape, no request, and hyphens that can be copied."""
    line = " ".join(text.split("\n")).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{line}" if line[:1] in (".", "'") else line
