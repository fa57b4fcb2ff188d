"""How each kind of expression becomes one of the table."""

import re
from functools import partial

from fledgling.worker.graph.builder import QUOTES, REPLACED, Builder, visits
from fledgling.worker.graph.put_by_call import put_by_call
from fledgling.worker.graph.quoted import called_with_types, quoted_type
from fledgling.worker.graph.reduced import BITS
from fledgling.worker.graph.tables import NONE, Flag, Imported, Op, ScopeKind, Use

CALLING = (Use.CALL, Use.DECORATOR)
MAX_SLICE = 8  # elements of a slice that are told apart
BRACE = ord("{")
SIGNS = b"+-"
NUMERAL = re.compile(  # of a number: what says its base, whether it has a point, and what it ends in
    r"(?i)(?:(?P<base>0x[0-9a-f]+|0b[01]+)|\d*(?P<part>\.\d*(?:e[+-]?\d+)?|e[+-]?\d+)?)(?P<end>[ul]*|[fdm])?"
)
MAX_DIGITS = 34  # of a number of 32 bits, and what begins it
MAX_INT = 2**31 - 1  # of a number that is written out
MAX_KEY = 80  # characters of a string that can be a key
OF, KEY, ARG, ARGS, ARM, COND, VALUE, TYPE, WORD, LEFT, RIGHT, OVER, BODY, BIND = (
    BITS[role]
    for role in (
        "of",
        "key",
        "arg",
        "args",
        "arm",
        "cond",
        "value",
        "type",
        "word",
        "left",
        "right",
        "over",
        "body",
        "bind",
    )
)
REST, REST_WORDS, BY_NAME, RETURNS, DEFINED, INIT = (
    BITS[role] for role in ("rest", "rest_words", "by_name", "returns", "defined", "init")
)
IS_KEYWORD, IS_SPREAD, IS_SPREAD_WORDS, IS_PAIR, IS_PARAM, IS_NAME, IS_LOOP = (
    BITS[kind] for kind in ("keyword", "spread", "spread_words", "pair", "param", "name", "loop")
)
IS_AWAIT, IS_NEW, IS_POINTEE, IS_PATH = BITS["await"], BITS["new"], BITS["pointee"], BITS["path"]
MAKES, INCLUDED, IS_PRESENT = BITS["makes"], BITS["included"], BITS["present"]
IS_CLASS, IS_NARROW, IS_INDEX, IS_CALL = BITS["class"], BITS["narrow"], BITS["index"], BITS["call"]
IS_SLICE, IS_LABEL, IS_FUNCTION, IS_NUMBER, IS_DICT, IS_TEXT = (
    BITS[kind] for kind in ("slice", "label", "function", "number", "dict", "text")
)


@visits("name")
def name(builder: Builder, node: int, use: int) -> int:
    """`a`"""
    at = builder.use_name(builder.name(node))
    is_call = builder.dialect.bare_calls and builder.expressions[at][0] == Op.BARE
    if is_call and use == Use.READ and not builder.tree.text(node)[:1].isupper():
        at = builder.add(Op.CALL, at, [], [])
        use = Use.CALL
    if use == Use.TYPE:
        builder.mean_type(at)
    builder.site(node, use, at)
    return at


@visits("own_field")
def own_field(builder: Builder, node: int, use: int) -> int:
    """`@a`: a field of the object that a method is of"""
    part = builder.name(node)
    of = builder.add(Op.THIS, builder.scope)
    at = builder.use_path(of, part, builder.add(Op.GET, of, part))
    builder.site(node, use, at)
    return at


@visits("get")
def get(builder: Builder, node: int, use: int) -> int:
    """`a.b`"""
    tree = builder.tree
    first = tree.first(node, OF)
    of = builder.optional(first)
    key = tree.first(node, KEY)
    types: list[int] = []
    if key == NONE:
        key, types = generic_key(builder, node)
    if key == NONE or of == NONE:
        return 0
    if tree.kind(key) == IS_PATH:  # a->B::c()
        return builder.visit(key, use)
    key = without_sigil(builder, key)
    between = tree.source[tree.end[first] : tree.start[key]]
    if between == b"::":
        of = before_others(builder, of)
    elif between == b"->" and builder.dialect.pointers and builder.expressions[of][0] != Op.THIS:
        of = builder.add(Op.POINTED, of, builder.named("operator->"))
    part = builder.name(key)
    builder.replace([key], of)
    at = builder.use_path(of, part, builder.add(Op.GET, of, part))
    builder.site(key, use, at)
    return builder.add(Op.INDEX, at, builder.add(Op.TUPLE, types)) if types and use == Use.TYPE else at


