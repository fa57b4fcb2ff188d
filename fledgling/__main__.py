"""`fledgling`, and `python -I -m fledgling`: the command line, once nothing of a project can be imported."""

import os
import sys


def main() -> None:
    """Run the command line; where PYTHONPATH says what else to import from, in an interpreter that does not heed it."""
    if os.environ.get("PYTHONPATH") and not sys.flags.ignore_environment:
        isolated = [sys.executable, "-I", "-m", "fledgling", *sys.argv[1:]]
        os.execv(sys.executable, isolated)  # noqa: S606  (this program again)
    from fledgling.broker import cli  # noqa: PLC0415  (no library before it is known where from)

    cli.main()


if __name__ == "__main__":
    main()
