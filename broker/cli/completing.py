"""What a shell may complete: paths below the root, symbols, languages and profiles. Nothing is said where it fails.

A path is looked up in its directory, a symbol in an index that is made for it, as for any command.
"""

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import click
import msgspec
from click.shell_completion import CompletionItem

from fledgling.config import ConfigError, resolve
from fledgling.roots import with_root

VARIABLE = "_FLEDGLING_COMPLETE"  # by which the scripts of click ask for a completion instead of an answer
MAX_ITEMS = 500  # of one completion: a shell asks before it shows so many
SYMBOL_SECONDS = 10.0  # for an index and its answer; a person presses the key again, or types on


def paths(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return names in a directory below the root that begin like this; directories end in a slash."""
    folder, begun = incomplete.rpartition("/")[::2]
    if begun == ".." or ".." in folder.split("/") or folder.startswith("/"):
        return []
    with suppress(OSError, ConfigError), os.scandir(Path(_root(context), folder)) as entries:
        named = (
            (entry.name, entry.is_dir(follow_symlinks=False))
            for entry in entries
            if entry.name.startswith(begun) and entry.name.isprintable() and (begun or not entry.name.startswith("."))
        )
        before = f"{folder}/" if folder else ""
        return [
            CompletionItem(f"{before}{name}{'/' if is_folder else ''}", type="plain")
            for name, is_folder in sorted(islice(named, MAX_ITEMS))
        ]
    return []


def symbols(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return names of definitions that begin like this, `run` or `Engine.run`: of the file that is named, if one is.

    Where there are more than are told, members are looked for in the files alone that define what has them.
    """
    of, begun = incomplete.rpartition(".")[::2]
    path = context.params.get("ask_path") or ""
    pattern = f"{{{incomplete},{begun}}}*" if of else f"{incomplete}*"  # a name may have a dot itself
    answer = _symbols(context, pattern, path)
    if of and not path and answer.get("next"):
        named = [file["path"] for file in _symbols(context, of.rpartition(".")[2], "").get("files", ())]
        path = ",".join(name for name in named if not set(name) & set("{}[]*?,"))
        answer = _symbols(context, f"{begun}*", f"{{{path}}}") if path else answer
    found = [
        (symbol["name"], symbol.get("parent", "")) for file in answer.get("files", ()) for symbol in file["symbols"]
    ]
    members = (f"{of}.{name}" for name, parent in found if of and f".{of}".endswith(f".{parent}"))
    return _items(name for name in (*(name for name, _ in found), *members) if name.startswith(incomplete))


def _symbols(context: click.Context, pattern: str, path: str) -> dict[str, Any]:
    """Return what a command says of definitions with such names, as JSON; nothing where it fails."""
    import json  # noqa: PLC0415  (a command that is not completed needs none of this)
    import subprocess  # noqa: PLC0415

    command = [sys.executable, "-I", "-m", "fledgling", "symbols", "--json", "--max-results", str(MAX_ITEMS)]
    with suppress(OSError, ValueError, subprocess.TimeoutExpired, ConfigError):
        options = ["--name-pattern", pattern, "--root", _root(context)]
        if profile := context.params.get("profile"):
            options += ["--profile", profile]
        environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
        done = subprocess.run(
            [*command, *options, "--", path], env=environment, capture_output=True, timeout=SYMBOL_SECONDS, check=False
        )
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer
    return {}


def languages(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return languages that begin like this."""
    import subprocess  # noqa: PLC0415  (as above)

    from fledgling.broker import spawn  # noqa: PLC0415
    from fledgling.messages.languages import KnownLanguage  # noqa: PLC0415

    with suppress(OSError, subprocess.CalledProcessError, msgspec.DecodeError):
        known = msgspec.msgpack.decode(spawn.run_once("fledgling.worker.languages"), type=list[KnownLanguage])
        return _items(one.name for one in known if one.name.startswith(incomplete))
    return []


def profiles(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the shipped profiles that begin like this, and names of files where a path is begun."""
    from fledgling.security import profile  # noqa: PLC0415

    if "/" in incomplete or incomplete.startswith("."):
        return [CompletionItem(incomplete, type="file")]
    return _items(name for name in profile.shipped() if name.startswith(incomplete))


def _items(names: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(name) for name in sorted(set(names)) if name.isprintable()]


def _root(context: click.Context) -> str:
    first, *_ = context.params.get("root") or (None,)  # several have names, and only serve takes those
    return with_root(resolve({"root": first}, os.environ), os.environ).settings.root
