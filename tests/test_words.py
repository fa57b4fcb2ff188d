"""How names, comments and questions are cut into words, and what a file may say of itself."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tables import every_row

from fledgling.security import memory_file
from fledgling.worker import words
from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.extractor import wording
from fledgling.worker.extractor.messages import Batch, ExtractedBatch, Source, TextFacts
from fledgling.worker.extractor.wording import MAX_WORDS, MOST_TIMES, prose, worded
from fledgling.worker.indexer.findings import Findings
from fledgling.worker.languages.table import load_languages
from fledgling.worker.ranking import synonyms
from fledgling.worker.ranking.asked import FAINT, asked
from fledgling.worker.ranking.asked import MAX_WORDS as MAX_ASKED
from fledgling.worker.ranking.corpus import MOST_NAMES, Corpus
from fledgling.worker.rows import Engine, Extraction, FileWords
from fledgling.worker.store.sections import NUMBER
from fledgling.worker.store.symbol_writer import Outlined, outlined
from fledgling.worker.store.words import Words, WordWriter
from fledgling.worker.words import Field, key

NAMES = {
    b"request": [b"request"],
    b"RequestContext": [b"request", b"context", b"=requestcontext"],
    b"request_context": [b"request", b"context", b"=requestcontext"],
    b"HTTPServer2": [b"http", b"serv", b"=httpserver2"],  # a digit alone is no word
    b"MAX_SPEED": [b"max", b"spe", b"=maxspeed"],
    b"_": [],
    b"x": [],
    "straße".encode(): ["straß".encode()],
    "überPrüfen".encode(): ["üb".encode(), "prüfen".encode(), "=überprüfen".encode()],
    b"a" * 65: [],  # data, and no name
}
STEMS = {
    b"retries": b"retry",
    b"retried": b"retry",
    b"retry": b"retry",
    b"parsing": b"pars",
    b"formatting": b"format",
    b"is": b"is",
    b"handlers": b"handl",
    b"authentication": b"authentic",
}
ASKED = {
    "how is the request context pushed": ([b"request", b"context", b"push"], [], []),
    "RequestContext": ([b"request", b"context"], [b"=requestcontext"], [b"=requestcontext"]),
    "what does get_url do": ([b"get", b"url"], [b"=geturl"], [b"=geturl"]),
    "the": ([b"the"], [], [b"=the"]),  # what is left is better than nothing
    "how do workers handle themes": ([b"work", b"them"], [], []),  # though "work" and "them" say nothing
    "class of a file handler": ([b"clas", b"fil", b"handl"], [], []),
    "2FA": ([b"fa"], [], [b"=fa"]),  # as a name is indexed: without the digits that it begins with
    "3": ([], [], []),
    "": ([], [], []),
    "!?": ([], [], []),
}


@every_row("name", NAMES, ids=repr)
def test_names_are_cut(name: bytes) -> None:
    assert [*words.of_name(name)] == NAMES[name]


# A text, a place in it, and the word that begins there.
BEGINNINGS = {
    (b"  tabs", 2): b"tabs",
    (b"a_Tab", 2): b"tab",
    (b"aTab", 1): b"tab",
    (b"  TAB", 2): b"tab",
    (b"RETRY_LIMIT", 0): b"retry",
    (b"HTTPServer", 0): b"http",
    (b"HTTPServer", 4): b"server",
    (b"HTTPServer", 3): b"",
    (b"stab", 1): b"",
    (b"STAB", 1): b"",
    (b"utf16le", 3): b"16",
    (b"utf16le", 4): b"",
    (b"utf16le", 5): b"le",
    ("üben".encode(), 2): b"",
    ("füÜben".encode(), 5): b"",
}


@every_row("text, at", BEGINNINGS)
def test_a_word_begins_where_a_name_is_cut(text: bytes, at: int) -> None:
    assert words.part_at(text, at) == BEGINNINGS[text, at]
    assert [found for place in range(len(text)) if (found := words.part_at(text, place))] == words.parts(text)


@every_row("word", STEMS)
def test_words_lose_their_endings(word: bytes) -> None:
    assert words.stem(word) == STEMS[word]


@every_row("question", ASKED)
def test_questions_are_cut(question: str) -> None:
    found = asked(question)
    assert ([*found.plain], [*found.joined], [*found.exact]) == ASKED[question]


# A question, and those of its words that count less than others.
FAINT_WORDS = {
    "close a file": [b"fil"],
    "worker that reads notes": [b"work", b"not"],  # whose stems are those of "work" and "not"
    "files of a module": [],  # where no word says more
    "request context": [],
}


@every_row("question", FAINT_WORDS)
def test_words_of_many_questions_count_less(question: str) -> None:
    found = asked(question)
    assert [word for word in found.plain if found.weight(word) == FAINT] == FAINT_WORDS[question]
    assert all(found.weight(word) == 1 for word in found.plain if word not in FAINT_WORDS[question])


def test_a_word_in_one_field_is_another_in_the_next() -> None:
    assert len({key(field, b"retry") for field in Field}) == len(Field)
    letters = b"abcdefghijklmnopqrstuvwxyz"
    for rest in (b"o", b"et", b"all", b"etry"):  # with another first letter, too: "call" is no "fall" elsewhere
        assert len({key(field, bytes([letter]) + rest) for field in Field for letter in letters}) == len(Field) * len(
            letters
        )


def test_two_words_beside_each_other_make_a_name() -> None:
    assert b"=requestcontext" in asked("request contexts").pairs
    assert asked("uploads", also=["transfer", "uploading"]).also == (b"transf",)


@pytest.mark.parametrize(
    ("query", "pairs"),
    {
        "retry 3 times": [b"=retrytimes", b"=retrytim"],
        "2fa login": [b"=falogin"],
        "http2 server": [b"=http2server", b"=http2serv"],
        "3": [],
    }.items(),
)
def test_no_number_makes_a_name(query: str, pairs: list[bytes]) -> None:
    assert [*asked(query).pairs] == pairs


# A question, and whether it asks for tests.
OF_TESTS = {
    "tests of the password": True,
    "unit tests that log in a user": True,
    "tests that log in a user": True,
    "skip tests if there is no network": True,
    "test whether a connection works": False,
    "function that tests whether a path exists": False,
    "test if a path exists": False,
}


@pytest.mark.parametrize("query", OF_TESTS)
def test_a_verb_asks_for_no_tests(query: str) -> None:
    assert asked(query).of_tests == OF_TESTS[query]


def test_a_long_question_counts_no_more_than_so_many_words() -> None:
    assert len(asked(" ".join(f"word{n}x" for n in range(9999))).plain) == MAX_ASKED


# ---- what a file says ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return Extractor(load_languages())


def source(path: str, text: bytes, found: Extraction) -> Source:
    """What a file is worded from, as a build asks for it behind definitions."""
    symbols = outlined([found.symbols])
    return Source(path, "", (text,), prose(path, text, found), len(found.symbols), symbols.parts[0])


@pytest.fixture(scope="module")
def said(extractor: Extractor) -> Callable[[str, str, str], FileWords]:
    """The words of a file, by its language, its path and its text."""

    def of(language: str, path: str, text: str) -> FileWords:
        data = text.encode()
        return worded(source(path, data, extractor.extract(language, data)), data)

    return of


PYTHON = '''"""Sends things again.

