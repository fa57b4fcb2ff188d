"""Who sets what: flags > environment > the user's own file > defaults; a project's own file may only narrow them
(project_file.py), and a root that nobody sets is found (roots.py).

What a setting is called and what it may be is in settings.py. Every value is text until the type of its setting reads
it, so a variable, a flag and a file mean the same by the same words.
"""

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import NamedTuple, NoReturn

import msgspec
from msgspec import Struct

from fledgling import found
from fledgling.plain import MAX_SHOWN
from fledgling.settings import KEYS, PATH_SETTINGS, TYPES, Settings

MAX_YAML_BYTES = 64 * 1024  # a dozen keys and a page of patterns; what is longer was not written by hand
PREFIX = "FLEDGLING_"
CONFIG_VARIABLE = "FLEDGLING_CONFIG"  # where the user's own file is


class ConfigError(Exception):
    """A setting cannot be used: `environment FLEDGLING_PORT: port cannot be '99999'; give a port from 1 to 65535`."""

    def __init__(self, source: str, problem: str, fix: str) -> None:
        """Keep the parts; `source` is a flag, a variable, or a file and its line."""
        super().__init__(f"{source}: {problem}; {fix}")
        self.source, self.problem, self.fix = source, problem, fix


Refuse = Callable[[Exception], None]  # raises it, or takes note of it; the setting is then as if nobody had set it


def fail(wrong: Exception) -> NoReturn:
    """Raise it: nothing goes on with a setting that is wrong, if not to find the others."""
    raise wrong


@contextmanager
def refusing(refuse: Refuse, *others: type[Exception]) -> Iterator[None]:
    """Hand what is wrong in the block to `refuse`, a ConfigError or one of others, and end the block."""
    known: tuple[type[Exception], ...] = (ConfigError, *others)
    try:
        yield
    except known as wrong:
        refuse(wrong)


class UserFile(Struct, frozen=True):
    """The user's own file: its path and its bytes, not yet looked at."""

    name: str
    data: bytes


class Resolved(Struct, frozen=True):
    """The settings and where each came from: `flag --port`, `environment FLEDGLING_PORT`, `<file>:3` or `default`."""

    settings: Settings
    sources: dict[str, str]
    notices: tuple[str, ...] = ()


class Given(NamedTuple):
    """A value as it stands in a file, a variable or a flag, and which."""

    value: object
    source: str


def suggestion(word: str, known: Iterable[str], intro: str = "Known:") -> str:
    """Return what a wrong word may have meant: `suggestion("prot", ["port"])` is `did you mean port? Known: port`."""
    from difflib import get_close_matches  # noqa: PLC0415  (as a rule no word is wrong)

    names = list(known)
    near = get_close_matches(word[:MAX_SHOWN], names, 1)
    said = f"did you mean {near[0]}? {intro}" if near else f"{intro[0].lower()}{intro[1:]}"
    return f"{said} {', '.join(names)}"


def is_path(profile: str) -> bool:
    """Tell a profile's path from a shipped profile's name: a path ends in `.sql` or holds a `/`."""
    return profile.endswith(".sql") or "/" in profile


# ---- what the operator says -----------------------------------------------------------------------------------------


def resolve(
    flags: Mapping[str, object],
    environment: Mapping[str, str],
    user_file: UserFile | None = None,
    refuse: Refuse = fail,
) -> Resolved:
    """Return the settings in force.

    >>> resolve({"port": 4000}, {"FLEDGLING_MAX_FILES": "100"}).sources["max_files"]
    'environment FLEDGLING_MAX_FILES'

    A flag that is None or () was not given. A variable is named after its key; its lists are separated by commas. A
    list replaces the one below it, the default too. Raises ConfigError, if `refuse` does.
    """
    by_flag = {
        key: Given(value, f"flag --{'root' if key == 'projects' else key.replace('_', '-')}")
        for key, value in flags.items()
        if value not in (None, ())
    }
    by_variable, notices = _variables(environment)
    values: dict[str, object] = {}
    sources = dict.fromkeys(KEYS, "default")
    for key, entry in {**_settings_of(user_file, refuse), **by_variable, **by_flag}.items():
        with refusing(refuse):
            values[key] = _usable(key, converted(key, *entry), entry.source)
            sources[key] = entry.source
    return Resolved(msgspec.convert(values, Settings), sources, notices)


def read_user_file(environment: Mapping[str, str], flag: str | None = None) -> UserFile | None:
    """Read the file that --config or FLEDGLING_CONFIG names, else `fledgling/fledgling.yaml` in the user's config home.

    None means that there is none; one that is named must be there. Raises ConfigError.
    """
    variable = environment.get(CONFIG_VARIABLE, "")
    if variable and not flag and not PurePath(variable).is_absolute():
        raise _relative(f"environment {CONFIG_VARIABLE}", variable, "use --config")
    named = flag or variable
    place = named or found.user_file(environment)
    if place is None:
        return None
    path = Path(place)
    try:
        if path.is_fifo():  # one without a writer would block
            raise ConfigError(str(path), "it is a pipe", "give the path of a settings file")
        with path.open("rb") as file:
            return UserFile(str(path), file.read(MAX_YAML_BYTES + 1))
    except (FileNotFoundError, NotADirectoryError):
        if not named:
            return None
        raise ConfigError(str(path), "there is no such file", "give the path of a settings file") from None
    except (OSError, ValueError) as e:
        raise ConfigError(str(path), f"it cannot be read ({e})", "give the path of a readable file") from None


