"""Extraction: marked sources in `languages/`, each beside the table of what is to be found in it; hostile texts."""

import inspect
import json
import random
import re
import time
import tomllib
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from costing import costs_under
from tables import every_row

from fledgling.messages.control import CONFINED
from fledgling.messages.questions import DEFINITION_KINDS
from fledgling.security import limits
from fledgling.worker.extracting.docstrings import cleaned, unmarked
from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.extracting.source_text import MAX_GAP
from fledgling.worker.extractor.messages import FILE_SECONDS, Batch, Source, TextFacts
from fledgling.worker.extractor.pool import Extractors
from fledgling.worker.files.describe import HEAD_BYTES
from fledgling.worker.languages.table import load_languages
from fledgling.worker.rows import Extraction
from fledgling.worker.store.ngram_writer import signed

SOURCES = Path(__file__).parent / "languages"
LANGUAGES = load_languages()
SECONDS = 1.0  # of CPU for what is linear in its text: five times what it takes on a quiet machine
LONG_SECONDS = 10.0
SHORT_SIZE = 1 << 10  # what is quadratic there takes more than FILE_SECONDS, what is linear a sixth of it
SIZE = 1 << 13
HEADS = sorted(name for name, row in LANGUAGES.rows.items() if row.rules and row.rules[0].endswith("heads.toml"))
SHARED = tomllib.loads(Path(__file__).with_name("shared_extensions.toml").read_text())["text"]
LISTS = tomllib.loads(Path(__file__).with_name("lists.toml").read_text())
LISTED = 1200  # items
LONG_SIZE = 1 << 20


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return Extractor(LANGUAGES)


def table_of(source: Path) -> Path:
    return source.with_name(f"{source.name}.toml")


MARKED = [path for path in sorted(SOURCES.iterdir()) if path.suffix != ".toml" or not path.with_suffix("").exists()]


@pytest.mark.parametrize("path", MARKED, ids=lambda path: path.name)
def test_finds_what_the_table_says_and_nothing_else(extractor: Extractor, path: Path, request: Any) -> None:
    source = path.read_bytes()
    language = LANGUAGES.detect(path.name, source)
    assert language
    found = extractor.extract(language, source)
    assert found.complete
    table = table_of(path)
    if request.config.getoption("--accept"):
        table.write_text(written(path.name, shown(found)))
    assert table.exists(), f"pytest tests/test_extract.py -k {path.name} --accept writes it"
    assert shown(found) == tomllib.loads(table.read_text()), "where this is right, --accept writes it into the table"


def written(name: str, found: dict[str, list[object]]) -> str:
    """What is found, as a table: JSON's numbers, texts and lists are TOML's."""
    lines = [
        f"# What is to be found in {name}. symbols: first and last line, kind, qualified name, visibility, signature, "
        "docstring;",
        "# imports: line, module, names, alias.",
        f"comment_lines = {json.dumps(found['comment_lines'])}",
    ]
    for key in ("symbols", "imports"):
        rows = [f"  {json.dumps(row, ensure_ascii=False)},\n" for row in found[key]]
        lines.append(f"{key} = [\n{''.join(rows)}]")
    return "\n".join(lines) + "\n"


def shown(found: Extraction) -> dict[str, list[object]]:
    return {
        "comment_lines": sorted(found.comment_lines),
        "symbols": [
            [s.line_start, s.line_end, s.kind, s.qualified_name, s.visibility, s.signature or "", s.docstring or ""]
            for s in found.symbols
            if s.kind != "import"
        ],
        "imports": [[i.line_number, i.module, list(i.imported_names), i.alias or ""] for i in found.imports],
    }


@pytest.mark.parametrize("path", sorted(SOURCES.glob("*.toml")), ids=lambda path: path.stem)
def test_rows_hold_together(extractor: Extractor, path: Path) -> None:
    """Names end qualified names, parents stand in them, lines are in order, kinds are those of the wire."""
    source = path.with_suffix("").read_bytes()
    found = extractor.extract(LANGUAGES.detect(path.stem, source) or "", source)
    assert found.symbols == sorted(found.symbols, key=lambda row: (row.line_start, -row.line_end, row.name))
    for row in found.symbols:
        assert row.kind in (*DEFINITION_KINDS, "import", "export")
        assert row.qualified_name.endswith(row.name)
        assert (row.parent_name or "") in row.qualified_name
        assert 1 <= row.line_start <= row.line_end <= source.count(b"\n") + 1


