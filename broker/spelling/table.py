"""The rows of spellings.toml, as types."""

import tomllib
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from fledgling.messages.questions import Kind, Relation


class Alias(Struct, frozen=True, forbid_unknown_fields=True):
    """Names that mean the argument `means` of some tools; `how` is a key of HOWS."""

    tools: tuple[str, ...]
    means: str
    names: tuple[str, ...]
    how: str = "same"


class Always(Struct, frozen=True, forbid_unknown_fields=True):
    """Names that are left out with one of these values, or with any where none are given; `why`, if that is said."""

    tools: tuple[str, ...]
    names: tuple[str, ...]
    values: tuple[str | bool, ...] = ()
    why: str = ""


class ToolRow(Struct, frozen=True, forbid_unknown_fields=True):
    """Names of other servers' tools that are the tool `means` here, with what `more` is to be given to it."""

    means: str
    names: tuple[str, ...]
    more: dict[str, str] = {}


class PathRow(Struct, frozen=True, forbid_unknown_fields=True):
    """An expression that fits a whole path, and what the arguments are then; `often` until it fits no more."""

    like: str
    to: dict[str, str]
    often: bool = False


class RelationRow(Struct, frozen=True, forbid_unknown_fields=True):
    """An expression that fits a whole name with a question about it, and which relation that asks for."""

    like: str
    relation: Relation


class ListedSymbol(Struct, frozen=True, forbid_unknown_fields=True):
    """What is replaced in a name, wherever it stands."""

    like: str
    to: str


class Spellings(Struct, frozen=True, forbid_unknown_fields=True):
    """The file."""

    tool: tuple[ToolRow, ...]
    alias: tuple[Alias, ...]
    always: tuple[Always, ...]
    values: dict[str, dict[str, str]]
    kin: dict[Kind, tuple[Kind, ...]]
    path: tuple[PathRow, ...]
    symbol: tuple[ListedSymbol, ...]
    relation: tuple[RelationRow, ...]


@cache
def listed() -> Spellings:
    """Return what the file says. It is read when an agent first asks: a command that is typed needs none of it."""
    return msgspec.convert(tomllib.loads(Path(__file__).with_name("spellings.toml").read_text("utf-8")), Spellings)
