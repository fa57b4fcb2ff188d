"""What is right, from tools that know: ctags, `ast` and TypeScript's parser for definitions; for the rest, statements.

An answer is right if all of what an oracle says stands in it: `where(root, "lzf_compress") == ["src/lzf_c.c:109"]`.
"""

import ast
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

GIT = shutil.which("git") or "git"
DEFINITIONS = Path(__file__).with_name("definitions.cjs")
INSTALLED = Path.home() / ".cache/fledgling-bench/exam"
TYPESCRIPT = INSTALLED / "node_modules/typescript"
CODE = frozenset({".py", ".go", ".c", ".h", ".ts"})
DEFINING = frozenset({"function", "class", "method", "member", "func", "struct", "interface", "type", "constant"})
CALLABLE = frozenset({"function", "method", "member", "func"})
TEST = re.compile(r"(?:^|/)(?:tests?|spec)/|_test\.")


def install() -> None:
    """Fetch the compiler that knows the definitions of TypeScript, where it is not there yet."""
    if not TYPESCRIPT.exists():
        INSTALLED.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [shutil.which("npm") or "npm", "install", "--silent", "--prefix", INSTALLED, "typescript@5.9.3"], check=True
        )


@cache
def files(root: Path) -> list[str]:
    """The files that git lists."""
    listed = subprocess.run([GIT, "-C", root, "ls-files"], check=True, capture_output=True, text=True).stdout
    return [path for path in listed.splitlines() if not path.startswith("dist/")]


@cache
def text(root: Path, path: str) -> str:
    """The text of a file."""
    return (root / path).read_text("utf-8", "replace")


@cache
def tree(root: Path, path: str) -> ast.Module:
    """A Python file's syntax tree; an empty one where it is no Python 3."""
    try:
        return ast.parse(text(root, path))
    except SyntaxError:
        return ast.Module([], [])


@cache
def tags(root: Path) -> list[dict[str, object]]:
    """The definitions of ctags: name, path, line, end, kind."""
    paths = [path for path in files(root) if PurePosixPath(path).suffix in CODE]
    others = [path for path in paths if not path.endswith(".ts")]
    command = ["ctags", "--fields=+neK", "--output-format=json", "--kinds-C=-p", "-f", "-", *others]
    tagged = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout if others else ""
    scripts = [path for path in paths if path.endswith(".ts")]
    command = ["node", str(DEFINITIONS), str(TYPESCRIPT), *scripts]
    compiled = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout if scripts else ""
    found = [json.loads(line) for line in (tagged + compiled).splitlines()]
    return [each for each in found if each.get("kind") in DEFINING and not each["name"].startswith("__anon")]


def of_name(root: Path, name: str) -> list[dict[str, object]]:
    """The definitions of a name outside of tests, the longest first."""
    found = [each for each in tags(root) if each["name"] == name and not TEST.search(str(each["path"]))]
    return sorted(found, key=lambda each: int(str(each["line"])) - int(str(each.get("end", each["line"]))))


def where(root: Path, name: str) -> list[str]:
    """The place of the definition."""
    found = of_name(root, name)[0]
    return [f"{found['path']}:{found['line']}"]


def read(root: Path, name: str) -> list[str]:
    """The first and the last line with more than a bracket."""
    found = of_name(root, name)[0]
    lines = text(root, str(found["path"])).splitlines()[int(str(found["line"])) - 1 : int(str(found["end"]))]
    words = [line.strip() for line in lines if re.search(r"\w{3}", line)]
    return [words[0], words[-1]]


def outline(root: Path, path: str) -> list[str]:
    """The names of all functions and classes."""
    if path.endswith(".py"):
        kinds = (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)
        return sorted({node.name for node in ast.walk(tree(root, path)) if isinstance(node, kinds)})
    return sorted({str(each["name"]) for each in tags(root) if each["path"] == path and each["kind"] != "constant"})


def importers(root: Path, path: str) -> list[str]:
    """The files that import a file, by what their statements say."""
    return sorted(each for each in files(root) if each != path and path in set(_imports(root, each)))