def test_an_import_is_also_a_symbol_by_the_name_it_binds(extractor: Extractor) -> None:
    found = extractor.extract("python", b"import a.b, c as d\nfrom m import (\n  x,\n  y as z)\nfrom n import *\n")
    bound = [(row.name, row.line_start, row.line_end) for row in found.symbols]
    assert bound == [("a.b", 1, 1), ("d", 1, 1), ("x", 2, 4), ("z", 2, 4), ("n", 5, 5)]


REPAIRED = b"""\
LIB_API(int) first(int a) LIB_PRINTF(1, 2) { return a; }
int second(void) { return 1; }
#if A
int third(int a) {
#else
int fourth(int a, int b) {
#endif
  return a;
}
"""


@pytest.mark.parametrize(
    ("late_at", "names", "complete"),
    [(99, ["first", "second", "third", "fourth"], True), (0, ["first", "second", "fourth"], False)],
    ids=["in time", "late"],
)
def test_what_is_late_is_taken_as_it_is(
    extractor: Extractor, late_at: int, names: list[str], *, complete: bool
) -> None:
    """What repairs alone would find is missing then, which is said; the rest is there, and the file is not lost."""
    looks = count()
    found = extractor.extract("c", REPAIRED, lambda: next(looks) >= late_at)
    assert ([row.name for row in found.symbols], found.complete) == (names, complete)


# ---- which language --------------------------------------------------------------------------------------------------

NAMES = [
    ("app.py", b"", "python"),
    ("APP.PY", b"", "python"),
    ("stub.pyi", b"", "python"),
    ("view.tsx", b"", "typescript"),
    ("types.d.ts", b"", "typescript"),
    ("de.ts", b'<?xml version="1.0"?>\n', "xml"),
    ("de.ts", b"\n<!DOCTYPE TS>", "xml"),
    ("cast.ts", b"<any>value;", "typescript"),
    ("Makefile", b"", "makefile"),
    ("Dockerfile.dev", b"", "dockerfile"),
    ("Makefile.sublime-syntax.patch", b"", "diff"),
    ("CMakeLists.txt", b"", "cmake"),
    ("README", b"", "text"),
    ("Pipfile", b"", "toml"),
    ("Pipfile.lock", b"", "json"),
    ("Gemfile.lock", b"", "text"),
    ("run", b"#!/usr/bin/env python3\n", "python"),
    ("run", b"#!/usr/bin/env -S node --test\n", "javascript"),
    ("run", b"#! /usr/local/bin/python3.11 -I\n", "python"),
    ("run", b"#!/usr/bin/env -S FOO=1 bash\n", "bash"),
    ("run", b"#!/bin/sh", "bash"),
    ("run.sql", b"#!/bin/sh", "sql"),
    ("run", b"#!", None),
    ("run", b"#!\xff\xfe\n", None),
    ("run", b"", None),
    ("photo.jpeg", b"", None),
    (".gitignore", b"", None),
]


@every_row("filename, head, language", NAMES)
def test_language_by_name_then_by_first_line(filename: str, head: bytes, language: str | None) -> None:
    assert LANGUAGES.detect(filename, head) == language


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_a_shared_extension_is_that_of_the_language_that_the_text_shows(extractor: Extractor, end: str) -> None:
    """Where it is none whose definitions are extracted, none are: what another grammar would find is invented."""
    for row in SHARED:
        text = row["text"].replace("\n", end).encode()
        language = LANGUAGES.detect(row["file"], text)
        assert (language or "") == row["language"], row
        if not language or not LANGUAGES.rows[language].finds_definitions:
            assert not extractor.extract(language or "", text).symbols, row


def test_every_shared_extension_has_texts_both_ways() -> None:
    tested = {(Path(row["file"]).suffix, row["language"]) for row in SHARED}
    for name, row in LANGUAGES.rows.items():
        shared = row.shared.keys() - {name}
        assert shared <= LANGUAGES.rows.keys()
        for other in {*shared, name} if shared else ():
            assert any((extension, other) in tested for extension in row.extensions), (name, other)


# fmt: off
HARD_HEADS = [  # each is repeated
    "%", " ", "\n", "a ", "\n:", "a.\n", "public ", "@istest\n", ";\n", "#\n", "[", "a(b). ", "in a b", ": a\n", "//",
    "X", "A:", "+A ", "Class a.b", "(*", "#include ", "\\ ", "(", "a()", "=", "\r", ".", "\n a a a a a a a a a a",
]
# fmt: on


