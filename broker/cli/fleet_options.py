"""Options of all commands of `fleet`, and the settings that they name."""

import os
from collections.abc import Callable

import click

from fledgling.broker import surroundings
from fledgling.broker.cli import completing
from fledgling.config import Resolved, read_user_file, resolve
from fledgling.messages.profile import Profile
from fledgling.security import profile as profiles


def settings_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that decide what is indexed and how; other settings come from the environment and your file."""
    command = click.option("--config", metavar="FILE", help="your own settings file")(command)
    command = click.option(
        "--allow-degraded", is_flag=True, help="work without Landlock or seccomp where the kernel has none; see doctor"
    )(command)
    return click.option(
        "--profile", metavar="PROFILE", shell_complete=completing.profiles, help="what is indexed, and may be shown"
    )(command)


def settings(profile: str | None, config: str | None, **flags: object) -> tuple[Resolved, Profile]:
    """Check where this runs, and return the settings of a command that has no root, and its profile."""
    surroundings.check()
    resolved = resolve({"profile": profile, **flags}, os.environ, read_user_file(os.environ, config))
    return resolved, profiles.load(resolved.settings.profile)