Licensed to nobody.
"""
# about backoff
import requests.adapters

def retry_upload(times):
    """Wait, then try."""

class _Queue: ...
'''
FIELDS = {
    Field.BASE: "sender",
    Field.DIRECTORY: "net",
    Field.DEFINITION: "retry upload queue =retryupload =queue",
    Field.PUBLIC: "retry upload queue",
    Field.COMMENT: "about backoff wait then try",
    Field.HEADER: "send thing again about backoff",
}


def test_every_field_of_a_file_has_its_words(said: Callable[[str, str, str], FileWords]) -> None:
    found = said("python", "net/sender.py", PYTHON)
    keys = {*memoryview(found.keys).cast(NUMBER)}
    for field, text in FIELDS.items():
        for word in text.encode().split():
            assert key(field, word if words.is_whole(word) else words.stem(word)) in keys, (field, word)
    assert key(Field.HEADER, words.stem(b"licensed")) not in keys
    assert not any(key(field, b"adapt") in keys for field in Field)  # what a file imports is said of others
    assert b"retry" in found.names.split(b"\n")


NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["# Moons\n", "of Saturn \ud800"]},
        {"cell_type": "code", "source": ["x = 1  # tides\n"], "outputs": []},
        {"cell_type": "markdown", "source": ["Orbits"]},
    ]
}


def test_a_notebook_says_what_its_markdown_says(said: Callable[[str, str, str], FileWords]) -> None:
    keys = {*memoryview(said("jupyter", "a.ipynb", json.dumps(NOTEBOOK)).keys).cast(NUMBER)}
    for word in (b"moons", b"saturn", b"orbits", b"tides"):
        assert key(Field.COMMENT, words.stem(word)) in keys, word
        assert (key(Field.HEADER, words.stem(word)) in keys) == (word in (b"moons", b"saturn")), word


def test_a_file_whose_name_says_nothing_is_called_by_its_directory(
    said: Callable[[str, str, str], FileWords],
) -> None:
    for path in ("src/retry/__init__.py", "src/retry/mod.rs", "src/retry/index.ts", "src/retry.py"):
        keys = {*memoryview(said("python", path, "").keys).cast(NUMBER)}
        assert key(Field.BASE, b"retry") in keys, path


# Texts that say one thing as often as they can: each is bounded, and none takes long.
STUFFED = {
    "one word": "# " + "retry " * 200_000,
    "many words": "# " + " ".join(f"w{n:x}q" for n in range(200_000)),
    "many comments": "# retry\n" * 100_000,
    "many names": "".join(f"def f{n:x}g(): pass\n" for n in range(20_000)),
    "one long name": "def " + "a_" * 300_000 + "(): pass",
    "capitals": "# " + "aB" * 400_000,
}


@pytest.mark.parametrize("name", STUFFED)
def test_no_file_says_more_than_it_may(extractor: Extractor, name: str) -> None:
    text = STUFFED[name]
    found = extractor.extract("python", text.encode())
    begun = time.process_time()
    asked = source("a.py", text.encode(), found)
    assert len(asked.prose) <= 4 * wording.MAX_PROSE + 100  # places of comments: none is shorter than a sign and an end
    counted = worded(asked, text.encode())
    assert time.process_time() - begun < 2.0
    assert len(counted.counts) <= MAX_WORDS * len(Field)
    assert max(counted.counts, default=0) <= MOST_TIMES
    assert sum(memoryview(counted.lengths).cast(NUMBER)) <= 2 * wording.MAX_PROSE + 8 * wording.MAX_DEFINITIONS


def test_words_are_taken_over_with_what_a_text_holds_under_the_same_path(extractor: Extractor) -> None:
    """Those of a file that was given up are not: it may say more the next time."""
    texts = {"a.py": b"def retry(): ...", "b.py": b"def resend(): ..."}
    first, second = memory_file.create(), memory_file.create()
    asked = [source(path, text, extractor.extract("python", text)) for path, text in texts.items()]
    said = {each.path: worded(each, texts[each.path]) for each in asked}
    engines: list[Engine | None] = ["tree-sitter", None]
    facts = [TextFacts(engine, complete=True, seconds=0.0) for engine in engines]
    found = ExtractedBatch(facts, Outlined([b"", b""]))
    for known, fd in ((None, first), (first, second)):
        findings = Findings(known, fd, Batch(()))
        known_before = {each.path: findings.known(each) is not None for each in asked}
        findings.keep(Batch(tuple(asked)), found, room=2**20)
        words_before = {path: findings.words(path) for path in texts}
        for path in texts:
            findings.keep_words(path, said[path], room=2**20)
        findings.seal()
    assert known_before == {"a.py": True, "b.py": False}
    assert words_before == {"a.py": said["a.py"], "b.py": None}
    findings = Findings(second, memory_file.create(), Batch(()))
    renamed = msgspec.structs.replace(asked[0], path="c.py")
    assert findings.known(renamed)
    findings.keep(Batch((asked[0], renamed)), ExtractedBatch(facts[:1] * 2, Outlined([b"", b""])), room=2**20)
    assert (findings.words("a.py"), findings.words("c.py")) == (said["a.py"], None)


# ---- the file of words -----------------------------------------------------------------------------------------------


def test_what_is_written_is_found(said: Callable[[str, str, str], FileWords]) -> None:
    fd = memory_file.create()
    writer = WordWriter(fd)
    texts = {0: "def retry(): ...", 2: "def retry_all(): ...\ndef retry_some(): ...", 3: "x = 1"}
    for number, text in texts.items():
        writer.add(number, said("python", f"a{number}.py", text))
    writer.finish(files=5)
    read = Words(memory_file.mapped(fd))
    files, counts = read.holding(key(Field.DEFINITION, b"retry"))
    assert (files.tolist(), counts.tolist()) == ([0, 2], [1, 2])
    assert read.holding(key(Field.DEFINITION, b"nothing")).files.tolist() == []
    assert read.lengths[Field.DEFINITION].tolist() == [1, 0, 4, 0, 0]
    assert [*read.beginning(b"retr")] == [b"retry"]


def test_a_word_of_many_definitions_counts_as_in_a_few(said: Callable[[str, str, str], FileWords]) -> None:
    fd = memory_file.create()
    writer = WordWriter(fd)
    for number, alike in enumerate((MOST_NAMES - 1, MOST_NAMES, 100, 0, 0)):
        names = [f"retry_{place}" if place < alike else f"other_{place}" for place in range(100)]
        writer.add(number, said("python", f"a{number}.py", "\n".join(f"def {name}(): ..." for name in names)))
    writer.finish(files=5)
    nothing: Any = None  # of the text
    corpus = Corpus(Words(memory_file.mapped(fd)), nothing, nothing, nothing, set())
    few, most, many = corpus.scored(Field.PUBLIC, b"retry").scores.tolist()
    assert few < most == many


def test_an_index_without_words_has_none() -> None:
    fd = memory_file.create()
    WordWriter(fd).finish(files=3)
    read = Words(memory_file.mapped(fd))
    assert read.holding(0).files.tolist() == []
    assert read.lengths.shape == (len(Field), 3)
    assert [*read.beginning(b"retry")] == []


def test_the_list_of_synonyms_holds_what_counts() -> None:
    """Each word once and in order, with others that are cut to something else, and no more than count."""
    lines = [line.split() for line in Path(synonyms.__file__).with_suffix(".txt").read_text("utf-8").splitlines()]
    asked = [line[0] for line in lines]
    assert asked == sorted(set(asked))
    for word, *others in lines:
        found = synonyms.synonyms(words.stem(word.encode()))
        assert found, word
        assert {words.stem(other.encode()) for other in others} <= {*found, words.stem(word.encode())}, word


SYNONYMS = {
    b"delete": b"remove",
    b"database": b"db",
    b"authenticate": b"login",
    b"authentication": b"login",
    b"truncate": b"shorten",
    b"serialise": b"serialize",  # as it is spelled in Britain, and the reverse
    b"serialisation": b"serialize",
    b"initialize": b"initialise",
    b"colour": b"color",
    b"color": b"colour",
    b"behaviours": b"behavior",
    b"behavior": b"behaviour",
    b"cfg": b"config",
    b"ctx": b"context",
    b"conn": b"connection",
    b"req": b"request",
    b"msg": b"message",
}


@pytest.mark.parametrize("word", SYNONYMS)
def test_a_synonym_is_known_by_stems(word: bytes) -> None:
    assert words.stem(SYNONYMS[word]) in synonyms.synonyms(words.stem(word))
    assert not synonyms.synonyms(b"delete")  # which is no stem
