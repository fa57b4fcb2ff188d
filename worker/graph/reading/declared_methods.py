"""Methods of Ruby that a call declares where it stands: `delegate :a, to: :b`, `has_many :posts`, `let(:a) { b }`."""

import re
from collections.abc import Callable, Iterator

from fledgling.worker.graph.reading.builder import Builder
from fledgling.worker.graph.reading.expressions import last_name
from fledgling.worker.graph.reading.labels import IS_PAIR, IS_TEXT, KEY
from fledgling.worker.graph.reading.named_callbacks import arguments_of, class_around
from fledgling.worker.graph.tables import NONE, Flag, Op, ScopeKind, Use
from fledgling.worker.graph.unit import in_camels

NAME = re.compile(r":?[\"']?(@?[A-Za-z_]\w*+[?!=]?)[\"']?")
PATH = re.compile(r"[\"'](?:::)?([A-Z]\w*+(?:::[A-Z]\w*+)*+)[\"']")
# How several are called of which each is an A, and what is left of that: `categories` are of a Category.
PLURALS = (
    (re.compile(r"ies$"), "y"), (re.compile(r"(?<=ss|sh|ch|us|.x|.z)es$"), ""), (re.compile(r"people$"), "person"),
    (re.compile(r"children$"), "child"), (re.compile(r"(?<!s)s$"), ""),
)  # fmt: skip
MADE_OF_ONE = ("build_{}", "create_{}", "create_{}!", "reload_{}")


def note_declared(builder: Builder, node: int, function: int, arguments: list[int]) -> None:
    """Note the methods that a call without a receiver declares, by the name of what it calls."""
    if not builder.dialect.declaring or builder.expressions[function][0] != Op.BARE:
        return
    how = builder.dialect.declaring.get(last_name(builder, function))
    if how and how in OF_BLOCKS:
        OF_BLOCKS[how](builder, node, arguments)
    elif how in OF_CLASSES and (own := class_around(builder)) != NONE:
        OF_CLASSES[how](builder, node, own)


def given(builder: Builder, node: int) -> tuple[list[tuple[str, int]], dict[str, int]]:
    """The names that a call gets, with the byte where each stands, and what stands behind its keys."""
    tree, names, words = builder.tree, list[tuple[str, int]](), dict[str, int]()
    for kid in arguments_of(builder, node):
        key = tree.first(kid, KEY)
        if tree.kind(kid) == IS_PAIR and key != NONE:
            words.update((tree.text(key).strip(":"), part) for part in tree.kids[kid] if part != key)
        elif tree.kind(kid) == IS_TEXT and (written := NAME.fullmatch(tree.text(kid))):
            names.append((written[1], tree.start[kid] + written.start(1)))
    return names, words


def _delegated(builder: Builder, node: int, own: int) -> None:
    """`delegate :a, :b, to: :c, prefix: true`"""
    names, words = given(builder, node)
    written = NAME.fullmatch(builder.tree.text(words["to"])) if "to" in words else None
    if written:
        before = builder.tree.text(words["prefix"]).strip(":\"'") if "prefix" in words else ""
        prefix = {"": "", "true": f"{written[1]}_", "false": ""}.get(before, f"{before}_")
        for name, start in names:
            _stands_for(builder, node, own, f"{prefix}{name}", (written[1], name, start))


def _forwarded(builder: Builder, node: int, own: int) -> None:
    """`def_delegators :@a, :b, :c`"""
    names, _ = given(builder, node)
    for name, start in names[1:]:
        _stands_for(builder, node, own, name, (names[0][0], name, start))


def _forwarded_as(builder: Builder, node: int, own: int) -> None:
    """`def_delegator :@a, :b, :c`: c of this is the b of that."""
    names, _ = given(builder, node)
    if len(names) > 1:
        _stands_for(builder, node, own, names[-1 if len(names) > 2 else 1][0], (names[0][0], *names[1]))


