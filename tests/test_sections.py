"""The one format of mapped files: what is written is read, and what is no such file is refused, whoever wrote it."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import msgspec
import pytest
from running import fronted

from fledgling.messages.control import Built
from fledgling.messages.generations import GRAPH
from fledgling.security import memory_file
from fledgling.worker.store.level import LevelWriter
from fledgling.worker.store.sections import (
    HOLDS,
    MAGIC,
    NUMBER,
    PLACE,
    VERSION,
    FormatError,
    Section,
    Sections,
    SectionWriter,
    contents,
)

DOCUMENT = Path(__file__).parent.parent / "docs" / "index-format.md"


def written() -> bytes:
    fd = memory_file.create()
    with SectionWriter(fd, "text") as writer:
        writer.begin("text")
        writer.write([b"one", b"", b"two"])
        writer.column("ends", PLACE, [3, 2**40])
        writer.column("nothing", NUMBER, [])
        writer.column("numbers", NUMBER, memoryview(b"\1\0\0\0\2\0\0\0"))
    data = os.pread(fd, os.fstat(fd).st_size, 0)
    os.close(fd)
    return data


def read(data: bytes) -> Sections:
    fd = memory_file.create()
    os.write(fd, data)
    mapped = memory_file.mapped(fd)
    os.close(fd)
    return Sections(mapped, "text")


def test_what_is_written_is_read() -> None:
    sections = read(written())
    assert {name: section.count for name, section in sections.table.items()} == {
        "text": 6,
        "ends": 2,
        "nothing": 0,
        "numbers": 2,
    }
    assert bytes(sections.column("text")) == b"onetwo"
    assert [[*sections.column(name)] for name in ("ends", "nothing", "numbers")] == [[3, 2**40], [], [1, 2]]
    assert sections.data[sections.start("text") :][:6] == b"onetwo"


def table(*sections: Section) -> Callable[[bytes], bytes]:
    """Another table of contents behind the same head."""
    packed = msgspec.msgpack.encode(sections)
    return lambda data: data[:16] + packed + (16).to_bytes(8, "little")


# what becomes of a file, and what is said of it
REFUSED: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "a byte": (lambda data: data[:1], "too short"),
    "another file": (lambda data: b"\x7fELF" + data[4:], "not one of an index"),
    "a later version": (lambda data: data[:8] + (VERSION + 1).to_bytes(2, "little") + data[10:], "only version 1"),
    "an earlier version": (lambda data: data[:8] + bytes(2) + data[10:], "has version 0"),
    "what is not known": (lambda data: data[:10] + (99).to_bytes(2, "little") + data[12:], "does not hold text"),
    "another kind": (lambda data: data[:10] + (1).to_bytes(2, "little") + data[12:], "does not hold text"),
    "a table behind the end": (lambda data: data[:-8] + (2**40).to_bytes(8, "little"), "not in the file"),
    "a table in the head": (lambda data: data[:-8] + bytes(8), "not in the file"),
    "a table that is text": (lambda data: data[:-8] + (16).to_bytes(8, "little"), "cannot be read"),
    "a section behind the table": (table(Section("text", "B", 16, 1)), "a section is not in the file"),
    "a section in the head": (table(Section("text", "B", 0, 1)), "a section is not in the file"),
    "less than nothing": (table(Section("text", "Q", 16, -1)), "a section is not in the file"),
    "more than there are": (table(Section("text", "Q", 16, 2**62)), "a section is not in the file"),
    "another type": (lambda data: data.replace(b"\xa4ends\xa1Q", b"\xa4ends\xa1O"), "cannot be read"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_such_file_is_refused(name: str) -> None:
    change, said = REFUSED[name]
    with pytest.raises(FormatError, match=said):
        read(change(written()))


def test_whatever_a_file_says_only_what_is_in_it_is_read() -> None:
    """Bytes of a file changed by chance: it is refused, or its sections are inside it."""
    random, refused = Random(1), 0
    for _ in range(3000):
        data = bytearray(written())
        for _ in range(random.randint(1, 4)):
            data[random.randrange(len(data))] = random.randrange(256)
        try:
            sections = read(bytes(data))
        except FormatError:
            refused += 1
            continue
        for name in sections.table:
            assert len(bytes(sections.column(name))) <= len(data)
    assert refused > 1000


@pytest.mark.anyio
async def test_document_names_the_sections_that_an_index_has(project: Path) -> None:
    """Each of its tables has the name and the type of every section of a file, in their order."""
    text = DOCUMENT.read_text()
    assert f"version {VERSION}" in text
    assert f"`{MAGIC.decode()}`" in text
    tables = re.split(r"^## ", text, flags=re.M)
    described = {
        part.split()[0].strip("`"): re.findall(r"^\| `(\w+)` \| `(\w)` \|", part, re.M) for part in tables[1:] if part
    }
    async with fronted(project, "fledgling-core", is_followed=True) as (_, indexing):
        sizes_are_those_of_the_files(await indexing.built())
        await indexing.sealed(GRAPH)
        images, kept, findings, facts = indexing.files.served
        level = memory_file.create()
        LevelWriter(level).finish()
        files = {
            "text": images.blocks,
            "symbols": images.outlines,
            "ngrams": images.signatures,
            "words": images.words,
            "kept": kept,
            "graph": images.graph,
            "facts": facts,
            "level": level,
        }
        for holds, fd in (*files.items(), ("facts", findings)):
            found = contents(memoryview(os.pread(fd, os.fstat(fd).st_size, 0)), holds)
            assert [(section.name, section.type) for section in found] == described[holds]
    assert files.keys() == set(HOLDS)


def sizes_are_those_of_the_files(built: Built) -> None:
    """All but heads and tables of contents is in sections; and the largest section of all files is in the list."""
    assert {
        "text.text",
        "symbols.parts",
        "ngrams.matrix",
        "words.files",
        "duckdb.text",
        "duckdb.code",
    } <= built.sections.keys()
    assert built.image_bytes - 2048 < sum(built.sections.values()) < built.image_bytes