def _imports(root: Path, path: str) -> Iterator[str]:
    known = set(files(root))
    here = PurePosixPath(path)
    suffix = here.suffix
    if suffix == ".py":
        for node in ast.walk(tree(root, path)):
            names = [each.name for each in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            if isinstance(node, ast.ImportFrom):
                base = list(here.parent.parts[: len(here.parent.parts) - node.level + 1]) if node.level else ["src"]
                module = "/".join([*base, *(node.module or "").split(".")]).rstrip("/")
                names = [module, *(f"{module}/{name}" for name in names)]
            else:
                names = ["src/" + name.replace(".", "/") for name in names]
            yield from (place for name in names for place in (f"{name}.py", f"{name}/__init__.py") if place in known)
    elif suffix in (".c", ".h"):
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text(root, path), re.MULTILINE):
            places = (here.parent / name, PurePosixPath("src") / name)
            yield from (str(place) for place in places if str(place) in known)
    elif suffix == ".ts":
        for name in re.findall(r"""(?:from|import)\s*['"](\.[^'"]+)['"]""", text(root, path)):
            yield str(PurePosixPath(*_normal((here.parent / name).parts))) + ".ts"
    elif suffix == ".go" and '"github.com/spf13/cobra"' in text(root, path):
        yield "command.go"


def _normal(parts: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for part in parts:
        if part == "..":
            found.pop()
        elif part != ".":
            found.append(part)
    return found


def callers(root: Path, name: str) -> list[str]:
    """The names of the definitions around its calls, outside of tests."""
    found = set()
    call = re.compile(rf"(?<![\w])(?:{name})\s*\(")
    for path in _code(root):
        lines = text(root, path).splitlines()
        own = [each for each in tags(root) if each["path"] == path and each["kind"] in CALLABLE and "end" in each]
        for number, line in enumerate(lines, 1):
            if call.search(re.sub(r"//.*|#.*|/\*.*|^\s*\*.*|\"[^\"]*\"", "", line)):
                around = [each for each in own if int(str(each["line"])) <= number <= int(str(each["end"]))]
                inner = max(around, key=lambda each: int(str(each["line"])), default=None)
                if inner and inner["name"] != name:
                    found.add(str(inner["name"]))
    return sorted(found)


def subclasses(root: Path, name: str) -> list[str]:
    """The classes that are derived from one, also by others, outside of tests."""
    found = {name}
    pairs = [pair for path in _code(root) for pair in _bases(root, path)]
    while more := {own for own, bases in pairs if found & bases} - found:
        found |= more
    return sorted(found - {name})


def _bases(root: Path, path: str) -> Iterator[tuple[str, set[str]]]:
    if path.endswith(".py"):
        for node in ast.walk(tree(root, path)):
            if isinstance(node, ast.ClassDef):
                yield node.name, {base.id for base in node.bases if isinstance(base, ast.Name)}
    for own, base in re.findall(r"\bclass (\w+)(?:<[^{]*?>)? extends (\w+)", text(root, path)):
        yield own, {base}


def breaks(root: Path, name: str) -> list[str]:
    """The files that have its name in code, outside of tests."""
    word = re.compile(rf"\b{name}\b")
    remark = re.compile(r"//.*|#.*|^\s*\*.*")
    lines = ((path, line) for path in _code(root) for line in text(root, path).splitlines())
    return sorted({path for path, line in lines if word.search(remark.sub("", line))})


def _code(root: Path) -> list[str]:
    return [path for path in files(root) if PurePosixPath(path).suffix in CODE and not TEST.search(path)]


ORACLES = {
    each.__name__: each for each in (where, read, outline, importers, callers, subclasses, breaks)
}  # the kinds of questions that one knows the answer to


def has(answer: str, root: Path, kind: str, gold: list[str]) -> bool:
    """Whether an answer says all of it. A path may be said in parts: its folder, and below it the name."""
    flat = " ".join(answer.split())
    for each in gold:
        if kind == "where":
            path, _, line = each.rpartition(":")  # of the name; in C its type may stand on the line above
            if not (says_path(answer, root, path) and re.search(rf"(?<!\d)(?:{line}|{int(line) - 1})(?!\d)", answer)):
                return False
        elif kind in ("importers", "breaks") or (kind in ("concept", "documents") and "." in each):
            if not says_path(answer, root, each):
                return False
        elif kind == "read":
            if " ".join(each.split()) not in flat:
                return False
        elif not re.search(rf"(?<![A-Za-z0-9]){re.escape(each)}(?![A-Za-z0-9])", answer):
            return False
    return bool(gold)


def says_path(answer: str, root: Path, path: str) -> bool:
    """Whether a path is in an answer, or its name where no other file of the project is called so."""
    name = PurePosixPath(path).name
    alone = sum(PurePosixPath(each).name == name for each in files(root)) == 1
    return path in answer or (alone and re.search(rf"(?<![\w.-]){re.escape(name)}", answer) is not None)
