"""What one pattern ignores and what it leaves alone: git says the same of every row; and what hostile ones cost."""

import os
from functools import partial
from random import Random

import pytest
from costing import costs_under
from pathspec import GitIgnoreSpec
from trees import STARS_BEHIND_A_NAME, crosses_behind_a_name, git, git_files, walked

from fledgling.gitignore import MAX_PATTERN, MAX_PATTERNS, MAX_WILDCARDS, compile_patterns
from fledgling.worker.files.ignore import MAX_FILE, MAX_IN_FORCE, Rules

# what must hold | the ignore file | a file it ignores | a file it leaves alone ("": nothing to show)
PATTERNS = [
    ("a name matches in any directory", b"log", b"a/b/log", b"a/logs"),
    ("a name matches a directory and so all below it", b"build", b"a/build/x/y", b"a/build2/x"),
    ("a final slash asks for a directory", b"build/", b"a/build/x", b"b/build"),
    ("a slash in the middle anchors", b"a/b", b"a/b/x", b"x/a/b"),
    ("a leading slash anchors", b"/log", b"log", b"a/log"),
    ("a star stays within a segment", b"a/*.c", b"a/x.c", b"a/b/x.c"),
    ("a star matches nothing at all, too", b"a*/x", b"a/x", b"b/x"),
    ("a star matches a leading dot", b"*.c", b".c", b"c"),
    ("a question mark is one byte", b"?.c", b"x.c", b"\xc3\xa9.c"),
    ("two question marks are one accented letter", b"??.c", b"\xc3\xa9.c", b"x.c"),
    ("leading stars with a slash match at any depth", b"**/x", b"x", b"xx"),
    ("trailing stars match all below, not the directory", b"a/**", b"a/x/y", b"ab/x"),
    ("stars between slashes match no directory, too", b"a/**/x", b"a/x", b"a/bx"),
    ("stars between slashes match many directories", b"a/**/x", b"a/b/c/x", b"b/a/x"),
    ("stars after a star are no segment of their own", b"*a**/x", b"ba/x", b"a/b/x"),
    ("stars after a literal start are: git compares that first", b"a**/x", b"a/b/x", b"ba/x"),
    ("and may match nothing", b"/a**/x", b"ax", b"bx"),
    ("stars before an escaped slash match something", b"a/**\\/x", b"a/b/c/x", b"a/x"),
    ("three stars are two", b"a/***/x", b"a/b/c/x", b"ax"),
    ("a set", b"[ab].c", b"a.c", b"c.c"),
    ("a range", b"[a-c].c", b"b.c", b"d.c"),
    ("a negated set", b"[!a].c", b"b.c", b"a.c"),
    ("a set negated with a caret", b"[^a].c", b"b.c", b"a.c"),
    ("a bracket first in a set is a member", b"[]a].c", b"].c", b"b.c"),
    ("a hyphen last in a set is a member", b"[a-].c", b"-.c", b"b.c"),
    ("an escaped hyphen makes no range", b"[a\\-c].c", b"-.c", b"b.c"),
    ("a backward range is its low end", b"[z-a].c", b"z.c", b"a.c"),
    ("a class", b"[[:digit:]].c", b"1.c", b"a.c"),
    ("a class knows ASCII only", b"[[:alpha:]][[:alpha:]]", b"ab", b"\xc3\xa9"),
    ("a class and a hyphen make no range", b"[[:digit:]-z].c", b"-.c", b"a.c"),
    ("no vertical tab among the spaces", b"[[:space:]]", b"\t", b"\x0b"),
    ("a set never matches a slash", b"a[.-0]b", b"a.b", b"a/b"),
    ("a negated set neither", b"a[!x]b", b"ayb", b"a/b"),
    ("an unknown class matches nothing", b"[[:word:]]\nb", b"b", b"w"),
    ("a set that is not closed matches nothing", b"[a\nb", b"b", b"[a"),
    ("a backslash at the end matches nothing", b"a\\\nb", b"b", b"a\\"),
    ("a backslash takes the magic away", b"\\*", b"*", b"x"),
    ("from a hash, too", b"\\#x", b"#x", b"x"),
    ("and from an exclamation mark", b"\\!x", b"!x", b"x"),
    ("a hash in the middle is no comment", b"x#y", b"x#y", b"x"),
    ("a hash at the start is one", b"#x\ny", b"y", b"#x"),
    ("trailing spaces go", b"x  ", b"x", b"x  "),
    ("an escaped one stays", b"x\\ ", b"x ", b"x"),
    ("a trailing tab stays", b"x\t", b"x\t", b"x"),
    ("leading spaces stay", b" x", b" x", b"x"),
    ("a carriage return belongs to the line end", b"x\r\ny", b"x", b"x\r"),
    ("a NUL ends the pattern", b"x\0y", b"x", b"xy"),
    ("a byte order mark is none of it", b"\xef\xbb\xbfx", b"x", b"\xef\xbb\xbfx"),
    ("a byte that is not UTF-8 is itself", b"\xff", b"\xff", b"\xfe"),
    ("case counts", b"x", b"x", b"X"),
    ("the last match wins", b"*.c\n!x.c", b"y.c", b"x.c"),
    ("also against an earlier exception", b"!x.c\n*.c", b"x.c", b"y.d"),
    ("an excluded directory is not looked into", b"a/\n!a/x", b"a/x", b"x"),
    ("an excluded content is", b"a/*\n!a/x", b"a/y", b"a/x"),
    ("an exception for directories keeps files out", b"*\n!*/", b"a/x", b""),
    ("two final slashes match nothing", b"a//\nb", b"b", b"a/x"),
    ("a lone slash matches nothing", b"/\nb", b"b", b"x"),
    ("nor does a lone exclamation mark", b"!\nb", b"b", b"!"),
]