def without_sigil(builder: Builder, node: int) -> int:
    """The node of a field's name, which no sigil is part of: `s` in `A::$s`."""
    kids = builder.tree.kids[node]
    return kids[0] if builder.dialect.sigil and kids else node


@visits("reference")
def reference(builder: Builder, node: int, use: int) -> int:
    """`a::b`, `::b`: a function, and no variable of its name, where a name alone means the variable."""
    alone = builder.tree.first(node, VALUE)
    at = get(builder, node, use) if alone == NONE else builder.visit(alone, use)
    return wrapped(builder, Op.ALIAS, at)


def before_others(builder: Builder, at: int) -> int:
    """A name that others follow in a path: of a namespace and what else may have its name, it is the namespace."""
    if builder.dialect.spaces != "global" and not builder.dialect.crates:
        return at
    return wrapped(builder, Op.PREFIX, at)


def wrapped(builder: Builder, op: int, at: int) -> int:
    """What an operation makes of an expression, which the occurrence just added then means."""
    meant = builder.add(op, at)
    if builder.sites and builder.sites[-1].at == at:
        builder.sites[-1].at = meant
    return meant


def is_generic(builder: Builder, node: int) -> bool:
    """Whether a node is a name with types: `a<B>`."""
    tree = builder.tree
    return tree.kind(node) == IS_INDEX and any(tree.labels[kid] & TYPE for kid in tree.kids[node][1:])


def generic_key(builder: Builder, node: int) -> tuple[int, list[int]]:
    """Read the types of `a.b<C>`; return the node of `b`, and the types."""
    tree = builder.tree
    for kid in tree.kids[node]:
        if not tree.labels[kid] & OF and is_generic(builder, kid):
            key, *types = tree.kids[kid]
            return key, [builder.visit(type_, Use.TYPE) for type_ in types]
    return NONE, []


@visits("index")
def index(builder: Builder, node: int, use: int) -> int:
    """`a[b]`"""
    tree = builder.tree
    if use != Use.TYPE:
        builder.scopes[builder.frame].flags |= Flag.INDEXES
    of, *keys = [builder.visit(kid, inner) for kid, inner in key_uses(builder, node, use)] or [0]
    builder.replace(tree.kids[node], of)
    if len(keys) == 1 and tree.kind(tree.kids[node][1]) == IS_SLICE:
        return part_of(builder, of, tree.kids[node][1])
    key = keys[0] if len(keys) == 1 else builder.add(Op.TUPLE, keys)
    at = builder.add(Op.INDEX, of, key)
    constant = constant_key(builder, key)
    return builder.use_path(of, constant, at) if constant else at


def key_uses(builder: Builder, node: int, use: int) -> list[tuple[int, int]]:
    """What stands in `A[B, C]`, with its use: of a type so are all, or the first few, `Annotated[B, "words"]`."""
    kids = builder.tree.kids[node]
    if use != Use.TYPE or not kids:
        return [(kid, Use.READ) for kid in kids]
    name = builder.tree.text(kids[0]).rpartition(".")[2]
    typed = builder.dialect.typed_keys.get(name, len(kids))
    return [(kid, Use.TYPE if place <= typed else Use.READ) for place, kid in enumerate(kids)]


def part_of(builder: Builder, of: int, node: int) -> int:
    """`a[1:3]`: those elements, or any where the places are not written out."""
    places = builder.tree.text(node).split(":")
    if len(places) == 2 and all(place.strip().isdecimal() and len(place) < 4 for place in places):
        first, end = map(int, places)
        if end - first <= MAX_SLICE:
            return builder.add(Op.LIST, [builder.add(Op.ITEM, of, place) for place in range(first, end)], True)
    return builder.add(Op.LIST, [~of], False)


@visits("slice")
def slice_(builder: Builder, node: int, _use: int) -> int:
    """`1:3`"""
    builder.visit_all(node)
    return 1


