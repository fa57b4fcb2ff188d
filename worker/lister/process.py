"""The process that lists the project: it walks while the indexer loads DuckDB, and is gone when all is said.

It is forked first, off the indexer, with the root and one memory file, and is confined before it opens anything below
the root. What the names alone tell goes into that file, which is sealed: the listing, the generation before any file is
read. The indexer gets the tree through a socket.
"""

import os
import socket
import sys
from collections.abc import Iterable
from typing import TypeVar

from msgspec import Struct, msgpack

from fledgling import project_file, refusals
from fledgling.config import MAX_YAML_BYTES
from fledgling.found import PROJECT_FILE
from fledgling.messages.answers import Refusal
from fledgling.messages.control import Build, Layer
from fledgling.messages.following import Follow
from fledgling.messages.profile import Profile
from fledgling.pipe import MAX_FRAME_BYTES, FrameError, Pipe, together
from fledgling.project_file import Narrowed, narrow
from fledgling.scope import Scope
from fledgling.security import lifeline, limits, memory_file
from fledgling.security.confinement import ConfinementError, confine
from fledgling.worker.extractor.pool import STDERR, WAITING_BYTES, keep
from fledgling.worker.files.display_name import shown
from fledgling.worker.files.openat import read_file
from fledgling.worker.files.tree import Entry, Tree
from fledgling.worker.files.walk import MAX_NAMES, walk
from fledgling.worker.language import Languages
from fledgling.worker.process import fault
from fledgling.worker.process.child import Child
from fledgling.worker.reasons import CLOSED_FILE
from fledgling.worker.store.text import BlockWriter, File

SMALL_FILES, SMALL_BYTES = 2000, 16 * 2**20  # read in the tenth of a second in which another worker starts
NAME_BYTES = 2048  # of memory_limit for each name looked at, where all are kept; an entry of ordinary length takes 500
FAULTY = "the server has met a fault of its own in it"
BYTES_TOGETHER = 2**18  # of names in a frame; the last may have 32 KiB more, and each as text four times as many


class Began(Struct, frozen=True, tag="began"):
    """Lister to indexer, first: what is walked, as the project's own file leaves it, and what holds the lister."""

    narrowed: Narrowed
    layers: tuple[Layer, ...]


class Walked(Struct, frozen=True, tag="walked"):
    """Lister to indexer: the walk is over, and so many entries follow; `has_listing` says that there is one."""

    files: int
    left_out: dict[str, int]
    partial: str | None
    notices: list[str]
    has_listing: bool
    unlisted: list[tuple[str, str]]


class Entries(Struct, frozen=True, tag="entries"):
    """Lister to indexer: some entries, in the order of the paths."""

    entries: list[Entry]


Message = TypeVar("Message", Began, Walked, Entries)


