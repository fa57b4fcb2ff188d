"""The ground floor: what all processes share, and nothing that knows about MCP, DuckDB or a project."""

import os
import sys

__version__ = "0.1.0"

SHADOWED = (
    "fledgling: started like this, Python would take modules of the current directory for libraries; "
    "run `fledgling`, or `python -I -m fledgling`\n"
)


def imports_from_here(started_by: str) -> bool:
    """Return whether modules of the current directory come before those installed: `imports_from_here("-m")`.

    Python puts that directory first for `-m` and `-c`. Where this package itself is in it, all there is as trusted.
    """
    if sys.argv[:1] != [started_by] or sys.flags.safe_path:
        return False
    try:
        return f"{sys.path[0] or os.getcwd()}/fledgling/__init__.py" != __file__
    except FileNotFoundError:  # the current directory is gone: nothing is in it
        return False


def refuse_shadowed() -> None:
    """Say what to run instead, and exit as for wrong usage; nothing has been imported but what Python itself loads."""
    sys.stderr.write(SHADOWED)
    sys.exit(2)


if imports_from_here("-m"):  # which is what argv says until the module of `python -m` has been found
    refuse_shadowed()
