"""Gitignore patterns, matched by RE2 in linear time: everything that decides what a pattern means lives here.

Patterns come from trees we do not trust, and a backtracking matcher needs seconds for `*a*a*a*a*a*a*a*ab` and one name
of 60 characters. Patterns and names are bytes, as they are for git: `?` is one byte. The grammar is gitignore(5) and,
where that is silent, git's wildmatch.c and dir.c; in the tests git itself is the judge.
"""

import re
import string
from collections.abc import Iterable

import re2
from msgspec import Struct

MAX_PATTERNS = 2_000  # patterns in one list; the largest published templates hold some 400
MAX_PATTERN = 256  # bytes in one pattern, as long as the longest file name
MAX_WILDCARDS = 2_000  # stars, question marks and sets in one list: RE2 may have to follow each at every byte of a name
MATCHER_MEMORY = (
    64 << 20
)  # bytes RE2 may use for one list; needed only by a hostile one, a usual list takes about 100 KB

_CLASSES = {  # POSIX names, with the members git gives them: ASCII only, and no \v or \f among the spaces
    b"alnum": string.ascii_letters + string.digits,
    b"alpha": string.ascii_letters,
    b"blank": " \t",
    b"cntrl": "".join(map(chr, (*range(0x20), 0x7F))),
    b"digit": string.digits,
    b"graph": "".join(map(chr, range(0x21, 0x7F))),
    b"lower": string.ascii_lowercase,
    b"print": "".join(map(chr, range(0x20, 0x7F))),
    b"punct": string.punctuation,
    b"space": " \t\r\n",
    b"upper": string.ascii_uppercase,
    b"xdigit": string.hexdigits,
}
_TOKEN = re.compile(rb"(?P<stars>\*+)|(?P<one>\?)|(?P<set>\[)|\\(?P<escaped>.)|(?P<plain>[^\\])", re.DOTALL)
_MEMBER = re.compile(rb"\[:(?P<name>[^\]]*):\]|(?P<low>\\.|[^\\])(?:-(?P<high>\\.|[^\\\]]))?", re.DOTALL)


class Patterns(Struct, frozen=True):
    """A list of patterns, ready to match. `unused` counts the lines past a limit, which were left out.

    >>> compile_patterns([b"*.log", b"!keep.log"]).verdict(b"a/keep.log", is_directory=False)
    False
    """

    matcher: re2.Set
    negated: tuple[bool, ...]
    directory_only: tuple[bool, ...]
    unused: int

    def __bool__(self) -> bool:
        """Whether there is any pattern in it."""
        return bool(self.negated)

    def verdict(self, path: bytes, *, is_directory: bool) -> bool | None:
        """True: excluded; False: included again; None: no pattern says anything. The last matching pattern decides."""
        found = self.matcher.Match(path) if self.negated else None
        if not found:
            return None
        last = max((at for at in found if is_directory or not self.directory_only[at]), default=None)
        return None if last is None else not self.negated[last]


def compile_patterns(lines: Iterable[bytes], *, of_files: bool = False) -> Patterns:
    r"""Compile the lines of an ignore file.

    With `of_files` no directory is ever asked about: `name/` matches all files below such a directory.
    Blank lines, comments and patterns that can match nothing (`a//`, `[`, `a\`) are dropped, as git does.
    """
    matcher = re2.Set.FullMatchSet(_options())
    negated: list[bool] = []
    directory_only: list[bool] = []
    patterns, unused = _within_limits(filter(None, map(_pattern, lines)))
    for pattern in patterns:
        positive = pattern.removeprefix(b"!")
        name = positive.removesuffix(b"/")
        is_directory = name != positive
        regex = _regex(name)
        if regex is not None:
            matcher.Add(regex + b"/.*" if is_directory and of_files else regex)
            negated.append(positive != pattern)
            directory_only.append(is_directory and not of_files)
    matcher.Compile()
    return Patterns(matcher, tuple(negated), tuple(directory_only), unused)


def _options() -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # one byte is one character
    options.dot_nl = options.never_capture = True
    options.max_mem = MATCHER_MEMORY
    return options


