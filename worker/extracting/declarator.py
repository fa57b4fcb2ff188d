"""What a declarator of C or C++ declares (C11 6.7.6, C++20 9.3): names there stand inside of what they are.

A tree-sitter query cannot follow a path of any length, so `@declarator` captures the outermost part, and this finds
the name in it.
"""

from msgspec import Struct
from tree_sitter import Node

from fledgling.worker.extracting.source_text import Span

INNER = ("declarator", "identifier", "operator_name", "destructor_name", "operator_cast")
WRAPPER = frozenset({"parenthesized_declarator", "attributed_declarator", "init_declarator"})  # say nothing themselves
NAME = frozenset({"identifier", "field_identifier", "type_identifier", "operator_name", "destructor_name"})


class DeclaredName(Struct, frozen=True):
    """A name, the scopes it is qualified with, whether it is a function, and where its value begins; in bytes.

    `declared(...)` of `A<T>::f(int)` has the name `f`, the owner `A`, and is a function; of `(*g)(int)` only the name.
    """

    name: Span
    owners: tuple[Span, ...]
    is_function: bool
    is_plain: bool  # no macro by its look: an operator, or a name not all in capitals
    value: int | None


def declared(declarator: Node) -> DeclaredName | None:
    """Follow a declarator to its name; None where it has no single one (structured bindings, errors)."""
    value = declarator.child_by_field_name("value")
    owners: list[Span] = []
    is_function = False
    node: Node | None = declarator
    while node:
        kind = node.type
        if kind in NAME:
            plain = kind.endswith("_name") or not (node.text or b"").isupper()
            begin = value.start_byte if value else None
            return DeclaredName(node.byte_range, tuple(owners), is_function, plain, begin)
        if kind == "operator_cast":
            parameters = node.child_by_field_name("declarator")
            end = parameters.start_byte if parameters else node.end_byte
            return DeclaredName((node.start_byte, end), tuple(owners), True, True, None)
        if kind == "qualified_identifier":
            if scope := node.child_by_field_name("scope"):
                owners.append((scope.child_by_field_name("name") or scope).byte_range)
            node = node.child_by_field_name("name")
        elif kind in ("template_function", "template_type"):
            node = node.child_by_field_name("name")
        else:
            if kind not in WRAPPER:
                is_function = kind == "function_declarator"
            around, node = node, node.child_by_field_name("declarator") or inner(node)
            if node and around.type == node.type == "function_declarator":
                name = bracketed(node)
                return DeclaredName(name.byte_range, (), True, True, None) if name else None
    return None


def bracketed(declarator: Node) -> Node | None:
    """The name in `LIB_API void (f)(int)`, which looks like a function `void` of `f` that returns a function."""
    parameters = declarator.child_by_field_name("parameters")
    names = [one.child_by_field_name("type") for one in parameters.named_children] if parameters else []
    return names[0] if len(names) == 1 and names[0] and names[0].type == "type_identifier" else None


def inner(node: Node) -> Node | None:
    """The declarator in one that has no field for it: `(*f)`, `&r`, `f [[noreturn]]`."""
    return next((child for child in node.named_children if child.type.endswith(INNER)), None)
