"""Methods of Ruby whose names a loop gives over what is written out, and those that a text defines.

`%i[a b].each { |n| define_method("#{n}?") { c } }`, `class_eval "def a; b end"`, and such a text in such a loop.
"""

import re
from collections.abc import Iterator, Sequence

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.call_expressions import called
from fledgling.worker.graph.reading.labels import ARGS, BITS, KEY, OF
from fledgling.worker.graph.tables import CLASSES, MAX_KEY, NONE, Flag, Op, ScopeKind, Use

MAX_LISTED = 4_000  # bytes of a list that is written out, and of a text that defines methods
MAX_MADE = 10_000  # methods of a file that loops and texts define: each place in a loop makes one for each name
IS_LAMBDA, IS_STATIC = BITS["lambda"], BITS["static"]
Names = Sequence[tuple[str, int]]  # and the byte where each stands, or -1
WORDS = re.compile(rb"%[iwIW][\[({<|!]([\w\s?!=]*+)[\])}>|!](?:\.freeze)?")
LIST = re.compile(rb"\[((?:\s*+(?::\w+[?!=]?|\"\w+[?!=]?\"|'\w+[?!=]?')\s*+,?+|\s*+#[^\n]*+\n)*+\s*+)\](?:\.freeze)?")
DICT = re.compile(rb"\{([^{}\[\]()]*+)\}(?:\.freeze)?")
WORD = re.compile(rb"(\w++[?!=]?)")
ITEM = re.compile(rb"#[^\n]*+\n|[:\"'](\w+[?!=]?)")
PAIR = re.compile(rb"(?:\A|,)\s*+(?:(\w+[?!]?):(?!:)|:(\w+[?!=]?)\s*+=>|[\"'](\w+[?!=]?)[\"']\s*+=>)")
CONSTANT = re.compile(rb"^[ \t]*+([A-Z]\w*+)[ \t]*+=[ \t]*+(?=[%\[{])", re.MULTILINE)
BLOCK = re.compile(rb"(?:do\b|\{)\s*+\|\s*+\(?\s*+([a-z_]\w*+)")  # and the first that it takes
HOLE = re.compile(r"#\{\s*+([a-z_]\w*+)(?:\.to_s)?\s*+\}")
WRITTEN = re.compile(r":?[\"'](.*)[\"'](?:\.to_sym)?", re.DOTALL)
PLAIN = re.compile(r"([a-z_]\w*+)(?:\.to_s(?:ym)?)?")
METHOD = re.compile(r"(?:^|;)[ \t]*+def[ \t]++(self\.)?((?:\w|#\{[^{}\n]*+\})++(?:[?!=](?![=~>]))?)", re.MULTILINE)
HEREDOC = re.compile(rb"<<[-~]?(['\"`]?)(\w++)\1")
QUOTE = re.compile(rb"[\"']|%[qQ]?\W")
NAME = re.compile(r"[A-Za-z_]\w*+[?!=]?")


@visits("listed")
def listed(builder: Builder, node: int, use: int) -> int:
    """`%i[a b].each { |n| c }`: what n is within, as long as c is read."""
    tree = builder.tree
    blocks = [kid for kid in tree.kids[node] if tree.kind(kid) == IS_LAMBDA]
    taken = BLOCK.match(tree.source, tree.start[blocks[-1]]) if blocks else None
    of = tree.first(node, OF)
    names = () if taken is None or of == NONE else _listed(builder, of)
    if not names or taken is None:
        return called(builder, node, Op.CALL, use)
    around, is_static = builder.listed, builder.defines_static
    builder.listed = {**around, taken[1].decode(): names}
    builder.defines_static = is_static or bool(tree.labels[node] & IS_STATIC)
    at = called(builder, node, Op.CALL, use)
    builder.listed, builder.defines_static = around, is_static
    return at


def _listed(builder: Builder, node: int) -> Names:
    """The words of a list that is written out, or the keys of a dictionary, here or where a constant gets it."""
    tree, source = builder.tree, builder.tree.source
    start, end = tree.start[node], tree.end[node]
    if not source[start : start + 1].isupper():
        return _written(source, start, end)
    if builder.lists is None:
        lists = ((found[1].decode(), found.end()) for found in CONSTANT.finditer(source))
        builder.lists = {name: _written(source, at, len(source)) for name, at in lists}
    return builder.lists.get(tree.text(node), ())


def _written(source: bytes, start: int, end: int) -> Names:
    """The words of the list, or the keys of the dictionary, that begins at a byte."""
    end = min(end, start + MAX_LISTED)
    for whole, each in ((WORDS, WORD), (LIST, ITEM), (DICT, PAIR)):
        if found := whole.match(source, start, end):
            begin = found.start(1)
            items = ((item, at) for item in each.finditer(found[1]) if (at := item.lastindex))
            return [(item[at].decode(), begin + item.start(at)) for item, at in items]
    return ()


