"""`install` and `uninstall`: telling a client of Fledgling."""

import logging
import os
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from textwrap import wrap

import click

from fledgling.broker.cli import completing, terminal
from fledgling.broker.cli.project import json_option, with_named_roots
from fledgling.broker.setup import check, install
from fledgling.broker.setup.clients import CLIENTS, Client, entry
from fledgling.config import is_path, resolve
from fledgling.roots import refuse_wide, with_root
from fledgling.security import profile as profiles

_log = logging.getLogger("fledgling")

_client_option = partial(click.option, "--client", type=click.Choice(list(CLIENTS)), metavar="CLIENT")
_CLIENTS = f"whose settings: {', '.join(CLIENTS)}"
_write_option = click.option("--write/--dry-run", help="change the file; only shown by default")


@click.command("install")
@_client_option(help=_CLIENTS)
@click.option("--check", "is_checked", is_flag=True, help="check that the clients that have Fledgling can start it")
@click.option("--profile", metavar="PROFILE", shell_complete=completing.profiles, help="the profile to serve under")
@click.option("--root", "roots", multiple=True, metavar="DIR", help="the directory to index; several as NAME=DIR")
@_write_option
@json_option
def install_command(
    client: str | None, is_checked: bool, profile: str | None, roots: tuple[str, ...], write: bool, as_json: bool
) -> None:
    """Show what to add to a client's settings so that it starts Fledgling, or add it.

    Everything else in the file stays; a copy of it is laid beside. Without --root, a client starts Fledgling for the
    project that it works on. With --check nothing is changed; exit code 1 says that a client that has Fledgling cannot
    start it.
    """
    if is_checked:
        _check((client,) if client else tuple(CLIENTS), as_json=as_json)
        return
    if not client:
        raise click.UsageError(f"Missing option '--client'; it is one of {', '.join(CLIENTS)}")
    if profile:
        profiles.load(profile)
        profile = str(Path(profile).resolve()) if is_path(profile) else profile
    given = entry(CLIENTS[client], install.COMMAND, profile, _absolute(roots) if roots else ())
    _change(CLIENTS[client], given, write=write)


@click.command("uninstall")
@_client_option(required=True, help=_CLIENTS)
@_write_option
def uninstall_command(client: str, write: bool) -> None:
    """Show what to take out of a client's settings so that it knows nothing of Fledgling, or take it out."""
    _change(CLIENTS[client], None, write=write)


def _absolute(roots: tuple[str, ...]) -> tuple[str, ...]:
    """Return roots as an entry has them, by their real paths. Raises ConfigError."""
    resolved = with_root(resolve(with_named_roots({"root": roots}), {}), os.environ)
    refuse_wide(resolved, os.environ)
    return resolved.settings.projects or (resolved.settings.root,)


def _check(names: tuple[str, ...], *, as_json: bool) -> None:
    found = list(check.told(os.environ, names))
    if as_json:
        terminal.show_json({"clients": found})
    elif not found:
        terminal.show_text("no client has Fledgling; `fledgling install --client CLIENT --write` adds it to one")
    else:
        terminal.show_text("\n".join(line for each in found for line in _lines(each)))
    raise SystemExit(terminal.NOTHING if any(each.state == "broken" for each in found) else terminal.OK)


def _lines(told: check.Told) -> Iterator[str]:
    """Yield a client with its state; below, each on a line that can be copied, its file, what is found, and what to do.

    Words are wrapped, a path or a command is not.
    """
    yield f"{told.client}: {told.state}"
    width = max(shutil.get_terminal_size().columns - 2, 1)
    words = wrap(told.detail, width, break_long_words=False, break_on_hyphens=False)
    for line in (told.file, *words, *([f"run: {told.run}"] if told.run else [])):
        yield f"  {line}"


def _change(client: Client, given: dict[str, object] | None, *, write: bool) -> None:
    planned = install.plan(client, os.environ, given)
    terminal.show_text("\n".join(planned.lines()))
    if planned.changes and write:
        backup = install.write(planned, client, os.environ)
        _log.info("written%s", f"; the file as it was is {backup}" if backup else "")
    elif planned.changes:
        _log.info("nothing is written; add --write to do so")