def constant_key(builder: Builder, key: int) -> tuple[object, ...] | None:
    """A key that is written out."""
    found = builder.expressions[key]
    return found if found[0] in (Op.TEXT, Op.NUMBER) else None


@visits("call")
def call(builder: Builder, node: int, use: int) -> int:
    """`a(b, c=d)`"""
    if builder.tree.labels[node] & MAKES:
        make(builder, node)
    return called(builder, node, Op.CALL, use)


@visits("new")
def new(builder: Builder, node: int, use: int) -> int:
    """`new A(b)`"""
    at = called(builder, node, Op.NEW, use)
    op, *parts = builder.expressions[at]
    if op == Op.NEW:
        builder.mean_type(parts[0])
    return at


def of_type(builder: Builder, node: int, type_: int) -> int:
    """Read the value of what has a declared type, if there is one: it is the class of `new()`."""
    tree = builder.tree
    if type_ == NONE or node == NONE or tree.kind(node) != IS_NEW or tree.first(node, OF) != NONE:
        return builder.optional(node)
    return called(builder, node, Op.NEW, Use.READ, type_)


def called(builder: Builder, node: int, op: int, use: int, declared: int = NONE) -> int:
    """A call, of a class where the language says so: of a type, where it names none."""
    tree = builder.tree
    of, key = tree.first(node, OF), tree.first(node, KEY)
    if is_behind_call(builder, node, of):
        return with_further(builder, node, of)
    after = NONE
    if key != NONE:
        function = member_called(builder, of, key)
    elif of != NONE and (is_generic(builder, of) or (op == Op.NEW and tree.kind(of) == IS_INDEX and tree.kids[of])):
        of_class, *types = tree.kids[of]  # new A<B>(), a<B>()
        function = builder.visit(of_class, Use.CALL)
        after = len(builder.sites) - 1
        for type_ in types:
            builder.visit(type_, Use.TYPE)
    else:
        function = builder.optional(of, use if use == Use.DECORATOR else Use.CALL)
    if is_super(builder, function):
        for kid in tree.kids[node]:
            builder.visit_all(kid)
        return builder.add(Op.SUPER, builder.frame)
    function = max(function, declared, 0)  # a broken text may lack it
    type_ = builder.applied.pop(function, NONE)
    site = len(builder.sites) - 1 if after == NONE else after
    arguments: list[int] = []
    words: list[tuple[int, int]] = []
    typed = called_with_types(builder, function)
    made = function
    around, builder.calling = builder.calling, last_number(builder, function)
    for kid in tree.kids[node]:
        if kid not in (of, key):
            made = read_part(builder, kid, made, arguments, words, typed)
    builder.calling = around
    note_replaced(builder, node, function, arguments)
    put_by_call(builder, node, function, arguments, words)
    at = builder.add(op, made, arguments, words)
    is_named = builder.expressions[function][0] in (Op.NAME, Op.GET, Op.REACH, Op.BARE, Op.UNSURE)
    if site >= 0 and is_named and builder.sites[site].at == function and builder.sites[site].use in CALLING:
        builder.sites[site].at = at
    else:
        builder.site_of_call(node, at)
    return at if type_ == NONE else of_applied(builder, function, type_, at)


def of_applied(builder: Builder, function: int, type_: int, at: int) -> int:
    """What a call of a function gives that is applied to a type: `static_cast<A*>(b)`, `make_unique<A>()`."""
    name = last_name(builder, function)
    if name in builder.dialect.casts:
        return builder.add(Op.DECLARED, type_, NONE)
    is_pointer = name in builder.dialect.pointers
    return builder.add(Op.CAST, builder.add(Op.INDEX, function, type_), at) if is_pointer else at


@visits("applied")
def applied(builder: Builder, node: int, use: int) -> int:
    """`a<B>`, a function"""
    first, *types = builder.tree.kids[node]
    read = [builder.visit(type_, Use.TYPE) for type_ in types]
    at = builder.visit(first, use)
    if use == Use.CALL and read:
        builder.applied[at] = read[0]
    return at


def make(builder: Builder, node: int) -> None:
    """Note that a macro defines names of a module: those of a file, `include!("a.rs")`, or others that are not seen."""
    tree = builder.tree
    texts = [each for kid in tree.kids[node] for each in (kid, *tree.kids[kid]) if tree.labels[each] & INCLUDED]
    if not texts:
        builder.scopes[builder.scope].flags |= Flag.MAKES
    for text in texts:
        builder.scopes[builder.scope].stars.append(len(builder.imports))
        builder.imports.append(Imported(builder.line(node), tree.text(text).strip('"'), "*"))


