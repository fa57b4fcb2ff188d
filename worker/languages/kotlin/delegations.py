"""A class of Kotlin that hands on to an expression: the grammar takes its body for a lambda that this is called with.

    class Counted(private val held: Store) : Store by held {

The expression becomes what the base is called with, `Store(   held){`, which is read as it was, and so is the body.
"""

import re

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.repair import Apart
from fledgling.worker.languages.kotlin.annotations import ARGUMENTS, TEXT
from fledgling.worker.languages.kotlin.soft_keywords import MODIFIERS

TYPES = rb"< (?> [^<>(){}]++ | < (?> [^<>(){}]++ | < [^<>(){}]*+ > )*+ > )*+ >"
TYPE = rb"\w++ (?:\.\w++)*+ (?:" + TYPES + rb")?+"
# explicitDelegation: (userType | functionType) {NL} 'by' {NL} expression (Kotlin's grammar): a path, or a call
EXPRESSION = rb"(?: \w++ | " + ARGUMENTS + rb" ) (?: " + ARGUMENTS + rb" | " + TYPES + rb" | \?? \. \w++ | !! )*+"
BRACES = rb"\{ (?> [^{}\"]++ | " + TEXT + rb" | \{ (?> [^{}\"]++ | " + TEXT + rb" | \{ [^{}]*+ \} )*+ \} )*+ \}"
CALLED = EXPRESSION + rb"(?: \s*+ " + BRACES + rb" (?= \s*+ , | [ \t] \s*+ \{ ) )?+"  # with a lambda: `lazy { a } {`
SPECIFIER = TYPE + rb"(?: \s*+ " + ARGUMENTS + rb" | \s++ by \s++ " + CALLED + rb" )?+"
MODIFIER = rb"(?: [a-z]++ | @ [\w.]++ (?: " + ARGUMENTS + rb" )?+ ) \s++"
# classMemberDeclaration, by its first word: what is in braces behind it is the body, and no lambda
WORDS = rb"class|constructor|fun|init|interface|object|typealias|va[lr]|" + MODIFIERS
MEMBER = rb"(?: [@}] | // | /\* | \b (?:" + WORDS + rb") \b )"
DELEGATION = deferred(  # behind up to 16 other bases
    rb"\b (?: class \s++ \w++ (?:" + TYPES + rb")?+ (?: \s*+ (?:" + MODIFIER + rb"){0,4} constructor )?+ (?: \s*+ "
    + ARGUMENTS + rb")?+ | object (?: [ \t]++ \w++ )?+ ) \s*+ : \s*+ (?: " + SPECIFIER + rb" \s*+ , \s*+ ){0,16}+"
    + TYPE + rb"(?P<by> [ \t] by ) \s++ " + CALLED + rb"(?P<end> [ \t] ) \s*+ \{ (?= \s*+ " + MEMBER + rb" )",
    re.VERBOSE,
)  # fmt: skip


def respelled(source: bytes) -> bytes:
    r"""The text with such expressions in brackets, as long as it was.

    >>> respelled(b"class A(b: B) : C by b { }"), respelled(b"val a: C by b { }")
    (b'class A(b: B) : C(   b){ }', b'val a: C by b { }')
    >>> respelled(b"class A(b: B) : C by lazy { b } { fun a() { } }")
    b'class A(b: B) : C(   lazy { b }){ fun a() { } }'
    """
    found = [*DELEGATION.finditer(source)] if b" by " in source else []
    text = bytearray(source)
    for match in found:
        text[match.start("by") : match.end("by")] = b"(  "
        text[match.start("end")] = ord(")")
    return bytes(text) if found else source


def apart(source: bytes) -> Apart:
    """The same, for outlines."""
    return Apart(respelled(source))
