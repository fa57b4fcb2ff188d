"""Code of a notebook's cells, on the lines of the file: https://nbformat.readthedocs.io/en/latest/format_description.html.

What its Markdown cells say is told apart.
Outputs are not code, nor is what IPython adds to Python: `%matplotlib inline`, `!ls`, a cell that begins with `%%bash`.
"""

import json
import re
from collections.abc import Iterator

from msgspec import Struct

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.inner import Inner

MAX_NESTING = 100  # of brackets; a cell is in five
TOKEN = deferred(rb'\n|[\[\]{},:]|"(?>(?:[^"\\]++|\\.)*)"', re.DOTALL)
CELLS = (("", "cells", "cells"), ("", "worksheets", "worksheets", "cells", "cells"))  # the latter before version 4
SOURCES = ("source", "input")
LANGUAGES = {"ir": "r", "c++": "cpp", "sh": "bash", "ijavascript": "javascript"}  # as kernels call them, and we do
MAGIC = deferred(r"[ \t]*+(?:[%!]|\?\w|\w[\w.]*+\?)")
CELL_OF_PYTHON = deferred(r"%%(?:time|timeit|capture|prun|memit|mprun)\b")


class Container(Struct):
    """An open array or object: the key that it is the value of, and the key whose value comes next.

    What an array holds has the key of the array.
    """

    name: str
    is_object: bool
    key: str = ""
    awaits_value: bool = False


class _Cell(Struct):
    """A cell: what kind it says it is, and the pieces of its source, each with its line."""

    kind: str = ""
    source: list[tuple[int, str]] = []


class Notebook:
    """A notebook that is read token by token, so that lines are known."""

    def __init__(self, source: bytes) -> None:
        self._open: list[Container] = []
        self._line = 1
        self.cells: list[_Cell] = []
        self.language = ""
        self.complete = True
        for token in TOKEN.finditer(source):
            self._read(token[0])
            if len(self._open) > MAX_NESTING:
                self.complete = False
                break

    def _read(self, token: bytes) -> None:
        around = self._open[-1] if self._open else None
        if token == b"\n":
            self._line += 1
        elif token in (b"[", b"{"):
            name = around.key if around else ""
            self._open.append(Container(name, token == b"{", "" if token == b"{" else name))
            if name == "cells" and self._path() in CELLS:
                self.cells.append(_Cell())
        elif token in (b"]", b"}"):
            if self._open:
                self._open.pop()
        elif around and token == b":":
            around.awaits_value = True
        elif around and token == b",":
            around.awaits_value = False
        elif around and around.is_object and not around.awaits_value:
            around.key = "" if len(token) > len(b'"language_info"') else token[1:-1].decode(errors="replace")
        elif around:
            self._value(around, token)

    def _value(self, around: Container, token: bytes) -> None:
        path = self._path()
        if around.key == "cell_type" and path in CELLS:
            self.cells[-1].kind = token[1:-1].decode(errors="replace")
        elif around.key in SOURCES and (path in CELLS or path[:-1] in CELLS):
            self.cells[-1].source.append((self._line, string(token)))
        elif path == ("", "metadata", "language_info") and around.key == "name":
            self.language = string(token)
        elif path == ("", "metadata", "kernelspec") and around.key == "language":
            self.language = self.language or string(token)

    def _path(self) -> tuple[str, ...]:
        return tuple(container.name for container in self._open)


def string(token: bytes) -> str:
    """The value of a string of JSON, as far as it is one."""
    try:
        return str(json.loads(token, strict=False))
    except ValueError:
        return ""


def code(cell: _Cell, *, is_python: bool) -> Iterator[tuple[int, str]]:
    """The lines of a cell without what only IPython understands, each with its line in the file."""
    lines = [(line, text) for line, piece in cell.source for text in piece.removesuffix("\n").split("\n")]
    first = next((text for _, text in lines if text.strip()), "")
    if is_python and first.startswith("%%") and not CELL_OF_PYTHON.match(first):
        return
    for line, text in lines:
        yield line, "" if is_python and MAGIC.match(text) else text


def inner(source: bytes) -> Inner:
    """The code of a notebook: of `{"cells": [{"cell_type": "code", "source": ["a = 1"]}]}` that is `a = 1`."""
    notebook = Notebook(source)
    language = notebook.language.lower()
    language = LANGUAGES.get(language, language) or "python"
    cells = (cell for cell in notebook.cells if cell.kind == "code")
    lines = [pair for cell in cells for pair in code(cell, is_python=language == "python")]
    text = "".join(f"{text}\n" for _, text in lines).encode(errors="replace")
    said = ("".join(piece for _, piece in cell.source) for cell in notebook.cells if cell.kind == "markdown")
    prose = [piece.encode(errors="replace").decode() for piece in said]  # JSON may hold half a character
    return Inner(language, text, [line for line, _ in lines], notebook.complete, prose)