def note_replaced(builder: Builder, node: int, function: int, arguments: list[int]) -> None:
    """Note whose members a call sets by name: `setattr(a, "b", c)`, `Object.defineProperties(a, { b: c })`.

    Where nothing stands before the name, it is what the method is called on: `a.define_method(:b) { c }`.
    """
    tree = builder.tree
    if arguments[:1] and arguments[0] >= 0:
        given = [kid for args in tree.having(node, ARGS) for kid in tree.kids[args]]
        pairs = [pair for kid in given if tree.kind(kid) == IS_DICT for pair in tree.kids[kid]]
        op, *parts = builder.expressions[function]
        is_first = bool(tree.labels[given[0]] & REPLACED) if given else False
        of = parts[0] if op == Op.GET and is_first else arguments[0]
        builder.replace(given + [tree.first(pair, KEY) for pair in pairs], of)


def is_behind_call(builder: Builder, node: int, of: int) -> bool:
    """Whether a call has but a lambda, behind another one: `a(b) { c }` is one call in Kotlin."""
    tree = builder.tree
    others = [kid for kid in tree.kids[node] if kid != of]
    is_call = of != NONE and tree.kind(of) == IS_CALL
    return is_call and bool(others) and all(tree.labels[kid] & ARG and not tree.labels[kid] & ARGS for kid in others)


def with_further(builder: Builder, node: int, of: int) -> int:
    """The call that another one goes on with: what stands behind it are further arguments."""
    at = builder.visit(of, Use.CALL)
    if builder.expressions[at][0] != Op.CALL:
        return at
    _, function, arguments, words = builder.expressions[at]
    around, builder.calling = builder.calling, last_number(builder, function)
    for kid in builder.tree.kids[node]:
        if kid != of:
            add_argument(builder, kid, arguments, words)
    builder.calling = around
    return at


def read_part(
    builder: Builder,
    node: int,
    function: int,
    arguments: list[int],
    words: list[tuple[int, int]],
    typed: tuple[str, ...] = (),
) -> int:
    """Read what stands beside the function of a call; return what is called."""
    tree = builder.tree
    labels = tree.labels[node]
    if labels & ARGS and not labels & ARG:
        for argument in tree.kids[node]:
            add_argument(builder, argument, arguments, words, typed)
    elif labels & (ARG | ARGS):
        add_argument(builder, node, arguments, words, typed)
    else:
        value = builder.visit(node, Use.TYPE if labels & TYPE else Use.READ)
        if tree.kind(node) == IS_CLASS:  # new A() { ... }
            builder.scopes[builder.expressions[value][1]].bases = [function]
            return value
    return function


def member_called(builder: Builder, of: int, key: int) -> int:
    """What is called in `a.b()`, where no node holds `a.b` alone, or in `b()`."""
    part = builder.name(key)
    if of != NONE:
        at = builder.add(Op.GET, builder.visit(of), part)
    else:  # a variable of that name is not what is called
        at = builder.add(Op.BARE, part, builder.scope, 0 if part in builder.own[0] else NONE)
    builder.site(key, Use.CALL, at)
    return at


def is_super(builder: Builder, function: int) -> bool:
    """Whether a function is the one that means the class above."""
    expression = builder.expressions[function]
    is_free = expression[0] == Op.NAME and expression[2] == NONE
    return is_free and builder.text_of(expression[1]) == builder.dialect.super_function


def add_argument(
    builder: Builder, node: int, arguments: list[int], words: list[tuple[int, int]], typed: tuple[str, ...] = ()
) -> None:
    """Read an argument; those of some places and names are `typed`."""
    tree = builder.tree
    kind = tree.kind(node)
    if kind == IS_KEYWORD:
        word = tree.first(node, WORD)
        is_type = bool(typed) and tree.text(word) in typed
        value = builder.visit(tree.first(node, VALUE), Use.TYPE if is_type else Use.READ)
        builder.site(word, Use.KEYWORD, 0)
        words.append((builder.name(word), value))
    elif kind == IS_SPREAD:
        builder.scopes[builder.frame].flags |= Flag.UNPACKS | Flag.SPREADS
        arguments.append(~builder.visit(tree.first(node, VALUE)))
    elif kind == IS_SPREAD_WORDS:
        builder.scopes[builder.frame].flags |= Flag.UNPACKS
        words.append((NONE, builder.visit(tree.first(node, VALUE))))
    else:
        is_type = str(len(arguments)) in typed and min(arguments, default=0) >= 0  # `*a` may be any number of places
        arguments.append(builder.visit(node, Use.TYPE if is_type else Use.READ))


