"""Which client keeps its MCP servers where, and in what form: everything that `install` knows about a client."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Literal, NamedTuple

from fledgling.config import ConfigError


class Base(NamedTuple):
    """A directory of the user's: what `variable` names, else `path` below the home directory."""

    variable: str | None
    path: str


_CONFIG = Base("XDG_CONFIG_HOME", ".config")
_SUPPORT = Base(None, "Library/Application Support") if sys.platform == "darwin" else _CONFIG


class Client(NamedTuple):
    """One client: `file` below `base`, the `key` its servers stand under, what an entry says besides command and args.

    `root` is how the client writes the open project, for one that starts servers elsewhere; a client that `needs_root`
    has no project, or tells nobody, and one without either starts them in it or names it in a variable. A client that
    `has_list` takes command and arguments as one list.
    """

    base: Base
    file: str
    key: str
    form: Literal["json", "toml"] = "json"
    extra: Mapping[str, object] = {}
    root: str | None = None
    needs_root: bool = False
    has_list: bool = False


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client(Base("CLAUDE_CONFIG_DIR", ""), ".claude.json", "mcpServers", extra={"type": "stdio"}),
    "claude-desktop": Client(_SUPPORT, "Claude/claude_desktop_config.json", "mcpServers", needs_root=True),
    "cursor": Client(Base(None, ".cursor"), "mcp.json", "mcpServers", root="${workspaceFolder}"),
    "vscode": Client(_SUPPORT, "Code/User/mcp.json", "servers", extra={"type": "stdio"}, root="${workspaceFolder}"),
    "codex": Client(Base("CODEX_HOME", ".codex"), "config.toml", "mcp_servers", form="toml"),
    "gemini": Client(Base(None, ".gemini"), "settings.json", "mcpServers"),
    "zed": Client(_CONFIG, "zed/settings.json", "context_servers", extra={"source": "custom"}),
    "opencode": Client(_CONFIG, "opencode/opencode.json", "mcp", extra={"type": "local"}, has_list=True),
    "windsurf": Client(Base(None, ".codeium/windsurf"), "mcp_config.json", "mcpServers", needs_root=True),
    # One file for its command and its extensions; those start servers nowhere near a project.
    "cline": Client(
        Base("CLINE_DIR", ".cline"), "data/settings/cline_mcp_settings.json", "mcpServers", needs_root=True
    ),
    "copilot-cli": Client(
        Base("COPILOT_HOME", ".copilot"), "mcp-config.json", "mcpServers", extra={"type": "local", "tools": ["*"]}
    ),
    "jetbrains": Client(Base(None, ".junie"), "mcp/mcp.json", "mcpServers", needs_root=True),  # its agent, Junie
}


def entry(client: Client, command: list[str], profile: str | None, roots: Sequence[str] = ()) -> dict[str, object]:
    """Return what a client is told: `entry(CLIENTS["codex"], ["fledgling"], None, ["/srv/app"])["args"]`.

    Text alone: where there is a structure these clients hand a model that, and as JSON it is up to twice as long.
    """
    roots = roots or ([client.root] if client.root else [])
    if client.needs_root and not roots:
        raise ConfigError(
            "install", "this client is not opened on a project", "give the directory to index with --root"
        )
    program, *arguments = command
    options = [("--answers", "text"), ("--profile", profile), *(("--root", root) for root in roots)]
    serve = ["serve", *(word for option, value in options if value for word in (option, value))]
    if client.has_list:
        return {**client.extra, "command": [program, *arguments, *serve]}
    return {**client.extra, "command": program, "args": [*arguments, *serve]}


def place(client: Client, environment: Mapping[str, str]) -> tuple[Path, str]:
    """Return where a client's file is: a directory that is trusted, and the path below it, where links are not.

    Raises ConfigError.
    """
    named = environment.get(client.base.variable or "", "")
    if PurePath(named).is_absolute():
        return Path(named), client.file
    home = environment.get("HOME", "")
    if not PurePath(home).is_absolute():
        raise ConfigError("environment HOME", "it names no directory", "set it to your home directory")
    return Path(home), str(PurePath(client.base.path, client.file))