def _variables(environment: Mapping[str, str]) -> tuple[dict[str, Given], tuple[str, ...]]:
    """Return what FLEDGLING_* variables set, and a notice for each that sets nothing."""
    names = {PREFIX + key.upper(): key for key in KEYS}
    given = {
        key: Given(_items(environment[name]) if _is_list(key) else environment[name], f"environment {name}")
        for name, key in names.items()
        if name in environment
    }
    unknown = sorted(name for name in environment if name.startswith(PREFIX) and name not in (*names, CONFIG_VARIABLE))
    return given, tuple(
        f"environment {name[: len(PREFIX) + MAX_SHOWN]} is ignored: "
        f"{suggestion(name.removeprefix(PREFIX).lower(), KEYS)}"
        for name in unknown
    )


def _items(text: str) -> list[str]:
    return [item for item in (piece.strip() for piece in text.split(",")) if item]


def _is_list(key: str) -> bool:
    return isinstance(getattr(Settings(), key), tuple)


def _settings_of(file: UserFile | None, refuse: Refuse) -> dict[str, Given]:
    entries: dict[str, Given] = {}
    with refusing(refuse):
        entries = entries_of(file.name, file.data) if file else {}
    for key, entry in entries.items():
        if key not in KEYS:
            refuse(ConfigError(entry.source, f"unknown setting {key[:MAX_SHOWN]!r}", suggestion(key, KEYS)))
    return {key: entry for key, entry in entries.items() if key in KEYS}


def converted(key: str, value: object, source: str) -> object:
    """Return the value as its setting's type: `"3000"` is a port. Raises ConfigError."""
    try:
        # Not strict: text may stand for a number, and for true and false.
        return msgspec.convert(value, TYPES[key], strict=False)
    except msgspec.ValidationError:
        expected = TYPES[key].__metadata__[0].description
        raise ConfigError(source, f"{key} cannot be {repr(value)[:80]}", f"give {expected}") from None


def _usable(key: str, value: object, source: str) -> object:
    """Return a value of the right type, if it is one that can be used. Raises ConfigError."""
    if key == "extensions" and value:
        assert isinstance(value, tuple)
        raise ConfigError(
            source,
            f"DuckDB extensions ({', '.join(value)}) cannot be loaded: the query worker loads no code and can open no "
            "path",
            "leave the setting out; core_functions, icu, json and parquet are built in",
        )
    if key == "exclude_patterns" and value:
        assert isinstance(value, tuple)
        _refuse_patterns(value, source)
    if key in PATH_SETTINGS or (key == "profile" and is_path(str(value))):
        assert isinstance(value, str)
        if value not in PATH_SETTINGS.get(key, ()):
            refuse_relative(key, value, {key: source})
    return value


def _refuse_patterns(patterns: Iterable[str], source: str) -> None:
    """Refuse a pattern that pathspec reads as none: what its writer meant to leave out would be served."""
    from pathspec import GitIgnoreSpec  # noqa: PLC0415  (25 ms, where there are patterns alone)
    from pathspec.patterns.gitignore import GitIgnorePatternError  # noqa: PLC0415

    for pattern in patterns:
        try:
            with warnings.catch_warnings(action="ignore"):  # of re, about sets in sets
                [read] = GitIgnoreSpec.from_lines([pattern], backend="simple").patterns
            is_read = read.include is not None
        except (GitIgnorePatternError, re.error):
            is_read = False
        if not is_read:
            wrong = f"exclude_patterns holds {pattern!r}, which leaves out nothing"
            raise ConfigError(source, wrong, "write each as a line of a .gitignore")


def refuse_relative(key: str, path: str, sources: Mapping[str, str]) -> None:
    """Raise ConfigError for a relative path that was not typed: elsewhere it may lead into the project."""
    flag = f"--{key.replace('_', '-')}"
    if sources[key] != f"flag {flag}" and not PurePath(path).is_absolute():
        raise _relative(sources[key], path, f"use {flag}")


def _relative(source: str, path: str, otherwise: str) -> ConfigError:
    """Only who types a command knows its directory; elsewhere a relative path may lead into the project."""
    problem = f"the path {path!r} is relative, perhaps to the project itself"
    return ConfigError(source, problem, f"give an absolute path, or {otherwise}")


# ---- the YAML that is read ------------------------------------------------------------------------------------------


YAML_FORM = "write lines of `name: value` and `name: [a, b]`"


def entries_of(name: str, data: bytes) -> dict[str, Given]:
    """Read a mapping of names to text or lists of text. Raises ConfigError."""
    if len(data) > MAX_YAML_BYTES:
        raise ConfigError(name, f"it is larger than {MAX_YAML_BYTES} bytes", "shorten it")
    from fledgling import yaml_text  # noqa: PLC0415  (where there is a file: a tenth of the time that loading takes)

    def source(line: int | None) -> str:
        return f"{name}:{line}" if line else name

    try:
        return {key: Given(entry.value, source(entry.line)) for key, entry in yaml_text.entries(data).items()}
    except yaml_text.YamlProblemError as wrong:
        raise ConfigError(source(wrong.line), str(wrong), wrong.fix or YAML_FORM) from None