@visits("keyword", "spread", "spread_words")
def inner_value(builder: Builder, node: int, _use: int) -> int:
    """An argument that stands where none is expected: `metaclass=M`, `*rest`."""
    word = builder.tree.first(node, WORD)
    if word != NONE:
        builder.site(word, Use.KEYWORD, 0)
    return builder.optional(builder.tree.first(node, VALUE))


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
        return builder.add(Op.TEXT, builder.named("")) if builder.dialect.overloads else 1
    written = tree.text(node)
    if written[:1] == "'" and builder.dialect.overloads and builder.dialect.declared:
        return 1  # `char` and `char *` are not told apart
    if written[:1] == "'" and builder.dialect.selects:
        return of_name(builder, "char")
    if written[-1:] in "'\"`":
        return builder.add(Op.TEXT, builder.named(written.strip("'\"`")))
    if written in ("true", "false") and builder.dialect.overloads:
        return of_name(builder, "boolean")
    return 1


@visits("class_of")
def class_of(builder: Builder, node: int, _use: int) -> int:
    """`A.class`"""
    for kid in builder.tree.kids[node]:
        builder.visit(kid, Use.TYPE)
    type_ = builder.dialect.literals.get("class")
    return of_name(builder, type_) if type_ else 1


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


def of_name(builder: Builder, type_: str) -> int:
    """An object of a type outside the project."""
    return builder.add(Op.CAST, builder.add(Op.NAME, builder.named(type_), NONE, None), 1)


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
    return builder.add(Op.LIST, items(builder, node, use), True)


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
    pairs = []
    for kid in tree.kids[node]:
        kind = tree.kind(kid)
        if kind == IS_PAIR:
            pairs.append(read_pair(builder, kid))
        elif kind == IS_NAME:  # { a }
            pairs.append((builder.add(Op.TEXT, builder.name(kid)), builder.visit(kid)))
        elif kind == IS_FUNCTION:  # { a() {} }
            value = builder.visit(kid)
            word = tree.first(kid, WORD)
            pairs.append((NONE if word == NONE else builder.add(Op.TEXT, builder.key_name(word)), value))
        else:
            builder.scopes[builder.frame].flags |= Flag.UNPACKS
            pairs.append((NONE, builder.visit(kid)))
    return builder.add(Op.DICT, pairs)


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

    builder.loop(run)
    builder.leave()
    return found[-1]


def read_choice(builder: Builder, node: int, use: int, found: list[tuple[int, int]]) -> None:
    """Read one of the parts of a choice, and add it to those that are found."""
    at = builder.visit(node, use)
    found.append((node, builder.add(Op.PRESENT, at) if builder.tree.labels[node] & IS_PRESENT else at))


@visits("choice")
def choice(builder: Builder, node: int, use: int) -> int:
    """`a if b else c`, `a or b`, `a | b`"""
    tree = builder.tree
    builder.scopes[builder.frame].flags |= Flag.OPERATES
    inner = use if use == Use.TYPE else Use.READ
    found: list[tuple[int, int]] = []
    for place, kid in enumerate(sorted(tree.kids[node], key=lambda kid: not tree.labels[kid] & COND)):
        if place and tree.labels[kid] & ARM:  # a || (b = c), (a := b) if c else d
            arm, _ = builder.arm(partial(read_choice, builder, kid, inner, found))
            if arm:
                builder.join([(arm, False)], optional=True)
        else:
            read_choice(builder, kid, inner, found)
    return builder.add(Op.CHOICE, [at for kid, at in found if tree.labels[kid] & ARM])


