"""Whether clients that were told of Fledgling can start it: what their entries name is looked at, nothing is run."""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from fledgling.broker.setup import install
from fledgling.broker.setup.clients import CLIENTS, Client
from fledgling.config import ConfigError, is_path
from fledgling.settings import NAMED_ROOT

State = Literal["good", "another", "broken"]


class Told(Struct, frozen=True):
    """A client that was told of Fledgling: `another` starts another installation, `broken` starts none.

    `run` is the command that tells it anew, where one does.
    """

    client: str
    file: str
    state: State
    detail: str
    run: str = ""


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


def _state(client: Client, entry: Mapping[str, Any]) -> tuple[State, str, str]:
    program, words = _command(client, entry)
    roots, profiles = _values(words, "--root"), [name for name in _values(words, "--profile")[-1:] if "$" not in name]
    found = shutil.which(program) if program else None
    if not found:
        return "broken", f"{program or 'its command'} is not there or cannot be run", _again(client, profiles, roots)
    if ("-m", "fledgling") in pairwise(words) and not _has_fledgling(Path(found)):
        return "broken", f"Fledgling is not installed for {found} any more", _again(client, profiles, roots)
    for root in roots:
        name, directory = _parted(root)
        if "$" not in root and not os.path.isdir(directory):  # noqa: PTH112
            others = [f"{name}DIR" if each == root else each for each in roots]
            return "broken", f"the root {root} is not there", _again(client, profiles, others)
    for profile in profiles:
        if is_path(profile) and not os.path.isfile(profile):  # noqa: PTH113
            return "broken", f"the profile {profile} is not there", _again(client, ["PROFILE"], roots)
    if not _is_this(found):
        return "another", f"it starts {found}", ""
    return "good", f"it starts {found}", ""


def _values(words: Iterable[str], option: str) -> list[str]:
    """Return what an option is given, as the command line reads it: `--root a=/a --root=b=/b` is both."""
    found = []
    rest = iter(words)
    for word in rest:
        name, sign, value = word.partition("=")
        if name == option:
            found.append(value if sign else next(rest, ""))
        elif word == "--":
            break
    return found


def _parted(root: str) -> tuple[str, str]:
    """Return the name of a root with its `=`, if it has one, and its directory."""
    named = re.match(NAMED_ROOT, root)
    return (named[0], root[named.end() :]) if named else ("", root)


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


def _again(client: Client, profiles: Iterable[str], roots: Iterable[str]) -> str:
    """Return the command that tells a client anew, with the options that its entry has.

    A directory that the client fills in is not known: DIR stands for it, or nothing, as `install` does that then.
    """
    told = next(name for name, known in CLIENTS.items() if known is client)
    kept = [f"{_parted(root)[0]}DIR" if "$" in root else root for root in roots if "$" not in root or _parted(root)[0]]
    options = [
        word for name, values in (("--profile", profiles), ("--root", kept)) for each in values for word in (name, each)
    ]
    return shlex.join(["fledgling", "install", "--client", told, *options, "--write"])
