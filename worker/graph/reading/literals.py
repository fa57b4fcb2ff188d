"""How what is written out becomes an expression: texts, numbers, lists, dictionaries."""

import re
from collections.abc import Sequence

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.expressions import constant_key, to_types
from fledgling.worker.graph.reading.labels import (
    IS_FUNCTION,
    IS_KEYWORD,
    IS_LABEL,
    IS_LOOP,
    IS_NAME,
    IS_PAIR,
    IS_SPREAD,
    IS_TEXT,
    KEY,
    OVER,
    VALUE,
    WORD,
)
from fledgling.worker.graph.reading.made_texts import of_template
from fledgling.worker.graph.reading.quoted import quoted_type
from fledgling.worker.graph.tables import CHARACTER, MADE, MAX_KEY, NONE, NULL, Flag, Op, ScopeKind, Site, Use

BRACE = ord("{")
NUMERAL = re.compile(  # of a number: what says its base, whether it has a point, and what it ends in
    r"(?i)(?:(?P<base>0x[0-9a-f]+|0b[01]+)|\d*(?P<part>\.\d*(?:e[+-]?\d+)?|e[+-]?\d+)?)(?P<end>[ul]*|[fdm])?"
)
SYMBOL = re.compile(r":\w+[?!=]?")
OWN_METHOD = re.compile(r"['\"](?i:(self|static|parent))(?:::(\w+))?['\"]")  # of the class around, in a text of PHP
MAX_DIGITS = 34  # of a number of 32 bits, and what begins it
MAX_INT = 2**31 - 1  # of a number that is written out


@visits("text")
def text(builder: Builder, node: int, use: int) -> int:
    """`"a"`, `None`, `True`"""
    tree = builder.tree
    if tree.kids[node]:
        builder.scopes[builder.frame].flags |= Flag.FORMATS
    for kid in tree.kids[node]:
        builder.visit(kid)
    if use == Use.TYPE and builder.dialect.typed_keys and not tree.kids[node]:
        found = quoted_type(builder, tree.start[node], tree.end[node])
        if found is not None:
            return found
    if tree.end[node] - tree.start[node] > MAX_KEY or tree.kids[node]:
        return computed_text(builder, node)
    at = short_text(builder, tree.text(node))
    named = OWN_METHOD.fullmatch(tree.text(node)) if builder.dialect.texts_name_classes else None
    if not named or not named[2]:
        return at
    return builder.add(Op.CHOICE, [at, builder.add(Op.GET, own_class(builder, named[1]), builder.named(named[2]))])


def own_class(builder: Builder, word: str) -> int:
    """What a word of PHP means in a text: the class around, or above that."""
    is_above = word.lower() == "parent"
    return builder.add(Op.SUPER, builder.scope, NONE) if is_above else builder.add(Op.THIS, builder.scope)


def short_text(builder: Builder, written: str) -> int:
    """A text that may be a key, or a word."""
    if written[-1:] == "'" and builder.dialect.overloads and builder.dialect.declared:
        return builder.add(Op.MADE, CHARACTER) if written[0] == "'" else 1  # `L'a'` is another type
    if written[:1] == "'" and builder.dialect.selects:
        return of_name(builder, "char")
    if written[-1:] in "'\"`":
        return builder.add(Op.TEXT, builder.named(written.strip("'\"`")))
    if SYMBOL.fullmatch(written) and builder.dialect.made_names:
        return builder.add(Op.TEXT, builder.named(written[1:]))
    if written in ("true", "false") and builder.dialect.overloads:
        return of_name(builder, "boolean")
    is_null = written == "nullptr" or (written == "null" and builder.dialect.library)
    return builder.add(Op.MADE, NULL) if is_null else 1


def computed_text(builder: Builder, node: int) -> int:
    """A text of which at most the ends are known: `f"a_{b}"`."""
    kids = builder.tree.kids[node]
    made = of_template(builder, node) if kids and builder.tree.kind(kids[0]) != IS_TEXT else MADE
    if made != MADE or not builder.dialect.overloads:
        return made
    return builder.add(Op.TEXT, builder.named(""))


@visits("class_of")
def class_of(builder: Builder, node: int, _use: int) -> int:
    """`A.class`, a `Class<A>`; `a::class`, which may be that of an object"""
    tree = builder.tree
    of = [builder.visit(kid, Use.READ if tree.labels[kid] & VALUE else Use.TYPE) for kid in tree.kids[node]]
    type_ = builder.dialect.literals.get("class")
    return of_name(builder, type_, of) if type_ else MADE