@visits("sum")
def sum_(builder: Builder, node: int, _use: int) -> int:
    """`a + b`"""
    builder.scopes[builder.frame].flags |= Flag.OPERATES
    parts = [(kid, builder.visit(kid)) for kid in builder.tree.kids[node]]
    return builder.add(Op.SUM, [1 if is_negative(builder, kid) else at for kid, at in parts])  # `-1` is no `uint`


@visits("operation", "narrow")
def operation(builder: Builder, node: int, _use: int) -> int:
    """What gives nothing that is followed: `not a`."""
    tree = builder.tree
    builder.scopes[builder.frame].flags |= Flag.OPERATES
    if is_negative(builder, node):
        return builder.visit(tree.kids[node][0])
    found: dict[int, int] = {}
    for kid in tree.kids[node]:
        if tree.labels[kid] & BIND and tree.labels[node] & IS_NARROW:  # a instanceof B b
            parts = [found.get(role, 0) for role in (TYPE, LEFT)]
            builder.bind(kid, builder.add(Op.CAST, *parts))
            continue
        at = builder.visit(kid, Use.TYPE if tree.labels[kid] & TYPE else Use.READ)
        if kid == tree.kids[node][0] and tree.source[tree.start[kid]] in QUOTES:  # "%s" % a
            builder.scopes[builder.frame].flags |= Flag.FORMATS
        if tree.labels[kid] & OVER:  # a in b
            builder.take(at, kid)
        found.update((role, at) for role in (TYPE, LEFT) if tree.labels[kid] & role)
    return 1


def is_negative(builder: Builder, node: int) -> bool:
    """Whether a node is a number with a sign, `-5L`, which has the type of the number where that says which."""
    tree = builder.tree
    kids = tree.kids[node]
    is_number = len(kids) == 1 and bool(tree.labels[kids[0]] & IS_NUMBER or tree.kind(kids[0]) == IS_NUMBER)
    return bool(builder.dialect.literals) and is_number and tree.source[tree.start[node]] in SIGNS


@visits("pointed")
def pointed(builder: Builder, node: int, use: int) -> int:
    """`*a`"""
    of = builder.optional(builder.tree.first(node, VALUE), use)
    return of if use == Use.CALL or of <= 1 else builder.add(Op.POINTED, of, builder.named("operator*"))


@visits("addressed")
def addressed(builder: Builder, node: int, use: int) -> int:
    """`&a`"""
    of = builder.optional(builder.tree.first(node, VALUE), use)
    return of if use == Use.CALL or of <= 1 else builder.add(Op.ADDRESSED, of)


@visits("pointee")
def pointee(builder: Builder, node: int, use: int) -> int:
    """`unique_ptr<A>` in `unique_ptr<A>* b`, or the file's name for that: what b points to is a pointer itself."""
    builder.tree.unsay(node, IS_POINTEE)
    at = builder.visit(node, use)
    bound = [builder.bindings[own].value for own in builder.scopes[0].every.get(last_number(builder, at), ())]
    is_pointer = any(is_pointer_type(builder, each) for each in (bound if len(bound) == 1 else [at]))
    return builder.add(Op.ARRAY, at, False) if is_pointer else at


def is_pointer_type(builder: Builder, at: int) -> bool:
    """Whether a type is a pointer of a library, applied to a type."""
    op, *parts = builder.expressions[at]
    return op == Op.INDEX and last_name(builder, parts[0]) in builder.dialect.pointers


def last_name(builder: Builder, at: int) -> str:
    """The last word of a name or path; empty for anything else."""
    name = last_number(builder, at)
    return "" if name == NONE else builder.text_of(name)


def last_number(builder: Builder, at: int) -> int:
    """The number of the last word of a name or path; -1 for anything else."""
    op, *parts = builder.expressions[at]
    found: int = parts[1] if op == Op.GET else parts[0] if op in (Op.NAME, Op.BARE) else NONE
    return found


@visits("await")
def await_(builder: Builder, node: int, use: int) -> int:
    """`await a`: a itself; `<-a`: what it gives."""
    tree = builder.tree
    of = tree.first(node, VALUE)
    if of == NONE and tree.labels[node] & VALUE:  # there is no more than the name: `[A]`
        tree.unsay(node, IS_AWAIT)
        return builder.visit(node, use)
    value = builder.optional(of, use)
    return builder.add(Op.ELEMENT, value) if of != NONE and tree.labels[of] & OVER else value