def test_the_language_of_a_hostile_text_is_told_in_linear_time() -> None:
    names = [f"a{extension}" for row in LANGUAGES.rows.values() if row.shared for extension in row.extensions]
    heads = [(repeated * HEAD_BYTES)[:HEAD_BYTES].encode() for repeated in HARD_HEADS]
    heads += [b"a(" + b")" * HEAD_BYTES, b"@istest" + b" " * HEAD_BYTES, b"in a a" + b" " * HEAD_BYTES]
    costs_under(SECONDS, lambda: [LANGUAGES.detect(name, head) for name in names for head in heads])


def test_no_two_languages_claim_the_same_file() -> None:
    for column in ("extensions", "filenames", "interpreters"):
        claimed = [name for row in LANGUAGES.rows.values() for name in getattr(row, column)]
        assert len(claimed) == len(set(claimed))


# ---- comments --------------------------------------------------------------------------------------------------------

COMMENTS = [
    ("html", "<!-- yes\n yes --><p>it's</p>\n<!-- yes -->\n", [1, 3]),
    ("css", "/* yes */\na { content: '/* no */' }\n", [1]),
    ("yaml", "# yes\na: b # no\nc: it's\n  # yes\nd: |\n  # no\ne: [\n  # yes\n]\n", [1, 4, 8]),
    ("restructuredtext", ".. yes\n   yes\n\n.. note:: no\n.. _no:\n\n..\n   yes\n", [1, 2, 7, 8]),
    ("jsonc", '{\n// yes\n"a": "// no" // no\n}\n', [2]),
    ("toml", "# yes\na = '''\n# no\n'''\nb = \"# no\"\n", [1]),
    ("php", "<?php\n# yes\n// yes\n$a = <<<EOT\n# no\nEOT;\n", [2, 3]),
    ("makefile", "# yes\nall:\n\techo '# no' # no\n", [1]),
    ("ini", "; yes\n# yes\na = b ; no\n", [1, 2]),
    ("markdown", "# A heading\n<!-- text -->\n", []),
    ("json", '{"a": 1}\n', []),
    ("no such language", "# text\n", []),
]


@every_row("language, text, lines", COMMENTS, ids=[row[0] for row in COMMENTS])
def test_comment_lines_hold_nothing_but_comment(
    extractor: Extractor, language: str, text: str, lines: list[int]
) -> None:
    found = extractor.extract(language, text.encode())
    assert sorted(found.comment_lines) == lines


# ---- hostile texts ---------------------------------------------------------------------------------------------------


# fmt: off
UNITS = [
    "(", "[", "{", "a<", "a?", '"', "'", "`", "`${", "<a>", "a=>", "-", "!", ";", ",", "'a' ", "\\", "\0", "x=1; ",
    "#", "//", "/*", "--", "/** a */ ", "/*!5 ", "#|", "{-", "(*", "<!--", "=begin\n", "# a\n", " ", "\n", "[a ",
    "a.b=", "exports.a=", "function a(){", "{a(){", "class A{", "if(a){}else ", 'require("a");', '"""', 'f"{', "@a ",
    "lambda:", "not ", "$a$ ", "BEGIN ", "CASE ", "CREATE ", "CREATE OR REPLACE ", "COPY FROM stdin;\n", "<<A\n",
    "DELIMITER //\nDELIMITER ;\n", "=", "? ", "\nFOO(",
]
# fmt: on
WRAPPED = {  # what stands before and after the repeated text
    "an import of many names": ("import {", "a as b, ", '} from "m"'),
    "a Python import of many names": ("from m import (", "a as b, ", ")"),
    "a pattern of many names": ("const {", "a: b, ", '} = require("m")'),
    "holes": ("[", ",", "]"),
    "a deep assignment": ("", "a = ", "1"),
    "a docstring in many parts": ("def f():\n  (", '"a" ', ")\n"),
    "a long name": ("CREATE TABLE ", "a.", ""),
    "macros behind a property": ("@interface A\n@property ", "a B(", ";\n"),
    "much comment above": ("", "# a\n", "x = 1"),
}


