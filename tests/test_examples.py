"""The examples in docstrings are true: they run as they stand, and say what they show."""

import ast
import builtins
import doctest
import importlib
from pathlib import Path
from types import ModuleType

from tables import every_row

ROOT = Path(__file__).parent.parent
ROOMS = ("fledgling", "broker", "worker", "security")

# They take rights from the process that runs them, for good.
CONFINING = {"fledgling.security.system_calls.confine", "fledgling.security.user.become"}


def modules_with_examples() -> list[str]:
    """The modules with a `>>>` in them, by name: `fledgling.worker.matching.globs`."""
    found = []
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            path = file.relative_to(ROOT)
            if not any((ROOT / parent).is_symlink() for parent in path.parents) and ">>> " in file.read_text():
                parts = path.with_suffix("").parts
                found.append(".".join(parts if parts[0] == "fledgling" else ("fledgling", *parts)))
    return found


def is_illustration(example: doctest.DocTest, module: ModuleType) -> bool:
    """Whether it speaks of something that it does not make and that is not in its module: `front`, `root_fd`."""
    known = {*vars(module), *vars(builtins)}
    for part in example.examples:
        tree = compile(part.source, module.__name__, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        known.update(node.id for node in names if not isinstance(node.ctx, ast.Load))
        if any(node.id not in known for node in names):
            return True
    return False


MODULES = modules_with_examples()


@every_row("name", MODULES)
def test_examples_are_true(name: str) -> None:
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    said: list[str] = []
    for example in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        if example.name not in CONFINING and not is_illustration(example, module):
            runner.run(example, out=said.append)
    assert not runner.failures, "".join(said)
