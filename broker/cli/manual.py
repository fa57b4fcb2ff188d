"""`man`: the manual page, written from what help says: fledgling man | man -l -"""

from collections.abc import Iterable, Iterator

import click

from fledgling import __version__
from fledgling.broker.cli.help import Command, SettingOption


@click.command()
@click.pass_context
def man(context: click.Context) -> None:
    """Print the manual page of all commands: fledgling man > ~/.local/share/man/man1/fledgling.1"""
    root = context.find_root()
    click.echo("\n".join(_page(root, root.command)))


def _page(root: click.Context, program: click.Command) -> Iterator[str]:
    """Yield the page in the man macros of roff: man-pages(7) has the names of its sections."""
    assert isinstance(program, click.Group)
    yield f'.TH FLEDGLING 1 "" "fledgling {__version__}" "Fledgling"'
    said, _, more = _said(program).partition(". ")
    yield from (".SH NAME", f"fledgling \\- {_text(said)}")
    yield from (".SH SYNOPSIS", ".B fledgling", r"\fICOMMAND\fR [\fIOPTIONS\fR] [\fIARGUMENTS\fR]")
    yield from (".SH DESCRIPTION", _text(more), ".SH COMMANDS")
    settings: dict[str, click.Option] = {}
    for context in _commands(root, program):
        yield from (f".SS {_text(context.command_path)}", *_described(context, settings))
    yield ".SH SETTINGS"
    yield _text("Commands that look at a project take these, too; a file or the environment can say them instead.")
    yield from _options(root, settings.values())
    yield from (".SH EXIT STATUS", _text(program.epilog or ""))


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
    pieces = " ".join(piece for piece in command.collect_usage_pieces(context) if piece != "[OPTIONS]")
    yield f"\\fB{_text(context.command_path)}\\fR {_text(pieces)}".rstrip()
    for paragraph in _said(command).split("\n\n"):
        yield from (".PP", _text(" ".join(paragraph.split())))
    yield from _options(context, options)
    if isinstance(command, Command) and command.examples:
        yield from (".PP", "Examples:", ".PP", ".EX", *map(_text, command.examples), ".EE")


def _options(context: click.Context, options: Iterable[click.Option]) -> Iterator[str]:
    for option in options:
        names, meaning = option.get_help_record(context) or ("", "")
        yield from (".TP", f"\\fB{_text(names)}\\fR", _text(meaning) or "\\&")


def _said(command: click.Command) -> str:
    return (command.help or "").replace("\b\n", "")


def _text(text: str) -> str:
    """Return text that roff takes for text: on one line, no escape, no request, and hyphens that can be copied."""
    line = " ".join(text.split("\n")).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{line}" if line[:1] in (".", "'") else line
