"""A table as a Parquet file: one row group, plain encoding, no compression. Everything known of the format is here.

https://github.com/apache/parquet-format says what a file is, and Thrift's compact protocol how its parts are written. A
reader of it would do more; a writer of values that JSON has needs no more than four types of columns.
"""

import json
import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

MAGIC = b"PAR1"
VERSION = 1
PLAIN, RLE = 0, 3  # encodings
OPTIONAL, UTF8, UNCOMPRESSED, DATA_PAGE = 1, 0, 0, 0
BOOLEAN, INT64, DOUBLE, BYTE_ARRAY = 0, 2, 5, 6  # physical types
_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12  # types of the compact protocol
_INT64 = range(-(2**63), 2**63)

Field = tuple[int, int, object]  # of a struct of Thrift: number, type, value


class _Chunk(NamedTuple):
    """A column as it stands in the file: its page, where that begins, and what its metadata say of it."""

    name: bytes
    type: int
    page: bytes
    at: int


def written(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    """Return the file: `written(["n"], [[1], [None]])`. A column of several types is text; what is nested is JSON."""
    names = [name.encode() for name in unique(columns)]
    file, chunks = bytearray(MAGIC), []
    for number, name in enumerate(names):
        values = [row[number] for row in rows]
        kind = _type(values)
        page = _page(values, kind)
        chunks.append(_Chunk(name, kind, page, len(file)))
        file += page
    footer = _struct(_metadata(chunks, len(rows)))
    return bytes(file) + footer + struct.pack("<I", len(footer)) + MAGIC


def unique(names: Iterable[str]) -> list[str]:
    """Return names of columns, each once: `unique(["n", "n"])` is `["n", "n_2"]`."""
    taken: dict[str, None] = {}
    for name in names:
        number, given = 2, name
        while given in taken:
            given, number = f"{name}_{number}", number + 1
        taken[given] = None
    return [*taken]


def _type(values: Iterable[object]) -> int:
    """Return the type that holds all values of a column."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return BOOLEAN
    if kinds == {int} and all(value in _INT64 for value in values if value is not None):
        return INT64
    return DOUBLE if kinds in ({float}, {int, float}) else BYTE_ARRAY


def _page(values: Sequence[object], kind: int) -> bytes:
    """Return a data page with its header: which values are there, then those."""
    there = [value for value in values if value is not None]
    levels = _bits([value is not None for value in values])
    data = struct.pack("<I", len(levels)) + levels + _plain(there, kind)
    header: list[Field] = [(1, _I32, len(values)), (2, _I32, PLAIN), (3, _I32, RLE), (4, _I32, RLE)]
    return _struct([(1, _I32, DATA_PAGE), (2, _I32, len(data)), (3, _I32, len(data)), (5, _STRUCT, header)]) + data


def _bits(flags: Sequence[bool]) -> bytes:
    """Return levels of 0 and 1 as one bit-packed run of the hybrid encoding."""
    groups = -(-len(flags) // 8)
    return _varint(groups << 1 | 1) + _packed(flags)


def _packed(flags: Sequence[bool]) -> bytes:
    return sum(1 << place for place, is_set in enumerate(flags) if is_set).to_bytes(-(-len(flags) // 8), "little")


def _plain(values: Sequence[object], kind: int) -> bytes:
    if kind == BOOLEAN:
        return _packed([bool(value) for value in values])
    if kind != BYTE_ARRAY:
        return struct.pack(f"<{len(values)}{'q' if kind == INT64 else 'd'}", *values)
    texts = [(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).encode() for value in values]
    return b"".join(struct.pack("<I", len(text)) + text for text in texts)


def _metadata(chunks: Sequence[_Chunk], rows: int) -> list[Field]:
    """Return the footer's struct, FileMetaData: the schema, and where each column is."""
    schema: list[list[Field]] = [[(4, _BINARY, b"rows"), (5, _I32, len(chunks))]]
    columns: list[list[Field]] = []
    for chunk in chunks:
        text: list[Field] = [(6, _I32, UTF8)] if chunk.type == BYTE_ARRAY else []
        schema.append([(1, _I32, chunk.type), (3, _I32, OPTIONAL), (4, _BINARY, chunk.name), *text])
        described: list[Field] = [
            (1, _I32, chunk.type),
            (2, _LIST, (_I32, [PLAIN, RLE])),
            (3, _LIST, (_BINARY, [chunk.name])),
            (4, _I32, UNCOMPRESSED),
            (5, _I64, rows),
            (6, _I64, len(chunk.page)),
            (7, _I64, len(chunk.page)),
            (9, _I64, chunk.at),
        ]
        columns.append([(2, _I64, chunk.at), (3, _STRUCT, described)])
    group: list[Field] = [
        (1, _LIST, (_STRUCT, columns)),
        (2, _I64, sum(len(chunk.page) for chunk in chunks)),
        (3, _I64, rows),
    ]
    return [
        (1, _I32, VERSION),
        (2, _LIST, (_STRUCT, schema)),
        (3, _I64, rows),
        (4, _LIST, (_STRUCT, [group])),
        (6, _BINARY, b"fledgling"),
    ]


# ---- Thrift's compact protocol --------------------------------------------------------------------------------------


def _struct(fields: Iterable[Field]) -> bytes:
    out, last = bytearray(), 0
    for number, kind, value in fields:
        out += bytes([(number - last) << 4 | kind]) + _value(kind, value)
        last = number
    return bytes(out) + b"\0"


def _value(kind: int, value: object) -> bytes:
    match kind, value:
        case ((5 | 6), int()):
            return _varint(value << 1 if value >= 0 else (-value << 1) - 1)
        case 8, bytes():
            return _varint(len(value)) + value
        case 9, (int() as inner, [*items]):
            head = bytes([len(items) << 4 | inner]) if len(items) < 15 else bytes([0xF0 | inner]) + _varint(len(items))
            return head + b"".join(_value(inner, item) for item in items)
        case 12, list():
            return _struct(value)
    raise TypeError(kind)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])
