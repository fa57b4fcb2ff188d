"""Telling a client of Fledgling in the client's own file, and taking that back.

Whatever happens, a file is what it was or what `plan` shows: it is replaced at once, after a copy was laid beside
it. No link is followed below the user's own directory, and what cannot be read whole is not touched.
"""

import difflib
import errno
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from msgspec import Struct

from fledgling.broker.setup import json_text, toml_text
from fledgling.broker.setup.clients import Client, place
from fledgling.config import ConfigError

NAME = "fledgling"  # of the entry
MAX_FILE_BYTES = 16 * 2**20  # Claude Code keeps its history in the same file, and that has megabytes
COMMAND = [sys.executable, "-I", "-m", "fledgling"]  # absolute, and nothing of the project can be imported
FIX = "change the file by hand: without --write, the change is only shown"

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OLD = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class SettingsFile(NamedTuple):
    """A file as it was read: its bytes, its mode, its owner and group."""

    data: bytes
    mode: int
    owner: tuple[int, int]


class _Unfit(Exception):
    """A file that is not read or written, and why."""


class Plan(Struct, frozen=True):
    """What becomes of one file: its text before, None where there is none, and after."""

    path: Path
    before: str | None
    after: str
    file: SettingsFile | None = None

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return self.after != (self.before or "")

    def lines(self) -> Iterator[str]:
        """Yield the lines that change, without those beside them: they may hold other servers' keys."""
        if not self.changes:
            yield f"{self.path}: nothing to change"
            return
        before, after = (self.before or "").splitlines(), self.after.splitlines()
        old = str(self.path) if self.before is not None else os.devnull
        yield from difflib.unified_diff(before, after, old, str(self.path), n=0, lineterm="")


# ---- what it would be -----------------------------------------------------------------------------------------------


def plan(client: Client, environment: Mapping[str, str], entry: Mapping[str, object] | None) -> Plan:
    """Return what a client's file becomes with an entry, or without one where `entry` is None. Raises ConfigError."""
    base, name = place(client, environment)
    path = base / name
    try:
        with _folder(base, name) as (folder, filename):
            file = _read(folder, filename)
    except FileNotFoundError:  # the file, or a directory above it
        file = None
    except (OSError, _Unfit) as wrong:
        raise ConfigError(str(path), _why(wrong), FIX) from None
    try:
        before = file.data.decode() if file else None
        after = changed(client, before or "", entry)
    except UnicodeDecodeError:
        raise ConfigError(str(path), "it is not UTF-8", FIX) from None
    except (json_text.JSONTextError, toml_text.TOMLTextError) as wrong:
        raise ConfigError(str(path), f"it cannot be changed safely: {wrong}", FIX) from None
    return Plan(path, before, after, file)


def changed(client: Client, text: str, entry: Mapping[str, object] | None) -> str:
    """Return a client's text with the entry, or without it. Raises JSONTextError or TOMLTextError.

    What other keys a present entry has, and everything else, stays. What comes out is read again, and must say that.
    """
    if client.form == "toml":
        after = _toml(client.key, text, entry)
        told, expected = toml_text.value(after), toml_text.value(text)
    else:
        after = _json(client.key, text, entry)
        told, expected = _object(after), _object(text)
    servers = expected.get(client.key, {})
    if entry is not None:
        expected[client.key] = {**servers, NAME: {**servers.get(NAME, {}), **entry}}
    elif NAME in servers:
        expected[client.key] = {name: servers[name] for name in servers if name != NAME}
    if not told.get(client.key):
        told.pop(client.key, None)  # TOML has no empty table without a header
        expected = {key: expected[key] for key in expected if expected[key] or key != client.key}
    if told != expected:
        raise json_text.JSONTextError(f"{client.key} is written in a way that this command cannot change")
    return after


def _json(key: str, text: str, entry: Mapping[str, object] | None) -> str:
    servers = _object(text).get(key, {})
    if not isinstance(servers, dict) or not isinstance(servers.get(NAME, {}), dict):
        raise json_text.JSONTextError(f"{key} is not an object of objects")
    if entry is None:
        return json_text.remove(text, [key, NAME]) if text.strip("\ufeff \t\r\n") else text
    text = text if text.strip("\ufeff \t\r\n") else "{}\n"
    if NAME not in servers:
        return json_text.put(text, [key, NAME], entry)
    for name, value in entry.items():
        text = json_text.put(text, [key, NAME, name], value)
    return text


