"""What the query worker maps and asks no engine for: text in store/text.py, definitions in store/symbols.py."""

import os
from zlib import crc32

import pytest
from costing import costs_under

from fledgling.security import memory_file
from fledgling.worker.languages.table import load_languages
from fledgling.worker.rows import SymbolRow
from fledgling.worker.store import facts, symbols
from fledgling.worker.store.package_root import root
from fledgling.worker.store.symbol_writer import OutlineWriter, end_to_end
from fledgling.worker.store.symbol_writer import outlined as encoded
from fledgling.worker.store.symbols import GIVEN_UP, IN_PART, NO_PARSER, WHOLE, Outlines, Row
from fledgling.worker.store.text import Block, Blocks, BlockWriter, File

FILES = [  # in no order; of the directory `a` and the file `a.py` the second comes first
    File("b.bin", None, 9, None, "binary"),
    File("a/x.py", "python", 14, 4, None),
    File("a.py", "python", 0, 0, None),
    File("é.txt", None, 6, 2, None),
]
BLOCKS = [
    Block("a/x.py", 1, b"one\ntwo"),
    Block("a/x.py", 3, b"three\nfour"),
    Block("é.txt", 1, "é".encode()),
    Block("é.txt", 2, b""),
]


def mapped(files: list[File], *blocks: list[Block]) -> Blocks:
    fd = memory_file.create()
    writer = BlockWriter(fd)
    for some in blocks:
        writer.add(some)
    writer.finish(files)
    memory_file.seal(fd)
    found = Blocks(memory_file.mapped(fd))
    os.close(fd)
    return found


def test_blocks_are_what_was_written() -> None:
    blocks = mapped(FILES, BLOCKS[:1], BLOCKS[1:])
    assert [blocks.text(block) for block in range(blocks.count)] == [block.text for block in BLOCKS]
    assert [*blocks.first_lines] == [block.first_line for block in BLOCKS]
    assert [blocks.file_of(block).path for block in range(blocks.count)] == [block.path for block in BLOCKS]
    assert [blocks.file(number) for number in blocks.files] == [
        File("a.py", "python", 0, 0, None, 0, 0, 0),
        File("a/x.py", "python", 14, 4, None, 1, 0, 2),
        File("b.bin", None, 9, None, "binary", 2, 0, 0),
        File("é.txt", None, 6, 2, None, 3, 2, 2),
    ]
    blocks.forget()
    assert blocks.text(1) == b"three\nfour"


def test_an_index_without_files() -> None:
    blocks = mapped([])
    assert (blocks.count, [*blocks.files], [*blocks.below("")], blocks.find("a")) == (0, [], [], None)


@pytest.mark.parametrize(
    ("prefix", "paths"),
    {
        "": ["a.py", "a/x.py", "b.bin", "é.txt"],
        "a": ["a.py", "a/x.py"],
        "a/": ["a/x.py"],
        "a/x.py/": [],
        "é": ["é.txt"],
        "z": [],
    }.items(),
)
def test_files_below(prefix: str, paths: list[str]) -> None:
    assert [file.path for file in mapped(FILES, BLOCKS).below(prefix)] == paths


def test_a_file_is_found_by_its_whole_path() -> None:
    blocks = mapped(FILES, BLOCKS)
    assert [file and file.path for file in map(blocks.find, ("a.py", "a", "a/x.py", "a/x.pyc", "", "é.txt"))] == [
        *("a.py", None, "a/x.py", None, None, "é.txt")
    ]


@pytest.mark.parametrize(
    ("lines", "held"), [((1, 1), [0]), ((2, 2), [0]), ((2, 3), [0, 1]), ((3, 9), [1]), ((9, 9), [1]), ((1, 9), [0, 1])]
)
def test_blocks_that_hold_lines(lines: tuple[int, int], held: list[int]) -> None:
    blocks = mapped(FILES, BLOCKS)
    [file] = blocks.below("a/")
    assert [*blocks.holding(file, *lines)] == held


