"""What the grammar of Swift lacks, and what stands in its place; near errors only.

Each expression is named after what it finds, below the rule of The Swift Programming Language that makes it valid, with
an example. Names are read from the text itself, so what stands in its place is never seen. All take linear time.
"""

import re
from functools import partial

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.filling import filled

# Tuple Expression: one without elements: promise.succeed(()), but not the parameters of a type: () -> Void
EMPTY_TUPLE = deferred(
    rb"(?:(?<=[(,:{=])|(?<=[,:{=?][ ])(?<!_:[ ])|(?<=\bin[ ])|(?<=\breturn[ ])|^)[ \t]*+(\([ \t]*+\))"
    rb"(?!\s*+(?:->|throws\b|async\b|rethrows\b|=[^=]))",
    re.MULTILINE,
)
# Enumeration Case Pattern of a case whose value is that: case .success():
EMPTY_CASE = deferred(rb"\bcase[ ]\.\w++(\(\))(?=:)")
# Assignment: nothing is assigned to: () = try f()
EMPTY_PATTERN = deferred(rb"^[ \t]*+(\(\))(?=[ ]=[ ])", re.MULTILINE)
# Declaration Modifiers: one of a local variable: nonisolated(unsafe) var a = 1
NONISOLATED = deferred(rb"\bnonisolated\(unsafe\)(?=\s)")
# Type Alias Declaration: requirements of its parameters: typealias A<B> = C<B> where B: D
ALIAS_REQUIREMENTS = deferred(
    rb"\btypealias\b[^\n;{}]{1,200}?\s(where\b[^\n;{}]*+"
    rb"(?:\n[ \t]++[\w.]++[ \t]*+(?:==|:)[^\n;{}]*+)*+)"
)
# Protocol Declaration: requirements of its associated types: protocol A: B where B.C == D {
PROTOCOL_REQUIREMENTS = deferred(rb"\bprotocol[ ]\w++[^{};]{1,400}?\s(where\b[^{};]{0,999}+)(?=\{)")
# Declaration Attributes within a conditional, with none of what they are about: @available(Android 24, *)
AVAILABLE = deferred(rb"@available\([^()\n]*+\)(?=[ \t]*+\n)")
# Type Attributes in parentheses: (@convention(c) (A) -> B).self
CONVENTION = deferred(rb"@convention\(\w++\)")
# Function Type: a value that may leave its isolation: () async throws -> sending A
SENDING = deferred(rb"(?<=[:>(,][ ])sending[ ](?=[\w(])")
# Expression Pattern: a range that begins with more than a literal: case (a + 1)...b:
RANGE_PATTERN = deferred(rb"\bcase[ ]((?:[^:\n{}\".]|\.(?!\.)){0,99}+\.\.[.<][^:\n{}\"]{0,99}+)(?=:)")
# Type-Casting Pattern of nothing: case _ as A:
CAST_PATTERN = deferred(rb"\bcase[ ](_[ ]as[ ][\w.]++)(?=:)")
# Catch Clause: its condition: catch let error as A where error.b == .c {
CATCH_CONDITION = deferred(rb"\bcatch\b[^\n{}]{1,200}?\s(where\b[^\n{}]{0,200}+)(?=\{)")
# Attributes that the compiler has for itself, with arguments: @_specialize(where A == B<C>)
COMPILER_ATTRIBUTE = deferred(rb"(@_\w++\([^()\n]*+(?:\([^()\n]*+\)[^()\n]*+){0,4}\))")
# Compilation Directive: #error("a"), #warning("a")
DIAGNOSTIC = deferred(rb"\#(?:error|warning)\(\"(?>(?:[^\"\\\n]++|\\.)*)\"\)")
# Conditional Compilation Block: what it asks: #elseif (compiler(<6.1) && !os(A)) || _runtime(_multithreaded)
CONDITION = deferred(rb"^[ \t]*+\#(?:if|elseif)[ ]++([^\n]++)", re.MULTILINE)
# Regular Expression Literal: /^ +(\d+)$/
REGEX = deferred(
    rb"(?:^[ \t]*+|(?<=[=(,:][ ])|(?<=[(]))"
    rb"(/(?![*/ ]|[A-Z]\w*+(?:\.\w++)++[,)])(?>(?:[^/\\\n]++|\\.)*)/)",
    re.MULTILINE,
)
# Prefix Operator that a library defines for paths of cases: f(a: /B.c)
CASE_PATH = deferred(rb"(?:(?<=[=(,:?][ ])|(?<=[(]))(/)(?=[A-Z]\w*+(?:\.\w++)++(?:[,)\n]|[ ][:}]))")
# For-In Statement: what may throw: for try await a in try b {
TRY_BEHIND_IN = deferred(rb"(?<=\bin[ ])(?:try|await)\b")
# A function by the name of a statement: yield()
YIELD = deferred(rb"\byield(?=\()")

GAPS = (
    (EMPTY_TUPLE, b"0"), (EMPTY_CASE, b""), (EMPTY_PATTERN, b"_"), (NONISOLATED, b""), (ALIAS_REQUIREMENTS, b""),
    (SENDING, b""), (PROTOCOL_REQUIREMENTS, b""), (AVAILABLE, b""), (CONVENTION, b""),
    (RANGE_PATTERN, b"0"), (CAST_PATTERN, b"0"), (CATCH_CONDITION, b""), (COMPILER_ATTRIBUTE, b""), (DIAGNOSTIC, b""),
    (CONDITION, b"A"), (CASE_PATH, b""), (REGEX, b"0"), (TRY_BEHIND_IN, b""), (YIELD, b"xield"),
)  # fmt: skip

repaired = partial(filled, gaps=GAPS)
