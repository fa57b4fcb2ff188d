"""The secrets of one run, a token and a password: into a file that the operator names or to a terminal, never a log."""

import os
import re
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

from fledgling.broker import own_file
from fledgling.broker.own_file import OwnFileError
from fledgling.config import ConfigError
from fledgling.plain import said

# What an earlier run has left: a file that holds anything else is not overwritten.
LEFT = re.compile(rb"(?:token: [\w-]{43}\n)?(?:password: [\w-]{43}\n)?")
LEFT_BYTES = 256  # more than both lines


def told(made: Mapping[str, str], file: str | None, roots: Collection[str]) -> dict[str, str]:
    """Write secrets into the file, by their names; return what may be said of each: itself to a terminal alone.

    The file is opened as one of this server's own (own_file.py), locked to its end. Raises ConfigError.

    >>> told({"token": token}, "/run/fledgling/secrets", ["/srv/app"])
    {'token': 'in /run/fledgling/secrets'}
    """
    if file is None:
        if made and not sys.stderr.isatty():
            problem = f"it is not a terminal, and the {' and the '.join(made)} of this run would end in a log"
            raise ConfigError("standard error", problem, "give --secrets FILE, a file of yours outside the root")
        return dict(made)
    if not made:
        raise ConfigError(
            "flag --secrets", "there is no secret to write: agents have their own, and no --page", "leave it out"
        )
    path = Path(file).absolute()
    try:
        _write(path, roots, "".join(f"{name}: {secret}\n" for name, secret in made.items()).encode())
    except (OwnFileError, OSError) as wrong:
        reason = wrong.strerror if isinstance(wrong, OSError) else wrong
        raise ConfigError("flag --secrets", f"{file!r}: {reason}", "give another file") from None
    return dict.fromkeys(made, f"in {said(str(path))}")


def _write(path: Path, roots: Collection[str], lines: bytes) -> None:
    fd = own_file.opened(path, roots, denied=0o077, shared="others may read or write it; own it, and chmod 600 it")
    if not LEFT.fullmatch(os.pread(fd, LEFT_BYTES, 0)):
        raise OwnFileError("it holds something other than secrets of an earlier run")
    os.ftruncate(fd, 0)
    os.write(fd, lines)
