"""What is said of one file, and its text: the row of `files`, made of its name, its bytes and its stamp."""

from datetime import UTC, datetime

from fledgling.worker.files.generated import is_generated
from fledgling.worker.files.notebook import NOTEBOOK, without_outputs
from fledgling.worker.files.openat import Reader
from fledgling.worker.files.text import HEAD, Pieces, Text, content_hash, count_lines, cut, decoded
from fledgling.worker.files.tree import Entry
from fledgling.worker.language import Languages
from fledgling.worker.process import fault
from fledgling.worker.reasons import BINARY, NO_ROOM, TOO_LARGE, UNREADABLE
from fledgling.worker.rows import FileRow

HEAD_BYTES = 4096  # of a text, enough for its `#!` line, and for what tells languages that share an extension


class Describing:
    """Reads files and says what they are.

    >>> describing = Describing(languages, max_file_size=1_048_576, root=None, with_hashes=False)
    >>> row, pieces = describing.describe(reader, entry, room=10_000_000)
    """

    def __init__(self, languages: Languages, *, max_file_size: int, root: str | None, with_hashes: bool) -> None:
        """Name files by absolute paths, too, where the `root` is given."""
        self._languages = languages
        self._max_file_size = max_file_size
        self._root = root
        self._with_hashes = with_hashes
        self.failed: set[str] = set()  # paths of files of which no more is known, for a fault of ours, than their names

    def describe(self, reader: Reader, entry: Entry, room: int) -> tuple[FileRow, Pieces | None]:
        """Return the row of a file and its text as `cut` cuts it; None where that is not read, and the row says why.

        What has more than `room` bytes is not read.
        """
        if entry.skip_reason:
            is_binary = entry.skip_reason == TOO_LARGE and _begins_binary(reader, entry)
            return self._row(entry, b"", None, BINARY if is_binary else entry.skip_reason)
        if entry.size > room:
            return self._row(entry, b"", None, NO_ROOM)
        try:
            data = reader.read(entry.raw, self._max_file_size)
        except OSError:
            return self._row(entry, b"", None, UNREADABLE)
        if len(data) > self._max_file_size:
            return self._row(entry, b"", None, TOO_LARGE)
        try:
            text = decoded(data)
            return self._row(entry, data, text, BINARY if text is None else None)
        except Exception as problem:  # noqa: BLE001  (any of them would be the end of the index)
            fault.survived(problem)
        self.failed.add(entry.path)
        return self._row(entry, b"", None, UNREADABLE)

    def _row(
        self, entry: Entry, data: bytes, text: Text | None, skip_reason: str | None
    ) -> tuple[FileRow, Pieces | None]:
        directory, _, filename = entry.path.rpartition("/")
        language = self._languages.detect(filename, (text.utf8 if text else data)[:HEAD_BYTES])
        if text and language == NOTEBOOK:
            text = text._replace(utf8=without_outputs(text.utf8))
        pieces = None if text is None else cut(text.utf8)
        row = FileRow(
            path=entry.path,
            absolute_path=f"{self._root}/{entry.path}" if self._root else None,
            directory=directory,
            filename=filename,
            extension=filename[filename.rfind(".") :].lower() if "." in filename else "",
            language=language,
            size_bytes=entry.size,
            line_count=None if pieces is None else count_lines(pieces),
            modified_at=datetime.fromtimestamp(entry.modified_ns / 1e9, UTC).replace(tzinfo=None),
            is_binary=skip_reason == BINARY,
            is_generated=is_generated(entry.path, text.utf8 if text else b""),
            content_hash=content_hash(data) if self._with_hashes and (data or text is not None) else None,
            skip_reason=skip_reason,
            encoding=text.encoding if text else None,
        )
        return row, pieces


def _begins_binary(reader: Reader, entry: Entry) -> bool:
    """Return whether a file that is not read is no text, either: a picture, which no search would look into."""
    try:
        head = reader.read(entry.raw, HEAD)
    except OSError:
        return False
    return all(decoded(head[:end]) is None for end in (HEAD, HEAD - 2))  # a character may be cut in UTF-16
