"""What manifests declare: the commands and files that a project begins at, and what it says it is.

TOML is read by expressions: tomllib takes a minute for a key of many parts.
"""

import configparser
import json
import re
import sys
from collections.abc import Iterator

from fledgling.worker.deferred import deferred
from fledgling.worker.ranking.sentences import cut
from fledgling.worker.store.text import File
from fledgling.worker.tools.request import Request

MOST_BYTES = 2**16  # of a manifest that is read
START_CHARS = 60  # of a command that starts it: what is behind are options
MOST_CHARS = 200  # of what it says
LEAST_WORDS = 3  # likewise: less is a name

_TOML = deferred(  # the head of a section, or a key with its value; text on lines within quotes is passed over
    r"(?m)^[ \t]*+(?:\[(?P<section>[^\[\]\n]*+)\]|\[\["
    r"|(?P<key>(?:[\w.-]++|\"[^\"\n]*+\"|'[^'\n]*+')++)[ \t]*+=[ \t]*+(?:"
    r"\"{3}(?P<lines>(?:[^\"\\]|\\.|\\\n|\"(?!\"\"))*+)\"{3}|'{3}(?P<raw_lines>(?:[^']|'(?!''))*+)'{3}"
    r"|\"(?P<text>(?:[^\"\\\n]|\\.)*+)\"|'(?P<raw_text>[^'\n]*+)'|\{(?P<table>[^{}\n]*+)\}|))"
)
_IN_TABLE = deferred(r"(?:^|,)\s*+[\"']?([\w.-]++)[\"']?\s*+=\s*+(?:\"([^\"\n]*+)\"|'([^'\n]*+)')")
_COMMANDS = ("project.scripts", "project.gui-scripts", "tool.poetry.scripts")
_SETUP_CFG = "options.entry_points"  # the section, of whose options these name commands
_SCRIPTS = ("console_scripts", "gui_scripts")
_SPACE = r"(?:\s|#[^\n]*+)*+"  # of Python
_STRING = r"(?:'[^'\\\n]*+'|\"[^\"\\\n]*+\")"
_SETUP_PY = deferred(  # a list of literals alone, or a text like a file; in neither a comment nor behind a text
    rf"(?m)^[^#'\"\n]*?(?:[\"']?\b(?:console|gui)_scripts[\"']?\s*+[:=]\s*+\[{_SPACE}"
    rf"(?P<list>(?:{_STRING}{_SPACE}(?:,{_SPACE}|(?=\])))*+)\]"
    r"|\bentry_points\s*+=\s*+(?:'{3}(?P<text>[^'\\]*+)'{3}|\"{3}(?P<other>[^\"\\]*+)\"{3}))"
)
_IN_LIST = deferred(rf"#[^\n]*+|({_STRING})")
_COMMAND = deferred(r"\s*+([\w.-]++)\s*+=\s*+([\w.]++(?::[\w.]++)?)\s*+(?:\[[^\]]*+\]\s*+)?")  # with extras
_TARGETS = ("reference", "callable")  # of a command of Poetry, which is a table
_SECTIONS = ("project", "tool.poetry", "package")  # of TOML
_ESCAPE = deferred(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([^\n])|\s++)")
_METADATA = deferred(r"(?ms)^\[metadata\][ \t]*\n(.*?)(?=^\[|\Z)")  # of setup.cfg
_DESCRIPTION = deferred(r"(?m)^description[ \t]*+=[ \t]*+(?!file:|attr:)([^\n]+)")
_SUMMARY = deferred(r"(?m)^[ \t]*+\w+\.summary[ \t]*+=[ \t]*+([\"'])([^\n]+?)\1(?:\.freeze)?[ \t]*+$")
_EXECUTABLES = deferred(  # of a gemspec: a text, or a list of literals alone
    r"(?m)^[ \t]*+\w+\.executables[ \t]*+(?:<<|\+?=)[ \t]*+(?:\[(?P<list>[^\[\]#{}]*+)\]"
    r"|%w[\[({](?P<words>[^\[\](){}#]*+)[\])}]|(?P<text>\"[^\"\n#]*+\"|'[^'\n]*+'))[ \t]*+(?:\.freeze[ \t]*+)?$"
)
_MIX = deferred(r"(?m)^[^#\n]*?\b(?:mod:\s*+\{\s*+|(main_module:)\s*+)([A-Z]\w*+(?:\.[A-Z]\w*+)*+)")  # of a mix.exs
_NAMES = deferred(rf"(?:\s*+{_STRING}(?:\.freeze)?\s*+(?:,|\Z))*+\s*+")
# Of a directory, in the order in which they are asked what it is.
SPEAKING = ("pyproject.toml", "setup.cfg", "package.json", "Cargo.toml", "composer.json")


def scripts(pyproject: str) -> Iterator[str]:
    r"""Yield the commands that a project declares: of "[project.scripts]\nrun = 'a:main'" that is `run = a:main`."""
    for section, found in _keys(pyproject.replace("\r\n", "\n")):
        whole = f"{section}.{found['key']}"
        table = {key: text or raw for key, text, raw in _IN_TABLE.findall(found["table"] or "")}
        if whole in _COMMANDS:
            yield from (f"{name} = {target}" for name, target in table.items())
        for commands in _COMMANDS:
            if whole.startswith(f"{commands}."):
                targets = (found["text"], found["raw_text"], *map(table.get, _TARGETS))
                name = whole[len(commands) + 1 :].strip("\"'")
                yield from (f"{name} = {target}" for target in targets if target)


