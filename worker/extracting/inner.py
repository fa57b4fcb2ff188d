"""A text of one language in a file of another: scripts of a component, cells of a notebook.

The folder of the outer language finds it, and what is found in it gets the lines of the file.
"""

from msgspec import Struct
from msgspec.structs import replace

from fledgling.worker.extracting.blanking import VISIBLE
from fledgling.worker.rows import Extraction


class Inner(Struct, frozen=True):
    """A text, its language, and the line of the file for each of its lines, where these are not the same.

    `prose` is what is said around it, piece by piece: Markdown cells.
    """

    language: str
    text: bytes
    lines: list[int] | None = None
    complete: bool = True
    prose: list[str] = []


def only(source: bytes, spans: list[tuple[int, int]]) -> bytes:
    """The text with blanks in place of all but some spans in order, every line where it was."""
    text = bytearray()
    for start, end in spans:
        text += VISIBLE.sub(b" ", source[len(text) : start]) + source[start:end]
    return bytes(text) + VISIBLE.sub(b" ", source[len(text) :])


def on_lines(found: Extraction, lines: list[int]) -> Extraction:
    """What was found in an inner text, on the lines of the file: `lines[0]` is that of the first."""
    last = len(lines) - 1

    def line(number: int) -> int:
        return lines[min(number - 1, last)]

    symbols = [replace(row, line_start=line(row.line_start), line_end=line(row.line_end)) for row in found.symbols]
    imports = [replace(row, line_number=line(row.line_number)) for row in found.imports]
    symbols.sort(key=lambda row: (row.line_start, -row.line_end, row.name))
    return replace(found, symbols=symbols, imports=imports, comment_lines=frozenset(map(line, found.comment_lines)))