class ListingError(Exception):
    """There is no list of the project; `refusal` says why."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


class Lister:
    """The process from outside. Make it before the first thread is started: it forks.

    >>> lister = Lister(order, languages)
    >>> lister.began().narrowed.scope
    Scope(...)
    >>> lister.walked().files
    812
    >>> len(lister.tree().entries)
    812
    >>> lister.close()
    """

    def __init__(self, order: Build, languages: Languages | None) -> None:
        """Fork it. Without languages it makes no listing."""
        self._ours, theirs = socket.socketpair()
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, WAITING_BYTES)
        self._process = Child("lister", _fork(order, languages, theirs))
        theirs.close()
        number = self._ours.fileno()
        self._pipe: Pipe[Began | Walked | Entries | Refusal] = Pipe(
            Began | Walked | Entries | Refusal, number, number, MAX_FRAME_BYTES
        )
        self._walked: Walked | None = None

    def began(self) -> Began:
        """Wait until it walks. Raises ListingError, or CrashError where it is gone, as all below."""
        return self._heard(Began)

    def walked(self) -> Walked:
        """Wait for the end of the walk; the listing is then sealed."""
        self._walked = self._heard(Walked)
        return self._walked

    def tree(self) -> Tree:
        """Return what the walk found. Comes after `walked`."""
        assert self._walked
        entries: list[Entry] = []
        while len(entries) < self._walked.files:
            entries += self._heard(Entries).entries
        walked = self._walked
        return Tree(entries, walked.left_out, walked.partial, walked.notices, walked.unlisted)

    def close(self) -> None:
        """See the process end: it has nobody to tell anything more."""
        self._ours.close()
        self._process.ended()

    def _heard(self, expected: type[Message]) -> Message:
        message = self._process.heard(self._pipe)
        if isinstance(message, Refusal):
            raise ListingError(message)
        if not isinstance(message, expected):
            raise FrameError(f"the lister did not say what it {expected.__name__.lower()}")
        return message


def is_listed(profile: Profile) -> bool:
    """Return whether a listing is of any use: a view of files or their text may ask for what has to be read first."""
    narrows_content = any(view.name == "content" for view in profile.views)
    return "explore" in profile.tools and not (profile.narrows_files or narrows_content)


def _fork(order: Build, languages: Languages | None, end: socket.socket) -> int:
    indexer = os.getpid()
    child = os.fork()
    if child == 0:
        lifeline.tie(indexer)
        keep({STDERR, end.fileno(), order.root_fd, order.images.listing})
        number = end.fileno()
        pipe: Pipe[Began] = Pipe(Began, number, number)
        try:
            _list(pipe, order, languages, indexer)
        except ConfinementError as absent:
            pipe.send(refusals.not_confined(str(absent)))
        except MemoryError:
            pipe.send(refusals.index_too_large(order.profile))
        except (BrokenPipeError, ConnectionResetError):  # the indexer is gone, and says why itself
            os._exit(0)
        except OSError as problem:  # the root cannot be read
            pipe.send(refusals.NO_INDEX)
            sys.stderr.write(fault.line(problem))
        except Exception as problem:  # noqa: BLE001  (the last resort of this process, as of the indexer)
            sys.stderr.write(fault.line(problem))
            os._exit(1)
        finally:
            os._exit(0)  # nothing of the indexer's own may run here
    return child


def _list(pipe: Pipe[Began], order: Build, languages: Languages | None, indexer: int) -> None:
    """Confine this process, walk, write the listing, and say what was found."""
    has_own_file = _has_own_file(order.root_fd)
    if has_own_file:
        project_file.load()
    layers = confined(order, indexer)
    left = narrowed(order.scope, order.root_fd) if has_own_file else Narrowed(order.scope)
    pipe.send(Began(left, layers))
    tree = walk(order.root_fd, left.scope, names=most_names(order.profile), is_whole=order.profile.narrows_files)
    _drop_unsendable(tree)
    read = [entry.size for entry in tree.entries if not entry.skip_reason]
    is_small = len(read) < SMALL_FILES and sum(read) < SMALL_BYTES
    has_listing = False
    if languages and is_listed(order.profile) and not is_small:
        has_listing = _is_written(order, languages, tree)
    memory_file.seal(order.images.listing)
    pipe.send(Walked(len(tree.entries), tree.left_out, tree.partial, tree.notices, has_listing, tree.unlisted))
    for some in together(tree.entries, _bytes, BYTES_TOGETHER):
        pipe.send(Entries(some))


def _is_written(order: Build, languages: Languages, tree: Tree) -> bool:
    """Write the listing; return False where a fault of ours was met: a map then waits until files are read."""
    try:
        BlockWriter(order.images.listing).finish(_files(tree.entries, languages), tree.unlisted)
        return True
    except Exception as problem:  # noqa: BLE001  (any of them would be the end of the index)
        fault.survived(problem)
    os.ftruncate(order.images.listing, 0)  # the writer has written what it held; nobody opens what is empty
    return False


def _drop_unsendable(tree: Tree) -> None:
    """Leave out entries that are no message, for a fault of ours."""
    for some in together([*tree.entries], _bytes, BYTES_TOGETHER):
        try:
            msgpack.encode(some)
        except Exception as problem:  # noqa: BLE001  (likewise)
            fault.survived(problem)
            lost = {id(entry) for entry in some if not _is_sendable(entry)}
            tree.unlisted[:] = sorted(
                [*tree.unlisted, *((shown(entry.raw), CLOSED_FILE) for entry in some if id(entry) in lost)]
            )
            tree.left_out[CLOSED_FILE] = tree.left_out.get(CLOSED_FILE, 0) + len(lost)
            tree.entries[:] = [entry for entry in tree.entries if id(entry) not in lost]


def _is_sendable(entry: Entry) -> bool:
    try:
        msgpack.encode(entry)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def most_names(profile: Profile) -> int:
    """Return how many names the walk may look at: files that a view will hide are all kept until it has decided."""
    return min(MAX_NAMES, profile.memory_limit // NAME_BYTES) if profile.narrows_files else MAX_NAMES


def _bytes(entry: Entry) -> int:
    return len(entry.raw) + len(entry.target or "")


def _files(entries: Iterable[Entry], languages: Languages) -> Iterable[File]:
    """Yield what the names tell of files."""
    for entry in entries:
        language = languages.detect(entry.path.rpartition("/")[2], b"")
        yield File(entry.path, language, entry.size, None, entry.skip_reason)


def confined(order: Build | Follow, parent: int) -> tuple[Layer, ...]:
    """Keep the right to read below the root, as the user who owns it, and to write to memory files that are open."""
    owner = os.fstat(order.root_fd)
    return confine(
        "indexer",
        order.confining,
        parent=parent,
        lowered=limits.of_indexer(order.profile.memory_limit),
        owner=(owner.st_uid, owner.st_gid),
        root=order.root_fd,
        readable=[order.root_fd],
    )


def _has_own_file(root_fd: int) -> bool:
    """Return whether the root has a name of a project's own file: without one there is no YAML, and none is loaded."""
    try:
        os.stat(PROJECT_FILE, dir_fd=root_fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    except OSError:  # it may be there, for who owns the root
        return True
    return True


def narrowed(scope: Scope, root_fd: int) -> Narrowed:
    """Return the scope as the project's own file leaves it; that file is as hostile as any other."""
    try:
        text = read_file(os.fsencode(PROJECT_FILE), root_fd, os.fstat(root_fd).st_dev, MAX_YAML_BYTES)
    except OSError:
        return Narrowed(scope)
    try:
        return narrow(scope, text)
    except Exception as problem:  # noqa: BLE001  (any of them would be the end of the index)
        fault.survived(problem)
        return Narrowed(scope, notices=(f"{PROJECT_FILE}: {FAULTY}; the file is ignored",))
