"""Bytes become text, names and lines; and which files are generated or secret, by table."""

import itertools
import os
import re
import tomllib
from pathlib import Path
from random import Random

import pytest
from costing import costs_under
from running import answered, fronted
from tables import every_row
from trees import NAMES

from fledgling.messages.questions import Read
from fledgling.worker.files.display_name import shown
from fledgling.worker.files.generated import is_generated
from fledgling.worker.files.text import BLOCK_BYTES, HEAD, content_hash, count_lines, cut, decoded

TEXTS = [
    ("ASCII", b"a\n", "a\n"),
    ("nothing", b"", ""),
    ("UTF-8", "é€😀".encode(), "é€😀"),
    ("UTF-8 with a mark", b"\xef\xbb\xbfa", "a"),
    ("a second mark stays", b"\xef\xbb\xbf\xef\xbb\xbfa", "\ufeffa"),
    ("a surrogate in UTF-8", b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
    ("an overlong slash", b"/\xe0\x80\xaf/", "/\ufffd\ufffd\ufffd/"),
    ("cut in mid-character", b"a\xe2\x82", "a\ufffd"),
    ("UTF-16, little end first", "é\n".encode("utf-16-le").join([b"\xff\xfe", b""]), "é\n"),
    ("UTF-16, big end first", "é😀".encode("utf-16-be").join([b"\xfe\xff", b""]), "é😀"),
    ("UTF-32, little end first", "a😀".encode("utf-32-le").join([b"\xff\xfe\0\0", b""]), "a😀"),
    ("UTF-32, big end first", "a".encode("utf-32-be").join([b"\0\0\xfe\xff", b""]), "a"),
    ("UTF-16 without a mark", "ab".encode("utf-16-le"), None),
    ("UTF-16 with half a character", b"\xff\xfea\0b", None),
    ("UTF-16 with a lone surrogate", b"\xff\xfe\x00\xd8a\0", None),
    ("UTF-16 with a NUL", b"\xff\xfea\0\0\0", None),
    ("a NUL near the start", b"a" * (HEAD - 1) + b"\0", None),
    ("a NUL further on", b"a" * HEAD + b"\0b", "a" * HEAD + "\ufffdb"),
    ("a PDF without a NUL near the start", b"%PDF-1.5\r%\xe2\xe3\xcf\xd3\r\n", None),
    ("a program", b"\x7fELF\x02\x01\x01\0", None),
]


@pytest.mark.parametrize(("what", "data", "text"), TEXTS, ids=[row[0] for row in TEXTS])
def test_decoded(what, data, text):
    found = decoded(data)
    assert (None if found is None else found.utf8.decode()) == text


ENCODED = tomllib.loads((Path(__file__).parent / "encodings.toml").read_text("utf-8"))["encoded"]


@pytest.mark.parametrize("row", ENCODED, ids=[f"{number}-{row['codec']}" for number, row in enumerate(ENCODED)])
def test_a_text_that_is_not_utf8_is_read_in_its_encoding(row):
    assert decoded(row["text"].encode(row["codec"])) == (row["text"].encode(), row["encoding"])


def test_a_text_in_utf8_of_which_bytes_were_lost_keeps_the_others():
    found = decoded("// Größe und Maß".encode() + b"\xc3" + " in Österreich\n".encode())
    assert found == ("// Größe und Maß\ufffd in Österreich\n".encode(), "damaged UTF-8")


def test_a_declaration_names_no_codec_that_is_not_of_text():
    for name in ("rot13", "zlib", "punycode", "idna", "unicode_escape", "undefined", "utf-7", "base64"):
        text = f"# coding: {name}\n# é\n"
        assert decoded(text.encode("latin-1")) == (text.encode(), "windows-1252")


def test_no_bytes_make_text_that_cannot_be_stored():
    random = Random(7)
    for _ in range(3_000):
        text = decoded(random.choice([b"", b"\xff\xfe", b"\xef\xbb\xbf"]) + random.randbytes(random.randrange(40)))
        assert text is None or "\0" not in text.utf8.decode()


LINES = [
    ("", []),
    ("a", ["a"]),
    ("a\n", ["a"]),
    ("\n", [""]),
    ("a\n\n", ["a", ""]),
    ("a\nb", ["a", "b"]),
    ("a\r\nb\r\n", ["a", "b"]),
    ("a\r\r\n", ["a\r"]),
    ("a\rb", ["a", "b"]),
    ("a\r\rb\r", ["a", "", "b"]),
    ("a\rb\n", ["a\rb"]),
    ("\r", [""]),
    ("\r\n", [""]),
    ("a\nb\r", ["a", "b"]),
    ("a\u2028b\x0bc\x0cd\x85e\x1cf", ["a\u2028b\x0bc\x0cd\x85e\x1cf"]),
]


@every_row("text, lines", LINES, ids=[ascii(row[0]) for row in LINES])
def test_lines(text, lines):
    pieces = cut(text.encode())
    assert [line for _, some in pieces for line in some.decode().split("\n")] == lines
    assert count_lines(pieces) == len(lines)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_pieces_are_whole_lines_and_know_their_first(end):
    random = Random(8)
    for _ in range(50):
        lines = ["é" * random.randrange(random.choice([3, 90, 2 * BLOCK_BYTES])) for _ in range(random.randrange(300))]
        pieces = cut((end.join(lines) + end * bool(lines)).encode())
        found = {first + n: line for first, some in pieces for n, line in enumerate(some.decode().split("\n"))}
        assert found == dict(enumerate(lines, 1))
        assert count_lines(pieces) == len(lines)
        assert all(len(some) >= BLOCK_BYTES for _, some in pieces[:-1])
        assert all(some.rfind(b"\n") < BLOCK_BYTES for _, some in pieces)


def test_content_hash():
    assert content_hash(b"") == "cae66941d9efbd404e4d88758ea67670"  # b2sum --length 128 /dev/null


SHOWN = [
    (b"src/a-b_c (1).py", "src/a-b_c (1).py"),
    ("naïve/日本語/😀".encode(), "naïve/日本語/😀"),
    (b"a\\b", r"a\\b"),
    (b"a\nb\t\x1b[0m\x7f", r"a\x0ab\x09\x1b[0m\x7f"),
    (b"\xff\xc3", r"\xff\xc3"),
    ("\x85".encode(), r"\u0085"),
    (b"\x85", r"\x85"),
    ("a\u202eb\u200b\u2066\ufeff".encode(), r"a\u202eb\u200b\u2066\ufeff"),
    ("a\u2028b\u00a0c".encode(), r"a\u2028b\u00a0c"),
    ("\U000e0041\U0010ffff".encode(), r"\U000e0041\U0010ffff"),
    (rb"\x0a", r"\\x0a"),
    ("e\u0301".encode(), "e\u0301"),
]


@every_row("raw, name", SHOWN, ids=[row[1] for row in SHOWN])
def test_shown(raw, name):
    assert shown(raw) == name


def unshown(name):
    """The bytes again. Nothing needs them; but as they can be had, no two names are shown alike."""
    return os.fsencode(re.sub(r"\\(?:\\|x(..)|u(....)|U(.{8}))", _unescape, name))


def _unescape(escape):
    byte, *character = escape.groups()
    if byte:
        return os.fsdecode(bytes.fromhex(byte))
    return chr(int(character[0] or character[1], 16)) if any(character) else "\\"


def test_no_two_names_are_shown_alike():
    random = Random(11)
    pieces = [*NAMES, b"\\x0a", b"\n", b"\\u0085", "\x85".encode(), b"\x85", "\u202e".encode(), b"\xe2\x80", b"\xae"]
    raw = {b"".join(random.choices(pieces, k=random.randrange(1, 5))) for _ in range(5_000)}
    raw |= {bytes(pair) for pair in itertools.product(range(1, 256), repeat=2)}
    assert {unshown(shown(name)) for name in raw} == raw
    assert all(shown(name).isprintable() for name in raw)


GENERATED = [
    ("package-lock.json", "", True),
    ("web/app.min.js", "", True),
    ("api/v1/user.pb.go", "", True),
    ("user_pb2.py", "", True),
    ("web/node_modules/x/index.js", "", True),
    ("package.json", "", False),
    ("admin.js", "", False),
    ("minjs", "", False),
    ("node_modules.py", "", False),
    ("dist/app.js", "", False),
    ("a.go", "// Code generated by protoc-gen-go. DO NOT EDIT.\n", True),
    ("a.ts", "/**\n * @generated SignedSource<<1>>\n */", True),
    ("a.py", "#!/usr/bin/python\n# This file is automatically generated by make.\n", True),
    ("a.html", "<!-- DO NOT EDIT -->", True),
    ("a.py", "x = 'DO NOT EDIT'\n", False),
    ("a.py", "def generated(): ...  # about code generated elsewhere\n", False),
    ("a.py", "\n" * 2_000 + "# DO NOT EDIT\n", False),
    ("ui/dist/assets/index-BMShE0dZ.js", f"import{{a}}from'./b.js';{'const n=1;' * 200}\n" * 3, True),
    ("theme.css", f"a{{color:red}}{'b{margin:0}' * 200}", True),
    ("ui/app.js", "const name = 'a line as one writes it, of fewer than a hundred and ten bytes';\n" * 50, False),
    ("ui/index.js", f"module.exports = require('./{'long' * 40}')\n", False),  # a line alone
    ("rows.py", f"ROWS = [{'1, ' * 2_000}]\n", False),  # nothing bundles Python
]


@pytest.mark.parametrize(("path", "text", "generated"), GENERATED)
def test_generated(path, text, generated):
    assert is_generated(path, text.encode()) is generated


@pytest.mark.anyio
async def test_a_confined_indexer_reads_every_encoding(tmp_path):
    """What decodes is loaded before that: a codec is a file of Python's."""
    for number, row in enumerate(ENCODED):
        (tmp_path / f"{number:02}.txt").write_bytes(row["text"].encode(row["codec"]))
    (tmp_path / "unknown.txt").write_bytes(b"# coding: cp037\n# caf\xe9\n")
    async with fronted(tmp_path) as (front, _):
        for number, row in enumerate(ENCODED):
            found = await answered(front, Read(f"{number:02}.txt"))
            assert found.lines == row["text"].removesuffix("\n").split("\n"), row
        assert (await answered(front, Read("unknown.txt"))).lines[1] == "# café"


WITHOUT_END = {  # of lines that are not UTF-8, or near one that is not
    "a line of ASCII behind": b"\xff\n" + b"a" * 2**20,
    "a line of ASCII before": b"a" * 2**20 + b"\n\xff",
    "one line": b"a" * 2**20 + b"\xff",
    "nothing else": b"\xff" * 2**20,
    "declarations": b"<meta" * 2**18 + b"\xff",
}


@every_row("name", WITHOUT_END)
def test_an_encoding_is_guessed_in_time(name: str) -> None:
    costs_under(0.1, lambda: decoded(WITHOUT_END[name]))