def _stands_for(builder: Builder, node: int, own: int, name: str, of: tuple[str, str, int]) -> None:
    """Let a method of a class be that of another object, which one of its methods or fields gives."""
    giving, method, start = of
    class_ = builder.add(Op.CLASS, own)
    held = builder.add(Op.GET, builder.add(Op.INSTANCE, class_), builder.named(giving))
    held = class_ if giving == "class" else held if giving.startswith("@") else builder.add(Op.CALL, held, [], [])
    number = builder.named(method)
    value = builder.add(Op.GET, held, number)
    value = builder.add(Op.UNSURE, value)  # whoever else defines what is called may do anything else
    builder.bind_silently(builder.named(name), own, builder.add(Op.ALIAS, value), node)
    builder.site_at(start, number, Use.CALL, builder.add(Op.CALL, value, [], []))


def _one(builder: Builder, node: int, own: int) -> None:
    """`belongs_to :author`"""
    for name, held in _related(builder, node, lambda name: [name]):
        _gives(builder, node, own, name, held)
        for made in MADE_OF_ONE:
            _gives(builder, node, own, made.format(name), held)


def _many(builder: Builder, node: int, own: int) -> None:
    """`has_many :comments`"""
    for name, held in _related(builder, node, _singular):
        _gives(builder, node, own, name, builder.add(Op.LIST, [held], False))


def _related(builder: Builder, node: int, classes: Callable[[str], list[str]]) -> Iterator[tuple[str, int]]:
    """Yield the name of what a class is said to have, and an object of the class of that name, or of what it says."""
    names, words = given(builder, node)
    said = PATH.fullmatch(builder.tree.text(words["class_name"])) if "class_name" in words else None
    paths = [said[1].split("::")] if said else [[in_camels(name)] for name in classes(names[0][0])] if names else []
    if names and "polymorphic" not in words and ("class_name" in words) == bool(said):
        found = [builder.add(Op.INSTANCE, builder.use_names(path)) for path in paths]
        yield names[0][0], found[0] if len(found) == 1 else builder.add(Op.CHOICE, found)


def _singular(name: str) -> list[str]:
    """What each of several may be called.

    >>> _singular("movies"), _singular("boxes"), _singular("news")
    (['movy', 'movie'], ['box', 'boxe'], ['new'])
    """
    return [end.sub(left, name) for end, left in PLURALS if end.search(name)] or [name]


def _gives(builder: Builder, node: int, own: int, name: str, value: int, flags: int = 0) -> None:
    """Let a class have a method, which nobody has written, that gives a value."""
    around, builder.scope = builder.scope, own
    scope = builder.enter(NONE, ScopeKind.FUNCTION, builder.named(name), builder.line(node), flags)
    builder.scopes[scope].returned = [value]
    builder.leave()
    builder.scope = around
    made = builder.add(Op.UNSURE, builder.add(Op.FUNCTION, scope))
    builder.bind_silently(builder.named(name), own, made, node)


def _some_of_all(builder: Builder, node: int, own: int) -> None:
    """`scope :recent, -> { a }`: the class itself has a method that gives objects of it."""
    names, _ = given(builder, node)
    for name, _ in names[:1]:
        held = builder.add(Op.INSTANCE, builder.add(Op.CLASS, own))
        _gives(builder, node, own, name, builder.add(Op.LIST, [held], False), Flag.STATIC)


def _named_block(builder: Builder, node: int, arguments: list[int]) -> None:
    """`let(:a) { b }`, `subject { b }`: what stands further down in the block around has a variable, which is b."""
    blocks = [at for at in arguments if at >= 0 and builder.expressions[at][0] == Op.FUNCTION]
    if not blocks or builder.scopes[builder.scope].kind != ScopeKind.LAMBDA:
        return
    names, _ = given(builder, node)
    value = builder.add(Op.CALL, blocks[-1], [], [])
    name = names[0][0] if names else builder.tree.text(builder.tree.first(node, KEY))
    builder.bind_silently(builder.named(name), builder.scope, value, node)


OF_CLASSES: dict[str, Callable[[Builder, int, int], None]] = {
    "delegated": _delegated,
    "forwarded": _forwarded,
    "forwarded_as": _forwarded_as,
    "one": _one,
    "many": _many,
    "some": _some_of_all,
}
OF_BLOCKS: dict[str, Callable[[Builder, int, list[int]], None]] = {"block": _named_block}
