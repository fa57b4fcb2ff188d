"""The judges: git lists files and counts their lines, grep finds text, Python's own parser finds definitions."""

import ast
import importlib.util
import os
import subprocess
import warnings
from collections.abc import Iterable, Sequence
from importlib.machinery import PathFinder
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from conftest import git

# ---- files ----------------------------------------------------------------------------------------------------------


def files(root: Path) -> list[str]:
    """What git lists: tracked, or neither tracked nor ignored."""
    return sorted(_names(git(root, "ls-files", "-z", "-c", "-o", "--exclude-standard")))


def line_counts(root: Path) -> dict[str, int | None]:
    """The lines that git counts in each committed file, an unended last one too; None for what it takes for binary."""
    found = _names(git(root, "show", "--numstat", "--no-renames", "--format=", "-z", "HEAD"))
    counts = (line.split("\t") for line in found)
    return {path: None if added == "-" else int(added) for added, _, path in counts}


def _names(output: bytes) -> list[str]:
    return [name for name in output.decode().split("\0") if name]


# ---- text -----------------------------------------------------------------------------------------------------------


def grep(root: Path, paths: Iterable[str], pattern: str, *options: str) -> dict[tuple[str, int], str]:
    """The lines that grep finds in files, bytes that are no text included: `{("a.py", 3): "import os"}`."""
    command = ["grep", "-anHZ", *options, "-e", pattern, "--", *paths]
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, check=False, cwd=root, env=environment, capture_output=True)
    assert done.returncode in (0, 1), done.stderr.decode()
    found = {}
    for line in done.stdout.decode(errors="replace").split("\n")[:-1]:
        path, _, rest = line.partition("\0")
        number, _, words = rest.partition(":")
        found[path, int(number)] = words.removesuffix("\r")
    return found


def text_lines(file: Path) -> list[str]:
    """The lines of a file of UTF-8, without their ends."""
    lines = file.read_bytes().decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


# ---- Python ---------------------------------------------------------------------------------------------------------

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Definition(NamedTuple):
    """A function, class or method; its lines go from the first decorator to the last."""

    path: str
    qualified: str
    kind: str
    first: int
    last: int
    parent: str | None
    node: Scope


class Source(NamedTuple):
    """A file that Python can parse: its lines, its definitions, and every other name that is assigned to, qualified."""

    text: str
    lines: list[str]
    definitions: list[Definition]
    assigned: frozenset[str]
    tree: ast.Module


def parse(root: Path, path: str) -> Source | None:
    """What Python's own parser finds in a file; None where that is no Python of this version, or not in UTF-8."""
    try:
        text = (root / path).read_bytes().decode("utf-8-sig")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in somebody's source is not our news
            tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    definitions: list[Definition] = []
    assigned: set[str] = set()
    todo: list[tuple[ast.AST, ast.AST, str]] = [(tree, tree, "")]
    while todo:
        node, around, prefix = todo.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Scope):
                found = _definition(path, child, around, prefix)
                definitions.append(found)
                todo.append((child, child, f"{found.qualified}."))
            else:
                if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                    assigned.add(prefix + child.id)
                todo.append((child, around, prefix))
    return Source(text, text_lines(root / path), definitions, frozenset(assigned), tree)


def _definition(path: str, node: Scope, around: ast.AST, prefix: str) -> Definition:
    kind = "class" if isinstance(node, ast.ClassDef) else "method" if isinstance(around, ast.ClassDef) else "function"
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return Definition(path, prefix + node.name, kind, first, node.end_lineno or 0, getattr(around, "name", None), node)


def imports(root: Path, start: str, path: str) -> set[tuple[int, str | None]]:
    """The lines of a file that import, and the file Python would load from `start`, or None."""
    found: set[tuple[int, str | None]] = set()
    package = str(PurePosixPath(path).relative_to(start).parent).replace("/", ".")
    for node in ast.walk(ast.parse((root / path).read_text())):
        if isinstance(node, ast.Import):
            found |= {(node.lineno, locate(root, start, name.name)) for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            inner = [locate(root, start, f"{module}.{name.name}") for name in node.names]
            found |= {(node.lineno, place or locate(root, start, module)) for place in inner}
    return found


def locate(root: Path, start: str, module: str) -> str | None:
    """The file of a module, by Python's own finder; nothing is imported."""
    places: Sequence[str] | None = [str(root / start)]
    spec = None
    for part in module.split("."):
        spec = PathFinder.find_spec(part, places) if places is not None else None
        places = spec.submodule_search_locations if spec else None
    return str(Path(spec.origin).relative_to(root)) if spec and spec.origin else None
