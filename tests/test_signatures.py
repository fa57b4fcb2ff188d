"""Signatures and what patterns need: a block or a line that matches is never left out."""

import os
from collections.abc import Sequence
from itertools import chain
from random import Random

import pytest
import re2

from fledgling.security import memory_file
from fledgling.worker.matching.prefilter import of_literal, of_templates, read
from fledgling.worker.store import ngram_writer as signing
from fledgling.worker.store.ngrams import SEGMENT, Needed, Signatures, folded
from fledgling.worker.store.text import Block

QUIET = re2.Options()
QUIET.log_errors = False

NEEDED: dict[str, list[list[str]] | None] = {
    "timeout": [["timeout"]],
    "TimeOut": [["timeout"]],
    "fo": None,
    "": None,
    r"def \w+_timeout\(": [["def ", "_timeout("]],
    "(get|set)_id.*None": [["get_id", "none"], ["set_id", "none"]],
    "(?:foo|fo)bar": [["fobar"], ["foobar"]],
    "foo|ba": None,
    "(?P<name>foo)?bar": [["bar"]],
    "fo+bar": [["bar"]],
    "foo{2,}bar": [["foo", "bar"]],
    "foo{0,2}bar": [["bar"]],
    "foo{,2}bar": [["foo{,2}bar"]],
    "[Tt]imeout": [["timeout"]],
    "[a-z]imeout": [["imeout"]],
    "[[:alpha:]]imeout": [["imeout"]],
    r"[^\]x]imeout": [["imeout"]],
    r"^\bfoo\b$": [["foo"]],
    r"foo\.\*": [["foo.*"]],
    "(?i)foo": [["foo"]],
    r"\pLoom|\p{Greek}bar": [["bar"], ["oom"]],
    "caf\u00e9 noir": [["caf", " noir"]],
    "\u65e5\u672c": [["\u65e5\u672c"]],
    "\u212aelvin": [["elvin"]],
    "(" * 100 + "foo" + ")" * 100: None,
    "[]foo]": None,
    r"\Qfoo\E": None,
    r"\Afoo": None,
    r"\x66oo": None,
    "(?s)foo": None,
    "foo(?i)*": None,
    "(?i:foo)": None,
    "*foo": None,
    "(foo": None,
    "foo)": None,
}


@pytest.mark.parametrize(("pattern", "needed"), NEEDED.items(), ids=[pattern[:20] for pattern in NEEDED])
def test_a_pattern_needs(pattern: str, needed: list[list[str]] | None) -> None:
    found = of_templates(read(pattern, case_sensitive=False))
    assert (found and [[text.decode() for text in group] for group in found]) == needed


def test_case_counts_beyond_ascii() -> None:
    assert of_literal("caf\u00e9 noir", case_sensitive=True) == [["caf\u00e9 noir".encode()]]
    assert of_literal("STRASSE", case_sensitive=True) == [[b"strasse"]]


def test_only_two_letters_beyond_ascii_fold_to_ascii() -> None:
    """What `folded` knows is what RE2 does."""
    characters = "".join(map(chr, chain(range(0x80, 0xD800), range(0xE000, 0x110000))))
    assert re2.findall("(?i)[a-z]", characters) == ["\u017f", "\u212a"]
    assert folded("\u212a\u017fK".encode()) == b"ksk"


WORDS = (
    "time",
    "out",
    "Kelvin",
    "\u212aelvin",
    "mess",
    "me\u017fs",
    "caf\u00e9",
    "CAF\u00c9",
    "\u65e5\u672c",
    "x_1",
    "a.b",
    "{,2}",
    "]",
    "-",
)
PIECES = (
    *WORDS,
    *("tim[ea]", "[A-Z]elvin", "[^x]", "[]a]", "[[:upper:]]", ".", r"\w", r"\d", r"\pL", r"\.", r"\(", r"\t", "#", " "),
    *("^", "$", r"\b", r"\Btime", r"\A", r"\z", r"\Qa.b\E", r"\x74ime", r"\101"),
    *("(?i)", "(?s)", "(?m)", "(?U)", "(?-i)", "(?i:kelvin)"),
)
REPEATS = ("*", "+", "?", "{2}", "{0,1}", "{1,}?", "{,3}", "??", "{0}")


