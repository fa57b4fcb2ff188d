"""What has changed in a project since its index was built, file by file.

The process that follows the project makes it; the query worker lays it over the sealed index. In between it is bytes:
the broker passes it on and looks at nothing of it.
"""

from msgspec import UNSET, Struct, UnsetType

from fledgling.worker.rows import Engine, FileRow, FileWords, ImportRow, SymbolColumns
from fledgling.worker.store.symbol_writer import Outlined


class Part(Struct, frozen=True, array_like=True):
    """One file that is new or has changed: what an index built now would hold of it.

    `blocks` are its lines as `text.cut` has cut them, each with the number of its first; none where `row.skip_reason`
    says why. `signatures` are those of the blocks (`ngram_writer.signed`), `symbols` of this one file; as columns, too,
    where somebody may look at all of them. `comments` numbers by block the lines that are comment alone. `words` are
    None of what is not searched by meaning.
    """

    row: FileRow
    engine: Engine | None
    is_parsed: bool | None
    blocks: list[tuple[int, bytes]]
    signatures: bytes
    symbols: Outlined
    columns: SymbolColumns
    comments: list[list[int]]
    words: FileWords | None

    @property
    def size(self) -> int:
        """Bytes of its text."""
        return sum(len(text) for _, text in self.blocks)


class Changes(Struct, frozen=True):
    """What has changed since the changes before: parts that take the place of what was known of their paths.

    `imports` are those of each file whose imports are others now, resolved: an edit may change where the imports of
    files lead that were not edited. Sent together they are one step: nobody sees half of it. `pending` are files that
    have changed and could not be read yet, and `unlisted` all names that are no files of the index, with why; None
    where those that were known are. `cut` says which files are missing; it is unset where that is as it was. Told
    `afresh`, they are all that has changed since the index was built.
    """

    parts: list[Part] = []
    removed: list[str] = []
    imports: dict[str, list[ImportRow]] = {}
    pending: list[str] = []
    afresh: bool = False
    unlisted: list[tuple[str, str]] | None = None
    cut: str | UnsetType | None = UNSET
