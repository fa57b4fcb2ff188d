"""`profiles`: list, show, check and compare them."""

import click

from fledgling.broker.cli import completing, terminal
from fledgling.broker.cli.project import json_option
from fledgling.broker.cli.starting import run
from fledgling.broker.front import Front
from fledgling.broker.indexing.indexing import Indexing
from fledgling.messages.control import Confining
from fledgling.security import profile as profiles
from fledgling.settings import Settings


@click.group("profiles")
def profiles_group() -> None:
    """List, show, check and compare profiles."""


@profiles_group.command("list", short_help="List the shipped profiles: what for, and with which tools")
@json_option
def profiles_list(as_json: bool) -> None:
    """List the shipped profiles: what each is for, and its tools."""
    rows = [(name, profiles.purpose(name), ", ".join(profiles.load(name).tools)) for name in profiles.shipped()]
    if as_json:
        terminal.show_rows(rows, "profiles", ("name", "purpose", "tools"), as_json=True)
    else:
        terminal.show_text("\n".join(f"{name}: {purpose}\n    {tools}" for name, purpose, tools in rows))


@profiles_group.command("show", short_help="Show what a profile says, and what it inherits")
@click.argument("profile", shell_complete=completing.profiles)
@json_option
def profiles_show(profile: str, as_json: bool) -> None:
    """Show what a profile says, with everything it inherits."""
    rows = profiles.describe(profiles.load(profile))
    terminal.show_rows(rows, "profile", ("field", "value"), as_json=as_json)


@profiles_group.command("check", short_help="Check a profile; DuckDB parses its views")
@click.argument("profile", shell_complete=completing.profiles)
def profiles_check(profile: str) -> None:
    """Check a profile: its statements here, its views by DuckDB in a confined process."""
    checked = profiles.load(profile)
    run(Indexing(Settings(), checked, confining=Confining(allow_degraded=True)), _accepted)
    terminal.show_text(f"{checked.file}: good")


async def _accepted(_: Front, __: Indexing) -> None:
    """By the time this runs, the indexer has accepted the profile."""


@profiles_group.command("diff", short_help="Show where two profiles differ")
@click.argument("a", shell_complete=completing.profiles)
@click.argument("b", shell_complete=completing.profiles)
@json_option
def profiles_diff(a: str, b: str, as_json: bool) -> None:
    """Show where two profiles differ: field, text in A, text in B. Exit code 1 where they do."""
    rows = profiles.diff(profiles.load(a), profiles.load(b))
    if rows or as_json:
        terminal.show_rows(rows, "differences", ("field", "a", "b"), as_json=as_json)
    raise SystemExit(terminal.NOTHING if rows else terminal.OK)
