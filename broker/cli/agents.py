"""`agents`: who is served over HTTP."""

import os
from pathlib import Path

import click

from fledgling.broker.cli import terminal
from fledgling.broker.cli.project import json_option
from fledgling.broker.protocol.http import agents
from fledgling.config import ConfigError, read_user_file, resolve
from fledgling.settings import NO_AGENTS, Settings


@click.group("agents")
def agents_group() -> None:
    """Say which agents are served over HTTP.

    One that is added is served from the server's next start; one that is revoked is refused at once.
    """


_agents_option = click.option(
    "--agents", "agents_file", metavar="FILE", help="the file of agents; else the setting `agents` names it"
)


def _agents_file(flag: str | None) -> Path:
    """Return the file of agents: by flag, environment or the user's own settings, as for a server."""
    resolved = resolve({"agents": flag}, os.environ, read_user_file(os.environ))
    if resolved.settings.agents == NO_AGENTS:
        raise ConfigError("agents", "no file is named", "give --agents FILE")
    return Path(resolved.settings.agents)


@agents_group.command("add", short_help="Add an agent and print its token")
@click.argument("name")
@click.option(
    "--profile", metavar="PROFILE", default=Settings().profile, show_default=True, help="what the agent may see"
)
@click.option("--subject", metavar="NAME", help="its name (`sub`) at an OAuth issuer, whose tokens it brings")
@click.option(
    "--project", "projects", multiple=True, metavar="NAME", help="a project that it may see, repeatable; else all"
)
@_agents_option
def agents_add(
    name: str, profile: str, subject: str | None, projects: tuple[str, ...], agents_file: str | None
) -> None:
    """Add an agent, and print its token, which is neither kept nor shown again.

    With --subject no token is made: the agent brings one of an OAuth issuer.
    """
    token = agents.add(_agents_file(agents_file), name, profile, subject, projects)
    if token:
        terminal.show_text(token)


@agents_group.command("list", short_help="List the agents of a file with their profiles")
@_agents_option
@json_option
def agents_list(agents_file: str | None, as_json: bool) -> None:
    """List the agents of a file with their profiles and projects."""
    found = agents.read(_agents_file(agents_file))
    rows = [(name, entry.profile, ", ".join(entry.projects) or "all") for name, entry in found.items()]
    terminal.show_rows(rows, "agents", ("name", "profile", "projects"), as_json=as_json)


@agents_group.command("revoke", short_help="Take an agent out of a file")
@click.argument("name")
@_agents_option
def agents_revoke(name: str, agents_file: str | None) -> None:
    """Take an agent out of a file. A server that runs refuses its token from now on, and ends its streams."""
    agents.revoke(_agents_file(agents_file), name)