def computed_names(builder: Builder, text: str) -> Names:
    """The names that `n`, `"#{n}?"` or `:"#{n}="` may be, where n is one of what a loop goes over; none if unknown."""
    if plain := PLAIN.fullmatch(text):
        return _filled(builder, f"#{{{plain[1]}}}")
    written = WRITTEN.fullmatch(text)
    return _filled(builder, written[1]) if written else ()


def _filled(builder: Builder, template: str) -> Names:
    """The names that `a_#{n}` may be, none longer than MAX_KEY, and where each stands if it is n alone."""
    holes = {found[1] for found in HOLE.finditer(template)}
    if len(holes) > 1 or len(template) > MAX_KEY:
        return ()
    each = builder.listed.get(holes.pop(), ()) if holes else [("", NONE)]
    builder.made += len(each)
    if builder.made > MAX_MADE:
        return ()
    is_alone = HOLE.fullmatch(template) is not None
    names = [(HOLE.sub(own, template), start if is_alone else NONE) for own, start in each]
    if not all(len(name) <= MAX_KEY and NAME.fullmatch(name) for name, _ in names):
        return ()
    return names


def bind_method(builder: Builder, own: int, name: str, start: int, value: int, line: int) -> None:
    """Bind a method of a class whose name stands at a byte of the text, or -1 where it stands nowhere."""
    number = builder.named(name)
    binding = builder.bind_at(number, own, value, line)
    if start != NONE and start not in builder.defined_at:
        builder.defined_at.add(start)
        builder.site_at(start, number, Use.DEFINITION, value, binding)


def class_around(builder: Builder) -> int:
    """The class in which a block stands, or -1 in a method."""
    scope = builder.scope
    while scope != NONE and builder.scopes[scope].kind in (ScopeKind.LAMBDA, ScopeKind.BLOCK):
        scope = builder.scopes[scope].parent
    return scope if scope != NONE and builder.scopes[scope].kind in CLASSES else NONE


@visits("evaluated")
def evaluated(builder: Builder, node: int, use: int) -> int:
    """`class_eval "def a; end"`: what such a text defines is a method of which no more than the name is known."""
    at = called(builder, node, Op.CALL, use)
    own = class_around(builder)
    is_here = builder.tree.first(node, OF) == NONE and own != NONE
    for name, start, is_static in _defined(builder, node):
        if is_here:
            flags = Flag.STATIC if is_static or builder.defines_static else 0
            define_unread(builder, own, name, start, flags | Flag.DECLARATION)
        else:  # of any class
            builder.replaced_names.append((builder.named(name), NONE))
    return at


def _defined(builder: Builder, node: int) -> Iterator[tuple[str, int, bool]]:
    """The methods that a text defines: their names, where each begins, and whether the class has it itself."""
    if builder.made > MAX_MADE:
        return
    source, (start, end) = builder.tree.source, _text(builder, node)
    text = source[start : min(end, start + MAX_LISTED)].decode(errors="replace")
    for found in METHOD.finditer(text):
        behind = len(text[: found.start(2)].encode()) if not text.isascii() else found.start(2)
        for name, _ in _filled(builder, found[2]) if found.end() < len(text) else ():
            yield name, start + behind, bool(found[1])


def _text(builder: Builder, node: int) -> tuple[int, int]:
    """Where the text stands that a call gets: a string, or what stands below where it is announced, `<<-A`."""
    tree, source = builder.tree, builder.tree.source
    start, key = tree.start[node], tree.first(node, KEY)
    start = tree.end[key] if key != NONE else start
    args = tree.first(node, ARGS)
    end = tree.end[args] if args != NONE else tree.end[node]
    heredoc = HEREDOC.search(source, start, min(end, start + MAX_LISTED))
    if heredoc is None:
        quote = QUOTE.search(source, start, end)
        return (quote.end() if quote else end), end
    begin = source.find(b"\n", heredoc.end(), heredoc.end() + MAX_LISTED) + 1
    closing = re.compile(rb"^[ \t]*+" + heredoc[2] + rb"[ \t]*+\r?$", re.MULTILINE)
    closed = closing.search(source, begin, begin + MAX_LISTED) if begin else None
    return (begin, closed.start()) if closed else (begin, begin)


def define_unread(builder: Builder, own: int, name: str, start: int, flags: int) -> None:
    """Bind a method of a class that a text defines, of which nothing is read."""
    number, around = builder.named(name), builder.scope
    builder.scope = own
    line = builder.line_at(start)
    scope = builder.enter(NONE, ScopeKind.FUNCTION, number, line, flags)
    builder.scopes[scope].returned = [0]
    builder.leave()
    at = start if builder.tree.source.startswith(name.encode(), start) else NONE
    bind_method(builder, own, name, at, builder.add(Op.FUNCTION, scope), line)
    builder.scope = around
