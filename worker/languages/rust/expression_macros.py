"""Macros whose arguments read as expressions: `println!("{}", a.b())` and `tri!(a.b())` are read as calls.

What a macro gets is tokens, of which a parser knows nothing. Only the graph needs this: nothing in there is defined.
Which of them surely are expressions, the dialect says (`macros`); of others it is likely.
"""

import re

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.source_text import Span

# The name of an argument, `a = b`, and how `trace!(a = %b, ?c)` shows what it holds.
FIELD = rb"(?:[A-Za-z_]\w*+\s*+=(?![=>])\s*+ | [A-Za-z_][\w.]*+\s*+=\s*+(?=[%?]))?+ [%?]?+"
TOKEN = deferred(
    rb"(?sx) (?P<text> b?r(?P<fence>\#*+)\".*?(?:\"(?P=fence)|\Z) | \"(?:[^\"\\]|\\.)*+(?:\"|\Z)"
    rb"  | '(?:[^'\\\n]|\\.[^'\n]{0,10}+)' )"
    rb"| (?P<comment> //[^\n]*+ | /\*.*?(?:\*/|\Z) )"
    rb"| (?P<macro> \b[A-Za-z_]\w*+(?P<sign>!)[ \t]*+\( \s*+ (?P<first>" + FIELD + rb") )"
    rb"| (?P<comma> , \s*+ (?P<next>" + FIELD + rb") )"
    rb"| (?P<list> \bvec!(?=[ \t]*+\[) )"
    rb"| (?P<open> [(\[{] ) | (?P<close> [)\]}] ) | (?P<end> ; ) | (?P<function> \bfn\b )"
)
CLOSURE = deferred(rb"([(,=]|\A|\bmove)\s*+\|[^|]{0,400}+\|")  # its parameters are patterns
# What no list of expressions has, where nothing is left of texts, braces and macros in it.
OTHERWISE = deferred(
    rb"(?x) [$\#@~'\\] | =\s*+[%?] | ;(?![^\[\](),]{0,200}+\]) | => | -> | <- | (?<!:):(?!:) | \b_\b"
    rb"| \b(?:const|dyn|enum|extern|fn|impl|in|let|mod|pub|ref|static|struct|trait|type|use|where)\b"
    rb"| \b(?!(?:as|async|await|break|else|if|loop|match|move|mut|return|unsafe|while)\b)\w++\s++(?!(?:as|else)\b)\w"
    rb"| [)\]]\s*+(?!(?:as|else)\b)\w"
    rb"| [-+*/%&|^<>=!]\s*+(?:[,)\]]|\Z)"
    rb"| (?:\A|[(,\[])\s*+(?:[+/%^=?,]|\.(?!\.))"
)
FAR = 64  # bytes before a macro in which a `=` makes it what a constant is
LEFT = {"text": b"m", "comment": b" ", "list": b"vec", "comma": b","}  # of what stands in a list


class _Arguments:
    """What a macro gets, as far as it is read: up to `at`, without what stands in braces in it."""

    def __init__(self, sign: Span, field: Span) -> None:
        self.leaving, self.at, self.text = [sign, field], field[1], bytearray()

    def read(self, source: bytes, token: Span, left: bytes) -> None:
        """Read on behind a token, of which something is left."""
        self.text += source[self.at : token[0]] + left
        self.at = token[1]

    def are_expressions(self) -> bool:
        """Whether a parser of expressions may know them all."""
        return not OTHERWISE.search(CLOSURE.sub(rb"\1 ", self.text))


class _Bracket:
    """A bracket that is open: the arguments that it is a part of, and whether it is in what runs."""

    def __init__(self, arguments: _Arguments | None, *, is_macro: bool, runs: bool) -> None:
        self.arguments, self.is_macro, self.runs = arguments, is_macro, runs
        self.has_function = False  # whose brace is the next one


def first(source: bytes) -> list[Span]:
    """The spans to leave out: the sign of a macro, names of its arguments, and the name of `vec!`, which leaves a list.

    >>> first(b"fn f() { f!(a => b); info!(c = %d); vec![e] }")
    [(25, 26), (27, 32), (36, 40)]
    """
    found: list[Span] = []
    brackets = [_Bracket(None, is_macro=False, runs=False)]
    for match in TOKEN.finditer(source):
        around, kind = brackets[-1], match.lastgroup
        if kind in LEFT and around.arguments:
            around.arguments.read(source, match.span(), LEFT[kind])
            if kind == "comma":
                around.arguments.leaving.append(match.span("next"))
        if kind == "list":
            found.append(match.span())
        elif kind == "macro" or kind == "open":
            brackets.append(_opened(around, source, match))
        elif kind == "close" and len(brackets) > 1:
            brackets.pop()
            found += _closed(brackets[-1], around, source, match.span())
        elif kind == "function" or kind == "end":
            around.has_function = kind == "function"
    return sorted(found)


def _opened(around: _Bracket, source: bytes, match: re.Match[bytes]) -> _Bracket:
    """The bracket that a token opens."""
    if around.arguments and (match["macro"] or match["open"] == b"{"):
        around.arguments.read(source, match.span(), b"m" if match["macro"] else b"{}")
    if match["macro"]:
        before = source[max(0, match.start() - FAR) : match.start()].rstrip()
        runs = around.runs or before.endswith(b"=")
        return _Bracket(_Arguments(match.span("sign"), match.span("first")), is_macro=True, runs=runs)
    is_brace = match["open"] == b"{"
    runs = around.runs or (is_brace and around.has_function)
    around.has_function = around.has_function and not is_brace
    return _Bracket(None if is_brace else around.arguments, is_macro=False, runs=runs)


def _closed(around: _Bracket, bracket: _Bracket, source: bytes, token: Span) -> list[Span]:
    """What of a macro whose bracket is closed is to be left out: its sign, and names of arguments."""
    arguments = bracket.arguments
    if around.arguments is not arguments and around.arguments:
        around.arguments.at = token[1]
    if not bracket.is_macro or arguments is None or not bracket.runs:
        return []
    arguments.read(source, token, b"")
    return [span for span in arguments.leaving if span[0] < span[1]] if arguments.are_expressions() else []