@visits("nullable")
def nullable(builder: Builder, node: int, use: int) -> int:
    """`int?`, which is another type than `int`; of a class it is the same."""
    of = builder.tree.first(node, VALUE)
    at = builder.optional(of, use)
    name = builder.tree.text(of).rpartition(".")[2] if of != NONE else ""
    name = builder.dialect.type_aliases.get(name, name)
    if name in builder.dialect.texts or not builder.dialect.is_plain(name):
        return at
    return builder.add(Op.NAME, builder.named(name + "?"), NONE, None)


def of_name(builder: Builder, type_: str, of: Sequence[int] = ()) -> int:
    """An object of a type outside the project, which may be applied to others."""
    named = builder.add(Op.NAME, builder.named(type_), NONE, None)
    return builder.add(Op.CAST, to_types(builder, named, [*of]), MADE)


@visits("number")
def number(builder: Builder, node: int, _use: int) -> int:
    """`1`"""
    written = builder.tree.text(node).replace("_", "").replace("'", "")
    found = NUMERAL.fullmatch(written[:MAX_KEY])
    end = (found["end"] or "").lower() or "." * bool(found["part"]) if found else ""
    if type_ := builder.dialect.literals.get(end):
        return of_name(builder, type_)
    if len(written) > MAX_DIGITS or end:
        return 1
    if found and found["base"]:
        return whole(builder, int(found["base"], 0))
    return whole(builder, int(written)) if written.isdecimal() else 1


def whole(builder: Builder, value: int) -> int:
    """A number that is an `int`; what a larger one is, languages see differently."""
    return builder.add(Op.NUMBER, value) if value <= MAX_INT else 1


@visits("list")
def list_(builder: Builder, node: int, use: int) -> int:
    """`[a, b]`, `{a, b}`"""
    if builder.tree.source[builder.tree.start[node]] == BRACE:  # a set: hashes
        builder.scopes[builder.frame].flags |= Flag.OPERATES
    if any(builder.tree.kind(kid) == IS_KEYWORD for kid in builder.tree.kids[node]):
        return filled(builder, node)
    if any(builder.tree.kind(kid) == IS_PAIR for kid in builder.tree.kids[node]):
        return keyed(builder, node)
    found = items(builder, node, use)
    if builder.dialect.texts_name_classes and len(found) == 2:  # ["self", "a"]
        named = OWN_METHOD.fullmatch(builder.tree.text(builder.tree.kids[node][0]))
        found[0] = own_class(builder, named[1]) if named and not named[2] else found[0]
    return builder.add(Op.LIST, found, True)


def keyed(builder: Builder, node: int) -> int:
    """`[a => b, c, ...d]`"""
    tree, pairs = builder.tree, list[tuple[int, int]]()
    for kid in tree.kids[node]:
        if tree.kind(kid) == IS_PAIR:
            pairs.append(read_pair(builder, kid))
        elif tree.kind(kid) == IS_SPREAD:
            pairs.append((NONE, builder.visit(tree.first(kid, VALUE))))
        else:
            pairs.append((0, builder.visit(kid)))  # behind any
    return builder.add(Op.DICT, pairs)


def filled(builder: Builder, node: int) -> int:
    """`{.a = b, .c.d = e}`; of `{[1] = a}` what it holds."""
    tree = builder.tree
    pairs, keys, others = [], [], []
    for kid in tree.kids[node]:
        words = [*tree.having(kid, WORD)] if tree.kind(kid) == IS_KEYWORD else []
        if not words:
            others.append(builder.visit(kid))
            continue
        named = [designated(builder, word) for word in words]
        value = NONE
        for part in tree.kids[kid]:
            if tree.labels[part] & VALUE:
                value = builder.visit(part)
            elif not tree.labels[part] & WORD:  # [A].b
                builder.visit(part)
        for key, site in reversed(named[1:]):
            value = written_out(builder, [(key, max(value, 0))], [site])
        pairs.append((named[0][0], max(value, 0)))
        keys.append(named[0][1])
    return written_out(builder, pairs, keys) if pairs else builder.add(Op.LIST, others, False)


def designated(builder: Builder, word: int) -> tuple[int, Site]:
    """The field that a designator names, as the key of what is written out, and where it does."""
    builder.site(word, Use.KEYWORD, 0)
    return builder.add(Op.TEXT, builder.name(word)), builder.sites[-1]


@visits("tuple")
def tuple_(builder: Builder, node: int, use: int) -> int:
    """`(a, b)`"""
    return builder.add(Op.TUPLE, items(builder, node, use))


