"""What a project says of itself, in `fledgling.yaml`: hostile text, which may only narrow what is indexed."""

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from fledgling.config import ConfigError, Given, converted, entries_of, suggestion
from fledgling.found import PROJECT_FILE
from fledgling.scope import Scope
from fledgling.settings import KEYS

MAX_NOTICES = 20  # a hostile file must not fill the terminal


class Narrowed(Struct, frozen=True):
    """What a project's own file leaves of a scope, the keys that took effect, and notices of what was ignored."""

    scope: Scope
    narrowed: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def load() -> None:
    """Load what a project's own file is read with: a process that may read one can load nothing once it is confined."""
    import difflib  # noqa: F401, PLC0415  (it compares names that are misspelt)

    from fledgling import yaml_text  # noqa: F401, PLC0415  (a tenth of the time that all else takes)


def narrow(scope: Scope, project_yaml: bytes) -> Narrowed:
    r"""Return `scope` as narrowed by the project's own file, whose text may be hostile; never raises.

    >>> narrow(Scope(), b"max_files: 10\nprofile: mine.sql").narrowed
    ('max_files',)

    Patterns are added, of two limits the lower holds, and content that one of both leaves out stays out.
    """
    try:
        entries = entries_of(PROJECT_FILE, project_yaml)
    except ConfigError as e:
        return Narrowed(scope, notices=(f"{e}; the file is ignored",))
    asked: dict[str, object] = {}
    notices: list[str] = []
    for key, entry in entries.items():
        try:
            asked[key] = _narrowing(key, entry)
        except ConfigError as e:
            notices.append(f"{e}; it is ignored")
    merged = _merged(scope, asked)
    narrowed = tuple(key for key in asked if getattr(merged, key) != getattr(scope, key))
    notices += [
        f"{entries[key].source}: {key} stays {str(getattr(scope, key)).lower()}; a project's file may only narrow it"
        for key in asked
        if key not in narrowed and asked[key] not in (getattr(scope, key), ())
    ]
    return Narrowed(merged, narrowed, _capped(notices))


def _capped(notices: list[str]) -> tuple[str, ...]:
    left_out = len(notices) - MAX_NOTICES
    more = (f"{PROJECT_FILE}: {left_out} more notices",) if left_out > 0 else ()
    return (*notices[:MAX_NOTICES], *more)


def _narrowing(key: str, entry: Given) -> object:
    if key not in KEYS:
        raise ConfigError(entry.source, f"unknown setting {key[:40]!r}", suggestion(key, Scope.__struct_fields__))
    if key not in Scope.__struct_fields__:
        fix = "only the command line, the environment or your own file may set it"
        raise ConfigError(entry.source, f"{key} cannot be set by a project", fix)
    value = converted(key, *entry)
    if isinstance(value, tuple) and any(pattern.lstrip().startswith("!") for pattern in value):
        raise ConfigError(entry.source, f"{key} holds a pattern with !", "a project's file may exclude, not include")
    return value


def _merged(scope: Scope, asked: Mapping[str, object]) -> Scope:
    mine = Scope((), scope.max_file_size, scope.max_files, submodules=scope.submodules)
    theirs = msgspec.structs.replace(mine, **asked)
    return Scope(
        exclude_patterns=scope.exclude_patterns + theirs.exclude_patterns,
        max_file_size=min(scope.max_file_size, theirs.max_file_size),
        max_files=min(scope.max_files, theirs.max_files),
        index_content=scope.index_content and theirs.index_content,
        submodules=scope.submodules and theirs.submodules,
    )
