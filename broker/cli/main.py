"""The command line. Every answer comes from the same processes, under the same profile, as an agent's would."""

from fledgling import imports_from_here, refuse_shadowed

if imports_from_here("-c"):
    refuse_shadowed()

import gc

import click
from click.shell_completion import get_completion_class

from fledgling import __version__, refusals
from fledgling.broker import logs, surroundings
from fledgling.broker.cli import agents, ask, audit, clients, languages, look, profiles, serve, terminal
from fledgling.broker.indexing import IndexingError
from fledgling.config import ConfigError
from fledgling.messages.questions import QUESTIONS
from fledgling.security.confinement import ConfinementError
from fledgling.security.profile import ProfileError

EXIT_CODES = (
    "Exit codes: 0 found; 1 nothing found, or a check failed; 2 wrong usage; 3 found, in a partial index; 4 denied; "
    "124 timeout."
)


def main() -> None:
    """Run the command line; errors of the user's making end in one line and an exit code."""
    surroundings.hold_standard_descriptors()
    logs.configure()
    try:
        cli(prog_name="fledgling")
    except (ConfigError, ProfileError) as wrong:
        terminal.fail(str(wrong))
    except IndexingError as failed:
        terminal.refuse(failed.refusal)
    except ConfinementError as absent:
        terminal.refuse(refusals.not_confined(str(absent)))
    except (OSError, MemoryError, RuntimeError) as failed:
        terminal.give_up(surroundings.failure(failed))
    finally:
        gc.freeze()  # Python looks for cycles once more when it ends, which takes 20 milliseconds


@click.group(epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="fledgling")
def cli() -> None:
    """Give an AI agent eyes on a codebase, and nothing else."""


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell: eval "$(fledgling completion bash)"."""
    script = get_completion_class(shell)
    assert script is not None
    click.echo(script(cli, {}, "fledgling", "_FLEDGLING_COMPLETE").source())


for command in (
    serve.serve,
    *map(ask.command_of, QUESTIONS),
    look.index,
    look.savings,
    look.doctor,
    look.report_command,
    look.config_group,
    languages.languages,
    profiles.profiles_group,
    audit.audit_group,
    agents.agents_group,
    clients.install_command,
    clients.uninstall_command,
):
    cli.add_command(command)
