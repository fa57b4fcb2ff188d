"""Whether clients that were told of Fledgling can start it: what their entries name is looked at, nothing is run."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from fledgling.broker.setup import install
from fledgling.broker.setup.clients import CLIENTS, Client
from fledgling.config import ConfigError, is_path

State = Literal["good", "another", "broken"]


class Told(Struct, frozen=True):
    """A client that was told of Fledgling: `another` starts another installation, `broken` starts none."""

    client: str
    file: str
    state: State
    detail: str


def told(environment: Mapping[str, str], names: tuple[str, ...] = tuple(CLIENTS)) -> Iterator[Told]:
    """Yield what is found of each client that has an entry, or a file that cannot be read."""
    for name in names:
        client = CLIENTS[name]
        try:
            file, entry = install.entry_of(client, environment)
        except ConfigError as wrong:
            yield Told(name, wrong.source, "broken", wrong.problem)
            continue
        if entry is not None:
            yield Told(name, str(file), *_state(client, entry))


def _state(client: Client, entry: Mapping[str, Any]) -> tuple[State, str]:
    program, words = _command(client, entry)
    options = dict(pairwise(words))
    named = {name: value for name in ("--profile", "--root") if (value := options.get(name)) and "$" not in value}
    found = shutil.which(program) if program else None
    if not found:
        return "broken", f"{program or 'its command'} is not there or cannot be run; {_again(client, named)}"
    if options.get("-m") == "fledgling" and not _has_fledgling(Path(found)):
        return "broken", f"Fledgling is not installed for {found} any more; {_again(client, named)}"
    root, profile = named.get("--root"), named.get("--profile", "")
    if root and not os.path.isdir(root):  # noqa: PTH112
        return "broken", f"the root {root} is not there; {_again(client, {**named, '--root': 'DIR'})}"
    if is_path(profile) and not os.path.isfile(profile):  # noqa: PTH113
        return "broken", f"the profile {profile} is not there; {_again(client, {**named, '--profile': 'PROFILE'})}"
    if not _is_this(found):
        return "another", f"it starts {found}"
    return "good", f"it starts {found}"


def _command(client: Client, entry: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return the program and the words behind it; whatever is no text is left out."""
    command, words = entry.get("command"), entry.get("args", ())
    listed = [*command] if client.has_list and isinstance(command, list) else [command, *words]
    program, *others = [word if isinstance(word, str) else "" for word in listed] or [""]
    return program, others


def _is_this(program: str) -> bool:
    """Return whether a program is of this installation: its interpreter, or its command beside that."""
    return Path(program) in {Path(sys.executable), Path(sys.executable).with_name("fledgling")}


def _has_fledgling(interpreter: Path) -> bool:
    """Return whether an interpreter of a virtual environment has Fledgling; of another, that is not known."""
    prefix = interpreter.parent.parent
    if not (prefix / "pyvenv.cfg").is_file():
        return True
    return any(prefix.glob("lib/python*/site-packages/fledgling_lens-*.dist-info"))


def _again(client: Client, named: Mapping[str, str]) -> str:
    """Say how a client is told anew, with the options that its entry has."""
    name = next(name for name, known in CLIENTS.items() if known is client)
    options = [word for pair in named.items() for word in pair]
    return f"run: {shlex.join(['fledgling', 'install', '--client', name, *options, '--write'])}"