def _object(text: str) -> dict[str, Any]:
    read = json_text.value(text) if text.strip("\ufeff \t\r\n") else {}
    if not isinstance(read, dict):
        raise json_text.JSONTextError("it is not an object")
    return read


def _toml(key: str, text: str, entry: Mapping[str, object] | None) -> str:
    servers = toml_text.value(text).get(key, {})
    if not isinstance(servers, dict) or not isinstance(servers.get(NAME, {}), dict):
        raise toml_text.TOMLTextError(f"{key} is not a table of tables")
    table = f"{key}.{NAME}"
    return toml_text.remove(text, table) if entry is None else toml_text.put(text, table, entry)


def entry_of(client: Client, environment: Mapping[str, str]) -> tuple[Path, dict[str, Any] | None]:
    """Return a client's file, and the entry in it, if there is one. Raises ConfigError where it cannot be read."""
    read = plan(client, environment, None)
    text = read.before or ""
    servers = (toml_text.value(text) if client.form == "toml" else _object(text)).get(client.key, {})
    entry: dict[str, Any] | None = servers.get(NAME)
    return read.path, entry


# ---- writing it -----------------------------------------------------------------------------------------------------


def write(planned: Plan, client: Client, environment: Mapping[str, str]) -> Path | None:
    """Replace the file, and return the copy of what it was; None where there was none. Raises ConfigError."""
    base, name = place(client, environment)
    try:
        with _folder(base, name, make=True) as (folder, filename):
            backup = None
            if planned.file:
                backup = _beside(folder, f"{filename}.{datetime.now(UTC):%Y%m%dT%H%M%SZ}", planned.file.data, planned)
            temporary = _beside(folder, f".{filename}.{os.getpid()}", planned.after.encode(), planned)
            try:
                if _read_or_none(folder, filename) != planned.file:
                    raise ConfigError(str(planned.path), "it has changed meanwhile", "run the command again")
                os.replace(temporary, filename, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(temporary, dir_fd=folder)
                raise
            os.fsync(folder)
    except (OSError, _Unfit) as wrong:
        raise ConfigError(str(planned.path), _why(wrong), FIX) from None
    return planned.path.with_name(backup) if backup else None


@contextmanager
def _folder(base: Path, name: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """Open the directory of a file, link by link: the base is followed, and below it nothing."""
    *folders, filename = PurePath(name).parts
    if make:
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in folders:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(folder, 0o700, dir_fd=fd)
            inner = os.open(folder, _FOLDER, dir_fd=fd)
            os.close(fd)
            fd = inner
        yield fd, filename
    finally:
        os.close(fd)


def _read(folder: int, filename: str) -> SettingsFile:
    fd = os.open(filename, _OLD, dir_fd=folder)
    with os.fdopen(fd, "rb") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise _Unfit("it is not a regular file")
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise _Unfit(f"it is larger than {MAX_FILE_BYTES} bytes")
    return SettingsFile(data, stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid))


def _read_or_none(folder: int, filename: str) -> SettingsFile | None:
    try:
        return _read(folder, filename)
    except FileNotFoundError:
        return None


def _beside(folder: int, name: str, data: bytes, planned: Plan) -> str:
    """Write a new file, with the rights and the owner of the one that is there, and return its name."""
    for number in range(100):
        unique = f"{name}.{number}.bak" if number else f"{name}.bak"
        with suppress(FileExistsError):
            fd = os.open(unique, _NEW, 0o600, dir_fd=folder)
            break
    else:
        raise _Unfit(f"{name}.bak and a hundred more are there already")
    with os.fdopen(fd, "wb") as file:
        if planned.file:
            if planned.file.owner != (os.geteuid(), os.getegid()):
                os.fchown(fd, *planned.file.owner)
            os.fchmod(fd, planned.file.mode)
        file.write(data)
        file.flush()
        os.fsync(fd)
    return unique


def _why(wrong: Exception) -> str:
    """Say what is wrong; O_NOFOLLOW tells of a link by ELOOP, or by ENOTDIR where a directory is meant."""
    if isinstance(wrong, OSError):
        linked = "; links are not followed" if wrong.errno in (errno.ELOOP, errno.ENOTDIR) else ""
        return f"it cannot be opened ({wrong.strerror}{linked})"
    return str(wrong)
