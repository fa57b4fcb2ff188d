"""Who may ask over HTTP: the operator's own file of agents, each with its profile and the hash of its token.

    reviewer: ["fledgling-core", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"]
    analyst: ["fledgling-analyst", "sub:7f3c-analyst", "api", "web"]

The second has no token of ours: it is whom an OAuth issuer calls `7f3c-analyst` (issuer.py). Of a server with several
projects it has two, and to it there are no others; the first has all. A token is shown once,
when its agent is added, and stands nowhere. A server opens the file once, before it confines itself, and looks at it as
long as it serves: whoever is revoked is so at once, whoever is added from its next start. The file is therefore changed
in place; one that another has taken the place of can no longer be read.
"""

import fcntl
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Struct

from fledgling.config import MAX_YAML_BYTES, ConfigError, entries_of, is_path, suggestion
from fledgling.messages.profile import Profile
from fledgling.security import profile as profiles

MAX_AGENTS = 16  # of one server: each has an index, an indexer and workers of its own
TOKEN_BYTES = 32  # of chance in a token

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_CREDENTIAL = re.compile(r"[0-9a-f]{64}|sub:[!-~]{1,255}")
_LINE = "name: [profile, SHA-256 of the token, or sub:SUBJECT, projects]"
_FORM = f"write lines of `{_LINE}`, or use `fledgling agents add`"
_HEADING = f"# Written by `fledgling agents`; comments are not kept. {_LINE}\n"


class AgentEntry(Struct, frozen=True):
    """One line of the file: a shipped profile's name or a profile's absolute path, and what its agent is known by.

    The names of projects that it has stand behind that; where there are none, it has all.
    """

    profile: str
    credential: str
    projects: tuple[str, ...] = ()


class Agent(Struct, frozen=True):
    """One that may ask: its name, what it may see, and what it is known by.

    That is the SHA-256 of its token, in hexadecimal, or `sub:` and what an issuer calls it. Of several projects it has
    those that are named, or all.
    """

    name: str
    profile: Profile
    credential: str
    projects: tuple[str, ...] = ()


def new_token() -> str:
    """Return a token that nobody can guess, in 43 characters."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def by_subject(subject: str) -> str:
    """Return what an agent is known by that an issuer calls so: `by_subject("a")` is "sub:a"."""
    return f"sub:{subject}"


def digest(token: str) -> str:
    """Return what is kept of a token. It is random throughout, so a fast hash without salt does."""
    return hashlib.sha256(token.encode()).hexdigest()


class Served(NamedTuple):
    """The agents of a file, and the file, still open."""

    agents: tuple[Agent, ...]
    file: "WatchedFile"


class WatchedFile:
    """A file of agents that stays open, for who has been revoked since.

    >>> WatchedFile(fd, "agents.yaml").has_replacement()
    False
    """

    def __init__(self, fd: int, name: str) -> None:
        self._fd = fd
        self.name = name
        self._seen = os.fstat(fd).st_mtime_ns
        self._credentials: frozenset[str] | None = None  # as long as nothing has changed, those that were served

    def has_replacement(self) -> bool:
        """Return whether the file was deleted, or another has its name: this process cannot read what that says."""
        return os.fstat(self._fd).st_nlink == 0

    def credentials(self) -> frozenset[str] | None:
        """Return what the agents are known by that the file names now; None where it has not changed."""
        seen = os.fstat(self._fd).st_mtime_ns
        if seen == self._seen:
            return self._credentials
        data = os.pread(self._fd, MAX_YAML_BYTES + 1, 0)  # a confined broker can take no lock
        try:
            found = _entries(self.name, data)
        except ConfigError:
            return self._credentials  # it is half written, and looked at again
        if data == os.pread(self._fd, MAX_YAML_BYTES + 1, 0):
            self._seen, self._credentials = seen, frozenset(entry.credential for entry in found.values())
        return self._credentials


def served(path: Path, roots: Mapping[str, str]) -> Served:
    """Return the agents of a file, with their profiles, for a server of these roots. Raises as `add` does."""
    if any(path.parent.resolve().is_relative_to(root) for root in roots.values()):
        raise ConfigError(str(path), "the file of agents is inside the root", "keep it elsewhere")
    fd = _opened(path, os.O_RDONLY)
    watched = WatchedFile(fd, str(path))  # from before it is read
    found = _entries(str(path), _locked(fd))
    if not 0 < len(found) <= MAX_AGENTS:
        raise ConfigError(str(path), f"it names {len(found)} agents", f"name 1 to {MAX_AGENTS}")
    for name, entry in found.items():
        if unknown := [project for project in entry.projects if project not in roots]:
            problem = f"{name} has the project {unknown[0][:64]!r}, which this server has not"
            raise ConfigError(str(path), problem, "serve it with --root NAME=DIRECTORY, or leave it out")
    known = [
        Agent(name, profiles.load(entry.profile), entry.credential, entry.projects) for name, entry in found.items()
    ]
    return Served(tuple(known), watched)


def read(path: Path) -> dict[str, AgentEntry]:
    """Return what a file of agents says. Raises ConfigError."""
    fd = _opened(path, os.O_RDONLY)
    try:
        return _entries(str(path), _locked(fd))
    finally:
        os.close(fd)


def _entries(source: str, data: bytes) -> dict[str, AgentEntry]:
    found: dict[str, AgentEntry] = {}
    for name, given in entries_of(source, data).items():
        try:
            profile, known, *projects = msgspec.convert(given.value, Annotated[list[str], msgspec.Meta(min_length=2)])
        except msgspec.ValidationError:
            raise ConfigError(given.source, f"{name[:64]!r} is not followed by two texts or more", _FORM) from None
        if not (_NAME.fullmatch(name) and _CREDENTIAL.fullmatch(known)):
            raise ConfigError(given.source, "a name, hash or subject is empty or malformed", _FORM)
        if is_path(profile) and not Path(profile).is_absolute():
            raise ConfigError(given.source, f"the path {profile!r} is relative", "give an absolute path")
        if any(known == other.credential for other in found.values()):
            raise ConfigError(
                given.source, f"{name} has the token or subject of another agent", "add it with one of its own"
            )
        found[name] = AgentEntry(profile, known, tuple(projects))
    return found


def add(path: Path, name: str, profile: str, subject: str | None = None, projects: Sequence[str] = ()) -> str | None:
    """Add an agent and return its token, or None where an issuer makes those of a subject.

    The file is made where there is none. Raises ConfigError, or ProfileError.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(str(path), f"{name[:64]!r} is not a name for an agent", "use up to 64 of A-Z a-z 0-9 . _ -")
    if subject is not None and not _CREDENTIAL.fullmatch(by_subject(subject)):
        raise ConfigError(str(path), "the subject is empty or malformed", "use up to 255 characters of ASCII, no space")
    profiles.load(profile)
    token = None if subject else new_token()
    with _writing(path, os.O_CREAT) as found:
        if name in found:
            raise ConfigError(str(path), f"{name} is there already", "revoke it first, or take another name")
        if len(found) >= MAX_AGENTS:
            raise ConfigError(str(path), f"{MAX_AGENTS} agents are there", "revoke one, or use another file")
        credential = digest(token) if token else by_subject(str(subject))
        if any(credential == other.credential for other in found.values()):
            raise ConfigError(str(path), "an agent with this subject is there already", "revoke it first")
        where = str(Path(profile).resolve()) if is_path(profile) else profile
        found[name] = AgentEntry(where, credential, tuple(projects))
    return token