def scripts_of_setup_cfg(text: str) -> Iterator[str]:
    """Yield the commands that a setup.cfg declares, as those of a pyproject.toml."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text.replace("\r\n", "\n"))
    except configparser.Error:
        return
    for option in _SCRIPTS:
        for line in parser.get(_SETUP_CFG, option, fallback="").splitlines():
            name, sign, target = line.partition("=")
            target = target.partition("[")[0].strip()  # what is behind is an extra that it needs
            if sign and target:
                yield f"{name.strip()} = {target}"


def scripts_of_setup_py(text: str) -> Iterator[str]:
    """Yield the commands that stand as literals in a setup.py, as those of a pyproject.toml."""
    for found in _SETUP_PY.finditer(text.replace("\r\n", "\n")):
        if found["list"] is not None:
            declared = [each[1][1:-1] for each in _IN_LIST.finditer(found["list"]) if each[1]]
        else:
            declared = [*_in_sections(found["text"] or found["other"] or "")]
        yield from (f"{each[1]} = {each[2]}" for each in map(_COMMAND.fullmatch, declared) if each)


def _in_sections(text: str) -> Iterator[str]:
    """Yield the lines of a text that are in the sections of commands."""
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line.strip("[] ")
        elif section in _SCRIPTS:
            yield line


def executables(gemspec: str) -> Iterator[str]:
    """Yield the programs that a gem brings, where they stand as literals: of `g.executables = %w[up]` that is `up`."""
    for found in _EXECUTABLES.finditer(gemspec.replace("\r\n", "\n")):
        if found["words"] is not None:
            yield from found["words"].split()
        elif _NAMES.fullmatch(listed := found["list"] or found["text"] or ""):
            yield from (name[1:-1] for name in re.findall(_STRING, listed))


def modules(mix: str) -> Iterator[str]:
    """Yield the modules that a project of Elixir begins at: of "mod: {Up.App, []}" that is `application = Up.App`."""
    for found in _MIX.finditer(mix):
        yield f"{'escript' if found[1] else 'application'} = {found[2]}"


def entries(package: str) -> Iterator[str]:
    """Yield what a package of Node begins at: of '{"main": "a.js"}' that is `a.js`."""
    declared = _object(package)
    bins, main = declared.get("bin"), declared.get("main")
    if isinstance(bins, dict):
        yield from (f"{name} = {path}" for name, path in bins.items() if isinstance(path, str))
    elif isinstance(bins, str):
        yield bins
    elif isinstance(main, str):
        yield main


def start(package: str) -> str | None:
    """Return what starts a package of Node: of '{"scripts": {"start": "next start"}}' that is `next start`."""
    scripts = _object(package).get("scripts")
    found = scripts.get("start") if isinstance(scripts, dict) else None
    return (
        cut(" ".join(found.encode(errors="replace").decode().split()), START_CHARS) if isinstance(found, str) else None
    )


def says(name: str, text: str) -> str | None:
    """Return what a manifest of a name says of the project in a line; None where it says nothing, or only a name.

    >>> says("package.json", '{"description": "Sends files to buckets"}')
    'Sends files to buckets'
    """
    text = text.replace("\r\n", "\n")
    if name.endswith(".json"):
        found = _object(text).get("description")
    elif name.endswith(".gemspec"):
        found = summary[2] if (summary := _SUMMARY.search(text)) else None
    elif name.endswith(".cfg"):
        section = _METADATA.search(text)
        described = _DESCRIPTION.search(section[1]) if section else None
        found = described[1] if described else None
    else:
        found = _described(text)
    if not isinstance(found, str) or len(found.split()) < LEAST_WORDS:
        return None
    return cut(" ".join(found.encode(errors="replace").decode().split()), MOST_CHARS)


def _described(toml: str) -> str | None:
    """Return the description in a section of TOML that is of the project."""
    for section, found in _keys(toml):
        if found["key"] == "description" and section in _SECTIONS:
            escaped = found["text"] if found["text"] is not None else found["lines"]
            return _ESCAPE.sub(_unescaped, escaped) if escaped is not None else found["raw_text"] or found["raw_lines"]
    return None


def _keys(toml: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the keys of TOML with their values, each with the name of the section that it stands in."""
    section = ""
    for found in _TOML.finditer(toml):
        if found["key"] is None:
            section = "".join((found["section"] or "").split())
        else:
            yield section, found


def _unescaped(escape: re.Match[str]) -> str:
    if code := escape[1] or escape[2]:
        number = int(code, 16)
        return chr(number) if number < 0xD800 or 0xDFFF < number <= sys.maxunicode else ""
    return escape[3] if escape[3] in ('"', "\\") else " "


def _object(text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def text_of(request: Request, file: File) -> str:
    """Return the text of a manifest; "" of one that is too large to be read."""
    blocks = range(file.block, file.block + file.blocks) if file.size_bytes <= MOST_BYTES else ()
    return b"\n".join(map(request.blocks.text, blocks)).decode()
