"""The table of languages, read once at start, with every file that it names."""

import re
import tomllib
from collections.abc import Iterable
from fnmatch import translate
from pathlib import Path
from typing import Any

import msgspec

from fledgling.messages.profile import Profile
from fledgling.worker.language import FOLDER, Language, Languages


def load_languages(profile: Profile | None = None) -> Languages:
    """Read the row of each folder, those of `others.toml`, and every file they name: nothing is opened later.

    Docstrings and comment lines are each a twentieth of the work, and no tool but `query` shows one: they are found
    only where `profile` lets somebody ask for them, or where none is given.
    """
    table = _table(FOLDER / "others.toml")
    table |= {path.parent.name: _table(path) for path in FOLDER.glob("*/language.toml")}
    rows = msgspec.convert(dict(sorted(table.items())), dict[str, Language])
    if profile and not profile.reads_all_of("symbols"):
        rows = {name: msgspec.structs.replace(row, docs=None) for name, row in rows.items()}
    if profile and not profile.reads_all_of("content"):
        rows = {name: msgspec.structs.replace(row, comment_lines=False) for name, row in rows.items()}
    return Languages(
        rows=rows,
        tokens=_table(FOLDER / "tokens.toml"),
        rules={name: (FOLDER / name).read_text() for row in rows.values() for name in row.rules},
        by_extension={extension: name for name, row in rows.items() for extension in row.extensions},
        by_filename={filename: name for name, row in rows.items() for filename in row.filenames},
        by_interpreter={program: name for name, row in rows.items() for program in row.interpreters},
        manifests=_any_of(pattern for row in rows.values() for pattern in row.manifests),
    )


def _table(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text())


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)) or "(?!)")