def pattern(random: Random, depth: int = 0) -> str:
    found = ""
    for _ in range(random.randint(1, 3)):
        roll = random.random()
        if roll < 0.2 and depth < 3:
            found += random.choice(("(", "(?:", "(?P<n>")) + pattern(random, depth + 1) + ")"
        elif roll < 0.3:
            found += "|" + random.choice(PIECES)
        else:
            found += random.choice(WORDS if roll < 0.7 else PIECES)
        if random.random() < 0.2:
            found += random.choice(REPEATS)
    return found


def line(random: Random) -> str:
    words = [random.choice((str, str.lower, str.upper))(random.choice(WORDS)) for _ in range(random.randint(0, 6))]
    return random.choice(("", " ")).join(words)


def holds(needed: Needed, text: str) -> bool:
    return any(all(piece in folded(text.encode()) for piece in group) for group in needed)


@pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.long)])
def test_no_match_is_without_what_its_pattern_needs(count: int) -> None:
    """On thousands of patterns; and a block matches where one of its lines does, if the pattern could be read."""
    random = Random(5)
    lines = [line(random) for _ in range(200)]
    matched = 0
    for _ in range(count):
        text, case_sensitive = pattern(random), random.random() < 0.4
        try:
            compiled = re2.compile(text if case_sensitive else f"(?i){text}", QUIET)
            in_block = re2.compile(f"(?m){text}" if case_sensitive else f"(?m)(?i){text}", QUIET)
        except re2.error:
            continue
        templates = read(text, case_sensitive=case_sensitive)
        needed = of_templates(templates)
        for found in filter(compiled.search, random.sample(lines, 40)):
            matched += needed is not None
            assert needed is None or holds(needed, found), (text, found, needed)
            assert templates is None or in_block.search(f"a\n{found}\nb"), (text, found)
    assert matched > count


def signed(texts: Sequence[str], step: int) -> Signatures:
    fd = memory_file.create()
    signer = signing.Signer(fd, signing.signed_here)
    for at in range(0, len(texts), step):
        signer.add([Block("a.py", 1, text.encode()) for text in texts[at : at + step]])
    signer.finish()
    memory_file.seal(fd)
    signatures = Signatures(memory_file.mapped(fd))
    os.close(fd)
    return signatures


@pytest.mark.parametrize("step", [1, 3, 8, 1000])
def test_no_block_that_holds_a_text_is_left_out(step: int) -> None:
    random = Random(step)
    texts = ["\n".join(line(random) for _ in range(random.randint(0, 30))) for _ in range(61)]
    texts[3:6] = ["", "a", "ab"]
    signatures = signed(texts, step)
    assert signatures.blocks == 64
    for text in [*WORDS, "timeout", "kelvin", "out", *texts]:
        needed = of_literal(text, case_sensitive=True)
        candidates = set(signatures.holding(needed)) if needed else set(range(64))
        holding = {at for at, block in enumerate(texts) if folded(text.encode()) in folded(block.encode())}
        assert candidates >= holding
        assert needed is None or len(text) < 200 or candidates == holding


@pytest.mark.parametrize("place", range(2**20 - 7, 2**20 + 2))
def test_nothing_is_lost_between_the_parts_of_a_long_line(place: int) -> None:
    signatures = signed(["x", "x" * place + "needle" + "x" * 2**20], 1)
    assert list(signatures.holding([[b"needle"]])) == [1]
    assert list(signatures.holding([[b"needlexx"]])) == [1]
    assert list(signatures.holding([[b"lexyz"]])) == []


@pytest.mark.parametrize("count", [8 * SEGMENT - 1, 8 * SEGMENT, 8 * SEGMENT + 1, 16 * SEGMENT + 9])
def test_segments_say_the_same_as_one(count: int) -> None:
    marked = {0, 8 * SEGMENT - 2, 8 * SEGMENT - 1, 8 * SEGMENT, 8 * SEGMENT + 7, 16 * SEGMENT + 8, count - 1}
    signatures = signed(["needle" if at in marked else "x" for at in range(count)], 1000)
    assert signatures.blocks == -(-count // 8) * 8
    assert list(signatures.holding([[b"needle"]])) == sorted(at for at in marked if at < count)


def test_no_blocks() -> None:
    signatures = signed([], 1)
    assert signatures.blocks == 0
    assert list(signatures.holding([[b"foo"]])) == []
