"""What an indexer is told first: the root, which is open, and what to make of it."""

import os
import subprocess
from contextlib import suppress
from pathlib import Path

from fledgling.broker.indexing.failures import IndexingError
from fledgling.broker.indexing.files import Files, TakenOver
from fledgling.broker.spawn import spawn
from fledgling.digests import blake2b
from fledgling.messages.answers import Refusal
from fledgling.messages.control import Build, Confining, Images
from fledgling.messages.profile import Profile
from fledgling.plain import said
from fledgling.settings import Settings

INDEXER = "fledgling.worker.indexer"  # the module that is started
REFERENCE_BYTES = 8  # of the hash by which a root is known


def ordered(
    settings: Settings, profile: Profile, confining: Confining, images: Images, root: Path, root_fd: int
) -> Build:
    """Return the order to an indexer of a root that is open."""
    return Build(
        broker_pid=os.getpid(),
        images=images,
        root_fd=root_fd,
        profile=profile,
        scope=settings.scope,
        root=str(root) if profile.absolute_paths else None,
        confining=confining,
    )


def started(root_fd: int, files: Files, known: TakenOver) -> "subprocess.Popen[bytes]":
    """Start an indexer that may read a root, fill files, and look at what earlier builds have found. Raises OSError."""
    return spawn(INDEXER, [root_fd, *files.all(), *known.all()])


def opened(path: str) -> tuple[Path, int]:
    """Open the root; raise IndexingError where it is gone since it was looked at, or may not be read."""
    try:
        root = Path(path).resolve(strict=True)
        return root, os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as gone:
        reason = said(f"the root {path!r} cannot be opened: {gone.strerror}")
        raise IndexingError(Refusal("failed", reason, "Give the directory of the project with --root.")) from None


def is_replaced(root: str, root_fd: int) -> bool:
    """Return whether another directory has the name of a root. As long as that has it, no file system is asked."""
    with suppress(OSError):  # nothing has that name, or nobody can tell
        is_renamed = Path(f"/proc/self/fd/{root_fd}").readlink() != Path(root)  # proc(5)
        return is_renamed and not os.path.samestat(Path(root).stat(), os.fstat(root_fd))
    return False


def reference(root_fd: int) -> str:
    """Return what a root is known by under any name: a hash that tells nothing of its path, not even to who guesses."""
    status = os.fstat(root_fd)
    return blake2b(f"{status.st_dev}:{status.st_ino}".encode(), digest_size=REFERENCE_BYTES).hexdigest()