def test_lines_that_a_view_took_out_are_in_no_block() -> None:
    blocks = mapped([File("a", None, 1, 9, None)], [Block("a", 3, b"three"), Block("a", 7, b"seven")])
    assert [[*blocks.holding(blocks.file(0), first, last)] for first, last in ((1, 2), (1, 3), (4, 6), (8, 9))] == [
        [],
        [0],
        [0],  # the caller sees where its lines end
        [1],
    ]


def row(name: str, start: int, end: int, kind: str = "function") -> Row:
    return Row(name, kind, start, end, None, None, f"m.{name}")


ROWS = {
    0: [
        row("A", 1, 20, "class"),
        row("b", 2, 9),
        row("LIMIT", 3, 3, "constant"),
        row("c", 4, 4),
        row("d", 4, 4),
        row("b", 7, 7, "import"),
        Row("", "function", 8, 8, "def (a)", None, None),
        Row("n", "function", 11, 11, "def f()", None, "m.n"),
        Row("x" * 40, "variable", 12, 12, "x" * 40, None, None),
    ],
    2: [row("b", 1, 1), Row("Z", "function", 5, 5, "def Z(Z)", "Y", None), row("Z", 5, 5, "export")],
}


def symbol(row: Row) -> SymbolRow:
    lines = row.line_start, row.line_end
    return SymbolRow(row.name, row.kind, *lines, row.parent_name, row.signature, None, "public", row.qualified_name)


def outlined(files: list[File], outlines: dict[int, list[Row]] = ROWS, parsed: bytes | None = None) -> Outlines:
    fd = memory_file.create()
    writer = OutlineWriter(fd)
    for number, rows in outlines.items():
        writer.add([number], [len(rows)], encoded([[symbol(row) for row in rows]]))
    writer.finish(bytes([WHOLE] * len(files)) if parsed is None else parsed)
    memory_file.seal(fd)
    found = Outlines(memory_file.mapped(fd))
    os.close(fd)
    return found


def test_how_far_files_were_parsed_is_what_was_written() -> None:
    outlines = outlined(THREE, parsed=bytes([IN_PART, NO_PARSER, GIVEN_UP]))
    assert [outlines.parsed(file) for file in THREE] == [IN_PART, NO_PARSER, GIVEN_UP]
    assert outlines.not_whole == [0, 2]
    assert outlined(THREE).not_whole == []


THREE = [File(path, None, 1, 20, None, number) for number, path in enumerate("abc")]


def test_a_line_with_very_many_definitions_is_read_once_in_a_call() -> None:
    """One with thousands of methods, as minified text has, and another one with some: each is asked for in turn."""
    some = [Row(f"m{number}", "method", line, line, None, "A", None) for line in (1, 2) for number in range(2_000)]
    outlines = outlined(THREE, {0: some})
    definitions = outlines.definitions(THREE[0])

    def numbered() -> list[int]:
        lines = outlines.by_line()
        in_turn = (row for pair in zip(definitions[:2_000], definitions[2_000:], strict=True) for row in pair)
        return [lines.together(THREE[0], row.line_start).place(row) for row in in_turn]

    assert costs_under(0.2, numbered)[:5] == [1, 1, 2, 2, 3]


def test_of_lines_that_were_read_no_more_is_kept_than_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbols, "KEPT_ROWS", 5)
    outlines = outlined(THREE, {0: [row(name, line, line) for line in range(1, 5) for name in "ab"]})
    lines = outlines.by_line()
    assert all(lines.together(THREE[0], line) == outlines.together(THREE[0], line) for line in (1, 2, 3, 4, 1, 3))
    assert sum(len(each.rows) for each in lines._known.values()) <= 5


