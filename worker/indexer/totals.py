"""What is said of all files of a build together: what is missing, their hashes, and what there is of each language."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import msgspec
from msgspec.structs import replace

from fledgling.digests import blake2b
from fledgling.messages.control import LanguageStats
from fledgling.plain import counted
from fledgling.scope import Scope
from fledgling.worker.files.tree import Tree
from fledgling.worker.reasons import NO_ROOM
from fledgling.worker.rows import FileRow

HASH_BYTES = 32
NO_TIME = datetime.fromtimestamp(0, UTC).replace(tzinfo=None)


def lacking(files: Iterable[str | None], rows: Sequence[FileRow]) -> str | None:
    """Say which text the index lacks for a limit, after what is said of `files`."""
    without = sum(row.skip_reason == NO_ROOM for row in rows)
    full = "without content: the profile's memory_limit is full."
    text = f"{counted(without, 'file')} listed {full}" if without else None
    return " ".join(note for note in (*files, text) if note) or None


def tree_hash(tree: Tree, rows: Sequence[FileRow], scope: Scope) -> str:
    """Return the hash of all that an index is made of: times of files are not among that."""
    links = {entry.path: entry.target for entry in tree.entries if entry.target}
    same = [replace(row, modified_at=NO_TIME, absolute_path=None) for row in rows]
    return _digest((same, links, tree.unlisted, tree.partial, scope))


def contents_hash(rows: Sequence[FileRow]) -> str:
    """Return the hash of the paths and contents of files; of those that are not read, such as large ones, the size."""
    known = sorted((row.path, row.content_hash or row.size_bytes) for row in rows)
    return _digest(known)


def _digest(made_of: object) -> str:
    return blake2b(msgspec.msgpack.encode(made_of), digest_size=HASH_BYTES).hexdigest()


def statistics(rows: Sequence[FileRow]) -> list[LanguageStats]:
    """Say of each language what is known before anything is parsed."""
    groups: dict[str, list[FileRow]] = {}
    for row in rows:
        groups.setdefault(row.language or "", []).append(row)
    return [
        LanguageStats(
            language,
            len(group),
            sum(row.line_count or 0 for row in group),
            sum(row.size_bytes for row in group),
        )
        for language, group in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    ]
