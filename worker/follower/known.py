"""What the index holds of a file before anything has changed: its text, and its language."""

from fledgling.worker.files.text import Pieces
from fledgling.worker.store.text import Blocks


class Known:
    """The text store of the index, asked by path.

    >>> Known(blocks).pieces("a.py")
    [(1, b'import os')]
    """

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks

    def pieces(self, path: str) -> Pieces:
        """Return the text of a file as `text.cut` has cut it; nothing of one without text, or that is not there."""
        file = self._blocks.find(path)
        if file is None:
            return []
        numbers = range(file.block, file.block + file.blocks)
        return [(self._blocks.first_lines[number], self._blocks.text(number)) for number in numbers]

    def text(self, path: str) -> bytes | None:
        """Return the text of a file; None where it has none, or there is no such file."""
        file = self._blocks.find(path)
        if file is None or file.skip_reason:
            return None
        return b"\n".join(text for _, text in self.pieces(path))

    def languages(self) -> dict[str, str | None]:
        """Return the language of every file, by path."""
        blocks = self._blocks
        return {blocks.path(number): blocks.names[blocks.languages[number]] for number in blocks.files}

    def unlisted(self) -> list[tuple[str, str]]:
        """Return the names that are no files of the index, with why."""
        return sorted(self._blocks.unlisted.items())
