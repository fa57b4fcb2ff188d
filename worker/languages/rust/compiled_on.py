"""On which systems items of Rust are compiled: https://doc.rust-lang.org/reference/conditional-compilation.html.

What only tools set, `loom`, is off. Of features, and of what a build script may set, nothing is known.
"""

from collections.abc import Iterator
from typing import NamedTuple

from fledgling.worker.deferred import deferred
from fledgling.worker.systems import (
    AIX,
    ANY,
    APPLE,
    BSD,
    LINUX,
    MAX_INNER,
    OTHER,
    SUN,
    UNKNOWN,
    WINDOWS,
    Where,
    skipped,
)

NEVER: Where = (0, ANY)
ELSEWHERE: Where = (OTHER, ANY)
SAID: dict[str, Where] = {
    "unix": (ANY & ~WINDOWS, WINDOWS | OTHER),
    "windows": (WINDOWS, ANY & ~WINDOWS),
    **dict.fromkeys(("doc", "docsrs", "fuzzing", "kani", "loom", "miri", "rustdoc", "shuttle"), NEVER),
    "linux": (LINUX, ANY & ~LINUX),
    "macos": (APPLE, ANY & ~APPLE),
    **dict.fromkeys(("ios", "tvos", "visionos", "watchos"), (APPLE, ANY)),
    **dict.fromkeys(("dragonfly", "freebsd", "netbsd", "openbsd"), (BSD, ANY)),
    **dict.fromkeys(("illumos", "solaris"), (SUN, ANY)),
    "aix": (AIX, ANY & ~AIX),
    "apple": (APPLE, ANY & ~APPLE),
    "msvc": (WINDOWS, ANY),
    **dict.fromkeys(("wasm", "wasm32", "wasm64"), ELSEWHERE),
}
UNSAID = {"target_os": ELSEWHERE}  # of what is written by no such name
KNOWN = deferred(rb"\[cfg\([^\[\]]{0,2000}?\b(?:target_os|" + b"|".join(sorted(map(str.encode, SAID))) + rb")\b")
TOKEN = deferred(
    rb"""(?msx) (?: b?r(?P<fence>\#*+)\".*?(?:\"(?P=fence)|\Z) | \"(?:[^\"\\]|\\.)*+(?:\"|\Z)
      | '(?:[^'\\\n]|\\.[^'\n]{0,10}+)' | //[^\n]*+ | /\*.*?(?:\*/|\Z) )
    | (?P<branch>\bif\ )?+\#(?P<inner>!?)\[cfg\((?P<condition>[^\[\]]{1,2000}+)\]
    | (?P<open> [(\[{] ) | (?P<close> [)\]}] ) | (?P<end> [;,] )
    | (?:^|(?<=\]))[ \t]*+ (?:pub(?:\([\w: ]*+\))?+[ ]++)?+ (?P<item>
      (?:async|const|enum|extern|fn|impl|let|mod|static|struct|trait|type|union|unsafe|use)\b )"""
)
ELSE = deferred(rb"\}\s*+else\s*+(?:\{|(?P<if>if\b))")  # of `cfg_if!`
WORD = deferred(rb"[\w.]+|\"[^\"]*\"|[()=]|,(?!\s*\))")


class _Open(NamedTuple):
    """A condition: how deep stands what it is said of, where what is around holds, and where `else` does."""

    depth: int
    around: int
    left: int | None


def systems(source: bytes) -> list[tuple[int, int]]:
    r"""From which line on the text may be compiled on which systems, where that changes.

    >>> systems(b"fn a() {}\n#[cfg(windows)]\nmod b {\n}\nfn c() {}\n")
    [(2, 2), (5, 255)]
    """
    if not KNOWN.search(source):
        return []
    found: list[tuple[int, int]] = []
    open_: list[_Open] = []
    items = set[int]()  # how deep items stand of which a condition is said: no comma ends them
    here, depth, line, read = ANY, 0, 1, 0
    around: int | None = None  # where what is around a branch holds, behind `} else if`
    for token in TOKEN.finditer(source):
        line, read = line + source.count(b"\n", read, token.start()), token.start()
        if token["condition"]:
            holds, fails = _condition(token["condition"])
            left = here & fails if token["branch"] else None
            open_.append(_Open(depth - len(token["inner"]), here if around is None else around, left))
            here, around = here & holds, None
            _change(found, 1 if token["inner"] and not depth else line, here)
        elif token["item"] and open_ and open_[-1].depth == depth:
            items.add(depth)
        depth += bool(token["open"]) - bool(token["close"])
        items -= {depth + 1} if token["close"] else set()
        ends = token["close"] == b"}" or token["end"] == b";" or (token["end"] == b"," and depth not in items)
        while open_ and (depth < open_[-1].depth or (ends and depth == open_[-1].depth)):
            own, here, left = open_.pop()
            turn = ELSE.match(source, token.start()) if own == depth and left is not None else None
            if turn and left is not None:
                around, here = here, left
                if not turn["if"]:
                    open_.append(_Open(depth, around, None))
                    around = None
                _change(found, line + 1, here)
                break
            _change(found, line + 1, here)
        items -= {depth} if ends else set()
    return found


def _change(found: list[tuple[int, int]], line: int, where: int) -> None:
    """Let what stands on a line and behind it be compiled somewhere else than what stands before."""
    while found and found[-1][0] >= line:
        found.pop()
    if where != (found[-1][1] if found else ANY):
        found.append((line, where))


def _condition(said: bytes) -> Where:
    """Where a condition may hold, and where not: `any(unix, a)`."""
    words = [word[0].decode(errors="replace") for word in WORD.finditer(said)]
    return _read(iter([*words, ""]), 0)[0]


def _read(words: Iterator[str], depth: int) -> tuple[Where, str]:
    """Where `any(a, not(b = "c"))` holds, and where not; and the word behind it."""
    word, behind = next(words, ""), next(words, "")
    if behind == "=":
        value = next(words, "").strip('"')
        is_known = word.startswith("target_")
        return SAID.get(value, UNSAID.get(word, UNKNOWN)) if is_known else UNKNOWN, next(words, "")
    if behind != "(":
        return SAID.get(word, UNKNOWN) if word in ("unix", "windows") or SAID.get(word) == NEVER else UNKNOWN, behind
    if depth >= MAX_INNER:
        return skipped(words), next(words, "")
    each, end = list[Where](), ","
    while end == ",":
        own, end = _read(words, depth + 1)
        each.append(own)
    return _combined(word, each), next(words, "")


def _combined(word: str, each: list[Where]) -> Where:
    """Where `any`, `all` or `not` of some conditions holds, and where not."""
    any_, all_ = [0, 0], [ANY, ANY]
    for own in each:
        for at in (0, 1):
            any_[at] |= own[at]
            all_[at] &= own[at]
    if word == "any":
        return any_[0], all_[1]
    return (all_[0], any_[1]) if word == "all" else each[0][::-1] if word == "not" else UNKNOWN
