"""What every command works on: the options for settings, and the project they name."""

import logging
import os
import re
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec

from fledgling.broker import logs, surroundings
from fledgling.broker.cli import completing, quick
from fledgling.broker.cli.help import SettingOption
from fledgling.config import ConfigError, Refuse, Resolved, fail, read_user_file, refusing, resolve
from fledgling.messages.control import Confining
from fledgling.messages.profile import Profile
from fledgling.roots import refuse_wide, with_root
from fledgling.security import profile as profiles
from fledgling.settings import KEYS, NAMED_ROOT, Settings

_log = logging.getLogger("fledgling")

FIELDS = {field.name: field for field in msgspec.structs.fields(Settings)}
METAVARS = {
    "root": "DIR",
    "profile": "PROFILE",
    "port": "PORT",
    "host": "ADDRESS",
    "audit_log": "FILE",
    "agents": "FILE",
}

json_option = click.option("--json", "as_json", is_flag=True, help="print JSON")


def output_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add `color`, whether answers are coloured, and `pager`, whether a pager may be started."""
    command = click.option("--pager/--no-pager", default=True, help="show long answers in $PAGER, or less")(command)
    return click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        metavar="WHEN",
        callback=_is_colored,
        help="auto, always or never; auto heeds NO_COLOR",
    )(command)


def _is_colored(context: click.Context, _: click.Parameter, when: str) -> bool:
    """Return whether answers are coloured; `auto` is what the terminal of a command that is run elsewhere says."""
    if when == "auto":
        return context.obj if isinstance(context.obj, bool) else quick.has_color(sys.stdout, os.environ)
    return when == "always"


def settings_given(context: click.Context) -> tuple[str, ...]:
    """Return the settings of a command as they were typed, for what continues it: `("--root", "/srv/app")`."""
    words: list[str] = []
    for parameter in context.command.params:
        if isinstance(parameter, SettingOption) and parameter.name:
            value = context.params[parameter.name]
            if value is True:
                words.append(parameter.opts[0])
            elif value:
                values = value if isinstance(value, tuple) else (value,)
                words += [word for each in values for word in (parameter.opts[0], str(each))]
    return tuple(words)


class ServedProject(msgspec.Struct, frozen=True):
    """What a command works on: the settings in force, where each came from, and the profile."""

    resolved: Resolved
    profile: Profile
    confining: Confining

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.resolved.settings


def setting_options(command: Callable[..., None], *, profile: str = "") -> Callable[..., None]:
    """Add an option for every setting; their text is read where all settings are, in fledgling/config.py.

    `profile` says what that one means, where a command takes it otherwise.
    """
    option = partial(click.option, cls=SettingOption)
    command = option("--config", metavar="FILE", help="your own settings file")(command)
    command = option(
        "--allow-degraded", is_flag=True, help="work without Landlock or seccomp where the kernel has none; see doctor"
    )(command)
    command = option(
        "--yes-really", is_flag=True, help="index the root even where it is `/`, a home directory or one above"
    )(command)
    for name in reversed(FIELDS):
        if name != "projects":  # --root NAME=DIRECTORY says it
            command = setting_option(name, profile if name == "profile" else "")(command)
    return command


def setting_option(name: str, meaning: str = "") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return what adds the option for a setting, with this meaning or its own."""
    default = FIELDS[name].default
    shown = ", ".join(default) if isinstance(default, tuple) else str(default).lower()  # `true`, as in a file
    return click.option(
        f"--{name.replace('_', '-')}",
        cls=SettingOption,
        multiple=isinstance(default, tuple) or name == "root",
        metavar=METAVARS.get(name, "VALUE"),
        shell_complete=completing.profiles if name == "profile" else None,
        help=meaning or _meaning(FIELDS[name]) + (f" [default: {shown}]" if shown not in ("", ".") else ""),
    )


def _meaning(field: msgspec.structs.FieldInfo) -> str:
    return str(field.type.__metadata__[0].description)


def warn(notices: Iterable[str]) -> None:
    """Log what the user should know; a notice may quote the project."""
    for notice in notices:
        _log.warning("%s", notice)


def project_of(options: dict[str, Any], level: int = logging.DEBUG, *, takes_several: bool = False) -> ServedProject:
    """Return what the options of a command name; the log's first line, at this level, says why the root is that one.

    Raises ConfigError; also where there are several projects, and the command is not one that `takes_several`.
    """
    surroundings.check()
    resolved = settled(options)
    if resolved.settings.projects and not takes_several:
        raise ConfigError(
            resolved.sources["projects"], "only serve takes projects by name", "give one --root DIRECTORY"
        )
    if not options.pop("yes_really"):
        refuse_wide(resolved, os.environ)
    profile = profiles.load(resolved.settings.profile)
    source = resolved.sources["projects" if resolved.settings.projects else "root"]
    for name, root in resolved.settings.roots.items():
        _log.log(level, "root %s (%s), profile %s", f"{name}={root}" if name else root, source, profile.name)
    warn(resolved.notices)
    return ServedProject(resolved, profile, Confining(options.pop("allow_degraded")))


def settled(options: dict[str, Any], refuse: Refuse = fail) -> Resolved:
    """Take settings out of the options of a command: return those in force, their root found.

    Raises ConfigError, if `refuse` does.
    """
    flags, file, user_file = {key: options.pop(key, None) for key in KEYS}, options.pop("config"), None
    with refusing(refuse):
        user_file = read_user_file(os.environ, file)
    with refusing(refuse):
        flags = with_named_roots(flags)
    resolved = resolve(flags, os.environ, user_file, refuse)
    logs.configure(resolved.settings)
    with refusing(refuse):
        return with_root(resolved, os.environ)
    return resolved


def with_named_roots(flags: dict[str, Any]) -> dict[str, Any]:
    """Tell `--root DIRECTORY` from `--root NAME=DIRECTORY`, of which there may be several. Raises ConfigError."""
    roots: tuple[str, ...] = flags["root"] or ()
    named = [root for root in roots if re.match(NAMED_ROOT, root)]
    if named and len(named) < len(roots):
        raise ConfigError("flag --root", "some roots have a name and some have none", "give each as NAME=DIRECTORY")
    if len(roots) > 1 and not named:
        raise ConfigError("flag --root", f"{len(roots)} roots without a name", "give each as NAME=DIRECTORY")
    if named:
        return {**flags, "root": None, "projects": tuple(f"{_absolute(root)}" for root in named)}
    return {**flags, "root": roots[0] if roots else None}


def _absolute(named: str) -> str:
    """Return a root with its name, by an absolute path: who types a command knows its directory."""
    name, _, path = named.partition("=")
    return f"{name}={Path(path).absolute()}"