def revoke(path: Path, name: str) -> None:
    """Take an agent out of a file. Raises ConfigError."""
    with _writing(path) as found:
        if name not in found:
            raise ConfigError(str(path), f"no agent is called {name[:64]!r}", suggestion(name, found))
        del found[name]


def _opened(path: Path, flags: int) -> int:
    """Open a file that nobody else may read or write."""
    try:
        fd = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    except (OSError, ValueError) as failed:
        reason = getattr(failed, "strerror", failed)
        raise ConfigError(str(path), f"it cannot be read ({reason})", "make it with `fledgling agents add`") from None
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
        os.close(fd)
        raise ConfigError(
            str(path), "it is not a file that only you can read and write", "make yourself its owner, and chmod 600 it"
        )
    return fd


def _locked(fd: int) -> bytes:
    """Return the bytes of a file while nobody writes it."""
    fcntl.flock(fd, fcntl.LOCK_SH)
    try:
        return os.pread(fd, MAX_YAML_BYTES + 1, 0)
    finally:
        fcntl.flock(fd, fcntl.LOCK_UN)


@contextmanager
def _writing(path: Path, flags: int = 0) -> Iterator[dict[str, AgentEntry]]:
    """Yield what a file says, to be changed, and write the change into it; writers take turns.

    It is one write of less than a page, with what stood behind it made empty lines until the file is cut: whoever is
    killed in between leaves what was there, or what was to be there.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = _opened(path, os.O_RDWR | flags)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            old = os.pread(fd, MAX_YAML_BYTES + 1, 0)
            found = _entries(str(path), old)
            yield found
            new = _text(found).encode()
            os.pwrite(fd, new.ljust(len(old), b"\n"), 0)
            os.ftruncate(fd, len(new))
            os.fsync(fd)
        finally:
            os.close(fd)
    except OSError as failed:
        raise ConfigError(str(path), f"it cannot be written ({failed.strerror})", "give another file") from None


def _text(found: Mapping[str, AgentEntry]) -> str:
    """Return the file's text; a JSON list of texts is YAML."""
    lines = [
        f"{name}: {msgspec.json.encode([entry.profile, entry.credential, *entry.projects]).decode()}\n"
        for name, entry in found.items()
    ]
    return _HEADING + "".join(lines)