def test_outlines_are_what_was_written() -> None:
    outlines = outlined(THREE)
    assert [outlines.row(number) for number in range(12)] == [*ROWS[0], *ROWS[2]]
    assert [outlines.file_of(number) for number in range(12)] == [0] * 9 + [2] * 3
    assert [outlines.definitions(file) for file in THREE] == [ROWS[0][:5] + ROWS[0][6:], [], ROWS[2][:2]]
    assert [outlines.count(file) for file in THREE] == [8, 0, 2]
    assert [outlines.of(file) for file in THREE] == [[0, 1, 2, 3, 4, 6, 7, 8], [], [9, 10]]
    assert [outlines.of(file, "function") for file in THREE] == [[1, 3, 4, 6, 7], [], [9, 10]]
    assert [outlines.of(file, "export") for file in THREE] == [[], [], [11]]


def test_symbols_of_files_stand_behind_those_of_others() -> None:
    files = [[symbol(row) for row in rows] for rows in ROWS.values()]
    assert end_to_end([encoded(files[:1]), encoded([]), encoded(files[1:])]) == encoded(files)


@pytest.mark.parametrize(("name", "numbers"), {"b": [1, 9], "A": [0], "Z": [10], "a": [], "": [6], "é": []}.items())
def test_definitions_of_a_name(name: str, numbers: list[int]) -> None:
    assert outlined(THREE).named(name) == numbers


def test_symbols_of_a_name_and_kind() -> None:
    outlines = outlined(THREE)
    assert [outlines.named("b", kind) for kind in ("function", "import", "class")] == [[1, 9], [5], []]


def test_names_of_one_hash_are_told_apart() -> None:
    assert crc32(b"plumless") == crc32(b"buckeroo")
    outlines = outlined(THREE, {0: [row("plumless", 1, 1), row("buckeroo", 2, 2), row("plumless", 3, 3)]})
    assert [[*outlines.named(name)] for name in ("plumless", "buckeroo")] == [[0, 2], [1]]


@pytest.mark.parametrize(
    ("line", "name"),
    {1: "m.A", 2: "m.b", 3: "m.b", 4: "m.c", 5: "m.b", 9: "m.b", 10: "m.A", 20: "m.A", 21: None}.items(),
)
def test_the_innermost_definition_around_a_line(line: int, name: str | None) -> None:
    """A constant is none, and of two on the same lines it is the first."""
    found = outlined(THREE).innermost(THREE[0], line)
    assert (found.qualified_name if found else None) == name
    assert [*outlined(THREE).enclosing(THREE[0], range(1, line + 1))][-1] == (found.line_start if found else 0)


MODULES = load_languages().modules()
ROOTS = {
    ("pkg.a.b", "python"): "pkg",
    ("a.b", "lua"): "a",
    ("a::b::c", "rust"): "a",
    ("a.com/b/c/d", "go"): "a.com/b/c",
    ("net/http", "go"): "net",
    ("@a/b/c", "typescript"): "@a/b",
    ("a/b", "javascript"): "a",
    ("a/b", "ruby"): "a",
    ("a.b.C", "java"): "a.b.C",
    ("a/b.h", "c"): "a/b.h",
    ("a/b", None): "a/b",
    ("", "go"): "",
}


@pytest.mark.parametrize(("module", "expected"), ROOTS.items())
def test_root_of_a_module(module: tuple[str, str | None], expected: str) -> None:
    name, language = module
    assert root(name, MODULES.get(language or "")) == expected


def test_facts_are_those_of_the_same_text_in_the_same_language() -> None:
    keys = facts.key_of("python", [b"a", b"b"]), facts.key_of("c", [b"a\nb"]), facts.key_of("c", [])
    written = dict(zip(keys, (b"one", b"", b"two"), strict=True))
    fd = memory_file.create()
    assert facts.read(fd) == {}
    with facts.FactsWriter(fd) as writer:
        for key, of_text in written.items():
            writer.add(key, of_text)
    known = facts.read(fd)
    os.close(fd)
    assert known == written
    assert known[facts.key_of("python", [b"a\nb"])] == b"one"
    assert facts.key_of("python", [b"a\nb "]) not in known
