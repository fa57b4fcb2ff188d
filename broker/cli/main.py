"""The command line. Every answer comes from the same processes, under the same profile, as an agent's would."""

from fledgling import imports_from_here, refuse_shadowed

if imports_from_here("-c"):
    refuse_shadowed()

import gc
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple

import click

from fledgling import __version__
from fledgling.broker import logs, surroundings
from fledgling.plain import MAX_SHOWN

EXIT_CODES = (
    "Exit codes: 0 found; 1 nothing found, or a check failed; 2 wrong usage; 3 found, in a partial index; 4 denied; "
    "124 timeout."
)


class HelpLine(NamedTuple):
    """A line of help: what a command does; the module that has the command, and its name there."""

    line: str
    module: str
    name: str = ""  # of a tool, the module makes the command


# In groups as help lists them, below those of the tools: a command loads what it needs, and no other's.
COMMANDS: Mapping[str, Mapping[str, HelpLine]] = {
    "Serve": {
        "serve": HelpLine("Serve MCP clients on standard input and output, or by HTTP", "serve", "serve"),
        "install": HelpLine("Show, or write, how a client starts Fledgling", "clients", "install_command"),
        "uninstall": HelpLine("Show, or remove, how a client starts Fledgling", "clients", "uninstall_command"),
        "agents": HelpLine("Say which agents are served over HTTP", "agents", "agents_group"),
    },
    "Operate": {
        "status": HelpLine("Show the state of a running server's index", "operate", "status"),
        "check-updates": HelpLine("Have a running server look for changes", "operate", "check_updates"),
        "reindex": HelpLine("Have a running server build its index anew", "operate", "reindex"),
        "ingest": HelpLine("Have a running server index a directory or project anew", "operate", "ingest"),
        "ingest-delta": HelpLine("Have a running server take in what has changed in one", "operate", "ingest_delta"),
        "purge": HelpLine("Have a running server drop the index of a project", "operate", "purge"),
        "list": HelpLine("What running servers of this user serve", "operate", "list_served"),
    },
    "Fleet": {
        "fleet": HelpLine("Index many repositories, and serve them as one tree", "fleet", "fleet_group"),
    },
    "Look": {
        "index": HelpLine("Build the index once and say what is in it", "look", "index"),
        "report": HelpLine("Write a page that shows the project", "look", "report_command"),
        "savings": HelpLine("What 30 questions cost an agent here, and with grep and cat", "look", "savings"),
        "languages": HelpLine("What is extracted for each language", "languages", "languages"),
        "config": HelpLine("Look at the settings", "look", "config_group"),
    },
    "Trust": {
        "profiles": HelpLine("List, show, check and compare profiles", "profiles", "profiles_group"),
        "audit": HelpLine("Attack a server under a profile, and say what stopped it", "audit", "audit_group"),
        "doctor": HelpLine("What is missing or wrong here, and what confines processes", "doctor", "doctor"),
    },
    "Shell": {
        "shell": HelpLine("Answer one question after the other over one index", "shell", "shell"),
        "completion": HelpLine("Print the completion script of a shell", "completion", "completion"),
        "man": HelpLine("Print the manual page of all commands", "manual", "man"),
    },
}


def asking() -> Mapping[str, HelpLine]:
    """Return the commands that ask, one a tool; no other command needs to know them."""
    from fledgling.broker.protocol.tools import TOOLS  # noqa: PLC0415  (a command that does not ask loads none)

    return {name: HelpLine(tool.help_line, "ask") for name, tool in TOOLS.items()}


def groups() -> Mapping[str, Mapping[str, HelpLine]]:
    """Return all commands, in groups as help lists them."""
    return {"Ask": asking(), **COMMANDS}


class Commands(click.Group):
    """All commands; each is loaded when it is named, or listed with the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all commands."""
        return [name for group in groups().values() for name in group]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Load a command; None where there is none of that name."""
        listed = _listed(cmd_name)
        if not listed:
            return None
        module = import_module(f"fledgling.broker.cli.{listed.module}")
        command: click.Command = getattr(module, listed.name) if listed.name else module.command_of(cmd_name)
        command.short_help = listed.line
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words before a command, where others have options for all commands."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as wrong:
            if wrong.possibilities:
                raise
            said = f"No such option {wrong.option_name!r} before a command: options follow it"
            raise click.UsageError(said, ctx) from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is named first, or say which may be meant."""
        if args and not args[0].startswith("-") and not _listed(args[0]):
            from difflib import get_close_matches  # noqa: PLC0415  (as a rule there is a command)

            near = get_close_matches(args[0][:MAX_SHOWN], self.list_commands(ctx), 1)
            meant = f": the nearest is {near[0]}" if near else ""
            raise click.UsageError(f"No such command {args[0][:MAX_SHOWN]!r}{meant}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands in their groups, a line each."""
        for title, group in groups().items():
            with formatter.section(title):
                formatter.write_dl([(name, listed.line) for name, listed in group.items()])


def _listed(name: str) -> HelpLine | None:
    return next((group[name] for group in COMMANDS.values() if name in group), None) or asking().get(name)


def main() -> None:
    """Run the command line; errors of the user's making end in one line and an exit code."""
    surroundings.hold_standard_descriptors()
    logs.configure()
    if "_FLEDGLING_COMPLETE" in os.environ:
        from fledgling.broker.cli import bash  # noqa: PLC0415  (no other command needs it)

        bash.register()
    try:
        sys.exit(cli(prog_name="fledgling", standalone_mode=False))
    except Exception as failed:  # noqa: BLE001  (what nobody expects is raised there once more)
        from fledgling.broker.cli.failures import end  # noqa: PLC0415  (as a rule nothing fails)

        end(failed)
    finally:
        gc.freeze()  # Python looks for cycles once more when it ends, which takes 20 milliseconds


@click.group(
    cls=Commands, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120}
)
@click.version_option(__version__, "-V", "--version", prog_name="fledgling")
def cli() -> None:
    """Give an AI agent eyes on a codebase, and nothing else. `fledgling COMMAND --help` says more about a command."""
