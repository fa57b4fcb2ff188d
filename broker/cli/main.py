"""The command line. Every answer comes from the same processes, under the same profile, as an agent's would."""

from fledgling import imports_from_here, refuse_shadowed

if imports_from_here("-c"):
    refuse_shadowed()

import gc
import sys
from collections.abc import Mapping
from importlib import import_module

import click

from fledgling import __version__
from fledgling.broker import logs, surroundings

EXIT_CODES = (
    "Exit codes: 0 found; 1 nothing found, or a check failed; 2 wrong usage; 3 found, in a partial index; 4 denied; "
    "124 timeout."
)

TOOLS = ("explore", "search", "symbols", "read", "dependencies", "query")

# Command -> its module and the name there, in groups as help lists them: a command loads what it needs, and no other's.
COMMANDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Ask": dict.fromkeys(TOOLS, ("ask", "")),
    "Serve": {
        "serve": ("serve", "serve"),
        "install": ("clients", "install_command"),
        "uninstall": ("clients", "uninstall_command"),
        "agents": ("agents", "agents_group"),
    },
    "Operate": {
        "status": ("operate", "status"),
        "check-updates": ("operate", "check_updates"),
        "reindex": ("operate", "reindex"),
        "ingest": ("operate", "ingest"),
        "ingest-delta": ("operate", "ingest_delta"),
        "purge": ("operate", "purge"),
        "list": ("operate", "list_served"),
    },
    "Fleet": {"fleet": ("fleet", "fleet_group")},
    "Look": {
        "index": ("look", "index"),
        "report": ("look", "report_command"),
        "savings": ("look", "savings"),
        "languages": ("languages", "languages"),
        "config": ("look", "config_group"),
    },
    "Trust": {
        "profiles": ("profiles", "profiles_group"),
        "audit": ("audit", "audit_group"),
        "doctor": ("look", "doctor"),
    },
    "Shell": {"shell": ("shell", "shell"), "completion": ("completion", "completion"), "man": ("manual", "man")},
}


class Commands(click.Group):
    """All commands; each is loaded when it is named, or listed with the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all commands."""
        return [name for group in COMMANDS.values() for name in group]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Load a command; None where there is none of that name."""
        for group in COMMANDS.values():
            if place := group.get(cmd_name):
                module, name = place
                loaded = import_module(f"fledgling.broker.cli.{module}")
                command: click.Command = getattr(loaded, name) if name else loaded.command_of(cmd_name)
                return command
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is named first, or say which may be meant."""
        if args and not args[0].startswith("-") and args[0] not in self.list_commands(ctx):
            from difflib import get_close_matches  # noqa: PLC0415  (as a rule there is a command)

            near = get_close_matches(args[0][:40], self.list_commands(ctx), 1)
            meant = f": the nearest is {near[0]}" if near else ""
            raise click.UsageError(f"No such command {args[0]!r}{meant}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in their groups, a line each."""
        room = formatter.width - 4 - max(map(len, self.list_commands(ctx)))
        for title, group in COMMANDS.items():
            loaded = ((name, self.get_command(ctx, name)) for name in group)
            with formatter.section(title):
                formatter.write_dl([(name, command.get_short_help_str(room)) for name, command in loaded if command])


def main() -> None:
    """Run the command line; errors of the user's making end in one line and an exit code."""
    surroundings.hold_standard_descriptors()
    logs.configure()
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
    """Give an AI agent eyes on a codebase, and nothing else. `fledgling COMMAND --help` says more of a command."""
