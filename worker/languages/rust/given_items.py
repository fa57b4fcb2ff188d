"""Items that a macro is given whole: `pin_project! { pub struct A { } }`, as no parser reads tokens.

Such a macro begins a line, and each thing in it begins as an item does, or calls a macro: `doctest!("a");`.
What it makes of them besides is not known. With errors left in it, the text is parsed with its head.
"""

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.source_text import Span

HEAD = deferred(rb"(?m)^(?P<head>(?!cfg_)[a-z_]\w*+! \{)[ \t\r]*+(?://[^\n]*+)?+(?=\n)")
TOKEN = deferred(
    rb"""(?sx) (?: b?r(?P<fence>\#*+)\".*?(?:\"(?P=fence)|\Z) | \"(?:[^\"\\]|\\.)*+(?:\"|\Z)
      | '(?:[^'\\\n]|\\.[^'\n]{0,10}+)' | //[^\n]*+ | /\*.*?(?:\*/|\Z) )
    | (?P<open> [(\[{] ) | (?P<close> [)\]}] ) | (?P<end> ; )
    | \n[ \t]*+ (?P<mark> @ \w++ [^\n{};]*+ ) (?=\n) | \b static [ ] (?P<ref> ref ) \b"""
)
ITEM = deferred(
    rb"""(?x) (?: \s | //[^\n]*+ | /\*(?:[^*]|\*(?!/)){0,2000}+\*/
      | \#!?+\[(?:[^\[\]"]|"(?:[^"\\]|\\[\s\S])*+"|\[[^\[\]]*+\]){0,2000}+\] )*+
    (?: (?:pub(?:\([\w: ]*+\))?+ \s++)?+ (?: struct\b (?! \s++ \w++ \s*+ : )
      | (?:enum|union|trait|impl|fn|mod|use|type|const|static|unsafe|extern|async)\b )
      | [a-z_]\w*+! \s*+ [(\[{] | [;}] )"""
)


def given(source: bytes) -> list[list[Span]]:
    """For each such macro the spans to leave out: its head, what no item has, and the bracket that ends it."""
    found = list[list[Span]]()
    behind = 0  # the last one that was read
    for head in HEAD.finditer(source) if b"! {" in source else ():
        if head.start() >= behind:
            spans, behind = _read(source, head.end())
            found += [[head.span("head"), *spans]] if spans else []
    return found


def _read(source: bytes, at: int) -> tuple[list[Span], int]:
    """What is to be left out behind a head up to the bracket that ends it, if items stand there; and where that is."""
    spans, depth, is_given = list[Span](), 1, ITEM.match(source, at) is not None
    for token in TOKEN.finditer(source, at):
        depth += bool(token["open"]) - bool(token["close"])
        if token["mark"] or token["ref"]:
            spans.append(token.span(token.lastgroup or 0))
        elif depth == 0:
            return [*spans, token.span()] if is_given else [], token.end()
        elif depth == 1 and (token["end"] or token["close"] == b"}"):
            is_given = is_given and ITEM.match(source, token.end()) is not None
    return [], len(source)
