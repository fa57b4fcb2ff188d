"""A copy of the tree to change, and a Python that imports it."""

import py_compile
import shutil
import subprocess
import sysconfig
import venv
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path

ROOT = Path(__file__).parent.parent


class Copy:
    """A copy of the tree, and a Python that imports it."""

    def __init__(self, place: Path) -> None:
        self.tree, environment = place / "tree", place / "venv"
        rooms = ["fledgling", "broker", "worker", "security", "profiles", "tests/attacks"]
        listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *rooms]
        tracked = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True)
        for name in filter(None, tracked.stdout.split("\0")):
            source, target = ROOT / name, self.tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_symlink():
                target.symlink_to(source.readlink())
            elif source.exists():
                shutil.copy2(source, target)  # with its time, by which Python knows the bytecode beside it
                copy_bytecode(source, target)
        venv.create(environment, symlinks=True)
        self.python = environment / "bin" / "python"
        packages = Path(sysconfig.get_path("purelib", vars={"base": str(environment)}))
        (packages / "copy.pth").write_text(f"{self.tree}\n{sysconfig.get_path('purelib')}\n")

    def edit(self, name: str, changes: dict[str, str]) -> None:
        """Change texts of a file that stand there once; a file that is not there is made."""
        file = self.tree / name
        text = file.read_text() if file.exists() else ""
        for old, new in changes.items():
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        file.write_text(text)
        if file.suffix == ".py":
            compile_changed(file)

    def imported(self, module: str) -> str:
        """Return the last line of what a process says that imports a module of the copy."""
        command = [self.python, "-I", "-B", "-c", f"import {module}"]
        done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
        return done.stderr.strip().rpartition("\n")[2]


def compile_changed(file: Path) -> None:
    """Compile a file for the processes that import it, which write no bytecode. What is wrong in it, they say."""
    with suppress(py_compile.PyCompileError):
        py_compile.compile(str(file), doraise=True)


def copy_bytecode(source: Path, target: Path) -> None:
    """Copy what Python has compiled of a file: else each process that imports the copy compiles all of it."""
    compiled = Path(cache_from_source(str(source)))
    if source.suffix == ".py" and compiled.exists():
        place = Path(cache_from_source(str(target)))
        place.parent.mkdir(exist_ok=True)
        shutil.copy2(compiled, place)
