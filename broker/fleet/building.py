"""Building the shards of a list of repositories on an engine: a command for each, whoever is done first."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from fledgling.broker.fleet import verified
from fledgling.broker.fleet.engines import Ended, Runner
from fledgling.broker.fleet.making import Outcome, known, outcome_of
from fledgling.broker.fleet.shard import root_digest
from fledgling.broker.launch import how_ended
from fledgling.messages.profile import Profile
from fledgling.plain import said

MAX_LIST = 2**24  # bytes of a list: 100,000 lines of 160 bytes


class ListError(Exception):
    """A list of repositories cannot be read, and why."""


def read_list(path: Path) -> list[str]:
    """Return the repositories of a list: a line each, `[NAME=]DIRECTORY`; `# ...` and empty lines are none.

    Raises ListError.
    """
    if not path.is_file():
        raise ListError("it is not a regular file")  # a pipe would be waited for
    try:
        with path.open("rb") as file:
            text = file.read(MAX_LIST + 1)
        lines = [line.strip(" \t\r") for line in text.decode().split("\n")]  # a directory may be called `a\u2028b`
    except OSError as failed:
        raise ListError(f"it cannot be read ({failed.strerror})") from failed
    except UnicodeDecodeError:
        raise ListError("it is not UTF-8") from None
    if len(text) > MAX_LIST:
        raise ListError(f"it has more than {MAX_LIST:,} bytes")
    return [line for line in lines if line and not line.startswith("#")]


def build(engine: Runner, repositories: Sequence[tuple[str, str]], options: Sequence[str]) -> Iterator[Outcome]:
    """Yield what becomes of each repository, by name and directory, as soon as it is known; the others go on.

    >>> with local(workers=2, address=None) as engine:
    ...     [*build(engine, [("flask", "/src/flask")], ["--out", "/srv/shards"])]
    [Outcome(repository='flask', state='built', ...)]
    """
    tasks = {engine.submit(["--json", *options, "--", f"{name}={root}"]): name for name, root in repositories}
    for done in engine.as_completed(tasks):
        yield _outcome(tasks[done], done)


def untouched(repositories: Sequence[tuple[str, str]], out: Path, profile: Profile, since: float) -> Iterator[Outcome]:
    """Yield what is known of repositories that have a whole shard of their directory, unchanged since a moment.

    `since` is in seconds since 1970. Names and times are looked at, and no file; when anything of one changed last, its
    content among that, the kernel alone says (stat(2), st_ctime).
    """
    directory = verified.open_directory(str(out))
    try:
        for name, root in repositories:
            manifest = known(name, profile, directory)
            if manifest and manifest.root == root_digest(root) and not _has_changed(root, since):
                yield outcome_of(manifest, "unchanged")
    finally:
        os.close(directory)


def _has_changed(root: str, since: float) -> bool:
    """Return whether anything in a directory has changed since a moment, as far as it can be looked at."""
    waiting = [root]
    try:
        if Path(root).stat().st_ctime >= since:
            return True
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.stat(follow_symlinks=False).st_ctime >= since:
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    except OSError:
        return True  # whoever indexes it says what is wrong
    return False


def _outcome(name: str, done: object) -> Outcome:
    try:
        ended: Ended = done.result()  # type: ignore[attr-defined]
    except Exception as lost:  # noqa: BLE001  (an engine raises what it likes where a machine is gone)
        return Outcome(name, "failed", said(f"the engine has lost it: {type(lost).__name__}"))
    status, out, errors = ended
    try:
        return msgspec.json.decode(out, type=Outcome)
    except msgspec.DecodeError:
        last = errors.strip().rpartition("\n")[2]
        return Outcome(name, "failed", said(last.removeprefix("fledgling: ") or how_ended(status)))
