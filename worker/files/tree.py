"""What a walk found: the files and symlinks of a tree, each with what it is known by again, and what was left out."""

from operator import attrgetter

from msgspec import Struct
from msgspec.structs import asdict, replace

from fledgling.worker.reasons import TOO_LARGE
from fledgling.worker.rows import Stamp

MAX_NOTICES = 20  # sentences; a hostile tree gives cause for one in every directory


class Entry(Struct, frozen=True, array_like=True, gc=False):
    """A file or symlink: its path as text and, to read it by (worker/files/openat.py), as the bytes on disk.

    `target` is what a symlink says, and None for a file. `skip_reason` says why it is not read, where its name and size
    tell: "symlink", "secret" or "too large". Where the size, both times and the inode are what they were, so is the
    content (but see worker/files/sweep.py).
    """

    path: str
    raw: bytes
    target: str | None
    size: int
    modified_ns: int
    changed_ns: int
    inode: int
    skip_reason: str | None = None

    @property
    def stamp(self) -> Stamp:
        """By what the file is known again."""
        return Stamp(self.size, self.modified_ns, self.changed_ns, self.inode)

    def restamped(self, stamp: Stamp, max_file_size: int) -> "Entry":
        """Return the same name with another stamp."""
        reason = self.skip_reason
        if reason in (None, TOO_LARGE):
            reason = too_large(stamp.size, max_file_size)
        return replace(self, **asdict(stamp), skip_reason=reason)


class Tree(Struct, frozen=True):
    """What a walk found, in the order of the paths, and what it left out.

    `partial` says in a sentence which entries are missing, if any are; `notices` what else a user should know.
    """

    entries: list[Entry]
    left_out: dict[str, int]
    partial: str | None
    notices: list[str]
    unlisted: list[tuple[str, str]] = []  # of what was left out the names, of directories with a slash, and why


def too_large(size: int, most: int) -> str | None:
    """Return why a file of this size is not read, if it is not."""
    return TOO_LARGE if size > most else None


def foremost(notices: list[str]) -> list[str]:
    """As many notices as anybody reads, and how many more there are."""
    more = len(notices) - MAX_NOTICES
    return [*notices[:MAX_NOTICES], f"And {more:,} more like these."] if more > 0 else notices


def nearest(entries: list[Entry], most: int) -> tuple[list[Entry], str | None]:
    """Return as many entries as there may be, those nearest to the root, and a sentence if some are missing.

    Entries come and go in the order of their paths.
    """
    if len(entries) <= most:
        return entries, None
    kept = sorted(entries, key=lambda entry: entry.raw.count(b"/"))[:most]
    cut = f"Only {most:,} of {len(entries):,} files are indexed: those nearest to the root, then by path."
    return sorted(kept, key=attrgetter("path")), cut