@pytest.mark.parametrize(("what", "rules", "ignored", "left"), PATTERNS, ids=[row[0] for row in PATTERNS])
def test_pattern(tmp_path, what, rules, ignored, left):
    git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_bytes(rules)
    for name in filter(None, (ignored, left)):
        path = tmp_path / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    own = b"" if rules.startswith(b"*\n") else b".gitignore"
    expected = {left, own} - {b""}
    if STARS_BEHIND_A_NAME.match(rules) and not crosses_behind_a_name():
        pytest.skip("this git reads stars behind a name in another way")
    assert git_files(tmp_path) == expected, "the row is wrong"
    assert {entry.raw for entry in walked(tmp_path).entries} == expected


HOSTILE = [
    ("stars and letters", b"*a*a*a*a*a*a*a*ab", b"a" * 60),
    ("stars across directories", b"**/a/" * 12 + b"b", b"a/" * 60 + b"a"),
    ("question marks and stars", b"?*" * 30 + b"x", b"a" * 255),
    ("open sets", b"[" * MAX_PATTERN, b"["),
    ("a class that never ends", b"[[:" * 80, b"["),
    ("a wide set many times", b"[!a]" * 60 + b"*", b"b" * 255),
    ("as long as may be", b"*a" * (MAX_PATTERN // 2), b"a" * 255),
    ("a star and all question marks", b"*a" + b"?" * 40, b"ab" * 120),
    ("a megabyte", b"*a" * 500_000, b"a" * 255),
    ("256 KiB of sets", b"[ab]" * 2**16, b"a" * 255),
    ("stars between slashes", b"a/**/" * 50 + b"b", b"a/" * 2000),
    ("nothing but stars and slashes", b"**/" * 85, b"a/" * 2000 + b"a"),
    ("sets of all bytes", b"[\x01-\xff]" * 50, b"a" * 255),
    ("sets of every class", b"[[:alnum:][:punct:]]" * 12, b"a" * 255),
    ("negated sets and stars", b"[!a]*" * 50, b"b" * 255),
    ("braces, which are none", b"{a,b}" * 50, b"{a,b}" * 50),
    ("repetitions, which are none", b"a{1,1000}" * 28, b"a{1,1000}" * 28),
]


@pytest.mark.parametrize(("what", "pattern", "name"), HOSTILE, ids=[row[0] for row in HOSTILE])
def test_hostile_pattern_is_cheap(what, pattern, name):
    costs_under(0.050, lambda: compile_patterns([pattern]).verdict(name, is_directory=False))


def test_what_is_past_a_limit_is_counted_and_not_used():
    lines = [b"a" * (MAX_PATTERN + 1), *(b"%d" % number for number in range(100_000))]
    patterns = compile_patterns(lines)
    assert patterns.unused == 1 + 100_000 - MAX_PATTERNS
    assert patterns.verdict(b"%d" % (MAX_PATTERNS - 1), is_directory=False)
    assert patterns.verdict(b"%d" % MAX_PATTERNS, is_directory=False) is None


def test_the_largest_list_compiles():
    rest = b"x" * (MAX_FILE // MAX_PATTERNS - len("*1999\n"))
    patterns = compile_patterns([b"*%d" % number + rest for number in range(MAX_PATTERNS)])
    assert patterns.unused == 0
    assert patterns.verdict(b"xb7" + rest, is_directory=False)


def test_a_list_of_wildcards_costs_no_more_than_a_usual_one():
    random = Random(3)
    lines = [b"*" + bytes(random.choices(b"ab", k=2)) + b"?" * 26 for _ in range(MAX_PATTERNS)]
    patterns = compile_patterns(lines)
    assert patterns.unused == MAX_PATTERNS - MAX_WILDCARDS // 27
    for _ in range(20):
        name = bytes(random.choices(b"ab", k=200))
        costs_under(0.050, partial(patterns.verdict, name, is_directory=False))


def test_a_long_ignore_file_counts_up_to_the_limit():
    lines = b"a" * 100 + b"\n"
    rules, is_complete = Rules().with_file(b"first\n" + lines * (MAX_FILE // len(lines) + 1) + b"last\n", 0)
    assert not is_complete
    assert rules.ignore(b"first", is_directory=False)
    assert not rules.ignore(b"last", is_directory=False)


def test_a_line_cut_at_the_limit_is_no_rule():
    data = b"x\n" * (MAX_FILE // 2 - 1) + b"keep-this-one\n"
    assert data[:MAX_FILE].endswith(b"\nke")
    rules, _ = Rules().with_file(data, 0)
    assert rules.ignore(b"x", is_directory=False)
    assert not rules.ignore(b"ke", is_directory=False)


def test_nested_ignore_files_have_a_limit_together():
    rules, answers = Rules(), []
    for _ in range(6):
        rules, is_complete = rules.with_file(b"x\n" + b"#" * (MAX_FILE - 2), 0)
        answers.append(is_complete)
    assert sum(layer.size for layer in rules.layers) == MAX_IN_FORCE
    assert answers == [True, True, True, True, False, False]


# fmt: off
# A list as people write it, without exceptions: where one is there, pathspec includes below a directory that is out.
USUAL = [
    "*.pyc", "__pycache__", ".git", "node_modules", "*.log", "build/", "/dist", "*.egg-info/", ".venv/", ".env",
    "docs/_build/", "**/target/", "*.class", "coverage.*", ".idea/", "*~", "tmp/**", "a/**/b.txt", "*.min.js",
    "[Bb]in/", ".DS_Store", "*.so", "vendor/*/cache",
]
SEGMENTS = [
    "a", "b", "build", "dist", "node_modules", "src", "docs", "_build", "x.pyc", "keep.log", "y.log", "target", "Bin",
    "bin", "tmp", "b.txt", "main.py", "app.min.js", "vendor", "cache", ".env", "q~", "coverage.xml", "x.egg-info",
    "lib.so",
]
# fmt: on


def test_pathspec_says_the_same_of_a_usual_list():
    """The second judge beside git, and what an operator's own patterns are checked with."""
    random = Random(1)
    paths = {"/".join(random.choices(SEGMENTS, k=random.randint(1, 5))) for _ in range(5000)}
    spec = GitIgnoreSpec.from_lines(USUAL)
    rules, _ = Rules().with_file("\n".join(USUAL).encode(), 0)
    for path in paths:
        above = [path[:at] for at, byte in enumerate(path) if byte == "/"]
        is_out = any(rules.ignore(name.encode(), is_directory=True) for name in above)
        assert (is_out or rules.ignore(path.encode(), is_directory=False)) == spec.match_file(path), path