def hostile(size: int) -> dict[str, bytes]:
    """Texts of about `size` bytes by name."""
    texts = {unit: ("", unit, "") for unit in UNITS} | WRAPPED
    repeated = {name: start + unit * (size // len(unit)) + end for name, (start, unit, end) in texts.items()}
    repeated["nested classes"] = "".join(" " * depth + "class A:\n" for depth in range(int((2 * size) ** 0.5)))
    repeated["here documents"] = "".join(f"<<E{number}\n" for number in range(size // 8))
    repeated["random"] = random.Random(0).randbytes(size).decode("utf-8", "ignore")
    return {name: text.encode() for name, text in repeated.items()} | {"empty": b""}


def seconds(extractor: Extractor, language: str, text: bytes) -> float:
    start = time.thread_time()
    extractor.extract(language, text)
    return time.thread_time() - start


@pytest.fixture(scope="module")
def extractors() -> Iterator[Extractors]:
    extractors = Extractors(LANGUAGES, CONFINED, 2_000_000_000)
    extractors.confined()
    yield extractors
    extractors.close()


def facts(extractors: Extractors, language: str, texts: dict[str, bytes]) -> dict[str, TextFacts]:
    """What the extractor processes say of texts."""
    sources = [Source(name, language, (text,)) for name, text in texts.items()]
    answers = extractors.extract(sources, Batch(()))
    return {
        source.path: one for batch, found in answers for source, one in zip(batch.sources, found.facts, strict=True)
    }


def test_an_extractor_signs_as_the_indexer_does(extractors: Extractors) -> None:
    pieces = {
        "nothing": [],
        "some": [b"import os", b"", "Größe \u212a \u017f".encode()],
        "a piece": [text for text in hostile(200).values() for _ in range(3)],
        "too long for a frame": [b"x" * 2**23, b"ab" * 2**22],
    }
    for name, blocks in pieces.items():
        assert extractors.sign(blocks)() == signed(blocks), name
    many = [pieces["nothing"], pieces["some"], pieces["a piece"]] * limits.MAX_EXTRACTORS  # than there are processes
    waiting = [extractors.sign(blocks) for blocks in many]
    assert [wait() for wait in waiting] == [*map(signed, many)]


GRAMMARS = sorted(name for name, row in LANGUAGES.rows.items() if row.grammars)
LINEAR = sorted(name for name, row in LANGUAGES.rows.items() if (row.rules or row.reader) and not row.grammars)
COMMENTS_ONLY = sorted(name for name, row in LANGUAGES.rows.items() if row.comments and not (row.rules or row.reader))


def sample(languages: list[str], language: str, texts: dict[str, bytes], every: int) -> dict[str, bytes]:
    """A part of the texts for each language, so that each text comes to a part of the languages; 1 is all."""
    return dict([*texts.items()][languages.index(language) % every :: every])


EVERY = pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.long)])


@EVERY
@pytest.mark.parametrize("language", GRAMMARS)
def test_hostile_text_is_read(extractors: Extractors, language: str, every: int) -> None:
    found = facts(extractors, language, sample(GRAMMARS, language, hostile(SHORT_SIZE), every))
    assert [name for name, one in found.items() if not one.engine] == []


@pytest.mark.long  # tests/test_poison.py has more of them, at several places of a batch, and less time for each
def test_a_text_without_end_is_lost_alone(extractors: Extractors) -> None:
    found = facts(extractors, "c", {"before": b"int a;", "lost": b"<!--" * SIZE, "after": b"int f(void) { return 0; }"})
    assert {name: one.engine for name, one in found.items()} == {
        "before": "tree-sitter",
        "lost": None,
        "after": "tree-sitter",
    }


@pytest.mark.long
@pytest.mark.parametrize("language", GRAMMARS)
@pytest.mark.parametrize("size", [SIZE, LONG_SIZE])
def test_hostile_text_is_read_or_lost_alone(extractors: Extractors, language: str, size: int) -> None:
    found = facts(extractors, language, hostile(size))
    assert all(one.engine or one.seconds <= FILE_SECONDS for one in found.values())
    assert found["empty"].engine


@pytest.mark.long
@pytest.mark.parametrize("language", LINEAR)
@pytest.mark.parametrize("name", hostile(0))
def test_ends_in_time_on_a_hostile_megabyte(extractor: Extractor, name: str, language: str) -> None:
    assert seconds(extractor, language, hostile(LONG_SIZE)[name]) < LONG_SECONDS


@EVERY
@pytest.mark.parametrize("language", LINEAR + COMMENTS_ONLY)
def test_ends_in_time_on_hostile_text(extractor: Extractor, language: str, every: int) -> None:
    texts = sample(LINEAR + COMMENTS_ONLY, language, hostile(SIZE), every)
    slow = {name: seconds(extractor, language, text) for name, text in texts.items()}
    assert {name: taken for name, taken in slow.items() if taken > SECONDS} == {}


@pytest.mark.long
@pytest.mark.parametrize("language", HEADS)
def test_the_words_of_a_language_without_end_are_read_in_time(extractor: Extractor, language: str) -> None:
    """What begins an expression of its heads, and goes on as nobody writes it: no other text makes one try again."""
    rules = LANGUAGES.rules[LANGUAGES.rows[language].rules[0]]
    words = set(re.findall(r"[@#]?[a-zA-Z_]{2,}", re.sub(r"\(\?P<\w+>", "", rules)))
    forms = ("{} ", "{}(", "{} a(", "{} a<", "{} {{", '{} "', "{} a = ", "{} [", "{}\n", "{} a: ", "{} a, ")
    texts = (form.format(word) for word in words for form in forms)
    slow = {text: taken for text in texts if (taken := seconds(extractor, language, text.encode() * 4000)) > SECONDS}
    assert slow == {}


@pytest.mark.parametrize(
    "language", [pytest.param(name, marks=[] if name in ("c", "python") else [pytest.mark.long]) for name in LISTS]
)
def test_a_long_list_is_read_in_time(extractor: Extractor, language: str) -> None:
    extractor.extract(language, b"\n")  # what it needs first takes time once
    for around, item, between in LISTS[language]:
        items = between.join(item.replace("<n>", str(number)) for number in range(LISTED))
        text = around.replace("<list>", items).encode() + b"\n"
        assert costs_under(SECONDS, lambda text=text: extractor.extract(language, text)).engine, around


CUT = 291  # bytes between two cuts: that of a sample, of some ten cuts a source; the long tests look closely


@pytest.mark.parametrize("step", [CUT, pytest.param(23, marks=pytest.mark.long)])
@pytest.mark.parametrize("table", sorted(SOURCES.glob("*.toml")), ids=lambda path: path.stem)
def test_truncated_sources_do_not_raise(extractor: Extractor, table: Path, step: int) -> None:
    source = table.with_suffix("").read_bytes()
    language = LANGUAGES.detect(table.stem, source) or ""
    for end in range(0, len(source), step):  # texts come to the extractor as whole lines
        extractor.extract(language, source[:end] + b"\n")
        extractor.extract(language, source[end:] + b"\n")


def test_a_missing_name_is_no_symbol(extractor: Extractor) -> None:
    """The parser makes up a name where there is none: `= 1` is an assignment to it."""
    assert [row.name for row in extractor.extract("python", b"=\n" * 10 + b"def (): pass\n").symbols] == []


def test_functions_nested_without_end_have_short_names(extractor: Extractor) -> None:
    found = extractor.extract("javascript", b"function abcdefgh(){" * 3000 + b"}" * 3000)
    assert len(found.symbols) == 3000
    assert max(len(row.qualified_name) for row in found.symbols) <= 1000


def test_a_comment_far_above_documents_nothing(extractor: Extractor) -> None:
    near, far = (b"// text\n" + b" " * gap + b"func f() {}\n" for gap in (MAX_GAP - 1, MAX_GAP))
    assert extractor.extract("go", near).symbols[0].docstring == "text"
    assert extractor.extract("go", far).symbols[0].docstring is None


@pytest.mark.parametrize(
    "text",
    ["", "one", " one\n", "one\n\n", "\n\n one\n  two\n", "one\n\n  two\n three", "\tone\n\ttwo", "one\n \ntwo\n "],
)
def test_a_text_is_cleaned_as_python_does(text: str) -> None:
    assert cleaned(text) == inspect.cleandoc(text)


@pytest.mark.parametrize(
    ("text", "mark", "plain"),
    [
        ("!> one\n  !! two", "!>|!!", "one\ntwo"),
        ("/// one\n/// !> two", "///", "one\n!> two"),
        ("/** one\n * !> two */", r"/\*\*", "one\n!> two"),
    ],
    ids=["of its language alone", "known in all", "known in all, of several lines"],
)
def test_a_comment_is_read_without_the_marks_of_its_language(text: str, mark: str, plain: str) -> None:
    assert unmarked(text, mark) == plain


@pytest.mark.parametrize("inside", [" ", "*", "*/ ", "*/\t", "]=", "] "])
def test_a_comment_is_read_in_time(inside: str) -> None:
    text = f"/** {inside * 100_000}a */"
    assert costs_under(SECONDS, lambda: unmarked(text)) == text[len("/** ") : -len(" */")]


def test_a_query_is_compiled_once_in_a_process() -> None:
    first, second = (Extractor(LANGUAGES)._syntaxes["lua"][0].query for _ in range(2))
    assert first is second
