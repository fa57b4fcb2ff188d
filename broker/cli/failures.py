"""What becomes of a command that has failed: one line that says what to do, and an exit code."""

import re
import sys
from typing import NoReturn

import click

from fledgling import refusals
from fledgling.broker import surroundings
from fledgling.broker.cli import terminal
from fledgling.broker.indexing.failures import IndexingError
from fledgling.config import ConfigError
from fledgling.plain import said
from fledgling.security.confinement import ConfinementError
from fledgling.security.profile import ProfileError

_LINES = re.compile(r"\s*\n\s*")  # click lists choices on lines of their own


def end(failed: BaseException) -> NoReturn:
    """Say what was wrong, and exit; what is nobody's mistake but ours is raised again."""
    match failed:
        case click.exceptions.NoArgsIsHelpError():
            failed.show()
            sys.exit(failed.exit_code)
        case click.UsageError():
            asked = failed.ctx.command_path if failed.ctx else "fledgling"
            message = said(_LINES.sub(" ", failed.format_message())).rstrip(".")
            end = "" if message.endswith("?") else "."
            terminal.fail(f"{message}{end} `{asked} --help` says how it is used.", failed.exit_code)
        case click.ClickException():
            terminal.fail(failed.format_message(), failed.exit_code)
        case click.Abort() | KeyboardInterrupt():
            terminal.give_up("aborted")
        case ConfigError() | ProfileError():
            terminal.fail(str(failed))
        case IndexingError():
            terminal.refuse(failed.refusal)
        case ConfinementError():
            terminal.refuse(refusals.not_confined(str(failed)))
        case OSError() | MemoryError() | RuntimeError():
            terminal.give_up(surroundings.failure(failed))
    raise failed
