"""How sure a target is, and why: one small number says both, and of two facts that an answer needs the smaller counts.

So `min` carries the weakest link of a chain, with its reason, and `max` the best way of several.
"""

from enum import IntEnum

from fledgling.worker.rows import LEAST_LIKELY, OF_MANY_OVERLOADS, OF_OVERLOADS, WIDEST


class Confidence(IntEnum):
    """How sure a row is."""

    CERTAIN = 0
    LIKELY = 1
    POSSIBLE = 2
    UNRESOLVED = 3
    EXTERNAL = 4
    LOCAL = 5


class Reason:
    """Why; sorted by how much it is worth."""

    # possible
    NAME_ONLY = 10
    METHODS_OUTSIDE = 11
    MANY_OVERLOADS = OF_MANY_OVERLOADS
    MANY_IMPLEMENTATIONS = 13
    OTHER_ARGUMENTS = 14
    MAY_OVERRIDE = 15
    MAY_BE_PUT_OVER = 16
    OVERRIDES_OUTSIDE = 17
    OTHER_SYSTEM = 18
    OF_TESTS = 19
    OTHER_PROGRAM = 20
    # likely
    ASKED = LEAST_LIKELY
    FLOW = 30
    RETURNED = 31
    DECORATOR = 32
    SEVERAL = 33
    NARROWED = 34
    ATTRIBUTE = 35
    CONTAINER = 36
    OVERRIDE = 37
    FIXTURE = 38
    INTERFACE = 40
    OVERLOAD = OF_OVERLOADS
    EXTERNAL_BASE = 42
    MACRO = 43
    UNDECLARED = 44
    ONLY_DECLARED = 45
    CONDITIONAL = 46
    EXTENSION = 47
    IMPLICIT = 48
    REPLACED = 49
    TYPES = 51
    TOGETHER = 52
    NAMED = 53
    MADE_NAME = 54
    TOLD = 55
    ABSENT = 56
    # likely, and what runs alone is in doubt, not what it is declared to give
    OVERRIDDEN = 57
    ABSTRACT = 58
    ABSTRACT_ELSEWHERE = 59
    # certain
    DECLARED = 60
    OWN_CLASS = 61
    INSTANCE = 62
    SUPER = 63
    BOUND = 64
    # no definition of the project
    UNKNOWN_RECEIVER = 100
    MANY = 101
    OUTSIDE = 102
    DYNAMIC = 103
    NOT_PARSED = 104
    VARIABLE = 105
    FIELD = 106
    WORD = 107
    IN_MACRO = 108
    NAMESPACE = 109
    BEYOND = 110
    FURTHER = 111
    FURTHER_BELOW = 112
    MISSING = 113
    UNSEEN = 114
    FAR = 115
    NOT_TAKEN = 116


LIKELY = Reason.ASKED
CERTAIN = Reason.DECLARED

WORDS: dict[int, str] = {
    Reason.NAME_ONLY: "name only",
    Reason.METHODS_OUTSIDE: "may lack a method that the interface has from outside the project",
    Reason.MANY_IMPLEMENTATIONS: "one of many implementations",
    Reason.MANY_OVERLOADS: "one of many overloads",
    Reason.OTHER_ARGUMENTS: "takes another number of arguments",
    Reason.MAY_OVERRIDE: "overrides what is declared, which may run itself",
    Reason.MAY_BE_PUT_OVER: "assigned in the place of what is declared",
    Reason.OVERRIDES_OUTSIDE: "overrides what is declared outside the project",
    Reason.OTHER_SYSTEM: "compiled on another system, or never",
    Reason.OF_TESTS: "of the tests, in the place of what is declared",
    Reason.OTHER_PROGRAM: "in a test or an example, which is a program of its own",
    Reason.ASKED: "has all members that it is asked for",
    Reason.FLOW: "passed as an argument",
    Reason.RETURNED: "inferred from what is returned",
    Reason.DECORATOR: "through a decorator",
    Reason.SEVERAL: "one of several values",
    Reason.NARROWED: "where a check of its class holds",
    Reason.ATTRIBUTE: "inferred from what is assigned to the attribute",
    Reason.CONTAINER: "taken from a container",
    Reason.OVERRIDE: "overrides the method",
    Reason.OVERRIDDEN: "may be overridden",
    Reason.ABSTRACT: "abstract",
    Reason.ABSTRACT_ELSEWHERE: "abstract, implemented elsewhere",
    Reason.INTERFACE: "implements the interface",
    Reason.OVERLOAD: "one of several overloads",
    Reason.EXTERNAL_BASE: "a base class is outside the project",
    Reason.TYPES: "its parameters may be of other types",
    Reason.TOGETHER: "one of several definitions on one line",
    Reason.NAMED: "named by a text that is called",
    Reason.MADE_NAME: "by a name that is made",
    Reason.TOLD: "of a type that only a comment says",
    Reason.ABSENT: "runs where there is no method of the name",
    Reason.FIXTURE: "a fixture that is asked for by its name",
    Reason.MACRO: "in a macro",
    Reason.UNDECLARED: "the file names nothing that declares it",
    Reason.ONLY_DECLARED: "only declared in the project",
    Reason.EXTENSION: "extends a type outside the project",
    Reason.IMPLICIT: "in a lambda, which may have a receiver of its own",
    Reason.REPLACED: "may be another at run time",
    Reason.CONDITIONAL: "defined under a condition",
    Reason.DECLARED: "declared type",
    Reason.OWN_CLASS: "member of the own class",
    Reason.INSTANCE: "member of an object made here",
    Reason.SUPER: "member of the base class",
    Reason.BOUND: "the only definition",
    Reason.UNKNOWN_RECEIVER: "receiver unknown",
    Reason.MANY: "too many values",
    Reason.OUTSIDE: "outside the project",
    Reason.DYNAMIC: "computed at run time",
    Reason.NOT_PARSED: "not parsed",
    Reason.VARIABLE: "variable or parameter",
    Reason.FIELD: "field",
    Reason.WORD: "name of an argument",
    Reason.IN_MACRO: "in a macro",
    Reason.NAMESPACE: "module or namespace",
    Reason.BEYOND: "outside the project, or in a file that is not in the graph",
    Reason.FURTHER: "more definitions than are listed",
    Reason.MISSING: "in a module of the project that the index lacks",
    Reason.FAR: f"beyond byte {WIDEST:,} of a line",
    Reason.UNSEEN: "of a module of the project that is not seen to have it",
    Reason.NOT_TAKEN: "perhaps in a namespace of the project that the file is not seen to take",
    Reason.FURTHER_BELOW: "more classes below than are looked at",
}


def confidence(reason: int) -> Confidence:
    """How sure something is for a reason."""
    if reason >= Reason.UNKNOWN_RECEIVER:
        return {
            Reason.OUTSIDE: Confidence.EXTERNAL,
            Reason.VARIABLE: Confidence.LOCAL,
            Reason.FIELD: Confidence.LOCAL,
            Reason.WORD: Confidence.LOCAL,
            Reason.NAMESPACE: Confidence.LOCAL,
        }.get(reason, Confidence.UNRESOLVED)
    if reason >= CERTAIN:
        return Confidence.CERTAIN
    return Confidence.LIKELY if reason >= LIKELY else Confidence.POSSIBLE