def items(builder: Builder, node: int, use: int) -> list[int]:
    """The expressions within, of which one may be spread."""
    tree = builder.tree
    inner = use if use == Use.TYPE else Use.READ
    if any(tree.kind(kid) == IS_SPREAD for kid in tree.kids[node]):
        builder.scopes[builder.frame].flags |= Flag.UNPACKS | Flag.SPREADS
    return [
        ~builder.visit(tree.first(kid, VALUE)) if tree.kind(kid) == IS_SPREAD else builder.visit(kid, inner)
        for kid in tree.kids[node]
    ]


@visits("dict")
def dict_(builder: Builder, node: int, _use: int) -> int:
    """`{a: b, **c}`"""
    tree = builder.tree
    pairs, keys = [], []
    for kid in tree.kids[node]:
        kind = tree.kind(kid)
        if kind == IS_PAIR:
            pairs.append(read_pair(builder, kid))
            keys += key_of(builder, tree.first(kid, KEY))
        elif kind == IS_NAME:  # { a }
            pairs.append((builder.add(Op.TEXT, builder.name(kid)), builder.visit(kid)))
            if builder.dialect.prototypes:
                builder.site(kid, Use.KEYWORD, 0)
                keys.append(builder.sites[-1])
        elif kind == IS_FUNCTION:  # { a() {} }
            value = builder.visit(kid)
            word = tree.first(kid, WORD)
            pairs.append((NONE if word == NONE else builder.add(Op.TEXT, builder.key_name(word)), value))
        else:
            builder.scopes[builder.frame].flags |= Flag.UNPACKS
            pairs.append((NONE, builder.visit(kid)))
    return written_out(builder, pairs, keys)


def key_of(builder: Builder, node: int) -> list[Site]:
    """The occurrence of a key that is a name and was read just now, where such a name may be that of a field."""
    last = builder.sites[-1] if builder.dialect.prototypes and builder.tree.labels[node] & IS_LABEL else None
    return [last] if last and last.use == Use.KEYWORD and last.name == builder.name(node) else []


def written_out(builder: Builder, pairs: list[tuple[int, int]], keys: list[Site]) -> int:
    """An object that is written out, which its keys are asked of."""
    at = builder.add(Op.DICT, pairs)
    for key in keys:
        key.at = at
    return at


def read_pair(builder: Builder, node: int) -> tuple[int, int]:
    """`a: b`"""
    tree = builder.tree
    key, value = tree.first(node, KEY), builder.optional(tree.first(node, VALUE))
    is_plain = key != NONE and not tree.kids[key] and tree.labels[key] & (IS_LABEL | IS_TEXT)
    if is_plain and tree.end[key] - tree.start[key] <= MAX_KEY and builder.name_value(value, key):
        builder.define_member(key, value)
        return builder.add(Op.TEXT, builder.key_name(key)), value
    at = builder.optional(key)
    if not constant_key(builder, max(at, 0)):  # its hash
        builder.scopes[builder.frame].flags |= Flag.OPERATES
    return at, max(value, 0)


@visits("variant")
def variant(builder: Builder, node: int, _use: int) -> int:
    """`Some(a)` where no value is taken apart."""
    builder.visit_all(node)
    return 0


@visits("pair")
def pair(builder: Builder, node: int, _use: int) -> int:
    """`a: b` where no dictionary is."""
    builder.visit_all(node)
    return 0


@visits("comprehension")
def comprehension(builder: Builder, node: int, _use: int) -> int:
    """`[a for b in c if d]`"""
    tree = builder.tree
    builder.scopes[builder.frame].flags |= Flag.OPERATES  # `if c`, and the hashes of a set
    first = next((kid for kid in tree.kids[node] if tree.kind(kid) == IS_LOOP), NONE)
    over = NONE if first == NONE else tree.first(first, OVER)
    if over != NONE:  # what the first loop goes over is read outside
        builder.gone_over[over] = builder.visit(over)
    builder.enter(node, ScopeKind.BLOCK, NONE, builder.line(node))
    value = tree.first(node, VALUE)
    found = [0]

    def run() -> None:
        for kid in tree.kids[node]:
            if kid != value:
                builder.visit(kid)
        if tree.kind(value) == IS_PAIR:
            found.append(builder.add(Op.DICT, [read_pair(builder, value)]))
        else:
            found.append(builder.add(Op.LIST, [builder.visit(value)], False))

    builder.flow.loop(run)
    builder.leave()
    return found[-1]
