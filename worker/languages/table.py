"""The table of languages, read once at start: what a file is written in, and how to read it.

Everything said about a language stands in `languages/`: one row of `languages.toml`, and a file of rules if definitions
are to be found. `detect` asks the file's name first, then its `#!` line.
"""

import re
import tomllib
from pathlib import Path

import msgspec
from msgspec import Struct

from fledgling.messages.profile import Profile

FOLDER = Path(__file__).parent
INTERPRETER = re.compile(r"[a-z]+(?:-[a-z]+)*")  # `python3.11` names python, `ts-node` itself


class Language(Struct, frozen=True, forbid_unknown_fields=True):
    """One row; the head of `languages.toml` explains the columns."""

    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    shared: dict[str, str] = {}
    grammars: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    reader: str | None = None
    docs: str | None = None
    doc_comment: str | None = None
    private: str | None = None
    constant: str = "_*[A-Z][A-Z0-9_]*"
    relative: str = r"\."
    variants: bool = False
    macros: bool = False
    branches: bool = False
    gaps: tuple[str, ...] = ()  # expressions; the table has their names
    conditions: bool = False
    annotations: str = ""
    fallback: str | None = None
    fallback_sign: str = ""
    fallback_sure: str = ""
    local: tuple[str, ...] = ("variable", "constant")
    visibility: str = "public"
    visibilities: dict[str, str] = {}
    visibility_in: dict[str, str] = {}
    body: str = ""
    defining: str = ""
    comment_lines: bool = True
    comments: tuple[str, ...] = ()
    strings: tuple[str, ...] = ()


class Languages(Struct, frozen=True):
    """The rows, the token expressions they name, the text of their rules, and the three ways to a name."""

    rows: dict[str, Language]
    tokens: dict[str, str]
    rules: dict[str, str]
    by_extension: dict[str, str]
    by_filename: dict[str, str]
    by_interpreter: dict[str, str]

    def detect(self, filename: str, head: bytes) -> str | None:
        """The language of a file by its name, else by its first bytes; None if unknown.

        `detect("app.py", b"")` and `detect("app", b"#!/usr/bin/env python3")` are both "python".
        """
        stem, dot, _ = filename.partition(".")
        suffix = filename[filename.rfind(".") :].lower() if dot else ""
        language = (
            self.by_filename.get(filename)
            or self.by_extension.get(suffix)
            or self.by_filename.get(stem)
            or self.by_interpreter.get(interpreter(head))
        )
        shared = self.rows[language].shared if language in self.rows else {}
        if not shared:
            return language
        return next((other for other, sign in shared.items() if re.match(sign.encode(), head)), language)


def interpreter(head: bytes) -> str:
    """The program a `#!` line names, without path and version: `#!/usr/bin/env -S python3 -I` is "python", else ""."""
    if not head.startswith(b"#!"):
        return ""
    words = head[2:].partition(b"\n")[0].decode("ascii", "replace").split()
    programs = (word.rpartition("/")[2] for word in words if not word.startswith("-") and "=" not in word)
    name = next((program for program in programs if program != "env"), "")
    match = INTERPRETER.match(name.lower())
    return match[0] if match else ""


def load_languages(profile: Profile | None = None) -> Languages:
    """Read the table and every file it names, so that nothing needs to be opened later.

    Docstrings and comment lines are each a twentieth of the work, and no tool but `query` shows one: they are found
    only where `profile` lets somebody ask for them, or where none is given.
    """
    table = tomllib.loads((FOLDER / "languages.toml").read_text())
    for row in table["language"].values():
        row["gaps"] = [table["gap"][name] for name in row.get("gaps", ())]
    rows = msgspec.convert(table["language"], dict[str, Language])
    if profile and not profile.reads_all_of("symbols"):
        rows = {name: msgspec.structs.replace(row, docs=None) for name, row in rows.items()}
    if profile and not profile.reads_all_of("content"):
        rows = {name: msgspec.structs.replace(row, comment_lines=False) for name, row in rows.items()}
    return Languages(
        rows=rows,
        tokens=table["token"],
        rules={name: (FOLDER / name).read_text() for row in rows.values() for name in row.rules},
        by_extension={extension: name for name, row in rows.items() for extension in row.extensions},
        by_filename={filename: name for name, row in rows.items() for filename in row.filenames},
        by_interpreter={program: name for name, row in rows.items() for program in row.interpreters},
    )
