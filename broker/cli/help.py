"""Help of one screen: what a command asks comes first, and settings in a group of their own, if they are asked for."""

from collections.abc import Sequence
from typing import Any

import click
from click.core import augment_usage_errors

USUAL = ("root", "profile")  # settings that every help shows: the others are set once, in a file or the environment
_ALL = "fledgling.cli.help.all"  # where a context notes that all settings are asked for


class SettingOption(click.Option):
    """An option for a setting, which every command has that looks at a project."""


class Command(click.Command):
    """A command with its settings behind its options, and `examples` of how it is typed: `search timeout -t python`."""

    def __init__(self, *arguments: Any, examples: Sequence[str] = (), **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.examples = examples
        if any(isinstance(parameter, SettingOption) for parameter in self.params):
            shown: dict[str, Any] = {"is_flag": True, "is_eager": True, "expose_value": False, "callback": _show}
            self.params.append(click.Option(["--help-all"], help="Show all settings as well.", **shown))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words; what is wrong with an option is said of this command, whose help has it."""
        with augment_usage_errors(ctx):
            return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, then the settings, or how many there are."""
        own: list[tuple[str | None, tuple[str, str]]] = []
        settings: list[tuple[str | None, tuple[str, str]]] = []
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) and isinstance(parameter, click.Option):
                (settings if isinstance(parameter, SettingOption) else own).append((parameter.name, record))
        with formatter.section("Options"):
            formatter.write_dl([record for _, record in own])
        if not settings:
            return
        is_all = ctx.meta.get(_ALL, False)
        with formatter.section("Settings"):
            formatter.write_dl([record for name, record in settings if is_all or name in USUAL])
            if not is_all:
                formatter.write_text(f"and {len(settings) - len(USUAL)} more: --help-all")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        if self.examples:
            with formatter.section("Examples"), formatter.indentation():
                formatter.write("".join(f"{' ' * formatter.current_indent}{line}\n" for line in self.examples))
        super().format_epilog(ctx, formatter)


def _show(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked and not context.resilient_parsing:
        context.meta[_ALL] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()