def _within_limits(patterns: Iterable[bytes]) -> tuple[list[bytes], int]:
    """The patterns that are used, and how many are not."""
    used: list[bytes] = []
    unused = wildcards = 0
    for pattern in patterns:
        more = sum(map(pattern.count, (b"*", b"?", b"[")))
        if len(pattern) <= MAX_PATTERN and len(used) < MAX_PATTERNS and wildcards + more <= MAX_WILDCARDS:
            used.append(pattern)
            wildcards += more
        else:
            unused += 1
    return used, unused


def _pattern(line: bytes) -> bytes:
    r"""The pattern in a line: without comment, line end and unescaped trailing spaces. b"a\\ b  \r" -> b"a\\ b"."""
    if line.startswith(b"#"):
        return b""
    text = line.removesuffix(b"\r").partition(b"\0")[0]  # git reads a line as a C string
    bare = text.rstrip(b" ")
    backslashes = len(bare) - len(bare.rstrip(b"\\"))
    return text[: len(bare) + 1] if backslashes % 2 else bare


def _regex(name: bytes) -> bytes | None:
    r"""The RE2 pattern for a gitignore pattern without `!` and final `/`; None if no name can match it.

    b"/docs/*_?.md" -> b"docs/[^/]*_[^/]\x2emd", and b"docs" -> b"(?:.*/)?docs".
    """
    if not name or name.endswith(b"/"):
        return None
    anchored = b"/" in name
    name = name.removeprefix(b"/")
    pieces, at = [b"" if anchored else b"(?:.*/)?"], 0
    while at < len(name):
        token = _TOKEN.match(name, at)
        if token is None:  # a backslash with nothing to escape
            return None
        at = token.end()
        if token["stars"]:
            piece, at = _stars(name, token.start(), at) if anchored else (b"[^/]*", at)
        elif token["one"]:
            piece = b"[^/]"
        elif token["set"]:
            found = _bracket(name, at)
            if found is None:
                return None
            piece, at = found
        else:
            piece = _literal(token["escaped"] or token["plain"])
        pieces.append(piece)
    return b"".join(pieces)


def _stars(name: bytes, start: int, end: int) -> tuple[bytes, int]:
    """The stars in name[start:end], and where to go on: two or more cross `/` if they fill a whole path segment.

    A literal start counts as the border of a segment (`a**/b` matches `ab`): git compares it before it calls wildmatch.
    """
    opens = name[:start].endswith(b"/") or not re.search(rb"[*?\[\\]", name[:start])
    rest = name[end:]
    if end - start == 1 or not opens or not (not rest or rest.startswith((b"/", b"\\/"))):
        return b"[^/]*", end
    return (b"(?:.*/)?", end + 1) if rest.startswith(b"/") else (b".*", end)


def _bracket(name: bytes, at: int) -> tuple[bytes, int] | None:
    """The set whose `[` ends at `at`, and where it ends; None if it is not closed, empty or names an unknown class."""
    inverted = name[at : at + 1] in (b"!", b"^")
    at += inverted
    members: set[int] = set()
    first = True
    while first or not name.startswith(b"]", at):
        member = _MEMBER.match(name, at)
        if member is None or (member["name"] is not None and member["name"] not in _CLASSES):
            return None
        members |= _members(member)
        at, first = member.end(), False
    members = members | {ord("/")} if inverted else members - {ord("/")}
    body = b"".join(b"\\x%02x" % byte for byte in sorted(members))
    return (b"[%s%s]" % (b"^" if inverted else b"", body), at + 1) if body else None


def _members(member: re.Match[bytes]) -> set[int]:
    """The bytes one item of a set stands for. `z-a` is `z`: git takes the low end as a character of its own."""
    if member["name"] is not None:
        return set(_CLASSES[member["name"]].encode())
    low = member["low"][-1]
    high = member["high"][-1] if member["high"] else low
    return {low, *range(low, high + 1)}


def _literal(byte: bytes) -> bytes:
    """A byte that means itself: letters, digits, `_` and `/` bare, all others as RE2 hex."""
    return byte if byte.isalnum() or byte in b"_/" else b"\\x%02x" % byte[0]
