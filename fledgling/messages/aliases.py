"""Tools under names that other servers have taught agents: each asks what a tool of ours is asked, and no more.

A profile that names one names the tool that answers it, too.
"""

from collections.abc import Mapping
from typing import Annotated, NamedTuple

from msgspec import Meta

from fledgling.messages.questions import Budget, Cursor, PathFilter, Question, Steps, Text, name_of

Name = Annotated[Text, Meta(description="`name`, `Class.method` or a qualified name")]
Depth = Annotated[Steps, Meta(description="steps to follow")]


class Callers(Question, frozen=True):
    """Who calls a definition, by file, line and enclosing definition, with an account of every occurrence of its name.

    Example: callers(symbol="Engine.run")
    """

    symbol: Name
    path: PathFilter = None
    depth: Depth = 1
    cursor: Cursor = None


class Callees(Question, frozen=True):
    """What a definition calls, with the lines of the calls.

    Example: callees(symbol="Engine.run")
    """

    symbol: Name
    path: PathFilter = None
    depth: Depth = 1
    cursor: Cursor = None


class FindUsages(Question, frozen=True, tag="find_usages"):
    """Every use of a definition: calls, reads, types, imports. Ask it before you change one.

    Example: find_usages(symbol="Engine.run")
    """

    symbol: Name
    path: PathFilter = None
    cursor: Cursor = None


class SymbolContext(Question, frozen=True, tag="symbol_context"):
    """A definition with its callers, callees, types, tests and sections, packed into a budget of tokens.

    Example: symbol_context(symbol="Engine.run", budget_tokens=1500)
    """

    symbol: Name
    path: Annotated[Text, Meta(description="file, where several define it")] = ""
    budget_tokens: Budget = 2000


class GetCodeContext(Question, frozen=True, tag="get_code_context"):
    """The source of one definition, with its file and lines.

    Example: get_code_context(symbol="Engine.run")
    """

    symbol: Name
    path: Annotated[Text, Meta(description="file, where several define it")] = ""


class ExploreNamespace(Question, frozen=True, tag="explore_namespace"):
    """What a file, a directory or a module defines, in the order of lines.

    Example: explore_namespace(ns="src/core")
    """

    ns: Annotated[Text, Meta(description="file or directory relative to the root, or the name of a module")]
    cursor: Cursor = None


class AnotherName(NamedTuple):
    """A row: what is asked, by which tool, with which arguments besides, and which have another name there."""

    question: type[Question]
    tool: str
    fixed: Mapping[str, str] = {}
    renamed: Mapping[str, str] = {}

    def arguments(self, given: Mapping[str, object]) -> dict[str, object]:
        """Return the arguments of the tool: those of `callers(symbol="run")` say which relation is meant."""
        defaults = {field: value for field, value in self._defaults().items() if value is not None}
        own = {self.renamed.get(name, name): value for name, value in {**defaults, **given}.items()}
        return {**own, **self.fixed}

    def _defaults(self) -> dict[str, object]:
        values = self.question.__struct_defaults__
        return dict(zip(self.question.__struct_fields__[-len(values) :], values, strict=True)) if values else {}


_ROWS = (
    AnotherName(Callers, "symbols", {"relation": "callers"}),
    AnotherName(Callees, "symbols", {"relation": "callees"}),
    AnotherName(FindUsages, "symbols", {"relation": "usages"}),
    AnotherName(SymbolContext, "read"),
    AnotherName(GetCodeContext, "read"),
    AnotherName(ExploreNamespace, "symbols", renamed={"ns": "path"}),
)
ALIASES: dict[str, AnotherName] = {name_of(row.question): row for row in _ROWS}
